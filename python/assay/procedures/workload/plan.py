"""How a workload is planned: its table in a plan file, its streams as steps of the engine, and what they write."""

from __future__ import annotations

from dataclasses import replace
from math import ceil, lcm, sqrt
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from assay.engine.records import (
    IDLE,
    AccessLine,
    AccessPattern,
    ActiveRange,
    DataPattern,
    Demand,
    StepSpec,
    StopRule,
)
from assay.errors import UsageError, ValueRangeError
from assay.plan.fills import fill_amounts, fill_phase
from assay.plan.options import Options
from assay.plan.phases import PlannedPhase, steps_of, timed_phase
from assay.plan.procedure import LONGEST_NS, PlannedTest, PlanSummary
from assay.procedures.planned import common_settings, scaled_ns, whole_blocks, whole_drive_bytes
from assay.procedures.workload.run import WorkloadSettings, WorkloadStage, run_workload
from assay.spec.units import MILLISECOND_NS, SECOND_NS, TB, count_label
from assay.spec.workload import Stage, Workload

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engine.records import DriveIdentity
    from assay.plan.procedure import Request
    from assay.spec.datum import Strict
    from assay.spec.workload import Line, Rate, Stream

_REMEDY = "correct the stream in the workload"
_CHANCE = 6
"""Standard deviations that a count may lie above its mean."""


class WorkloadOptions(Options, Workload):
    """A workload as the tester states it; without stages there is none."""

    stages: Annotated[tuple[Stage, ...], Field(max_length=10_000)] = ()


def plan_workload(request: Request[Strict, WorkloadOptions]) -> list[PlannedTest]:
    """Settle what a workload does on a drive.

    Raises UsageError without stages, ValueRangeError naming the stream that this drive cannot run.
    """
    if not request.options.stages:
        remedy = "state [[workload.stages]] in a plan, or name a file with --icf or --fio"
        raise UsageError("workload", "has no stages", remedy)
    settings = _settings(request)
    spans = [stage.span_ns for stage in settings.stages]
    least_ns, timed = sum(span_ns or 0 for span_ns in spans), None not in spans
    streams = sum(len(stage.streams) * (2 if stage.ramp_up_ns else 1) for stage in settings.stages)
    return [
        PlannedTest(
            settings=settings,
            run=run_workload,
            earliest_ns=least_ns,
            latest_ns=least_ns if timed and not settings.fill_bytes else None,
            written_first_bytes=settings.fill_bytes,
            phases=(*fill_phase(settings.fill_bytes), *map(_phase, settings.stages)),
            purge_count=int(settings.purges),
            step_count=streams + (1 if settings.fill_bytes else 0),
            outline=_outline(settings, least_ns),
        )
    ]


def _settings(request: Request[Strict, WorkloadOptions]) -> WorkloadSettings:
    options, drive = request.options, request.drive
    stages = tuple(
        WorkloadStage(
            name=stage.name,
            role=stage.role,
            ramp_up_ns=scaled_ns(stage.ramp_up_s, request.scale),
            streams=_stage_steps(stage, drive, request.scale, request.data),
        )
        for stage in options.stages
    )
    common = common_settings(request, "workload", stages[0].streams[0].demand)
    return WorkloadSettings(
        **{**common, "test": "study-workload", "purges": options.purge},
        title=options.title,
        source=options.source,
        left_out=options.left_out,
        **fill_amounts(options.prepare_fills, whole_drive_bytes(drive), drive),
        stages=stages,
    )


def _outline(settings: WorkloadSettings, span_ns: int) -> PlanSummary:
    most = max(len(stage.streams) for stage in settings.stages)
    return PlanSummary(
        what=settings.title or "workload",
        steps=count_label(len(settings.stages), "stage"),
        step_ns=span_ns // max(len(settings.stages), 1),
        notes=(f"at most {count_label(most, 'stream')} side by side", *settings.left_out),
        facts={"stages": [stage.name for stage in settings.stages]},
    )


def _phase(stage: WorkloadStage) -> PlannedPhase:
    stop, span_ns = stage.streams[0].stop, stage.span_ns
    if span_ns is not None:
        moving = [spec for spec in stage.streams if spec.pattern.operation == "transfer" and spec.demand.thread_count]
        closed = [spec for spec in moving if spec.demand.arrivals_per_s is None and not _pauses(spec)]
        steps = [steps_of(spec.pattern, spec.demand, span_ns, 1) for spec in closed]
        phase = timed_phase(stage.name, steps, least_ns=span_ns, most_ns=span_ns)
        at_rates = sum((_burst_bytes if _pauses(spec) else _rated_bytes)(spec, span_ns) for spec in moving)
        # The streams share one link; a rate, or pauses between bursts, bound what is written at it.
        return replace(
            phase, writing_ns=min(phase.writing_ns, span_ns), carried_bytes=phase.carried_bytes + ceil(at_rates)
        )
    amount = stop.amount_bytes
    if amount is None:
        amount = (stop.io_count or 0) * max(size for spec in stage.streams for size, _ in spec.pattern.sizes)
    return PlannedPhase(name=stage.name, amount_bytes=amount, most_ns=LONGEST_NS, writing_ns=LONGEST_NS)


def _rated_bytes(spec: StepSpec, span_ns: int) -> float:
    """What a stream with a rate writes at most; chance may bring a Poisson process a little more."""
    demand = spec.demand
    count = (demand.arrivals_per_s or 0.0) * max(demand.arrival_end_factor, 1.0) * span_ns / SECOND_NS
    if demand.arrival_process == "poisson":
        count += _CHANCE * sqrt(count)
    mean_bytes = sum(size * share for size, share in spec.pattern.sizes)
    return count * mean_bytes * (1 - spec.pattern.read_share)


def _pauses(spec: StepSpec) -> bool:
    """Whether there is a pause before every burst."""
    return bool(spec.pattern.lines) and all(line.delay_ns for line in spec.pattern.lines)


def _burst_bytes(spec: StepSpec, span_ns: int) -> float:
    """What a stream in bursts writes at most: its bursts as if they took no time; chance may bring larger ones.

    Worked: 128 writes of 512 KiB after each 1.1648 s, for 60 s -> 52.5 bursts, 3.524 GB.
    """
    lines = spec.pattern.lines
    written = [line.burst_io_count * line.transfer_bytes * (1 - line.read_share) for line in lines]
    pause_ns = sum(line.share * line.delay_ns for line in lines)
    count = spec.demand.thread_count * (span_ns / pause_ns + 1)
    mean = sum(line.share * size for line, size in zip(lines, written, strict=True))
    return count * mean + (_CHANCE * sqrt(count) * (max(written) - mean))


def _stage_steps(stage: Stage, drive: DriveIdentity, scale: float, data: DataPattern) -> tuple[StepSpec, ...]:
    """The streams of a stage side by side, or one idle step where it has none.

    data : of writes whose stream says nothing of it.
    Raises ValueRangeError naming the stream that the drive cannot run.
    Worked: two streams for 60 s at a scale of 0.5 -> two steps of 30 s, the second beside the first.
    """
    stop = _stop(stage, drive, scale)
    if not stage.streams:
        pattern = AccessPattern(sizes=((drive.logical_block_bytes, 1.0),), read_share=1.0, random_share=1.0)
        whole = ActiveRange(segment_starts=(0,), segment_bytes=whole_blocks(drive.capacity_bytes, drive))
        return (StepSpec(label="idle", pattern=pattern, demand=IDLE, active_range=whole, stop=stop),)
    return tuple(
        StepSpec(
            label=stream.name,
            pattern=_pattern(stream, drive, data),
            demand=_demand(stream, drive),
            active_range=_range(stream, drive),
            stop=stop,
            beside=index > 0,
        )
        for index, stream in enumerate(stage.streams)
    )


def _stop(stage: Stage, drive: DriveIdentity, scale: float) -> StopRule:
    if stage.time_s is not None:
        return StopRule(time_ns=scaled_ns(stage.time_s, scale))
    if stage.io_count is not None:
        return StopRule(io_count=stage.io_count)
    amount = stage.amount_bytes or round((stage.amount_fills or 0) * drive.capacity_bytes)
    return StopRule(amount_bytes=max(whole_blocks(amount, drive), drive.logical_block_bytes))


def _pattern(stream: Stream, drive: DriveIdentity, data: DataPattern) -> AccessPattern:
    """The accesses of a stream. A single line without pauses needs no bursts."""
    block = drive.logical_block_bytes
    if stream.operation == "trim" and drive.kind != "file" and "trim" not in drive.controls:
        raise ValueRangeError(f"stream {stream.name!r}", "trims, which this drive refuses", "leave the stream out")
    for line in stream.lines:
        if line.size_bytes % block or line.align_bytes % block:
            reason = f"a size of {line.size_bytes} or alignment of {line.align_bytes} bytes is no multiple of its"
            raise ValueRangeError(f"stream {stream.name!r}", f"{reason} {block}-byte logical block", _REMEDY)
    if content := stream.data:
        stored = 1.0 if content.stored_percent is None else content.stored_percent / 100
        data = DataPattern(kind=content.kind, stored_share=stored, pool_bytes=content.pool_bytes or 0)
    used = [line.at_capacity(drive.capacity_bytes) for line in stream.lines if line.percent > 0]
    return AccessPattern(
        sizes=size_shares(used),
        read_share=_mean_share(used, [line.read_percent for line in used]),
        random_share=_mean_share(used, [line.random_percent for line in used]),
        alignment_bytes=used[0].align_bytes if stream.is_plain else 0,
        # A start in bytes may be off the grid on purpose, one in per cent never is.
        alignment_origin="drive" if stream.start_percent is not None else stream.grid_from,
        lba_groups=tuple((group.access_percent / 100, group.range_percent / 100) for group in stream.lba_groups),
        cursor=stream.cursor,
        data=data,
        operation=stream.operation,
        lines=() if stream.is_plain else tuple(map(_line, used)),
    )


def _weights(lines: Sequence[Line]) -> list[float]:
    """Share of the I/Os of each line: that of its bursts times what a burst holds."""
    weights = [line.percent * line.burst_io_count for line in lines]
    return [weight / sum(weights) for weight in weights]


def size_shares(lines: Sequence[Line]) -> tuple[tuple[int, float], ...]:
    """Transfer sizes with their shares of the I/Os, ascending.

    Worked: half of the bursts of one I/O of 4 KiB, half of three of 8 KiB -> 0.25 and 0.75.
    """
    shares: dict[int, float] = {}
    for line, weight in zip(lines, _weights(lines), strict=True):
        shares[line.size_bytes] = shares.get(line.size_bytes, 0.0) + weight
    return tuple(sorted(shares.items()))


def _mean_share(lines: Sequence[Line], percents: Sequence[float]) -> float:
    if len(set(percents)) == 1:
        return percents[0] / 100
    return sum(weight * percent for weight, percent in zip(_weights(lines), percents, strict=True)) / 100


def _line(line: Line) -> AccessLine:
    return AccessLine(
        share=line.percent / 100,
        transfer_bytes=line.size_bytes,
        read_share=line.read_percent / 100,
        random_share=line.random_percent / 100,
        alignment_bytes=line.align_bytes,
        burst_io_count=line.burst_io_count,
        delay_ns=round(line.delay_ms * MILLISECOND_NS),
    )


def _demand(stream: Stream, drive: DriveIdentity) -> Demand:
    """Threads, outstanding I/Os and, where it has one, the rate of a stream."""
    demand, rate = Demand(thread_count=stream.thread_count, queue_depth=stream.queue_depth), stream.rate
    if rate is None:
        return demand
    # The mean, such as 5447.68 for 67 % of 4 KiB and 33 % of 8 KiB.
    io_bytes = sum(size * share for size, share in size_shares([line for line in stream.lines if line.percent > 0]))
    return replace(
        demand,
        arrivals_per_s=ios_per_s(rate, io_bytes, drive.capacity_bytes),
        arrival_process=rate.arrivals,
        arrival_end_factor=rate.end_factor,
    )


def ios_per_s(rate: Rate, io_bytes: float, capacity_bytes: int) -> float:
    """I/Os per second of a rate, over all threads of the stream.

    io_bytes : of an I/O on the mean. Worked: 24 MB/s per TB on 2 TB by I/Os of 4,000 bytes -> 12000.0.
    """
    if rate.ios_per_s is not None:
        return rate.ios_per_s
    if rate.bytes_per_s is not None:
        return rate.bytes_per_s / io_bytes
    if rate.ios_per_s_per_tb is not None:
        return rate.ios_per_s_per_tb * capacity_bytes / TB
    return (rate.bytes_per_s_per_tb or 0.0) * capacity_bytes / TB / io_bytes


def _range(stream: Stream, drive: DriveIdentity) -> ActiveRange:
    """Where a stream may go. A start in per cent is the next one on the grid of its I/Os."""
    start = whole_blocks(stream.start_bytes or 0, drive)
    if stream.start_percent is not None:
        grid = lcm(stream.grid_bytes, drive.logical_block_bytes)
        start = -(-round(drive.capacity_bytes * stream.start_percent / 100) // grid) * grid
    left = whole_blocks(drive.capacity_bytes, drive) - start
    asked = stream.size_bytes
    if asked is None and stream.size_percent is not None:
        asked = round(drive.capacity_bytes * stream.size_percent / 100)
    length = left if asked is None else min(whole_blocks(asked, drive), left)
    largest = max(line.size_bytes for line in stream.lines)
    if length < largest:
        reason = f"its range of {max(length, 0):,} bytes from {start:,} holds no transfer of {largest:,}"
        raise ValueRangeError(f"stream {stream.name!r}", reason, _REMEDY)
    return ActiveRange(segment_starts=(start,), segment_bytes=length)
