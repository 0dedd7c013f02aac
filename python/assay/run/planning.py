"""What the tests of a plan will do on a drive, settled before the first I/O."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from assay.engine.records import SkippedTest
from assay.errors import TooSmallError, UsageError
from assay.plan.procedure import PlannedTest, Request
from assay.procedures.departures import common_departures
from assay.procedures.editions import edition_departures, edition_names, load_edition
from assay.procedures.registry import find_procedure
from assay.spec.units import SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engine.records import DriveIdentity
    from assay.plan.procedure import Procedure
    from assay.run.plan_file import Plan
    from assay.spec.edition import Edition

VOID_LIMIT = 3
"""Rounds, or samples, that may be void: a drive that stalls more often has a fault, and the test is given up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRun:
    """The tests of a plan on a drive, and those that this drive cannot run. ``tests`` is not empty."""

    tests: tuple[PlannedTest, ...]
    skipped: tuple[SkippedTest, ...] = ()

    @property
    def deviations(self) -> tuple[str, ...]:
        """Every departure from the specification once."""
        return tuple(dict.fromkeys(line for test in self.tests for line in test.deviations))


def plan_suite(edition: Edition, plan: Plan, drive: DriveIdentity) -> PlannedRun:
    """Settle what every test of a plan does on a drive; one test can be several runs.

    A test that this drive cannot run is left out with the reason, which the report prints.
    Raises TooSmallError where none can run, UsageError where the edition has none of them, ValueRangeError for an
    absurd demand.
    """
    names, of_edition = (*plan.tests, *plan.studies), edition_departures(edition)
    result = [one for name in names for one in _planned(find_procedure(name), edition, plan, drive, of_edition)]
    tests = tuple(one for one in result if isinstance(one, PlannedTest))
    skipped = tuple(one for one in result if isinstance(one, SkippedTest))
    if not tests:
        lacking = [find_procedure(name) for name in names]
        if all(one.table is not None and edition.table(one.name) is None for one in lacking):
            raise _without_tests(edition, lacking)
        reasons = ", ".join(f"{one.test}: {one.reason}" for one in skipped)
        raise TooSmallError(
            drive.path, f"can run no test of the plan ({reasons})", "use another or a larger drive, or --scale"
        )
    return PlannedRun(tests=tests, skipped=skipped)


def _without_tests(edition: Edition, lacking: Sequence[Procedure[Any, Any]]) -> UsageError:
    """What to say where an edition has none of the tests, with the editions that have them all."""
    others = [
        name for name in edition_names() if all(load_edition(name).table(one.name) is not None for one in lacking)
    ]
    remedy = f"choose an edition that has it: --edition {' or '.join(others)}" if others else "name other tests"
    reason = f"has no {' and no '.join(one.label for one in lacking)}"
    return UsageError(f"edition {edition.title}", reason, remedy)


def _planned(
    procedure: Procedure[Any, Any], edition: Edition, plan: Plan, drive: DriveIdentity, of_edition: Sequence[str]
) -> Sequence[PlannedTest | SkippedTest]:
    """The runs of one test, with its departures and the plan's limit of silence. of_edition : its own departures."""
    table = edition.table(procedure.name)
    if procedure.table is not None and table is None:
        return [_left_out(procedure, f"{edition.title} has no such test")]
    request = Request(
        edition=edition,
        table=table,
        options=plan.options(procedure),
        drive=drive,
        scale=plan.scale,
        data=plan.data.to_pattern(),
    )
    try:
        result = procedure.plan(request)
    except TooSmallError as error:
        return [_left_out(procedure, error.reason)]
    return [
        _completed(one, procedure, request, plan, of_edition)
        if isinstance(one, PlannedTest)
        else replace(one, procedure=procedure.name)
        for one in result
    ]


def _left_out(procedure: Procedure[Any, Any], reason: str) -> SkippedTest:
    return SkippedTest(test=procedure.label, reason=reason, procedure=procedure.name)


def _completed(
    test: PlannedTest,
    procedure: Procedure[Any, Any],
    request: Request[Any, Any],
    plan: Plan,
    of_edition: Sequence[str],
) -> PlannedTest:
    """A test with its departures and the plan's limit of silence.

    Worked: ``on_stall`` of ``stop`` -> the first void round ends the test; ``continue`` -> the fourth.
    """
    limit_ns = round(plan.stall_limit_seconds * SECOND_NS)
    void_limit = VOID_LIMIT if plan.on_stall == "continue" else 0
    own = procedure.departures(test.settings, request.table, request.drive, None)
    common = common_departures(test.settings, request.edition, request.drive)
    settings = test.settings.with_stall_policy(limit_ns, void_limit)
    return replace(test, settings=settings, deviations=(*of_edition, *own, *common))
