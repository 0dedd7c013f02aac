"""What a replay did: the I/Os as they were issued, how late they were, and what the drive answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.results import (
    error_count,
    intended_times,
    lateness_times,
    mean_latency_ns,
    step_times,
    throughput,
)
from assay.results.seconds import completions_per_second
from assay.results.step import (
    commands_per_s,
    effective_queue_depth,
    latency_count,
    max_latency_ns,
    transfers_per_s,
    trimmed_mb_per_s,
)
from assay.spec.units import MILLISECOND_NS, SECOND_NS
from assay.workloads.traces import stream_map

if TYPE_CHECKING:
    from assay.engine.records import StepRecord, StoredTest
    from assay.results.histogram import ResponseTimes
    from assay.workloads.traces import StreamMap

GRADES = (("exact", 0.0), ("good", 0.1), ("fair", 1.0))
"""Grades of lateness with the longest p99 in ms of each: nothing; less than a flash read takes; less than a busy drive
answers in. What is later is ``poor``."""
_WORST = "poor"


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Response times in ms: mean, percentiles (None with fewer than ten I/Os beyond) and the largest."""

    mean: float | None
    p50: float | None
    p99: float | None
    p999: float | None
    largest: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """What a replay did.

    issued : the map of the I/Os as they were to be issued on this drive. iops, mb_per_s : reads and writes, and what
    they transferred, over the whole replay. commands_per_s, trimmed_mb_per_s : trims and flushes, and what was trimmed.
    service, due, late : from when I/Os were issued, from when they were due, and how much later than due they were
    issued; the last two are None where times do not count. grade : of ``late``. per_s : completions in each second.
    held : I/Os outstanding on the mean.
    """

    issued: StreamMap
    io_count: int
    span_s: float
    iops: float
    mb_per_s: float
    commands_per_s: float
    trimmed_mb_per_s: float
    errors: int
    held: float
    service: Times
    due: Times | None
    late: Times | None
    grade: str | None
    per_s: tuple[float, ...]


def replayed(test: StoredTest) -> Replayed | None:
    """What the replay of a stored test did; None where it did not begin."""
    sequence = next((sequence for sequence in test.sequences if sequence.role == "measure"), None)
    if sequence is None or sequence.replayed is None or not sequence.steps[0].span_ns:
        return None
    record, timed = sequence.steps[0], sequence.steps[0].offered_io_count is not None
    late = _first(lateness_times(sequence)) if timed else None
    return Replayed(
        issued=stream_map(sequence.replayed()),
        io_count=latency_count(record),
        span_s=record.span_ns / SECOND_NS,
        iops=float(transfers_per_s(record)),
        mb_per_s=float(throughput(record)),
        commands_per_s=float(commands_per_s(record)),
        trimmed_mb_per_s=float(trimmed_mb_per_s(record)),
        errors=error_count(record),
        held=effective_queue_depth(record),
        service=_times(_first(step_times(sequence)), mean_latency_ns(record), max_latency_ns(record)),
        due=_kind(record, _first(intended_times(sequence)), "intended_ns") if timed else None,
        late=_kind(record, late, "late_ns") if timed else None,
        grade=grade(late.percentile(0.99) if late else None, record) if timed else None,
        per_s=completions_per_second(sequence, 0),
    )


def grade(late_ms_p99: float | None, record: StepRecord) -> str | None:
    """How faithful the times are: by the 99th percentile of the lateness, or its largest where there are too few I/Os.

    None without I/Os. Worked: a p99 of 0.05 ms is ``good``, one of 2 ms ``poor``.
    """
    if late_ms_p99 is None:
        largest = max((side.late_ns_max for side in record.sides if side.late_ns_max is not None), default=None)
        if largest is None:
            return None
        late_ms_p99 = largest / MILLISECOND_NS
    return next((word for word, most_ms in GRADES if late_ms_p99 <= most_ms), _WORST)


def _first(times: list[ResponseTimes]) -> ResponseTimes | None:
    return times[0] if times else None


def _kind(record: StepRecord, times: ResponseTimes | None, name: str) -> Times:
    """Times of a kind that each direction of a record sums up under its own names."""
    count = latency_count(record)
    total = sum(getattr(side, f"{name}_sum") or 0 for side in record.sides)
    largest = [value for side in record.sides if (value := getattr(side, f"{name}_max")) is not None]
    return _times(times, total / count if count else None, max(largest, default=None))


def _times(times: ResponseTimes | None, mean_ns: float | None, largest_ns: int | None) -> Times:
    shares = (0.5, 0.99, 0.999)
    p50, p99, p999 = (times.percentile(share) if times else None for share in shares)
    mean, largest = (None if value is None else value / MILLISECOND_NS for value in (mean_ns, largest_ns))
    return Times(mean=mean, p50=p50, p99=p99, p999=p999, largest=largest)
