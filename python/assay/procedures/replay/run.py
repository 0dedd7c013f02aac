"""How a replay is planned and what it does."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from assay.engine.pattern import leading_range
from assay.engine.records import AccessPattern, Demand, Ending, StepSequence, StepSpec, StopRule
from assay.errors import UsageError
from assay.plan.fills import fill_amounts, fill_phase, prepared
from assay.plan.phases import PlannedPhase
from assay.plan.procedure import LONGEST_NS, PlannedTest, PlanSummary
from assay.procedures.custom import common_settings, whole_drive_bytes
from assay.procedures.replay.settings import ReplaySettings
from assay.procedures.replay.trace_view import guess_remedy, write_ios
from assay.results.step import short_of_asked
from assay.spec.units import SECOND_NS, TRANSFER_BYTES_MAX
from assay.words.endings import INCOMPLETE
from assay.workloads.traces import mapping_for

if TYPE_CHECKING:
    from assay.engine.records import DriveIdentity
    from assay.plan.procedure import Context, Course, Request
    from assay.procedures.replay.options import ReplayOptions
    from assay.procedures.replay.settings import TraceFacts
    from assay.spec.datum import Strict
    from assay.workloads.traces import Mapping, StreamMap


_SIZES_TOLD = 4
"""Sizes of a trace that a plan names."""


def plan_replay(request: Request[Strict, ReplayOptions]) -> list[PlannedTest]:
    """Settle how a trace is replayed on a drive.

    Raises UsageError without a trace, and for one that does not fit this drive as the plan maps it.
    """
    settings = _settings(request, request.options.require_trace())
    least_ns, written = settings.span_ns, settings.rounded.write_bytes
    replayed = PlannedPhase(
        name="replay",
        stages=("replay",),
        least_ns=least_ns,
        most_ns=LONGEST_NS if settings.speed is None else max(least_ns, 1),
        carried_bytes=written,
    )
    return [
        PlannedTest(
            settings=settings,
            run=run_replay,
            earliest_ns=least_ns,
            latest_ns=None,
            written_first_bytes=settings.fill_bytes,
            written_amount_bytes=written,
            phases=(*fill_phase(settings.fill_bytes), replayed),
            purge_count=int(settings.purges),
            step_count=2 if settings.fill_bytes else 1,
            outline=_outline(settings, request.scale),
        )
    ]


def _settings(request: Request[Strict, ReplayOptions], facts: TraceFacts) -> ReplaySettings:
    options, drive = request.options, request.drive
    speed = None if options.speed == "max" else options.speed
    demand = _demand(options.queue_depth, facts, speed)
    common = common_settings(request, "replay", demand)
    whole = whole_drive_bytes(drive)
    return ReplaySettings(
        **{**common, "test": "study-replay", "purges": options.purge},
        source=options.source,
        facts=facts,
        speed=speed,
        mapping=_mapping(options, facts, drive),
        **fill_amounts(options.prepare_fills, whole, drive),
        step=StepSpec(
            label="replay",
            pattern=_pattern(request, facts),
            demand=demand,
            active_range=leading_range(whole),
            stop=StopRule(io_count=facts.issued_count),
        ),
    )


def _demand(queue_depth: int, facts: TraceFacts, speed: float | None) -> Demand:
    if speed is None:
        return Demand(thread_count=1, queue_depth=queue_depth)
    span_ns = max(facts.map.span_ns / speed, 1)
    rate = min(max(facts.map.total_count * SECOND_NS / span_ns, 0.001), 1e9)
    return Demand(thread_count=1, queue_depth=queue_depth, arrivals_per_s=rate, arrival_process="recorded")


def _mapping(options: ReplayOptions, facts: TraceFacts, drive: DriveIdentity) -> Mapping:
    traced = options.traced_bytes or max(facts.map.end_bytes, drive.logical_block_bytes)
    if traced < facts.map.end_bytes:
        reason = f"goes up to byte {facts.map.end_bytes:,}, beyond the {traced:,} bytes of the traced drive"
        raise UsageError(options.trace, reason, "correct traced_bytes")
    if facts.guessed is not None and options.map == "keep" and traced > whole_drive_bytes(drive):
        reason = f"looks like a trace of {facts.form}, but would go up to byte {traced:,}, beyond this drive"
        raise UsageError(options.trace, reason, f"{guess_remedy(facts)}; or map it with --map scale or wrap")
    return mapping_for(
        options.map,
        span_bytes=traced,
        capacity_bytes=whole_drive_bytes(drive),
        logical_block_bytes=drive.logical_block_bytes,
    )


def _pattern(request: Request[Strict, ReplayOptions], facts: TraceFacts) -> AccessPattern:
    """What is known of the accesses: the largest transfer, in whole blocks."""
    block = request.drive.logical_block_bytes
    largest = facts.rounded_to(block).largest_bytes
    if largest > TRANSFER_BYTES_MAX:
        reason = f"has a read or write of {largest:,} bytes in whole blocks, more than {TRANSFER_BYTES_MAX:,}"
        raise UsageError(request.options.trace, reason, "split it before")
    moved = facts.map.io_count
    reads, writes = moved["read"], moved["write"]
    return AccessPattern(
        sizes=((max(largest, block), 1.0),),
        read_share=reads / (reads + writes) if reads + writes else 1.0,
        random_share=1.0 - (facts.map.sequential_share or 0.0),
        data=request.data,
        operation="replay",
    )


def run_replay(settings: ReplaySettings, _: Context) -> Course:
    """Purge and fill as stated, then the I/Os of the trace."""
    yield from prepared(settings)
    records = yield StepSequence(
        name="replay",
        stage="replay",
        index=0,
        steps=(settings.step,),
        role="measure",
        on_void="stop",
        replay=partial(write_ios, settings),
    )
    if short := short_of_asked(records, settings.step.stop):
        return Ending(reason=INCOMPLETE, reached=True, detail=short)
    return Ending(reason="time", reached=True)


def _content(facts: TraceFacts) -> str:
    """Read share, sizes, range and rate of a trace, by which a wrong reading of it shows.

    Worked: ``70.0 % reads; 4,096 bytes (90 %), 8,192 bytes (10 %); up to byte 1,000,000; 200.0 I/Os per second``.
    """
    result = facts.map
    moved = result.io_count["read"] + result.io_count["write"]
    reads = f"{result.io_count['read'] / moved:.1%} reads; ".replace("%", " %") if moved else ""
    rate = f"; {result.ios_per_s:,.1f} I/Os per second" if result.ios_per_s and facts.has_times else ""
    return f"{reads}{_sizes(result)}; up to byte {result.end_bytes:,}{rate}"


def _sizes(stream_map: StreamMap) -> str:
    """The most frequent sizes, whatever was done by them; a flush has none."""
    shares: dict[int | None, float] = {}
    for one in stream_map.sizes:
        shares[one.length_bytes] = shares.get(one.length_bytes, 0.0) + (one.share if one.operation != "flush" else 0.0)
    ranked = sorted(((size, share) for size, share in shares.items() if share), key=lambda pair: -pair[1])
    more = len(ranked) - _SIZES_TOLD
    first = [(f"{size:,}" if size else "other", round(share * 100)) for size, share in ranked[:_SIZES_TOLD]]
    told = ", ".join(f"{size} bytes ({percent} %)" for size, percent in first) or "no transfers"
    return f"{told} and {more} more sizes" if more > 0 else told


def _outline(settings: ReplaySettings, scale: float) -> PlanSummary:
    facts, speed = settings.facts, settings.speed
    at = "as fast as possible" if speed is None else f"at {speed:g} times the speed of the trace"
    unscaled = () if scale == 1 else ("--scale shortens no trace; --speed does",)
    rounded = filter(None, (settings.rounded.sentence,))
    return PlanSummary(
        what="replay",
        steps=f"{facts.map.total_count:,} I/Os {at}",
        step_ns=settings.span_ns,
        notes=(
            f"{facts.form}; {'; '.join(facts.told)}",
            _content(facts),
            settings.mapping.sentence,
            *rounded,
            *unscaled,
        ),
        facts={"trace": settings.source.path, "io_count": facts.map.total_count},
    )
