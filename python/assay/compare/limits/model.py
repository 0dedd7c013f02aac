"""Limits as people write them, and as they are read from a file of limits or a plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, ValidationError, ValidationInfo, field_validator, model_validator

from assay.errors import StoreError, UsageError
from assay.procedures.registry import SHIPPED, known_studies, known_tests
from assay.spec.datum import Strict
from assay.spec.model_faults import model_faults
from assay.spec.nearest import did_you_mean
from assay.spec.toml_file import place_error, read_toml, refuse_other_kind, validated
from assay.summary.measures import MEASURE_KEYS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from pathlib import Path

    from assay.engine.records import StoredRun


TEMPERATURE = "temperature_c"
HEALTH_NAMES = (
    TEMPERATURE,
    "wear_used_pct",
    "critical_warning",
    "available_spare_pct",
    "media_errors",
    "error_log_entries",
    "unsafe_shutdowns",
    "warning_temperature_minutes",
    "critical_temperature_minutes",
    "host_read_bytes",
    "host_written_bytes",
    "power_on_hours",
    "power_cycles",
    "grown_defects",
)
"""Of the drive's condition, as it is stored around each test."""
FINDING_KINDS = (
    "ended early",
    "withheld",
    "warning",
    "void",
    "drive event",
    "host",
    "moved",
    "check",
    "not run",
    "deviation",
    "resumed",
)
"""As in the list of findings."""


def _is_of(name: str, tests: Iterable[str]) -> bool:
    """Whether runs may name one of these tests so, with what follows its name, as in ``tp-1024``, ``iops-2``.

    Worked: ``tp-1024`` -> yes; ``tpp`` -> no.
    """
    known, name = _names(tests), name.casefold()
    while name not in known and "-" in name:
        name = name.rpartition("-")[0]
    return name in known


def _names(tests: Iterable[str]) -> list[str]:
    """Names as runs have them."""
    return [f"study-{name}" if name in known_studies() else name for name in tests]


_Name = Annotated[str, Field(min_length=1, max_length=200)]
_Text = Annotated[str, Field(max_length=2000)]
_OF_PLAN = ("schema", "limits")


class LimitEntry(Strict):
    """One limit: what it is of, and its bounds.

    id, text : of the requirement that it comes from. test : name of a test as the run has it, such as ``tp-1024``.
    measure : a number of it, such as ``iops`` or ``latency_ms_p99.9``. cell : columns and values of the cells that it
    is of; every cell of the test that has this number, where none is given. item : a number that people quote.
    health : a value of the drive's own; the worst of the run, or with ``change`` by how much it changed.
    findings : a kind of finding, of which so many may be; of one test, where that is given.
    at_least, at_most : bounds, which are allowed values themselves. per_tb : they are for each TB of user capacity.
    """

    id: Annotated[str, Field(max_length=100)] = ""
    text: _Text = ""
    test: _Name | None = None
    measure: _Name | None = None
    cell: dict[_Name, str | int | float] = Field(default={}, max_length=12)
    item: _Name | None = None
    health: _Name | None = None
    change: bool = False
    findings: _Name | None = None
    at_least: float | None = None
    at_most: float | None = None
    per_tb: bool = False

    @field_validator("test")
    @classmethod
    def _is_test(cls, name: str | None) -> str | None:
        if name is not None and not _is_of(name, (*known_tests(), *known_studies())):
            names = _names((*known_tests(), *known_studies()))
            raise ValueError(f'is "{name:.60}", which is no test', did_you_mean(name, names, "see assay tests"))
        return name

    @field_validator("measure")
    @classmethod
    def _is_measure(cls, name: str | None, known: ValidationInfo) -> str | None:
        # What a test of another package measures is known once it is asked for them, of a run.
        if _is_of(known.data.get("test") or "", SHIPPED):
            return _known(name, MEASURE_KEYS, "number of a test")
        return name

    @field_validator("health")
    @classmethod
    def _is_health(cls, name: str | None) -> str | None:
        return _known(name, HEALTH_NAMES, "health value")

    @field_validator("findings")
    @classmethod
    def _is_kind(cls, name: str | None) -> str | None:
        return _known(name, FINDING_KINDS, "kind of finding")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if sum(subject is not None for subject in (self.measure, self.health, self.findings)) != 1:
            raise ValueError("needs exactly 1 of measure, health and findings", "keep a single key of these")
        if self.at_least is None and self.at_most is None:
            raise ValueError("has no bound", "give at_least or at_most")
        if self.measure is not None and self.test is None:
            raise ValueError("names a number of no test", "add test")
        if self.measure is None and (self.cell or self.item):
            raise ValueError("names a cell of no number", "add measure, or remove cell and item")
        if self.cell and self.item:
            raise ValueError("has both cell and item", "remove either")
        if self.change and self.health is None:
            raise ValueError("has change without health", "remove it")
        return self

    @property
    def kind(self) -> Literal["measure", "health", "findings"]:
        """What it is of."""
        return "measure" if self.measure else "health" if self.health else "findings"

    @property
    def wanted_cell(self) -> dict[str, str | int | float]:
        """Columns and values of the cells that it is of."""
        return {"item": self.item} if self.item else self.cell


class LimitFile(Strict):
    """A file of limits. title : what it is of. source : where its requirements come from."""

    schema_version: Literal[1] = Field(default=1, alias="schema")
    title: _Text = ""
    source: _Text = ""
    limits: tuple[LimitEntry, ...] = Field(min_length=1, max_length=1000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a run is held against. title : of all. fault : an error that names the place of a key in its source."""

    title: str
    entries: tuple[LimitEntry, ...]
    fault: Callable[[str, str, str], UsageError]


def read_limits(path: Path) -> Limits:
    """The limits of a file of its own, or of a plan. Raises PlanError with the place of each fault."""
    table, positions = read_toml(path)
    refuse_other_kind(path, table, "limits")
    if "drive" in table:
        # A plan: its other keys are none of ours.
        table = {key: value for key, value in table.items() if key in _OF_PLAN}
    limits = validated(LimitFile, path, table, positions)
    return Limits(
        title=limits.title or path.stem,
        entries=limits.limits,
        fault=lambda key, reason, remedy: place_error(path, positions, key, reason, remedy),
    )


def limits_of_plan(run: StoredRun) -> Limits:
    """The limits that the plan of a stored run states; none where it states none. Raises StoreError."""
    table = {"limits": run.plan.get("limits") or []}
    entries: tuple[LimitEntry, ...] = ()
    if table["limits"]:
        try:
            entries = LimitFile.model_validate(table).limits
        except ValidationError as error:
            first = model_faults(error, LimitFile, table)[0]
            remedy = "the run was changed or damaged, or written by another version of Assay"
            raise StoreError(f"run {run.run_id}: plan.{first.key}", first.reason, remedy) from None
    return Limits(title="Limits of the plan", entries=entries, fault=UsageError)


def _known(name: str | None, known: Collection[str], noun: str) -> str | None:
    if name is not None and name not in known:
        raise ValueError(f'is "{name:.60}", which is no {noun}', did_you_mean(name, known, f"use {', '.join(known)}"))
    return name
