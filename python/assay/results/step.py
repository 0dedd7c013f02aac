"""Numbers of a step and of groups of steps."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple, Self

from assay.spec.units import MB, MILLISECOND_NS, MINUTE_NS, SECOND_NS, kib_label

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.engine.records import Access, Cell, Demand, DirectionRecord, StepRecord, StepSpec, StopRule, StoredTest


class Sample(NamedTuple):
    """The numbers of one step of a series; the fields are those of ``Samples``."""

    minute: float
    iops: float
    throughput: float
    latency_ms_mean: float | None
    latency_ms_max: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """The numbers of steps in the order they ran; every tuple has one value per step.

    minutes : of each step, counted from where the series begins. iops : 0 where nothing completed. throughput : MB/s.
    latency_ms_mean, latency_ms_max : of the I/Os that were issued in the step; None where there are none.
    """

    minutes: tuple[float, ...]
    iops: tuple[float, ...]
    throughput: tuple[float, ...]
    latency_ms_mean: tuple[float | None, ...]
    latency_ms_max: tuple[float | None, ...]

    @classmethod
    def of(cls, steps: Sequence[StepRecord], times_ns: Sequence[float] | None = None, *, begun_ns: float = 0) -> Self:
        """Compute the numbers of steps.

        times_ns : the time of each step; None takes its end, where the first step begins at ``begun_ns``.
        Worked: two steps of 60 s, the first begun at 120 s -> minutes 3 and 4.
        """
        ends_ns = list(accumulate((step.span_ns for step in steps), initial=begun_ns))[1:]
        return cls(
            minutes=tuple(time_ns / MINUTE_NS for time_ns in (ends_ns if times_ns is None else times_ns)),
            iops=tuple(float(iops(step)) for step in steps),
            throughput=tuple(float(throughput(step)) for step in steps),
            latency_ms_mean=tuple(mean_latency_ms(step) for step in steps),
            latency_ms_max=tuple(max_latency_ms(step) for step in steps),
        )

    def each(self) -> Iterator[Sample]:
        """Every step of the series with its numbers."""
        series = (self.minutes, self.iops, self.throughput, self.latency_ms_mean, self.latency_ms_max)
        return map(Sample._make, zip(*series, strict=True))


def cell_label(cell: Cell, access: Access = "random") -> str:
    """Name a cell as the specification does. Worked: ``"RND 64KiB 65/35"``, ``"SEQ 1024KiB 0/100"``."""
    prefix = {"random": "RND", "sequential": "SEQ"}[access]
    return f"{prefix} {kib_label(cell.transfer_bytes)}KiB {cell.read_pct}/{100 - cell.read_pct}"


def iops(record: StepRecord) -> Fraction:
    """Completed I/Os per second of a step, reads plus writes.

    Worked: 90 reads and 30 writes completed in a window of 60 s -> 2.
    """
    return _per_second(rate_count(record), record)


def throughput(record: StepRecord) -> Fraction:
    """Megabytes (base 10) per second that a step transferred: reads plus writes. What is trimmed is not transferred.

    Worked: 60 GB completed in a window of 60 s -> 1000.
    """
    return _per_second(rate_bytes(record), record) / MB


def transfers_per_s(record: StepRecord) -> Fraction:
    """Completed reads and writes per second of a step: ``iops`` without trims and flushes."""
    return _per_second(window_count(record.read) + window_count(record.write), record)


def commands_per_s(record: StepRecord) -> Fraction:
    """Completed trims and flushes per second of a step.

    Worked: 30 trims completed in a window of 60 s -> 1/2.
    """
    return _per_second(0 if record.other is None else window_count(record.other), record)


def trimmed_mb_per_s(record: StepRecord) -> Fraction:
    """Megabytes (base 10) per second that a step trimmed."""
    side = record.other
    return _per_second(0 if side is None else side.window_bytes + side.carried_in_bytes, record) / MB


def response_time(record: StepRecord) -> Fraction:
    """Average response time in ms of the I/Os issued in the window of a step; zero where none completed.

    Worked: 3 reads summing to 3 ms and 1 write of 5 ms -> 2.
    """
    total_ns = sum(side.latency_ns_sum for side in record.sides)
    return Fraction(total_ns, max(latency_count(record), 1) * MILLISECOND_NS)


def mean_and_max_ms(steps: Sequence[StepRecord]) -> tuple[float | None, float | None]:
    """Average, weighted by I/Os, and largest response time of several steps in ms; None where no I/O completed.

    Worked: four steps of 1,000 I/Os at 1 ms and one of 1,000 at 2 ms -> (1.2, 2.0).
    """
    count = sum(map(latency_count, steps))
    summed = sum(response_time(step) * latency_count(step) for step in steps)
    largest = [result for step in steps if (result := max_latency_ms(step)) is not None]
    return float(summed / count) if count else None, max(largest, default=None)


def effective_queue_depth(record: StepRecord) -> float:
    """Mean number of I/Os outstanding on the drive over [0, T]. Worked: 480 I/O x s in 60 s -> 8.0."""
    return record.outstanding_ns / max(record.span_ns, 1)


DEPTH_SHARE = Fraction(5, 1000)
"""Outstanding I/Os of a closed loop may differ from TC x QD by so much on average."""


def holds_queue_depth(record: StepRecord, demand: Demand) -> bool:
    """Whether the outstanding I/Os were, on average, within 0.5 % of TC x QD.

    Worked: 7.96 of 8 is held, 7.95 is not.
    """
    asked = demand.thread_count * demand.queue_depth
    return abs(record.outstanding_ns - asked * record.span_ns) <= DEPTH_SHARE * asked * record.span_ns


def thread_spread(record: StepRecord, demand: Demand) -> Fraction | None:
    """How far the threads lay apart: (most I/Os of one - fewest of one) / mean, within [0, T].

    demand : of the step; its thread count makes the mean.
    None where the threads cannot be told apart, or nothing completed.
    Worked: 4 threads with 400 I/Os in all, the most 103 and the fewest 98 -> 0.05.
    """
    fewest, most = record.thread_io_count_min, record.thread_io_count_max
    total = rate_count(record)
    if fewest is None or most is None or total == 0:
        return None
    return Fraction((most - fewest) * demand.thread_count, total)


def mean_latency_ns(record: StepRecord) -> float | None:
    """Average response time in ns of the I/Os issued in the window of a step; None where none completed.

    Worked: 3 reads summing to 300 ns and 1 write of 500 ns -> 200.0.
    """
    return float(response_time(record) * MILLISECOND_NS) if latency_count(record) else None


def mean_latency_ms(record: StepRecord) -> float | None:
    """Mean response time in ms. Worked: a mean of 1,500,000 ns -> 1.5."""
    return float(response_time(record)) if latency_count(record) else None


def max_latency_ns(record: StepRecord) -> int | None:
    """Largest response time of the I/Os issued in the window of a step, in ns; None where none completed."""
    return max((d.latency_ns_max for d in record.sides if d.latency_ns_max is not None), default=None)


def lead_in_latency_ns_max(record: StepRecord) -> int | None:
    """Largest response time of the I/Os issued before the window of a step opened, in ns; None where there are none."""
    result = (side.lead_in_latency_ns_max for side in record.sides)
    return max((largest for largest in result if largest is not None), default=None)


def max_latency_ms(record: StepRecord) -> float | None:
    """Largest response time in ms. Worked: a largest response time of 1,500,000 ns -> 1.5."""
    largest = max_latency_ns(record)
    return None if largest is None else largest / MILLISECOND_NS


def submitted_count(record: StepRecord) -> int:
    """Every I/O that a step issued, whether it completed or failed. Worked: 98 completed, 2 failed -> 100."""
    return completed_count(record) + error_count(record)


def error_count(record: StepRecord) -> int:
    """Failed and short I/Os of a step. Worked: errors {5: 2} on reads and {61: 1} on writes -> 3."""
    return sum(count for side in record.sides for count in side.errors.values())


def ran_whole(record: StepRecord) -> bool:
    """Whether a step ran to its end and no I/O of it failed. Worked: one that was interrupted -> not."""
    return record.ended == "stop-rule" and not error_count(record)


def short_of_asked(records: Sequence[StepRecord], stop: StopRule) -> str | None:
    """What steps that ran side by side to their end did less of together than was asked; None where they did all of it.

    Worked: one I/O of a recording of 200 -> ``1 of 200 I/Os``; two streams with 60 and 40 of 100 -> None.
    """
    if not all(map(ran_whole, records)):
        return None
    moved = sum(issued_bytes(side) for record in records for side in record.sides)
    done = sum(map(completed_count, records))
    if stop.amount_bytes is not None and moved < stop.amount_bytes:
        return f"{moved:,} of {stop.amount_bytes:,} bytes"
    if stop.io_count is not None and done != stop.io_count:
        return f"{done:,} of {stop.io_count:,} I/Os"
    return None


def issued_bytes(direction: DirectionRecord) -> int:
    """Bytes that the I/Os issued by a step moved in one direction: lead-in, window and tail."""
    return direction.lead_in_bytes + direction.window_bytes + direction.tail_bytes


def issued_count(direction: DirectionRecord) -> int:
    """The I/Os issued by a step in one direction that completed: in lead-in, window and tail."""
    return direction.lead_in_io_count + direction.window_io_count + direction.tail_io_count


def completed_count(record: StepRecord) -> int:
    """Every I/O issued by a step that completed, in its lead-in, its window and its tail."""
    return sum(map(issued_count, record.sides))


def latency_count(record: StepRecord) -> int:
    """The I/Os that the response times of a step are those of: issued in its window, and completed."""
    return sum(side.latency_io_count for side in record.sides)


def rate_count(record: StepRecord) -> int:
    """Completions in the window of a step, whichever of equal steps issued them.

    Worked: 100 own, 7 carried in -> 107.
    """
    return sum(map(window_count, record.sides))


def window_count(direction: DirectionRecord) -> int:
    """Completions of one direction in the window."""
    return direction.window_io_count + direction.carried_in_io_count


def rate_bytes(record: StepRecord) -> int:
    """Bytes that the reads and writes transferred which the rate of a step counts."""
    return sum(side.window_bytes + side.carried_in_bytes for side in (record.read, record.write))


def _per_second(count: int, record: StepRecord) -> Fraction:
    # A step that ended before its window opened has no span and no completion in it.
    return Fraction(count * SECOND_NS, max(record.span_ns, 1))


def arrival_label(demand: Demand) -> str | None:
    """Say how I/Os arrive; None for a closed loop.

    Worked: fixed at 5,000 -> ``"fixed arrivals, 5000 I/Os per second over all threads"``.
    """
    if demand.arrivals_per_s is None:
        return None
    return f"{demand.arrival_process} arrivals, {demand.arrivals_per_s:.12g} I/Os per second over all threads"


def group_of(asked: Sequence[StepSpec], index: int) -> range:
    """Places of the steps that run side by side with one, itself among them.

    Worked: three steps of which the last two are ``beside`` -> ``range(0, 3)`` for each.
    """
    first = index
    while asked[first].beside:
        first -= 1
    end = index + 1
    while end < len(asked) and asked[end].beside:
        end += 1
    return range(first, end)


def place_before(asked: Sequence[StepSpec], index: int) -> int | None:
    """The place of the step of the group before that one follows: the same of it, or its last; None where none is.

    Worked: the second of two streams behind a group of two -> the second of those.
    """
    own = group_of(asked, index)
    if own[0] == 0:
        return None
    earlier = group_of(asked, own[0] - 1)
    return earlier[min(index - own[0], len(earlier) - 1)]


def goes_on(asked: Sequence[StepSpec], index: int) -> bool:
    """Whether the group of a step is equal to the one before it but for the stop rule, so that both are one stream."""
    own = group_of(asked, index)
    if own[0] == 0:
        return False
    earlier = group_of(asked, own[0] - 1)
    pairs = zip(own, earlier, strict=False)
    return len(own) == len(earlier) and all(_stream(asked[one]) == _stream(asked[other]) for one, other in pairs)


def _stream(spec: StepSpec) -> tuple[object, ...]:
    return spec.pattern, spec.demand, spec.active_range


def asked_depths(test: StoredTest) -> tuple[int, ...]:
    """I/Os in flight that its measured steps asked for, each once, the fewest first.

    Idle steps have none. Worked: one thread of 1 and one of 8 -> ``(1, 8)``.
    """
    demands = {spec.demand for sequence in test.sequences if sequence.role == "measure" for spec in sequence.asked}
    depths = {demand.thread_count * demand.queue_depth for demand in demands}
    return tuple(sorted(depths - {0} or {test.settings.demand.thread_count * test.settings.demand.queue_depth}))
