"""What IOPS, throughput and latency have in common: purge, precondition, rounds of cells until steady.

Each of them says in its own file what it asks, what it tracks and what it runs; the way through is the same.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.errors import TooSmallError, ValueRangeError
from assay.pattern import cell_pattern, fill_pattern, leading_range, segmented_range
from assay.procedures.loop.open_loop import arrival_label
from assay.procedures.planned import (
    Outline,
    PlannedTest,
    common_deviations,
    histogram_deviation,
    refuse_deep,
    scaled_ns,
    sector_reason,
    shared_bytes,
    whole_blocks,
)
from assay.procedures.sequences import histogram, one_round
from assay.procedures.until import until_steady
from assay.records import Ending, LoopSettings, Purge, StepSequence, StepSpec, StopRule
from assay.steady import WINDOW_ROUNDS
from assay.units import GIB, KIB, MIB, SECOND_NS, duration_label, gigabytes, kib_label
from assay.window import cell_label

if TYPE_CHECKING:
    from assay.plan import Plan
    from assay.procedures.planned import Context, Course
    from assay.profile import LoopProfile, Profile, RangeDatum
    from assay.records import Access, ActiveRange, Cell, Demand, DriveIdentity, Variable

SCALED_SEGMENT_BYTES = 8 * MIB


def plan_loop(
    name: str,
    edition: LoopProfile,
    sizes: tuple[int, ...],
    *,
    access: Access,
    variable: Variable,
    profile: Profile,
    plan: Plan,
    drive: DriveIdentity,
) -> PlannedTest:
    """Settle what a loop test does on a drive.

    name : of the test. edition : its table in the profile. sizes : transfer sizes in bytes, in loop order.
    Raises TooSmallError where the test ActiveRange does not fit the drive, ValueRangeError for an absurd demand.
    """
    runnable = tuple(size for size in sizes if size % drive.logical_block_bytes == 0)
    amount_bytes, segments = _test_range(edition.test_range.value, plan.scale, drive)
    options = plan.options(name)
    demand = options.demand(edition.demand.value.to_demand())
    refuse_deep(name, demand)
    fill_kib = edition.preconditioning_block_kib.value
    fill_demand = edition.preconditioning_demand
    settings = LoopSettings(
        test=name,
        access=access,
        variable=variable,
        profile=profile.name,
        demand=demand,
        data=plan.data.to_pattern(),
        read_pcts=edition.read_pct.value,
        sizes_bytes=runnable,
        step_ns=scaled_ns(edition.step_seconds.value, plan.scale),
        round_limit=options.round_limit or edition.round_limit.value,
        tracking=_tracking(name, edition, runnable),
        range_limit=edition.range_limit.value,
        slope_limit=edition.slope_limit.value,
        preconditioning_bytes=round(edition.preconditioning_multiple.value * drive.capacity_bytes),
        preconditioning_transfer_bytes=sizes[0] if fill_kib == "tested" else int(fill_kib * KIB),
        preconditioning_share=edition.preconditioning_share.value,
        preconditioning_demand=fill_demand.value.to_demand() if fill_demand else _closed(demand),
        range_amount_bytes=amount_bytes,
        segment_count=segments,
        write_cache_required=profile.write_cache.value,
        histogram_ns=scaled_ns(_histogram_seconds(name, edition, plan), plan.scale),
        not_applicable={size: sector_reason(drive) for size in sizes if size not in runnable},
    )
    round_ns = settings.step_ns * len(settings.cells)
    return PlannedTest(
        settings=settings,
        run=run_loop,
        deviations=tuple(_deviations(settings, edition, profile, drive)),
        earliest_ns=WINDOW_ROUNDS * round_ns + settings.histogram_ns,
        latest_ns=settings.round_limit * round_ns + settings.histogram_ns,
        written_first_bytes=settings.preconditioning_bytes,
        outline=_outline(settings),
    )


def _outline(settings: LoopSettings) -> Outline:
    reasons = {f"{kib_label(size)} KiB": reason for size, reason in settings.not_applicable.items()}
    return Outline(
        what="rounds",
        steps=f"{len(settings.cells)} cells",
        step_ns=settings.step_ns,
        notes=tuple(f"{size} not run: {reason}" for size, reason in reasons.items()),
        facts={"not_applicable": reasons},
    )


def run_loop(settings: LoopSettings, context: Context) -> Course:
    """Purge, precondition, rounds until steady, and the response-time histogram where there is one."""
    yield Purge()
    yield preconditioning(settings, context.drive)
    active_range = loop_range(settings, context.drive, context.seed)
    last = yield from until_steady(settings, lambda index: round_sequence(settings, active_range, index))
    if settings.histogram_ns and not last.silent:
        yield histogram_sequence(settings, active_range)
    return Ending(reason=str(last.ended), reached=last.ended == "steady")


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


def _closed(demand: Demand) -> Demand:
    """The same demand without a rate of arrivals, as preconditioning has it."""
    return replace(demand, arrivals_per_s=None, arrival_process="fixed")


def _histogram_seconds(name: str, edition: LoopProfile, plan: Plan) -> float:
    asked = plan.lat.histogram_minutes if name == "lat" else None
    if asked is not None:
        return asked * 60
    return edition.histogram_seconds.value if edition.histogram_seconds else 0.0


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
            f"has {gigabytes(drive.capacity_bytes):.2f} GB, the test range and its gaps need "
            f"{gigabytes(amount + gaps):.2f} GB",
            "use a larger drive, or a scaled run with --scale",
        )
    return amount, count


def _tracking(name: str, edition: LoopProfile, runnable: tuple[int, ...]) -> tuple[Cell, ...]:
    """The tracking cells that are part of the loop; without one no verdict could be taken."""
    cells = [datum.to_cell() for datum in edition.tracking.value]
    tracked = tuple(cell for cell in cells if cell.transfer_bytes in runnable)
    if not tracked or any(cell.read_pct not in edition.read_pct.value for cell in cells):
        reason = "a tracking cell is no part of its loop, or none can run on this drive"
        raise ValueRangeError(f"{name}.tracking of the profile", reason, "correct the profile, or leave out the test")
    return tracked


def _deviations(settings: LoopSettings, edition: LoopProfile, profile: Profile, drive: DriveIdentity) -> list[str]:
    asked_ns = round(edition.step_seconds.value * SECOND_NS)
    lines: list[str] = []
    if settings.step_ns != asked_ns:
        lines.append(f"cells of {duration_label(settings.step_ns)} instead of {duration_label(asked_ns)}")
    asked_segments = edition.test_range.value.segment_count
    if settings.segment_count != asked_segments:
        lines.append(
            f"test range of {settings.range_amount_bytes / GIB:g} GiB in {settings.segment_count} segments "
            f"instead of {edition.test_range.value.amount_gib:g} GiB in {asked_segments}"
        )
    if settings.round_limit != edition.round_limit.value:
        lines.append(f"at most {settings.round_limit} rounds instead of {edition.round_limit.value}")
    if settings.test == "lat" and _closed(settings.demand) != edition.demand.value.to_demand():
        lines.append(f"latency at TC {settings.demand.thread_count} x QD {settings.demand.queue_depth}")
    if (arrivals := arrival_label(settings.demand)) is not None:
        outstanding = settings.demand.thread_count * settings.demand.queue_depth
        lines.append(f"open loop: {arrivals}, at most {outstanding} outstanding")
    asked_histogram = round((edition.histogram_seconds.value if edition.histogram_seconds else 0) * SECOND_NS)
    if settings.histogram_ns < asked_histogram:
        lines.append(histogram_deviation(settings.histogram_ns, asked_histogram))
    return [*lines, *common_deviations(settings, profile, drive)]
