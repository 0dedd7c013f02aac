"""Plans: what to run on which drive, from a TOML file, the command line, or both."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, get_args

from pydantic import Field, PrivateAttr, ValidationError, create_model, field_validator, model_validator

from assay.engine.records import DataPattern, IoPath, PurgeMethod
from assay.errors import UsageError, ValueRangeError, joined
from assay.limits.model import LimitEntry  # noqa: TC001 - read by pydantic when the program runs
from assay.model_faults import ModelFault, model_faults
from assay.nearest import did_you_mean
from assay.procedures.data_file import check_data_file
from assay.procedures.editions import load_edition
from assay.procedures.options import parse_arrival
from assay.procedures.registry import READ_ONLY, SUITES, find_procedure, option_tables, studies, tests
from assay.spec.datum import Strict
from assay.spec.units import KIB
from assay.toml_file import fault_errors, read_toml, refuse_other_kind

_POOL_KIB_MIN = 0.5
_STORED_SHARES = (0.05, 0.95)
"""Of compressible data; as ``DataPattern`` of the native core, which refuses others too."""

Text = Annotated[str, Field(max_length=2000)]
ANSWERABLE = ("operator", "sponsor", "lab")
"""Texts of who answers for a run, which the settings of a user give as well."""


class ReportTexts(Strict):
    """What only people know, printed in the report. name, tags : of the run, to find it by. lab : where it was run."""

    name: Annotated[str, Field(max_length=200)] = ""
    tags: tuple[Annotated[str, Field(min_length=1, max_length=100)], ...] = Field(default=(), max_length=50)
    objective: Text = ""
    baseline: Text = ""
    samples: Text = ""
    sponsor: Text = ""
    auditor: Text = ""
    notes: Text = ""
    vendor: Text = ""
    nand_type: Text = ""
    interface: Text = ""
    form_factor: Text = ""
    features: Text = ""
    system: Text = ""
    hba: Text = ""
    primary_storage: Text = ""
    operator: Text = ""
    lab: Text = ""
    file_system: Text = ""
    platform_serial: Text = ""
    pcie: Text = ""
    peripherals: Text = ""
    _sources: dict[str, str] = PrivateAttr(default_factory=dict)

    @property
    def stored(self) -> dict[str, str]:
        """What is given, as the run folder keeps it, with where it comes from who answers for the run.

        Worked: tags ``("a", "b")`` and the operator of the plan -> ``{"tags": "a, b", "operator": "..",
        "operator_from": "plan"}``.
        """
        texts = {key: ", ".join(text) if isinstance(text, tuple) else text for key, text in self}
        given = {key: text for key, text in texts.items() if text}
        return given | {f"{key}_from": self._sources.get(key, "plan") for key in ANSWERABLE if key in given}

    def filled(self, texts: Mapping[str, str], sources: Mapping[str, str]) -> Self:
        """The same with texts that another than the plan gives. sources : of each, as reports name it."""
        made = type(self).model_validate({**self.model_dump(), **texts})
        made._sources.update(sources)  # noqa: SLF001 - of its own kind
        return made


class Claims(Strict):
    """What the drive's data sheet claims, printed beside what was measured. Rates in IOPS and MB/s, times in ms."""

    rnd_4k_write_iops: float | None = Field(default=None, gt=0)
    rnd_4k_read_iops: float | None = Field(default=None, gt=0)
    seq_write_mb_per_s: float | None = Field(default=None, gt=0)
    seq_read_mb_per_s: float | None = Field(default=None, gt=0)
    write_latency_ms: float | None = Field(default=None, gt=0)
    read_latency_ms: float | None = Field(default=None, gt=0)


class Baseline(Claims):
    """What the same numbers were before, or elsewhere: printed beside what was measured, and judged by nothing."""

    wsat_first_iops: float | None = Field(default=None, gt=0)
    wsat_settled_iops: float | None = Field(default=None, gt=0)


class SpecialNote(Strict):
    """One line of the Test Sponsor - Special Notes."""

    item: Text
    notation: Text = ""
    comments: Text = ""


_DataKind = Literal["random", "compressible", "stamped", "repeating", "file"]


class DataOptions(Strict):
    """Content of the data written; anything but random is a listed deviation. As a text: ``compressible:0.5``."""

    kind: _DataKind = "random"
    stored_share: float = Field(default=1.0, gt=0, le=1)
    pool_kib: float = Field(default=0, ge=0, le=1024 * 1024)
    path: str = ""

    @model_validator(mode="before")
    @classmethod
    def _of_text(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        kind, colon, text = value.partition(":")
        field = {"compressible": "stored_share", "repeating": "pool_kib", "file": "path"}.get(kind)
        known = get_args(_DataKind)
        if kind not in known:
            raise ValueError(
                f'is "{kind}", none of {", ".join(known)}', did_you_mean(kind, known, "choose a listed value")
            )
        if colon and field is None:
            raise ValueError(f"{kind} data take no value after a colon", f"write {kind} alone")
        return {"kind": kind, field: text} if colon and field else {"kind": kind}

    @model_validator(mode="after")
    def _complete(self) -> Self:
        least, most = _STORED_SHARES
        if self.kind == "compressible" and not least <= self.stored_share <= most:
            raise ValueError(f"compressible data need stored_share of {least} to {most}, not {self.stored_share:g}")
        if self.kind == "repeating" and self.pool_kib < _POOL_KIB_MIN:
            raise ValueError(f"a repeating pattern needs pool_kib of at least {_POOL_KIB_MIN}")
        if self.kind == "file" and not self.path:
            raise ValueError("a file pattern needs path")
        return self

    def check_file(self) -> None:
        """Raise UsageError where the file to write from cannot be read or is empty."""
        if self.kind == "file":
            check_data_file(self.path)

    def to_pattern(self) -> DataPattern:
        """The same as a DataPattern record."""
        return DataPattern(
            kind=self.kind,
            stored_share=self.stored_share,
            pool_bytes=int(self.pool_kib * KIB),
            path=self.path,
        )


if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path

    from assay.procedures.options import Options
    from assay.procedures.procedure import Procedure
    from assay.toml_file import Positions

    class _OfTests(Strict):
        """What a plan says of tests: their names, and a table of options for each."""

        suite: str
        tests: tuple[str, ...]
        studies: tuple[str, ...]

        def __getattr__(self, name: str) -> Any: ...

else:
    _OfTests = create_model(
        "_OfTests",
        __base__=Strict,
        suite=(Literal[tuple(SUITES)], "client"),
        tests=(tuple[Literal[tuple(one.name for one in tests())], ...], ()),
        studies=(tuple[Literal[tuple(one.name for one in studies())], ...], ()),
        **{key: (options, options()) for key, options in option_tables().items()},
    )


class Plan(_OfTests):
    """A complete plan, and behind it a table of options for every test of the registry.

    drive : path, by-id link or ``sim:NAME``. scale : multiplies durations, in (0, 1]; 1 is the specification.
    seed : of the address streams and segment places; None draws one, which the report states.
    capture : keep every completion of what is measured: its time and response time, or also its place and size.
    pin : CPUs of the threads on a real drive: ``auto``, ``none``, or a list such as ``0,2,4-7``.
    io_path : the way that the I/Os of a real drive take; ``auto`` probes it.
    io_time_limit_seconds : an I/O that takes longer ends the run as a device failure.
    stall_limit_seconds : longest time in which a drive may complete nothing; beyond, a round or sample is void.
    on_stall : after a void round or sample, ``continue`` with a window that begins anew, or ``stop``.
    purge : how a real drive is purged; ``auto`` takes the strongest way that needs no name.
    write_cache : ``edition`` sets what the edition demands, where the drive can; else ``on``, ``off`` or ``as-is``.
    limits : what the run must meet, judged at its end (exit code 8); the form is in docs/guide/limits.md.
    read_only : the drive is opened for reading only, and tests that would write are refused; so is the suite
    ``quick-read-only``.
    """

    schema_version: Literal[1] = Field(default=1, alias="schema")
    drive: Annotated[str, Field(min_length=1, max_length=4096)]
    edition: str | None = None
    seed: int | None = Field(default=None, ge=0, lt=2**63)
    scale: float = Field(default=1.0, gt=0, le=1)
    file_target: bool = False
    read_only: bool = False
    capture: Literal["none", "times", "addresses"] = "none"
    pin: str = "auto"
    io_path: IoPath | Literal["auto"] = "auto"
    io_time_limit_seconds: float = Field(default=35, ge=1, le=3600)
    stall_limit_seconds: float = Field(default=2, ge=0.5, le=3600)
    on_stall: Literal["continue", "stop"] = "continue"
    purge: PurgeMethod | Literal["auto"] = "auto"
    write_cache: Literal["edition", "on", "off", "as-is"] = "edition"
    report: ReportTexts = ReportTexts()
    special_notes: tuple[SpecialNote, ...] = Field(default=(), max_length=12)
    claims: Claims = Claims()
    baseline: Baseline = Baseline()
    limits: tuple[LimitEntry, ...] = Field(default=(), max_length=1000)
    data: DataOptions = DataOptions()

    @field_validator("pin")
    @classmethod
    def _cpus(cls, pin: str) -> str:
        if re.fullmatch(r"auto|none|\d{1,5}(-\d{1,5})?(,\d{1,5}(-\d{1,5})?)*", pin, re.ASCII) is None:
            raise ValueError(f'is "{pin:.60}", which names no CPUs', "give auto, none, or CPUs such as 0,2,4-7")
        return pin

    @field_validator("tests", "studies")
    @classmethod
    def _once(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"names {name} twice", "name it once; a further run repeats it")
        return names

    def resolved(self) -> Plan:
        """The plan with what the suite implies filled in, checked against the world.

        Raises UsageError for an unknown edition or a data file that cannot be read.
        Worked: ``Plan(drive="sim:x", suite="enterprise").resolved().edition`` is ``"pts-e-1.1"``.
        """
        edition = load_edition(self.edition_name)
        self.data.check_file()
        looked = {key: getattr(self, key).looked() for key in option_tables()}
        # Studies that are named run alone, unless tests or a suite are named beside them.
        alone = bool(self.studies) and "suite" not in self.model_fields_set
        _, suite_tests, suite_studies = SUITES[self.suite]
        chosen_tests = self.tests or (() if alone else suite_tests)
        chosen_studies = self.studies if self.studies or self.tests else suite_studies
        filled: dict[str, Any] = {"edition": self.edition_name, "tests": chosen_tests, "studies": chosen_studies}
        filled |= {key: table for key, table in looked.items() if table is not getattr(self, key)}
        filled["read_only"] = self.read_only or self.suite == READ_ONLY
        if not self.tests:
            of_suite = [find_procedure(name) for name in chosen_tests]
            tables = ((one, edition.table(one.name)) for one in of_suite)
            filled |= {one.key: self.options(one).of_suite(table) for one, table in tables if table is not None}
        return self.model_copy(update=filled)

    @property
    def edition_name(self) -> str:
        """Name of the edition: the plan's own, or the one that its suite implies."""
        return SUITES[self.suite][0] if self.edition is None else self.edition

    def options(self, procedure: Procedure[Any, Any]) -> Options:
        """The tester's choices for a test or study."""
        chosen: Options = getattr(self, procedure.key)
        return chosen


def load_plan(
    path: Path | None,
    overrides: dict[str, Any],
    choices: dict[str, Any] | None = None,
    *,
    left_out: Collection[str] = (),
) -> Plan:
    """Read a plan file, apply what the command line says, and check everything.

    path : the TOML file, or None for a plan made of ``overrides`` alone.
    overrides : top-level keys that win over the file. choices : keys of the table of every test that do; with an
    ``arrival`` among them those of the demand also hold for latency, where they then limit what is outstanding.
    left_out : keys of the file that are not of a plan, and that the caller reads.
    Raises PlanError naming file, line and column of every fault in the order of the file, ValueRangeError naming the
    options that are at fault; UsageError for an ``arrival`` on write saturation.
    """
    choices = choices or {}
    _check_arrival(choices)
    table, positions = read_toml(path) if path else ({}, {})
    if path:
        refuse_other_kind(path, table, "plan")
    table = {key: value for key, value in table.items() if key not in left_out}
    if "suite" in overrides:
        # A suite named on the command line brings its own edition and tests.
        table = {key: value for key, value in table.items() if key not in {"edition", "tests", "studies"}}
    elif overrides.keys() & {"tests", "studies"}:
        table = _without_tests(table)
    merged = {**table, **overrides}
    for key, options in option_tables().items() if choices else ():
        merged[key] = {**_table(merged.get(key)), **options.chosen(choices)}
    try:
        plan = Plan.model_validate(merged).resolved()
    except ValidationError as error:
        raise _plan_error(path, positions, model_faults(error, Plan, merged), overrides, choices) from None
    if "arrival" in choices:
        _refuse_arrival(plan)
    return plan


_OPTIONS = {
    "drive": "DRIVE",
    "tests": "--test",
    "studies": "--study",
    "io_time_limit_seconds": "--io-time-limit",
    "stall_limit_seconds": "--stall-limit",
}
"""Options whose names differ from the keys that they set."""


def _plan_error(
    path: Path | None,
    positions: Positions,
    found: list[ModelFault],
    overrides: dict[str, Any],
    choices: dict[str, Any],
) -> UsageError:
    """All faults as one error: those of options by their names, then those of the file by their places."""
    of_options: dict[str, ValueRangeError] = {}
    of_file = []
    for fault in found:
        option = _option(fault.key, overrides, choices)
        if option is not None or path is None:
            # Several tests have a table of their own for one option.
            thing = option or fault.key
            of_options.setdefault(thing, ValueRangeError(thing, fault.reason, fault.remedy))
        else:
            of_file.append(fault)
    errors: list[UsageError] = [*of_options.values()]
    if path is not None and of_file:
        errors += fault_errors(path, positions, of_file)
    return joined(errors)


def _option(key: str, overrides: dict[str, Any], choices: dict[str, Any]) -> str | None:
    """The option that a key was set by. Worked: ``iops.queue_depth``, where that is chosen -> ``--queue-depth``."""
    first, *rest = key.split(".")
    if first in overrides:
        return _OPTIONS.get(first, f"--{first.replace('_', '-')}")
    if rest and first in option_tables() and rest[0] in choices:
        return f"--{rest[0].replace('_', '-')}"
    return None


def _refuse_arrival(plan: Plan) -> None:
    takes = [one.name for one in tests() if "arrival" in one.options.model_fields]
    for name in plan.tests:
        if name not in takes:
            reason = f"does not apply to {name}, which is closed-loop or has a fixed demand"
            raise UsageError("--arrival", reason, f"name the tests with --test {','.join(takes)}")


def left_out_choices(plan: Plan, choices: dict[str, Any]) -> Iterator[str]:
    """What of the command line's choices tests of a plan do not take, a sentence per choice.

    Worked: a thread count for ``lat`` -> ``"--thread-count is not for lat, which has a fixed demand"``.
    """
    used = [find_procedure(name) for name in (*plan.tests, *plan.studies)]
    for key in choices:
        names = [one.name for one in used if key not in plan.options(one).chosen(choices)]
        if names:
            have = "has a fixed demand" if len(names) == 1 else "have fixed demands"
            yield f"--{key.replace('_', '-')} is not for {', '.join(names)}, which {have}"


def _check_arrival(choices: dict[str, Any]) -> None:
    """Named as the option: the tables that it goes into are nothing that the user wrote."""
    try:
        parse_arrival(choices.get("arrival", "fixed:1"))
    except ValueError as error:
        raise ValueRangeError("--arrival", str(error), "write for example --arrival poisson:5000") from None


def _without_tests(table: dict[str, Any]) -> dict[str, Any]:
    """What remains of a file where the command line names tests or studies: the edition of its suite, at most."""
    suite = table.get("suite")
    implied = {"edition": SUITES[suite][0]} if suite in SUITES else {}
    return {**implied, **{key: value for key, value in table.items() if key not in {"suite", "tests", "studies"}}}


def _table(value: object) -> dict[str, Any]:
    # Anything but a table is left to the model to refuse.
    return value if isinstance(value, dict) else {}
