"""What IOPS, throughput and latency have in common: purge, precondition, rounds of cells until steady.

Each of them says in its own file what it asks, what it tracks and what it runs; the way through is the same.
"""

from __future__ import annotations

from dataclasses import replace
from math import nextafter
from typing import TYPE_CHECKING

from assay.engine.pattern import cell_pattern, fill_pattern, leading_range, segmented_range
from assay.engine.records import Purge, StepSequence, StepSpec, StopRule
from assay.errors import TooSmallError, ValueRangeError
from assay.plan.phases import PlannedPhase, TimedSteps, histogram_phase, timed_phase
from assay.plan.procedure import PlannedTest, PlanSummary, Request
from assay.plan.until import Judging, until_steady
from assay.procedures.families.loop.plan import LoopSettings
from assay.procedures.families.loop.result import UNITS, VARIABLES, is_complete, measurement_window, tracked_cells
from assay.procedures.planned import (
    histogram,
    one_round,
    refuse_deep,
    scaled_ns,
    sector_reason,
    shared_bytes,
    whole_blocks,
)
from assay.results.step import cell_label
from assay.spec.steady import WINDOW_ROUNDS
from assay.spec.units import GIB, KIB, MIB, count_label, gigabytes_label, kib_label

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.engine.records import Access, ActiveRange, Cell, Demand, DriveIdentity
    from assay.plan.procedure import Context, Course
    from assay.procedures.families.loop.plan import LoopOptions, LoopTable, Variable
    from assay.spec.edition import RangeDatum

SCALED_SEGMENT_BYTES = 8 * MIB


def plan_loop(
    name: str,
    test: str,
    sizes: tuple[int, ...],
    *,
    access: Access,
    variable: Variable,
    request: Request[LoopTable, LoopOptions],
    histogram_minutes: float | None = None,
) -> PlannedTest:
    """Settle what a loop test does on a drive.

    name : of the test; test : of this run of it. sizes : transfer sizes in bytes, in loop order.
    histogram_minutes : of the response-time histogram behind it, None for the edition's.
    Raises TooSmallError where the test ActiveRange does not fit the drive, ValueRangeError for an absurd demand.
    """
    table, options, drive = request.table, request.options, request.drive
    runnable = tuple(size for size in sizes if size % drive.logical_block_bytes == 0)
    amount_bytes, segments = _test_range(table.test_range.value, request.scale, drive)
    prepared_bytes, prepared_share = drive.capacity_bytes, table.preconditioning_share.value
    if table.range_gib_max:
        amount_bytes = min(amount_bytes, whole_blocks(table.range_gib_max.value * GIB, drive))
        # Rounded down to blocks, the share of the drive is not to lose one.
        prepared_bytes, prepared_share = amount_bytes, nextafter(amount_bytes / drive.capacity_bytes, 2.0)
    demand = options.demand(table.demand.value.to_demand())
    refuse_deep(test, demand)
    fill_kib = table.preconditioning_block_kib.value
    fill_demand = table.preconditioning_demand
    settings = LoopSettings(
        procedure=name,
        test=test,
        access=access,
        variable=variable,
        edition=request.edition.name,
        demand=demand,
        data=request.data,
        read_pcts=table.read_pct.value,
        sizes_bytes=runnable,
        step_ns=_step_ns(table, request.scale),
        round_limit=options.round_limit or table.round_limit.value,
        round_least=options.round_least or 0,
        tracking=_tracking(test, table, runnable),
        range_limit=table.range_limit.value,
        slope_limit=table.slope_limit.value,
        preconditioning_bytes=round(table.preconditioning_multiple.value * prepared_bytes),
        preconditioning_transfer_bytes=sizes[0] if fill_kib == "tested" else int(fill_kib * KIB),
        preconditioning_share=min(prepared_share, 1.0),
        preconditioning_demand=fill_demand.value.to_demand() if fill_demand else closed(demand),
        range_amount_bytes=amount_bytes,
        segment_count=segments,
        write_cache_required=request.edition.write_cache.value,
        histogram_ns=scaled_ns(_histogram_seconds(table, histogram_minutes), request.scale),
        not_applicable={size: sector_reason(drive) for size in sizes if size not in runnable},
        purges=table.purge is None or table.purge.value,
        steady_required=table.steady_required is None or table.steady_required.value,
    )
    round_ns = settings.step_ns * len(settings.cells)
    return PlannedTest(
        settings=settings,
        run=run_loop,
        earliest_ns=_rounds_least(settings) * round_ns + settings.histogram_ns,
        latest_ns=settings.round_limit * round_ns + settings.histogram_ns,
        written_first_bytes=settings.preconditioning_bytes,
        phases=_phases(settings, round_ns),
        purge_count=int(settings.purges),
        outline=_outline(settings),
    )


def _rounds_least(settings: LoopSettings) -> int:
    return min(max(WINDOW_ROUNDS, settings.round_least), settings.round_limit)


def _phases(settings: LoopSettings, round_ns: int) -> tuple[PlannedPhase, ...]:
    """Preconditioning, rounds and histogram, with what each writes at most."""

    def steps(cell: Cell, span_ns: int, count: int) -> TimedSteps:
        return TimedSteps(
            read_share=cell.read_pct / 100,
            transfer_bytes=cell.transfer_bytes,
            demand=settings.demand,
            span_ns=span_ns,
            count=count,
        )

    written = settings.preconditioning_bytes
    fill = (PlannedPhase(name="preconditioning", stages=("precondition",), amount_bytes=written),) if written else ()
    cells = [steps(cell, settings.step_ns, settings.round_limit) for cell in settings.cells]
    rounds = timed_phase("rounds", cells, stages=("round",), least_ns=_rounds_least(settings) * round_ns)
    if not settings.histogram_ns:
        return (*fill, rounds)
    behind = steps(settings.tracking[0], settings.histogram_ns, 1)
    return (*fill, rounds, histogram_phase(behind))


def _outline(settings: LoopSettings) -> PlanSummary:
    reasons = {f"{kib_label(size)} KiB": reason for size, reason in settings.not_applicable.items()}
    return PlanSummary(
        what="rounds",
        steps=count_label(len(settings.cells), "cell"),
        step_ns=settings.step_ns,
        notes=tuple(f"{size} not run: {reason}" for size, reason in reasons.items()),
        facts={"not_applicable": reasons},
    )


def run_loop(settings: LoopSettings, context: Context) -> Course:
    """Purge, precondition, rounds until steady, and the response-time histogram where there is one."""
    if settings.purges:
        yield Purge()
    if settings.preconditioning_bytes:
        yield preconditioning(settings, context.drive)
    active_range = loop_range(settings, context.drive, context.seed)
    last = yield from loop_rounds(settings, lambda index: round_sequence(settings, active_range, index))
    if settings.histogram_ns and not last.silent:
        yield histogram_sequence(settings, active_range)
    return last.ending(reached=last.ended == "steady" or not settings.steady_required)


def loop_rounds(settings: LoopSettings, round_sequence: Callable[[int], StepSequence]) -> Judging:
    """Rounds until the tracking cells are steady; the last of them. round_sequence : that of round ``index``."""
    return until_steady(
        settings,
        round_sequence,
        round_limit=settings.round_limit,
        round_least=settings.round_least,
        judge=lambda done: measurement_window(done, settings),
        tracked=lambda steps: tracked_cells(steps, settings),
        complete=lambda steps: is_complete(steps, settings),
        value=VARIABLES[settings.variable],
        unit=UNITS[settings.variable],
    )


def preconditioning(settings: LoopSettings, drive: DriveIdentity) -> StepSequence:
    """Workload-independent preconditioning: sequential writes over the range, the tail included."""
    covered = whole_blocks(drive.capacity_bytes * settings.preconditioning_share, drive)
    step = StepSpec(
        label=f"WIPC SEQ {settings.preconditioning_transfer_bytes // KIB}KiB 0/100",
        pattern=fill_pattern(settings.preconditioning_transfer_bytes, settings.data),
        demand=settings.preconditioning_demand,
        active_range=leading_range(covered),
        stop=StopRule(amount_bytes=settings.preconditioning_bytes),
    )
    return StepSequence(
        name="preconditioning", stage="precondition", index=0, steps=(step,), role="prepare", on_void="accept"
    )


def loop_range(settings: LoopSettings, drive: DriveIdentity, seed: int) -> ActiveRange:
    """The test ActiveRange: random segments, or the leading part of the drive."""
    if settings.segment_count is None:
        return leading_range(settings.range_amount_bytes)
    segment_bytes = settings.range_amount_bytes // settings.segment_count
    return segmented_range(drive.capacity_bytes, settings.segment_count, segment_bytes, seed)


def round_sequence(settings: LoopSettings, active_range: ActiveRange, index: int) -> StepSequence:
    """Round ``index``, from 1: every cell in the order of the specification, reads first, large blocks first."""
    return one_round(index, [_step(settings, cell, active_range, settings.step_ns) for cell in settings.cells])


def histogram_sequence(settings: LoopSettings, active_range: ActiveRange) -> StepSequence:
    """The response-time histogram behind a latency test: one step of writes of the tracked size.

    Source: public implementations and summaries of PTS 2.0.x: 20 minutes RND 4KiB W at TC 1 / QD 1.
    """
    step = _step(settings, settings.tracking[0], active_range, settings.histogram_ns)
    return histogram(replace(step, label=f"histogram {step.label}"))


def _step(settings: LoopSettings, cell: Cell, active_range: ActiveRange, span_ns: int) -> StepSpec:
    return StepSpec(
        label=cell_label(cell, settings.access),
        pattern=cell_pattern(settings.access, cell.transfer_bytes, cell.read_pct / 100, settings.data),
        demand=settings.demand,
        active_range=active_range,
        stop=StopRule(time_ns=span_ns),
    )


def closed(demand: Demand) -> Demand:
    """A demand without a rate of arrivals, as preconditioning has it."""
    return replace(demand, arrivals_per_s=None, arrival_process="fixed")


def _step_ns(table: LoopTable, scale: float) -> int:
    least = table.step_seconds_least
    asked = scaled_ns(table.step_seconds.value, scale)
    return max(asked, scaled_ns(least.value, 1.0)) if least else asked


def _histogram_seconds(table: LoopTable, minutes: float | None) -> float:
    if minutes is not None:
        return minutes * 60
    return table.histogram_seconds.value if table.histogram_seconds else 0.0


def _test_range(datum: RangeDatum, scale: float, drive: DriveIdentity) -> tuple[int, int | None]:
    """Amount in bytes and number of segments (None where contiguous)."""
    if datum.amount_gib is None or datum.segment_count is None:
        return shared_bytes(datum, drive), None
    amount, count = round(datum.amount_gib * GIB), datum.segment_count
    if scale < 1:
        count = max(min(count, drive.capacity_bytes // 2 // SCALED_SEGMENT_BYTES), 1)
        amount = count * SCALED_SEGMENT_BYTES
    gaps = (count - 1) * MIB
    if amount + gaps > drive.capacity_bytes:
        raise TooSmallError(
            drive.path,
            f"has {gigabytes_label(drive.capacity_bytes)}, the test range and its gaps need "
            f"{gigabytes_label(amount + gaps)}",
            "use a larger drive, or a scaled run with --scale",
        )
    return amount, count


def _tracking(name: str, table: LoopTable, runnable: tuple[int, ...]) -> tuple[Cell, ...]:
    """The tracking cells that are part of the loop; without one no verdict could be taken."""
    cells = [datum.to_cell() for datum in table.tracking.value]
    tracked = tuple(cell for cell in cells if cell.transfer_bytes in runnable)
    if not tracked or any(cell.read_pct not in table.read_pct.value for cell in cells):
        reason = "a tracking cell is no part of its loop, or none can run on this drive"
        raise ValueRangeError(f"{name}.tracking of the edition", reason, "correct the edition, or leave out the test")
    return tracked
