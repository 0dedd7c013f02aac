"""What a workload says of the drive: rates that it missed, how long its I/Os waited, and whether it was busy at all."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.procedures.subjects import pattern_subject
from assay.procedures.waits import stalls, tails, waited
from assay.results import effective_queue_depth, step_times
from assay.results.step import rate_count
from assay.spec.units import SECOND_NS
from assay.summary.insight import insight

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from assay.engine.records import StepRecord, StoredSequence, StoredTest
    from assay.procedures.workload.result import StreamResult
    from assay.summary.insight import Insight
    from assay.words.subject import Subject


def workload_insights(test: StoredTest, stages: Iterable[Sequence[StreamResult]]) -> Iterator[Insight]:
    """Everything that its measured stages say. stages : their streams."""
    for stage in stages:
        yield from rate_kept([one for one in stage if one.spec is not None])
    measured = [sequence for sequence in test.sequences if sequence.role == "measure" and sequence.result_steps]
    for sequence in measured:
        yield from _stage(sequence)
    yield from far_below([sum(effective_queue_depth(step) for _, step, _ in one.result_steps) for one in measured])


def far_below(depths: Sequence[float]) -> Iterator[Insight]:
    """That the drive had next to nothing to do. depths : I/Os in flight on the mean, of each stage.

    Worked: 0.012 in flight at most -> busy for 1.2 % of the time at most, as where one is in flight it is busy.
    """
    if depths:
        yield insight("far-below", busy=min(max(depths), 1.0))


def _stage(sequence: StoredSequence) -> Iterator[Insight]:
    times = step_times(sequence)
    for place, step, spec in sequence.result_steps:
        about = replace(pattern_subject(spec.pattern), stream=spec.label if sequence.result_steps[1:] else None)
        yield from rate_missed(about, step)
        if times and spec.pattern.operation == "transfer":
            yield from tails(about, times[place])
            yield from stalls(about, [waited([step], times[place : place + 1], spec.demand)])


def rate_kept(streams: Sequence[StreamResult]) -> Iterator[Insight]:
    """That the streams of a stage kept their rates, and what the fastest without a rate reached beside them.

    Worked: 2,001 of 2,000 I/Os per second, and reads without a rate of 93,323 IOPS -> 1 stream kept its rate.
    """
    paced = [stream for stream in streams if stream.offered]
    free = max(
        (stream for stream in streams if stream.offered is None and stream.moves),
        key=lambda stream: stream.iops,
        default=None,
    )
    if not paced:
        return
    yield insight(
        "rate-kept",
        count=len(paced),
        kept=min(one.all_per_s / (one.offered or 1) for one in paced),
        late_ms=max(one.late_ms_max or 0 for one in paced) or None,
        stream=free and free.label,
        rate=free and free.iops,
        p99_ms=free and free.latency_ms_p99,
    )


def rate_missed(about: Subject, step: StepRecord) -> Iterator[Insight]:
    """How much of what was due was done. Worked: 402 of 490 I/Os per second -> 82 % kept."""
    if step.offered_io_count and step.span_ns:
        kept = min(rate_count(step) / step.offered_io_count, 1.0)
        rate = step.offered_io_count * SECOND_NS / step.span_ns
        yield insight("rate-missed", about, kept=kept, lost=1 - kept, rate=rate)
