"""Plans: what to run on which drive, from a TOML file, the command line, or both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, Field, ValidationError, create_model, field_validator

from assay.compare.limits.model import LimitEntry  # noqa: TC001 - read by pydantic when the program runs
from assay.errors import UsageError, ValueRangeError, joined
from assay.plan.options import parse_arrival
from assay.plan.record import DataOptions, PlanRecord
from assay.procedures.editions import load_edition
from assay.procedures.registry import (
    READ_ONLY,
    SUITES,
    find_procedure,
    known_studies,
    known_tests,
    option_tables,
    tests,
)
from assay.spec.datum import FILE_MARK, Strict
from assay.spec.model_faults import ModelFault, model_faults
from assay.spec.toml_file import fault_errors, read_toml, refuse_other_kind

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from assay.plan.options import Options
    from assay.plan.procedure import Procedure
    from assay.spec.toml_file import Positions

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
        tests=(tuple[Literal[known_tests()], ...], ()),
        studies=(tuple[Literal[known_studies()], ...], ()),
        **{key: (options, options()) for key, options in option_tables().items()},
    )


class Plan(PlanRecord, _OfTests):
    """A complete plan: its tests, and a table of options for every test of the registry.

    limits : what the run must meet, judged at its end (exit code 8); the form is in docs/guide/limits.md.
    """

    limits: tuple[LimitEntry, ...] = Field(default=(), max_length=1000)
    data: DataOptions = DataOptions()

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
    try:
        parse_arrival(choices.get("arrival", "fixed:1"))
    except ValueError as error:
        # Named as the option: the user wrote none of the tables that it goes into.
        raise ValueRangeError("--arrival", str(error), "write for example --arrival poisson:5000") from None
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
        # Anything but a table is left to the model to refuse.
        own = merged.get(key, {})
        merged[key] = {**(own if isinstance(own, dict) else {}), **options.chosen(choices)}
    try:
        plan = Plan.model_validate(merged).resolved()
    except ValidationError as error:
        raise _plan_error(path, positions, model_faults(error, Plan, merged), overrides, choices) from None
    if "arrival" in choices:
        _refuse_arrival(plan)
    return plan


def plan_of(table: dict[str, Any]) -> Plan:
    """A plan from JSON values, as a file has them, not yet ``resolved``: no file is looked at.

    Raises ValueRangeError naming each fault by its dotted key.
    """
    try:
        return Plan.model_validate(table)
    except ValidationError as error:
        raise _plan_error(None, {}, model_faults(error, Plan, table), {}, {}) from None


def named_files(record: BaseModel, place: str = "") -> tuple[str, ...]:
    """The dotted keys of a plan that name a file. Worked: data of a file -> ``("data.path",)``."""
    keys: list[str] = []
    for name, field in type(record).model_fields.items():
        value = getattr(record, name)
        if field.json_schema_extra == FILE_MARK and value:
            keys.append(place + name)
        elif isinstance(value, BaseModel):
            keys += named_files(value, f"{place}{name}.")
    return tuple(keys)


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
    return joined(errors, str(path or "plan"))


def _option(key: str, overrides: dict[str, Any], choices: dict[str, Any]) -> str | None:
    """The option that a key was set by. Worked: ``iops.queue_depth``, where that is chosen -> ``--queue-depth``."""
    first, *rest = key.split(".")
    if first in overrides:
        return _OPTIONS.get(first, f"--{first.replace('_', '-')}")
    if rest and first in option_tables() and rest[0] in choices:
        return f"--{rest[0].replace('_', '-')}"
    return None


def _refuse_arrival(plan: Plan) -> None:
    takes = [test.name for test in tests() if "arrival" in test.options.model_fields]
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


def _without_tests(table: dict[str, Any]) -> dict[str, Any]:
    """What remains of a file where the command line names tests or studies: the edition of its suite, at most."""
    suite = table.get("suite")
    implied = {"edition": SUITES[suite][0]} if suite in SUITES else {}
    return {**implied, **{key: value for key, value in table.items() if key not in {"suite", "tests", "studies"}}}
