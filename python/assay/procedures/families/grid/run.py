"""What demand intensity and the composite workload have in common: a grid of demands, then three operating points.

The grid is repeated until steady; of the operating points every completion is kept. Each test says in its own file
what it asks and with which accesses; the way through is the same.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.engine.records import Demand, Ending, Purge, SkippedTest, StepSequence
from assay.plan.phases import steps_of, timed_phase
from assay.plan.procedure import PlannedTest, PlanSummary, Request
from assay.plan.until import Judging, until_steady
from assay.procedures.families.grid.plan import DemandSettings, grid_demands
from assay.procedures.families.grid.result import (
    demand_window,
    grid_label,
    is_complete_round,
    operating_points,
    tracked_cells,
)
from assay.procedures.families.saturation.run import (
    earliest_steady_ns,
    pattern_step,
    sampled_preconditioning,
    saturate,
    saturation_phase,
)
from assay.procedures.planned import one_round, refuse_deep, scaled_ns, shared_bytes, unfit
from assay.spec.steady import WINDOW_ROUNDS
from assay.spec.units import SECOND_NS, duration_label

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from assay.engine.pattern import Workload
    from assay.engine.records import StepSpec
    from assay.plan.phases import PlannedPhase, TimedSteps
    from assay.plan.procedure import Context, Course
    from assay.procedures.families.grid.plan import DemandTable, GridOptions
    from assay.procedures.families.grid.result import OperatingPoint

POINT_COUNT = 3
KEPT_BYTES_PER_S = 600_000
"""Room for the completions of operating points: 100,000 a second of 6 bytes each."""


def plan_demand(
    procedure: str, name: str, chosen: Workload, *, test: str, request: Request[DemandTable, GridOptions]
) -> PlannedTest | SkippedTest:
    """Settle what a test over a grid of demands does on a drive.

    procedure : its name on the command line; test : of this run of it; name : as printed. chosen : its accesses at
    their nominal mix.
    Returns a SkippedTest where the drive cannot run a size. Raises ValueRangeError for an absurd demand.
    """
    if left_out := unfit(test, chosen.label, chosen.pattern, request.drive):
        return left_out
    settings = _settings(procedure, name, chosen, test=test, request=request)
    for demand in settings.demands:
        refuse_deep(test, demand)
    round_ns = settings.pre_write_samples * settings.sample_ns + len(settings.grid) * settings.cell_ns
    points_ns = POINT_COUNT * (settings.point_pre_write_samples * settings.sample_ns + settings.capture_ns)
    return PlannedTest(
        settings=settings,
        run=run_over_demands,
        earliest_ns=earliest_steady_ns(settings.preconditioning) + WINDOW_ROUNDS * round_ns + points_ns,
        latest_ns=settings.preconditioning.time_ns + settings.round_limit * round_ns + points_ns,
        phases=_phases(settings, round_ns, points_ns),
        kept_bytes=POINT_COUNT * (settings.sample_ns + settings.capture_ns) * KEPT_BYTES_PER_S // SECOND_NS,
        outline=_outline(settings),
    )


def _phases(settings: DemandSettings, round_ns: int, points_ns: int) -> tuple[PlannedPhase, ...]:
    """Preconditioning, rounds and operating points; a point may have any demand of the grid."""
    before = settings.preconditioning.pattern
    deepest = max(settings.grid, key=lambda one: one.thread_count * one.queue_depth)

    def writes(count: int) -> TimedSteps:
        return steps_of(before, settings.demand, settings.sample_ns, count)

    cells = [steps_of(settings.pattern, one, settings.cell_ns, settings.round_limit) for one in settings.grid]
    points = steps_of(settings.pattern, deepest, settings.capture_ns, POINT_COUNT)
    return (
        saturation_phase("preconditioning until steady", settings.preconditioning),
        timed_phase(
            "rounds",
            [writes(settings.round_limit * settings.pre_write_samples), *cells],
            stages=("round",),
            least_ns=WINDOW_ROUNDS * round_ns,
        ),
        timed_phase(
            "operating points",
            [writes(POINT_COUNT * settings.point_pre_write_samples), points],
            stages=("pre-write", "point"),
            least_ns=points_ns,
        ),
    )


def run_over_demands(settings: DemandSettings, _: Context) -> Course:
    """Purge, samples until steady, rounds of pre-writes and grid until steady, then the operating points."""
    yield Purge()
    before = yield from saturate(settings.preconditioning, "prepare")
    if before.silent:
        return before.ending(reached=False)
    last = yield from grid_rounds(settings, lambda index: demand_round(settings, index))
    if last.silent:
        return last.ending(reached=False)
    for place, point in enumerate(operating_points(last.complete, settings), 1):
        yield from operating_point(settings, point, place)
    prepared = before.ended == "steady"
    reason = "round-limit" if last.ended == "steady" and not prepared else str(last.ended)
    return Ending(reason=reason, reached=prepared and last.ended == "steady")


def grid_rounds(settings: DemandSettings, round_sequence: Callable[[int], StepSequence]) -> Judging:
    """Rounds until the tracking cell is steady; the last of them. round_sequence : that of round ``index``."""
    return until_steady(
        settings,
        round_sequence,
        round_limit=settings.round_limit,
        judge=lambda done: demand_window(done, settings),
        tracked=lambda steps: tracked_cells(steps, settings),
        complete=lambda steps: is_complete_round(steps, settings),
    )


def demand_round(settings: DemandSettings, index: int) -> StepSequence:
    """Round ``index``, from 1: the pre-write samples, then every cell of the grid, without a gap."""
    cells = [_step(settings, grid_label(settings, demand), demand, settings.cell_ns) for demand in settings.grid]
    return one_round(index, [*_pre_writes(settings, settings.pre_write_samples), *cells])


def operating_point(settings: DemandSettings, point: OperatingPoint, index: int) -> Iterator[StepSequence]:
    """The pre-writes of an operating point, then the last of them and, without a gap, the nominal mix at its demand.

    Every completion of the second sequence is kept. index : of the point, from 1.
    """
    if settings.point_pre_write_samples > 1:
        writes = _pre_writes(settings, settings.point_pre_write_samples - 1)
        yield StepSequence(
            name=f"pre-writes {index}",
            stage="pre-write",
            index=index,
            steps=tuple(writes),
            role="prepare",
            on_void="accept",
        )
    label = f"{point.name}IOPS {grid_label(settings, point.demand)}"
    yield StepSequence(
        name=f"operating point {index}",
        stage="point",
        index=index,
        steps=(*_pre_writes(settings, 1), _step(settings, label, point.demand, settings.capture_ns)),
        role="measure",
        on_void="stop",
        keeps_ios=True,
    )


def _settings(
    procedure: str, name: str, chosen: Workload, *, test: str, request: Request[DemandTable, GridOptions]
) -> DemandSettings:
    table, options, edition = request.table, request.options, request.edition
    demand = table.demand.value.to_demand()
    writes = replace(chosen.pattern, read_share=0.0)
    preconditioning = sampled_preconditioning(
        table.preconditioning,
        procedure=procedure,
        test=test,
        pattern=writes,
        label=_writes_label(chosen.label),
        demand=demand,
        request=request,
        test_range=table.test_range.value,
    )
    grid = grid_demands(
        options.thread_counts or table.thread_counts.value,
        options.queue_depths or table.queue_depths.value,
        table.tie_order.value,
    )
    tracking = table.tracking.value.to_demand()
    sample_seconds = table.preconditioning.sample_seconds.value
    return DemandSettings(
        procedure=procedure,
        test=test,
        name=name,
        edition=edition.name,
        demand=demand,
        data=chosen.pattern.data,
        pattern=chosen.pattern,
        label=chosen.label,
        preconditioning=preconditioning,
        range_amount_bytes=shared_bytes(table.test_range.value, request.drive),
        segment_count=None,
        range_limit=table.range_limit.value,
        slope_limit=table.slope_limit.value,
        write_cache_required=edition.write_cache.value,
        grid=grid,
        tracking=tracking if tracking in grid else grid[0],
        cell_ns=scaled_ns(table.cell_seconds.value, request.scale),
        round_limit=options.round_limit or table.round_limit.value,
        sample_ns=preconditioning.sample_ns,
        pre_write_samples=_samples(table.pre_write_seconds.value, sample_seconds),
        point_pre_write_samples=_samples(table.point_pre_write_seconds.value, sample_seconds),
        art_limit_ms=options.art_limit_ms or table.art_limit_ms.value,
        capture_ns=scaled_ns(table.capture_seconds.value, request.scale),
    )


def _samples(span_seconds: float, sample_seconds: float) -> int:
    return max(round(span_seconds / sample_seconds), 1)


def _writes_label(label: str) -> str:
    """Worked: ``RND 8KiB 65/35`` -> ``RND 8KiB 0/100``."""
    return f"{label.rpartition(' ')[0]} 0/100"


def _step(settings: DemandSettings, label: str, demand: Demand, span_ns: int) -> StepSpec:
    return pattern_step(label, settings.pattern, demand, settings.range_amount_bytes, span_ns)


def _pre_writes(settings: DemandSettings, count: int) -> list[StepSpec]:
    label = f"pre-write {settings.preconditioning.label}"
    writes = settings.preconditioning.pattern
    return [pattern_step(label, writes, settings.demand, settings.range_amount_bytes, settings.sample_ns)] * count


def _outline(settings: DemandSettings) -> PlanSummary:
    pre_write = duration_label(settings.pre_write_samples * settings.sample_ns)
    before = duration_label(settings.point_pre_write_samples * settings.sample_ns)
    captured = duration_label(settings.capture_ns)
    first, last = settings.grid[0], settings.grid[-1]
    return PlanSummary(
        what="rounds",
        steps=f"{len(settings.grid)} cells",
        step_ns=settings.cell_ns,
        notes=(
            f"{settings.preconditioning.label} until steady comes first; its time is part of that of the rounds",
            f"each round: {pre_write} of pre-writes, then {settings.label} from {_short(first)} to {_short(last)}",
            f"then Max, Mid and Min point: {before} of pre-writes, {captured} with every completion kept, each",
        ),
        facts={
            "pattern": settings.label,
            "grid": [{"thread_count": one.thread_count, "queue_depth": one.queue_depth} for one in settings.grid],
            "art_limit_ms": settings.art_limit_ms,
        },
    )


def _short(demand: Demand) -> str:
    return f"TC {demand.thread_count} x QD {demand.queue_depth}"
