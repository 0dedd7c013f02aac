"""Workloads of others: stages of streams that run side by side, as plan files and converters write them.

```
Workload ── stages, in turn ──> Stage ── streams, side by side ──> Stream ── lines, drawn per burst ──> Line
```
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from assay.spec.datum import Strict
from assay.spec.units import TB, TRANSFER_BYTES_MAX

STREAMS_MAX = 64
"""Streams that may run side by side in one stage."""
OUTSTANDING_MAX = 65_536
"""I/Os that may be outstanding at once, over all threads."""
_SHARE_TOLERANCE = 1e-6

Percent = Annotated[float, Field(ge=0, le=100)]
Name = Annotated[str, Field(min_length=1, max_length=127)]
Operation = Literal["transfer", "trim", "flush"]
"""What the I/Os of a stream do: reads and writes, deallocation, or the write cache made durable."""


class Line(Strict):
    """One kind of access of a stream; several of them are drawn by their share, once per burst.

    percent : share of the bursts. size_bytes : of each transfer, a multiple of the logical block.
    read_percent, random_percent : drawn per I/O, independently. align_bytes : grid of the starts; 0 is the size.
    burst_io_count : I/Os of one burst. delay_ms : pause before each burst of a thread, from when it could
    issue another I/O; what is outstanding goes on meanwhile.
    delay_ms_at_1_tb : the same on a drive of 10^12 bytes; on another divided by its capacity in TB.
    """

    percent: Percent = 100.0
    size_bytes: Annotated[int, Field(ge=512, le=TRANSFER_BYTES_MAX)]
    read_percent: Percent = 100.0
    random_percent: Percent = 100.0
    align_bytes: Annotated[int, Field(ge=0, le=1 << 40)] = 0
    burst_io_count: Annotated[int, Field(ge=1, le=1 << 30)] = 1
    delay_ms: Annotated[float, Field(ge=0, le=3_600_000)] = 0.0
    delay_ms_at_1_tb: Annotated[float, Field(ge=0, le=3_600_000)] = 0.0

    @model_validator(mode="after")
    def _one_pause(self) -> Self:
        if self.delay_ms and self.delay_ms_at_1_tb:
            raise ValueError("give delay_ms or delay_ms_at_1_tb, not both")
        return self

    @property
    def pauses(self) -> bool:
        """Whether there is a pause before each burst."""
        return bool(self.delay_ms or self.delay_ms_at_1_tb)

    def at_capacity(self, capacity_bytes: int) -> Line:
        """The line on a drive of so many bytes: no pause of it depends on the capacity any more.

        Worked: ``delay_ms_at_1_tb`` of 1164.8 on 2 TB -> ``delay_ms`` of 582.4.
        """
        if not self.delay_ms_at_1_tb:
            return self
        delay_ms = self.delay_ms_at_1_tb * TB / capacity_bytes
        return self.model_copy(update={"delay_ms": delay_ms, "delay_ms_at_1_tb": 0.0})


class LbaGroup(Strict):
    """A part of a stream's range, in the order of addresses, and how many of the accesses go there.

    access_percent : of the random accesses. range_percent : of the range. Worked: half of the accesses in the first
    twentieth -> 50 and 5.
    """

    access_percent: Annotated[float, Field(gt=0, le=100)]
    range_percent: Annotated[float, Field(gt=0, le=100)]


class Rate(Strict):
    """At which rate a stream asks for I/Os, whatever the drive does. Exactly one of the first four is given.

    ios_per_s, bytes_per_s : over all threads of the stream; bytes by the mean size of its I/Os.
    ios_per_s_per_tb, bytes_per_s_per_tb : the same for each 10^12 bytes of the drive's capacity.
    arrivals : all the same time apart, or exponential. end_factor : the rate changes evenly over the stage to this
    many times its first value.
    """

    ios_per_s: Annotated[float, Field(gt=0.001, le=1e9)] | None = None
    bytes_per_s: Annotated[float, Field(gt=0, le=1e13)] | None = None
    ios_per_s_per_tb: Annotated[float, Field(gt=0, le=1e9)] | None = None
    bytes_per_s_per_tb: Annotated[float, Field(gt=0, le=1e13)] | None = None
    arrivals: Literal["fixed", "poisson"] = "fixed"
    end_factor: Annotated[float, Field(gt=0, le=1000)] = 1.0

    @model_validator(mode="after")
    def _one(self) -> Self:
        rates = (self.ios_per_s, self.bytes_per_s, self.ios_per_s_per_tb, self.bytes_per_s_per_tb)
        if sum(rate is not None for rate in rates) != 1:
            raise ValueError("needs exactly 1 of ios_per_s, bytes_per_s, ios_per_s_per_tb and bytes_per_s_per_tb")
        return self


class Content(Strict):
    """What writes hold. kind : as in a plan's ``data``. stored_percent : of compressible data, 5 to 95."""

    kind: Literal["random", "compressible", "stamped", "repeating", "addressed"] = "random"
    stored_percent: Annotated[float, Field(ge=5, le=95)] | None = None
    pool_bytes: Annotated[int, Field(ge=512, le=1 << 30)] | None = None

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if (self.kind == "compressible") != (self.stored_percent is not None):
            raise ValueError("stored_percent belongs to compressible data, and to no other")
        if (self.kind == "repeating") != (self.pool_bytes is not None):
            raise ValueError("pool_bytes belongs to repeating data, and to no other")
        return self


Continuation = Literal["shared", "per_thread", "fio", "iometer"]


class Stream(Strict):
    """I/Os of one kind from threads of their own.

    lines : what they look like; a trim's have sizes and places only, a flush has one line whose size says nothing.
    start_bytes, start_percent, size_bytes, size_percent : where they go; without a size to the drive's end.
    thread_count, queue_depth : outstanding I/Os, with a rate the most there may be.
    grid_from : the grid of the starts is counted from the start of the range, or from byte 0 of the ``drive``, as that
    of a range that starts at a per cent always is.
    cursor : where an I/O that is not random begins, as ``assay.engine.records.AccessPattern`` has it.
    data : None is what the plan says of all writes.
    lba_groups : parts of the range that get unlike shares of random accesses; none means that all get the same. The
    lines then differ in their sizes only.
    """

    name: Name
    operation: Operation = "transfer"
    lines: Annotated[tuple[Line, ...], Field(min_length=1, max_length=100)]
    start_bytes: Annotated[int, Field(ge=0, lt=1 << 63)] | None = None
    start_percent: Annotated[float, Field(ge=0, lt=100)] | None = None
    size_bytes: Annotated[int, Field(gt=0, lt=1 << 63)] | None = None
    size_percent: Annotated[float, Field(gt=0, le=100)] | None = None
    thread_count: Annotated[int, Field(ge=1, le=1024)] = 1
    queue_depth: Annotated[int, Field(ge=1, le=4096)] = 1
    rate: Rate | None = None
    grid_from: Literal["range", "drive"] = "range"
    cursor: Continuation = "shared"
    data: Content | None = None
    lba_groups: Annotated[tuple[LbaGroup, ...], Field(max_length=64)] = ()

    @model_validator(mode="after")
    def _grouped(self) -> Self:
        if not self.lba_groups:
            return self
        for what in ("access_percent", "range_percent"):
            if abs(sum(getattr(group, what) for group in self.lba_groups) - 100) > _SHARE_TOLERANCE:
                raise ValueError(f"{what} of the lba_groups must sum to 100")
        if not self.differs_in_sizes_only or self.lines[0].random_percent < 100:  # noqa: PLR2004 - per cent
            raise ValueError("with lba_groups all accesses are random, and lines differ in percent and size_bytes only")
        return self

    @model_validator(mode="after")
    def _runnable(self) -> Self:
        largest = max(line.size_bytes for line in self.lines)
        if self.size_bytes is not None and self.size_bytes < largest:
            reason = f"stream {self.name!r} has a range of {self.size_bytes:,} bytes"
            raise ValueError(f"{reason}, which holds no transfer of {largest:,}", "write a larger range")
        return self

    @property
    def is_plain(self) -> bool:
        """Whether its I/Os come without bursts: of one line without pauses, or drawn over groups of LBAs."""
        used = [line for line in self.lines if line.percent > 0]
        return bool(self.lba_groups) or (len(used) == 1 and not used[0].pauses)

    @property
    def grid_bytes(self) -> int:
        """The smallest grid of its starts. Worked: 4 KiB and 64 KiB without an alignment -> 4096."""
        return min(line.align_bytes or line.size_bytes for line in self.lines)

    @property
    def is_mixed(self) -> bool:
        """Whether it reads and writes."""
        reads = [line.read_percent for line in self.lines]
        return self.operation == "transfer" and 0 < sum(reads) < 100 * len(reads)

    def goes_on_as(self, rule: Continuation) -> bool:
        """Whether its I/Os begin where they would by another rule: both are one, or nothing tells them apart.

        Worked: pure random I/Os go on by any rule; sequential reads of one thread as by that of fio and of Iometer;
        a mix of 30 % random ones from a shared cursor by neither.
        """
        if self.cursor == rule or all(line.random_percent == 100 for line in self.lines):  # noqa: PLR2004 - per cent
            return True
        if self.cursor in {"fio", "iometer"}:
            return rule in {"fio", "iometer"} and not self.is_mixed
        in_order = all(line.random_percent == 0 for line in self.lines)
        return self.thread_count == 1 and in_order and (rule != "fio" or not self.is_mixed)

    @property
    def differs_in_sizes_only(self) -> bool:
        """Whether its lines are alike but for shares and sizes, and pause for nothing."""
        first = self.lines[0]
        alike = {
            line.model_copy(update={"percent": first.percent, "size_bytes": first.size_bytes}) for line in self.lines
        }
        return alike == {first} and not first.pauses and first.burst_io_count == 1

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if abs(sum(line.percent for line in self.lines) - 100) > _SHARE_TOLERANCE:
            raise ValueError("the percents of the lines must sum to 100")
        if self.start_bytes is not None and self.start_percent is not None:
            raise ValueError("give start_bytes or start_percent, not both")
        if self.size_bytes is not None and self.size_percent is not None:
            raise ValueError("give size_bytes or size_percent, not both")
        if self.rate and any(line.pauses for line in self.lines):
            raise ValueError("a stream has a rate or delays, not both")
        return self


class Stage(Strict):
    """Streams that run side by side to one end: after time_s, or when amount_bytes, amount_fills or io_count is done.

    amount_bytes, amount_fills, io_count : what all streams together issue after the ramp-up: reads, writes, trims and,
    as I/Os without bytes, flushes.
    role : whether its numbers are reported. ramp_up_s : runs first, unmeasured. Without streams nothing is issued.
    name : as printed; unique in the workload.
    """

    name: Name
    role: Literal["prepare", "measure"] = "measure"
    ramp_up_s: Annotated[float, Field(ge=0, le=1e6)] = 0.0
    time_s: Annotated[float, Field(gt=0, le=1e7)] | None = None
    amount_bytes: Annotated[int, Field(gt=0, lt=1 << 63)] | None = None
    amount_fills: Annotated[float, Field(gt=0, le=100)] | None = None
    io_count: Annotated[int, Field(gt=0, lt=1 << 62)] | None = None
    streams: Annotated[tuple[Stream, ...], Field(max_length=STREAMS_MAX)]

    @model_validator(mode="after")
    def _complete(self) -> Self:
        ends = (self.time_s, self.amount_bytes, self.amount_fills, self.io_count)
        if sum(end is not None for end in ends) != 1:
            raise ValueError("needs exactly 1 of time_s, amount_bytes, amount_fills (of the capacity) and io_count")
        outstanding = sum(stream.thread_count * stream.queue_depth for stream in self.streams)
        if outstanding > OUTSTANDING_MAX:
            reason = f"stage {self.name!r} keeps {outstanding:,} I/Os outstanding, more than {OUTSTANDING_MAX:,}"
            raise ValueError(reason, "lower queue_depth or thread_count of its streams")
        if not self.streams and self.time_s is None:
            raise ValueError("a stage without streams needs time_s")
        if self.time_s is None and any(stream.rate and stream.rate.end_factor != 1 for stream in self.streams):
            raise ValueError("a rate with end_factor changes over a stage of stated time", "write time_s")
        if self.io_count is None and self.time_s is None and {stream.operation for stream in self.streams} == {"flush"}:
            raise ValueError("flushes move no bytes and never reach an amount of them", "write io_count or time_s")
        names = [stream.name for stream in self.streams]
        if len(set(names)) < len(names):
            raise ValueError("two streams of a stage have the same name")
        return self


class Workload(Strict):
    """Stages in turn, without a gap.

    title : one line. source : where it is from. purge : before the first stage. prepare_fills : sequential writes of
    the drive's capacity before it. left_out : what the original says and a block device cannot do, a line each.
    stages : each ends by time_s, or by amount_bytes, amount_fills or io_count of all its streams together.
    """

    title: Annotated[str, Field(max_length=200)] = ""
    source: Annotated[str, Field(max_length=500)] = ""
    purge: bool = True
    prepare_fills: Annotated[float, Field(ge=0, le=100)] = 0.0
    left_out: Annotated[tuple[Annotated[str, Field(max_length=500)], ...], Field(max_length=1000)] = ()
    stages: Annotated[tuple[Stage, ...], Field(min_length=1, max_length=10_000)]

    @model_validator(mode="after")
    def _named(self) -> Self:
        names = [stage.name for stage in self.stages]
        if len(set(names)) < len(names):
            raise ValueError("two stages have the same name")
        return self
