"""Streams of a workload as steps of the engine."""

from __future__ import annotations

from math import lcm
from typing import TYPE_CHECKING, Literal

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
from assay.errors import ValueRangeError
from assay.procedures.planned import scaled_ns, whole_blocks
from assay.spec.units import MILLISECOND_NS, TB

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engine.records import DriveIdentity
    from assay.spec.workload import Content, Line, Rate, Stage, Stream

_REMEDY = "correct the stream in the workload"


def stage_steps(stage: Stage, drive: DriveIdentity, scale: float, data: DataPattern) -> tuple[StepSpec, ...]:
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
            pattern=stream_pattern(stream, drive, data),
            demand=stream_demand(stream, drive),
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


def stream_pattern(stream: Stream, drive: DriveIdentity, data: DataPattern) -> AccessPattern:
    """The accesses of a stream. A single line without pauses needs no bursts."""
    block = drive.logical_block_bytes
    if stream.operation == "trim" and drive.kind != "file" and "trim" not in drive.controls:
        raise ValueRangeError(f"stream {stream.name!r}", "trims, which this drive refuses", "leave the stream out")
    for line in stream.lines:
        if line.size_bytes % block or line.align_bytes % block:
            reason = (
                f"a size of {line.size_bytes} or alignment of {line.align_bytes} bytes is no multiple of its {block}"
            )
            raise ValueRangeError(f"stream {stream.name!r}", f"{reason}-byte logical block", _REMEDY)
    used = [line.at_capacity(drive.capacity_bytes) for line in stream.lines if line.percent > 0]
    first, groups = (
        used[0],
        tuple((lba_group.access_percent / 100, lba_group.range_percent / 100) for lba_group in stream.lba_groups),
    )
    return AccessPattern(
        sizes=size_shares(used),
        read_share=_mean_share(used, [line.read_percent for line in used]),
        random_share=_mean_share(used, [line.random_percent for line in used]),
        alignment_bytes=first.align_bytes if stream.is_plain else 0,
        alignment_origin=_grid_origin(stream),
        lba_groups=groups,
        cursor=stream.cursor,
        data=data if stream.data is None else _data(stream.data),
        operation=stream.operation,
        lines=() if stream.is_plain else tuple(_line(line) for line in used),
    )


def _grid_origin(stream: Stream) -> Literal["range", "drive"]:
    """What the grid is counted from: a start in bytes may be off it on purpose, one in per cent never is."""
    return "drive" if stream.start_percent is not None else stream.grid_from


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


def _data(content: Content) -> DataPattern:
    stored = 1.0 if content.stored_percent is None else content.stored_percent / 100
    return DataPattern(kind=content.kind, stored_share=stored, pool_bytes=content.pool_bytes or 0)


def stream_demand(stream: Stream, drive: DriveIdentity) -> Demand:
    """Threads, outstanding I/Os and, where it has one, the rate of a stream."""
    demand = Demand(thread_count=stream.thread_count, queue_depth=stream.queue_depth)
    if stream.rate is None:
        return demand
    return Demand(
        thread_count=stream.thread_count,
        queue_depth=stream.queue_depth,
        arrivals_per_s=ios_per_s(stream.rate, mean_bytes(stream), drive.capacity_bytes),
        arrival_process=stream.rate.arrivals,
        arrival_end_factor=stream.rate.end_factor,
    )


def mean_bytes(stream: Stream) -> float:
    """Bytes of a stream's I/Os on the mean. Worked: 67 % of 4 KiB and 33 % of 8 KiB -> 5447.68."""
    return sum(size * share for size, share in size_shares([line for line in stream.lines if line.percent > 0]))


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
