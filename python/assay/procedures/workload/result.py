"""What every stream of a workload did, and all streams of a stage together."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from assay.results import (
    POINT_SHARES,
    error_count,
    intended_times,
    lateness_times,
    mean_latency_ns,
    merged,
    percentiles,
    step_times,
    throughput,
)
from assay.results.seconds import completions_per_second
from assay.results.step import commands_per_s, latency_count, max_latency_ns, transfers_per_s, trimmed_mb_per_s
from assay.spec.units import MILLISECOND_NS, SECOND_NS

PERCENTILE_FIELDS = tuple(f"latency_ms_p{share * 100:g}".replace(".", "") for share in POINT_SHARES)
"""Fields of the percentiles of a stream, in their order. Worked: 0.9999 -> ``latency_ms_p9999``."""
_MINUTE_SECONDS = 60
_LEAST_IOS = 10

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from fractions import Fraction

    from assay.engine.records import AccessPattern, StepRecord, StepSpec, StoredSequence, StoredTest
    from assay.results.histogram import ResponseTimes


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamResult:
    """One stream of a measured stage, or several: ``all reads``, ``all writes``, ``all trims``, ``all streams``.

    spec : None of several. operations : what is done: ``transfer``, ``trim``, ``flush``, of several each that any does.
    iops, mb_per_s : reads and writes that completed in the window, and what they transferred. commands_per_s,
    trimmed_mb_per_s : trims and flushes that did, and what was trimmed.
    latency_ms_* : of I/Os issued in it; None where there are none or, of percentiles, fewer than ten beyond.
    latency_ms_p50 to p999999 : those of ``POINT_SHARES``, to 99.9999 %.
    offered : I/Os per second that were due, where a rate is stated. late_ms_mean : how much later than due they were
    issued, and late_ms_p99, late_ms_max. due_ms_* : from when they were due to their completion.
    """

    stage: str
    label: str
    spec: StepSpec | None
    operations: tuple[str, ...]
    iops: float
    mb_per_s: float
    commands_per_s: float
    trimmed_mb_per_s: float
    latency_ms_mean: float | None
    latency_ms_max: float | None
    errors: int
    latency_ms_p50: float | None = None
    latency_ms_p90: float | None = None
    latency_ms_p99: float | None = None
    latency_ms_p999: float | None = None
    latency_ms_p9999: float | None = None
    latency_ms_p99999: float | None = None
    latency_ms_p999999: float | None = None
    offered: float | None = None
    late_ms_mean: float | None = None
    late_ms_p99: float | None = None
    late_ms_max: float | None = None
    due_ms_p99: float | None = None
    due_ms_max: float | None = None

    @property
    def moves(self) -> bool:
        """Whether it reads or writes."""
        return "transfer" in self.operations

    @property
    def commands(self) -> bool:
        """Whether it trims or flushes."""
        return self.operations != ("transfer",)

    @property
    def all_per_s(self) -> float:
        """I/Os of every kind per second."""
        return self.iops + self.commands_per_s

    @property
    def item(self) -> str:
        """Stage and stream as printed. Worked: ``corner tests, writes``."""
        return f"{self.stage}, {self.label}"


def stage_results(test: StoredTest) -> tuple[tuple[StreamResult, ...], ...]:
    """The streams of every measured stage that ran; behind several of them those of a kind, and all together.

    Worked: two streams of writes beside one of reads -> the three, ``all writes`` and ``all streams``.
    """
    return tuple(_stage(sequence) for sequence in test.sequences if sequence.role == "measure")


def iops_over_time(test: StoredTest) -> dict[str, tuple[tuple[str, tuple[float, ...], tuple[float, ...]], ...]]:
    """I/Os in every second of each measured stage: name, minutes since its window opened and counts of each stream.

    The last second may be cut short and is left out. A slow stream is averaged over intervals of about ten I/Os.
    """
    return {
        sequence.name: _seconds(sequence)
        for sequence in test.sequences
        if sequence.role == "measure" and sequence.series is not None
    }


def _seconds(sequence: StoredSequence) -> tuple[tuple[str, tuple[float, ...], tuple[float, ...]], ...]:
    result = []
    for place, _, spec in sequence.result_steps:
        if counts := completions_per_second(sequence, place):
            seconds, rates = averaged(counts)
            result.append((spec.label, tuple(second / _MINUTE_SECONDS for second in seconds), rates))
    return tuple(result)


def averaged(counts: tuple[float, ...]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Ends in s and I/Os per second of intervals that hold ten I/Os in the mean, of a second at least.

    What is left at the end is no whole interval. Worked: ten seconds of one I/O in every other -> no interval of 20 s,
    so one of the ten seconds, with 0.5 I/Os per second.
    """
    total = sum(counts)
    length = min(ceil(_LEAST_IOS * len(counts) / total) if total else len(counts), len(counts))
    starts = range(0, len(counts) - length + 1, length)
    ends = tuple(float(start + length) for start in starts)
    return ends, tuple(sum(counts[start : start + length]) / length for start in starts)


def _stage(sequence: StoredSequence) -> tuple[StreamResult, ...]:
    times, due, late = step_times(sequence), intended_times(sequence), lateness_times(sequence)
    streams = []
    for place, record, spec in sequence.result_steps:
        rated = spec.demand.arrivals_per_s is not None
        own_due, own_late = (result[place] if result and rated else None for result in (due, late))
        streams.append(
            _stream(sequence.name, record, spec, times=times[place] if times else None, due=own_due, late=own_late)
        )
    return (*streams, *_sums(sequence, times)) if len(streams) > 1 else tuple(streams)


def _sums(sequence: StoredSequence, times: Sequence[ResponseTimes]) -> Iterator[StreamResult]:
    """What several streams did together: those that only read, only write or trim, where there are others; then all."""
    kinds = {place: _kind(spec.pattern) for place, _, spec in sequence.result_steps}
    labels = {spec.label for spec in sequence.asked}
    for kind in ("reads", "writes", "trims"):
        places = [place for place, one in kinds.items() if one == kind]
        label = f"all {kind}"
        if 1 < len(places) < len(kinds) and label not in labels:
            yield _together(sequence, label, places, times)
    yield _together(sequence, "all streams", list(kinds), times if len(set(kinds.values())) == 1 else ())


def _kind(pattern: AccessPattern) -> str:
    if pattern.operation != "transfer":
        return f"{pattern.operation}s"
    return {1.0: "reads", 0.0: "writes"}.get(pattern.read_share, "mixed")


def _stream(
    stage: str,
    record: StepRecord,
    spec: StepSpec,
    *,
    times: ResponseTimes | None,
    due: ResponseTimes | None,
    late: ResponseTimes | None,
) -> StreamResult:
    return StreamResult(
        stage=stage,
        label=spec.label,
        spec=spec,
        operations=(spec.pattern.operation,),
        iops=_rate([record], transfers_per_s),
        mb_per_s=_rate([record], throughput),
        commands_per_s=_rate([record], commands_per_s),
        trimmed_mb_per_s=_rate([record], trimmed_mb_per_s),
        latency_ms_mean=_ms(mean_latency_ns(record)),
        latency_ms_max=_ms(max_latency_ns(record)),
        errors=error_count(record),
        **_percentiles(times),
        offered=_offered(record),
        late_ms_mean=_late_ms(record),
        late_ms_p99=late.percentile(0.99) if late else None,
        late_ms_max=late.latency_ms_max if late else None,
        due_ms_p99=due.percentile(0.99) if due else None,
        due_ms_max=_ms(max((side.intended_ns_max or 0 for side in record.sides), default=None)) if due else None,
    )


def _offered(record: StepRecord) -> float | None:
    if record.offered_io_count is None or not record.span_ns:
        return None
    return record.offered_io_count * SECOND_NS / record.span_ns


def _late_ms(record: StepRecord) -> float | None:
    """How much later than due I/Os were issued, on the mean."""
    count = latency_count(record)
    if record.offered_io_count is None or not count:
        return None
    return sum(side.late_ns_sum or 0 for side in record.sides) / count / MILLISECOND_NS


def _together(
    sequence: StoredSequence, label: str, places: Sequence[int], times: Sequence[ResponseTimes]
) -> StreamResult:
    records = [sequence.steps[place] for place in places]
    count = sum(map(latency_count, records))
    spent = sum(side.latency_ns_sum for record in records for side in record.sides)
    largest = [result for record in records if (result := max_latency_ns(record)) is not None]
    return StreamResult(
        stage=sequence.name,
        label=label,
        spec=None,
        operations=tuple(dict.fromkeys(sequence.asked[place].pattern.operation for place in places)),
        iops=_rate(records, transfers_per_s),
        mb_per_s=_rate(records, throughput),
        commands_per_s=_rate(records, commands_per_s),
        trimmed_mb_per_s=_rate(records, trimmed_mb_per_s),
        latency_ms_mean=_ms(spent / count) if count else None,
        latency_ms_max=_ms(max(largest, default=None)),
        errors=sum(map(error_count, records)),
        **_percentiles(merged([times[place] for place in places]) if times else None),
    )


def _rate(records: Sequence[StepRecord], rate: Callable[[StepRecord], Fraction]) -> float:
    """A rate of several streams together; one that ended before its window opened has none."""
    return sum(float(rate(record)) for record in records if record.span_ns)


def _percentiles(times: ResponseTimes | None) -> dict[str, float | None]:
    return dict(zip(PERCENTILE_FIELDS, percentiles(times, POINT_SHARES).values(), strict=True)) if times else {}


def _ms(nanoseconds: float | None) -> float | None:
    return None if nanoseconds is None else nanoseconds / MILLISECOND_NS
