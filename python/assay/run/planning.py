"""What the tests of a plan will do on a drive, and what they take, settled before the first I/O."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING, Any

from assay.dut.dut import expected_drive
from assay.dut.foreseen import refuse_run
from assay.dut.needs import memory_bytes
from assay.dut.real.condition import link_rate
from assay.engine.records import SkippedTest
from assay.errors import TooSmallError, UsageError
from assay.plan.phases import SLOWEST_BYTES_PER_S
from assay.plan.procedure import PlannedTest, Request
from assay.procedures.departures import common_departures
from assay.procedures.editions import edition_departures, edition_names, load_edition
from assay.procedures.registry import find_procedure
from assay.run.store.write import refuse_folder
from assay.spec.units import SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from assay.dut.dut import Answers
    from assay.engine.records import DriveIdentity
    from assay.plan.phases import PlannedPhase
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


def plan_run(plan: Plan, drive: DriveIdentity) -> PlannedRun:
    """What the plan's tests will do on this drive, without touching it.

    Raises TooSmallError and ValueRangeError where none of them can run.
    """
    edition = load_edition(plan.edition_name)
    return plan_suite(edition, plan, expected_drive(plan, drive, edition.write_cache.value))


def refuse_planned(
    plan: Plan,
    drive: DriveIdentity,
    planned: PlannedRun,
    expected: Forecast,
    *,
    out: Path | None,
    answers: Answers,
    below: Path,
) -> None:
    """Raise what a run would be refused for before its first byte, as far as it can be known by now.

    A run asks this first, so that ``assay plan`` says the same in the same words. Raises AssayError.
    """
    most, kept = expected.written_bytes_max, (out or below,)
    refuse_run(plan, drive, planned.tests, answers, written_bytes_max=most, kept=kept)
    refuse_folder(out, expected.disk_bytes, below)


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
    left_out = SkippedTest(test=procedure.label, reason="", procedure=procedure.name)
    if procedure.table is not None and table is None:
        return [replace(left_out, reason=f"{edition.title} has no such test")]
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
        return [replace(left_out, reason=error.reason)]
    return [
        _completed(one, procedure, request, plan, of_edition)
        if isinstance(one, PlannedTest)
        else replace(one, procedure=procedure.name)
        for one in result
    ]


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


# A step of a minute takes 1 to 2 KB in the journal and tables, one with full histograms several.
_STEP_BYTES = 8192
_OVERWRITES = ("auto", "overwrite")


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseForecast:
    """One part of a test. amount_bytes : that ends it, None where time does. The others are bounds."""

    name: str
    amount_bytes: int | None
    written_bytes_max: int
    span_ns_least: int
    span_ns_most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """A whole run.

    bytes_per_s, rate_of : that nothing writes faster than, and what sets it. phases : of each test, in order.
    overwritten_bytes : of purges, where the drive may have to be overwritten. written_bytes : known to be written.
    written_bytes_max : at most, purges included. span_ns_least, span_ns_most : device time without purges that are the
    drive's own. memory_bytes : of the simulated drive, or of the buffers of a real one. disk_bytes : that the folder of
    the run should find free.
    """

    bytes_per_s: float
    rate_of: str
    phases: tuple[tuple[PhaseForecast, ...], ...]
    purge_count: int
    overwritten_bytes: int
    written_bytes: int
    written_bytes_max: int
    span_ns_least: int
    span_ns_most: int
    memory_bytes: int
    disk_bytes: int


def forecast(plan: Plan, drive: DriveIdentity, tests: Sequence[PlannedTest]) -> Forecast:
    """What the tests of a plan take on a drive. Worked: a minute of writes over a link of 600 MB/s -> 36 GB at most."""
    rate, rate_of = link_rate(drive)
    phases = tuple(
        tuple(_phase_forecast(phase, rate, test.settings.void_limit) for phase in test.parts) for test in tests
    )
    every, purge_count = [phase for test in phases for phase in test], sum(test.purge_count for test in tests)
    # A drive that offers no other purge is overwritten; only the held drive tells.
    overwrites = drive.kind != "simulated" and plan.purge in _OVERWRITES
    overwritten = drive.capacity_bytes * purge_count if overwrites else 0
    # A file is purged by us, at a rate within the same bounds.
    overwrite_ns = [
        ceil(overwritten * SECOND_NS / bound) if drive.kind == "file" else 0 for bound in (rate, SLOWEST_BYTES_PER_S)
    ]
    return Forecast(
        bytes_per_s=rate,
        rate_of=rate_of,
        phases=phases,
        purge_count=purge_count,
        overwritten_bytes=overwritten,
        written_bytes=sum(test.written_bytes for test in tests),
        written_bytes_max=overwritten + sum(phase.written_bytes_max for phase in every),
        span_ns_least=overwrite_ns[0] + sum(phase.span_ns_least for phase in every),
        span_ns_most=overwrite_ns[1] + sum(phase.span_ns_most for phase in every),
        memory_bytes=memory_bytes(plan, drive, tests),
        disk_bytes=disk_bytes(tests),
    )


def _phase_forecast(phase: PlannedPhase, rate: float, void_limit: int) -> PhaseForecast:
    return PhaseForecast(
        name=phase.name,
        amount_bytes=phase.amount_bytes or None,
        written_bytes_max=phase.written_bytes_max(rate, void_limit),
        span_ns_least=phase.span_ns_least(rate),
        span_ns_most=phase.span_ns_most(void_limit),
    )


def disk_bytes(tests: Sequence[PlannedTest]) -> int:
    """Free space that a run's folder should have: twice what its steps take, and the completions that it keeps.

    A test that only the drive ends counts as long as it may take.
    """
    latest = [test.latest_ns or sum(phase.span_ns_most() for phase in test.parts) for test in tests]
    steps = sum(test.step_count or ns / test.outline.step_ns for test, ns in zip(tests, latest, strict=True))
    return round(2 * steps * _STEP_BYTES) + sum(test.kept_bytes for test in tests)
