"""Rules that hold counts of response times, seconds and captures against the step that they are of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.archive.verify.rule import Broken
from assay.archive.verify.steps import contradicted
from assay.results import record
from assay.results.captured import latency_buckets
from assay.results.histogram import step_times
from assay.results.record import sequence_steps
from assay.results.step import completed_count, ran_whole
from assay.run.store.read import checked_table
from assay.run.store.tables import BUCKET_COUNT, SERIES, series_rows, with_series
from assay.run.store.traces import window_latencies

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from assay.archive.verify.evidence import Evidence
    from assay.engine.records import DirectionRecord, StoredSequence, TraceSummary
    from assay.results.histogram import ResponseTimes
    from assay.results.record import Step


def histogram_counts(evidence: Evidence) -> Iterator[Broken]:
    """Histograms count what the steps issued, and each part of them what it is of."""
    yield from contradicted(evidence, record.histogram_counts)


def histogram_ends(evidence: Evidence) -> Iterator[Broken]:
    """The smallest and largest latency lie in the first and last bucket, and their sum between the buckets' limits."""
    yield from contradicted(evidence, record.histogram_ends)


def series_sums(evidence: Evidence) -> Iterator[Broken]:
    """The seconds of a window hold the I/Os and bytes of the window, and no more than its response times."""
    yield from contradicted(evidence, record.second_counts)
    sequences = (sequence for test in evidence.run.tests for sequence in test.sequences)
    for sequence, (steps, _) in zip(sequences, evidence.counted, strict=True):
        name = next(name for name in steps.tables if name.startswith(SERIES))
        content = checked_table(evidence.folder, name, steps)
        rows = series_rows(sequence.steps, content, name=name)
        for place, step in enumerate(with_series(sequence.steps, rows)):
            for fault, expected in (second_fault for side in step.sides for second_fault in _second_faults(side)):
                yield Broken(place=f"{name}: step {place}", found=fault, expected=expected)


def _second_faults(side: DirectionRecord) -> Iterator[tuple[str, str]]:
    counts, sums, largest = side.series_io_count, side.series_latency_ns_sum, side.series_latency_ns_max
    most = side.latency_ns_sum + (side.lead_in_latency_ns_sum or 0) + side.carried_in_latency_ns_sum
    if sum(sums) > most:
        yield f"{sum(sums):,} ns in its seconds", f"at most {most:,} ns"
    if not side.carried_in_io_count and largest:
        known_ns = max(side.latency_ns_max or 0, side.lead_in_latency_ns_max or 0)
        if max(largest) > known_ns:
            yield f"{max(largest):,} ns in a second of it", f"at most {known_ns:,} ns"
    seconds = zip(counts, sums, largest, strict=True)
    if any(longest > summed or summed > count * longest for count, summed, longest in seconds):
        yield "a second whose longest response time does not fit their sum", "between the mean and the sum"


def captured_times(evidence: Evidence) -> Iterator[Broken]:
    """Captures hold every I/O of their steps, with the response times that were counted."""
    sequences = [(sequence, test.settings.test) for test in evidence.run.tests for sequence in test.sequences]
    for (sequence, test), (_, name) in zip(sequences, evidence.counted, strict=True):
        if sequence.trace is not None:
            counts, sums = _captured(evidence, name, sequence)
            due = step_times(sequence)
            for step in sequence_steps(sequence):
                if ran_whole(step.record):
                    times, total_ns = due[step.place], int(sums[step.place])
                    for found, expected in _captured_faults(step, sequence.trace, times, counts[step.place], total_ns):
                        yield Broken(place=f"{test}: {step.where}", found=found, expected=expected)


def _captured(evidence: Evidence, name: str, sequence: StoredSequence) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """What a capture holds of the windows of its steps: I/Os of each step and bucket, and sums of each step."""
    count = len(sequence.steps)
    counts, sums = np.zeros((count, BUCKET_COUNT), np.int64), np.zeros(count, np.int64)
    opened_ns = [step.start_ns for step in sequence.steps]
    for steps, latencies_ns in window_latencies(evidence.folder, name, opened_ns):
        np.add.at(counts, (steps, latency_buckets(latencies_ns)), 1)
        np.add.at(sums, steps, latencies_ns)
    return counts, sums


def _captured_faults(
    step: Step, trace: TraceSummary, due: ResponseTimes, counts: NDArray[np.int64], total_ns: int
) -> Iterator[tuple[str, str]]:
    kept, done = trace.io_counts[step.place], completed_count(step.record)
    if kept != done:
        yield f"{kept:,} I/Os captured", f"{done:,}, as completed"
        return
    due_ns = sum(side.latency_ns_sum for _, side in step.sides)
    filled = np.flatnonzero(counts)
    if not (np.array_equal(filled, due.buckets) and np.array_equal(counts[filled], due.counts)):
        yield "captured in other buckets", "as the histogram of its window"
    elif total_ns != due_ns:
        yield f"{total_ns:,} ns captured", f"{due_ns:,} ns"
