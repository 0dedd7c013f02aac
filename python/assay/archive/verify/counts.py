"""Rules that hold counts of response times, seconds and captures against the step that they are of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.archive.verify.rule import Broken
from assay.archive.verify.steps import all_steps, audited, sequence_steps
from assay.results.captured import latency_buckets
from assay.results.histogram import lowest_ns, step_times
from assay.results.step import completed_count, issued_count, ran_whole
from assay.run.store.read import checked_table
from assay.run.store.series import series_rows, with_series
from assay.run.store.tables import BUCKET_COUNT, SERIES
from assay.run.store.traces import window_latencies

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from assay.archive.verify.evidence import Evidence
    from assay.archive.verify.steps import Step
    from assay.engine.records import DirectionRecord, HistogramTable, StoredSequence, TraceSummary
    from assay.results.histogram import ResponseTimes

_LAST_BUCKET = BUCKET_COUNT - 1
"""Of all that is longer than the others hold: a sum has no upper limit there."""
_PREFIXES = {
    "window": "latency_ns",
    "lead-in": "lead_in_latency_ns",
    "intended": "intended_ns",
    "lateness": "late_ns",
}
"""What a direction's record calls the times of each histogram."""


def histogram_counts(evidence: Evidence) -> Iterator[Broken]:
    """Histograms count what the steps issued, and each part of them what it is of."""
    yield from audited(evidence, "histogram-counts", "as many as the step issued and completed")
    for one, name, side, kind, counts, _ in _histograms(evidence):
        due = _lead_in_count(side) if kind == "lead-in" else side.latency_io_count
        if (total := int(counts.sum())) != due:
            yield Broken(place=f"{one.where}, {name}", found=f"{total:,} in the {kind} histogram", expected=f"{due:,}")


def _lead_in_count(side: DirectionRecord) -> int:
    """The I/Os that a step issued before its window opened."""
    return issued_count(side) - side.latency_io_count


def histogram_ends(evidence: Evidence) -> Iterator[Broken]:
    """The smallest and largest latency lie in the first and last bucket, and their sum between the buckets' limits."""
    for one, name, side, kind, counts, buckets in _histograms(evidence):
        prefix = _PREFIXES[kind]
        least, most, total = (getattr(side, f"{prefix}_{part}") for part in ("min", "max", "sum"))
        if fault := _ends_fault(buckets, counts, least, most, total):
            expected = f"as the {len(buckets):,} buckets of its {kind} histogram"
            yield Broken(place=f"{one.where}, {name}", found=fault, expected=expected)


def _ends_fault(
    buckets: NDArray[np.uint64], counts: NDArray[np.int64], least: int | None, most: int | None, total: int | None
) -> str | None:
    if not len(buckets):
        return None if least is most is None and not total else "response times of no I/O"
    if least is None or most is None or total is None:
        return "no response times"
    for word, value, bucket in (("smallest", least, buckets.min()), ("largest", most, buckets.max())):
        if int(latency_buckets(np.array([value]))[0]) != bucket:
            return f"the {word} is {value:,} ns, which is in another bucket"
    lower, upper = (int(counts.astype(object) @ ends) for ends in _limits(buckets))
    open_end = buckets.max() == _LAST_BUCKET
    return None if lower <= total <= upper or (open_end and lower <= total) else f"a sum of {total:,} ns"


def _limits(buckets: NDArray[np.uint64]) -> tuple[NDArray[np.object_], NDArray[np.object_]]:
    """The lowest and the highest latency in ns of each bucket, as exact integers."""
    lowest, above = (lowest_ns(buckets + np.uint64(more)).astype(object) for more in (0, 1))
    return lowest, above - 1


Counted = tuple["Step", str, "DirectionRecord", str, "NDArray[np.int64]", "NDArray[np.uint64]"]


def _histograms(evidence: Evidence) -> Iterator[Counted]:
    """Every histogram: its step, direction, that record, which of ``_PREFIXES`` it is, counts, buckets."""
    for all_step in all_steps(evidence):
        sequence = all_step.sequence
        tables = {
            "window": sequence.histograms,
            "lead-in": sequence.lead_in,
            "intended": sequence.intended,
            "lateness": sequence.lateness,
        }
        for direction, (name, side) in enumerate(all_step.sides):
            for kind, table in tables.items():
                if kind in {"intended", "lateness"} and all_step.record.offered_io_count is None:
                    continue
                yield all_step, name, side, kind, *_of_step(table, all_step.place, direction)


def _of_step(table: HistogramTable | None, index: int, direction: int) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    if table is None:
        return np.empty(0, np.int64), np.empty(0, np.uint64)
    # Rows ascend by step, as a rule before this one has seen.
    of_step = slice(*np.searchsorted(table.step, [index, index + 1]))
    chosen = table.direction[of_step] == direction
    return table.count[of_step][chosen].astype(np.int64), table.bucket[of_step][chosen].astype(np.uint64)


def series_sums(evidence: Evidence) -> Iterator[Broken]:
    """The seconds of a window hold the I/Os and bytes of the window, and no more than its response times."""
    yield from audited(evidence, "series-counts", "as many as in the window")
    sequences = (sequence for test in evidence.run.tests for sequence in test.sequences)
    for sequence, (steps, _) in zip(sequences, evidence.counted, strict=True):
        name = next(name for name in steps.tables if name.startswith(SERIES))
        content = checked_table(evidence.folder, name, steps.tables[name])
        rows = series_rows(sequence.steps, content, name=name)
        for place, step in enumerate(with_series(sequence.steps, rows)):
            for fault, expected in (second_fault for side in step.sides for second_fault in _second_faults(side)):
                yield Broken(place=f"{name}: step {place}", found=fault, expected=expected)


def _second_faults(side: DirectionRecord) -> Iterator[tuple[str, str]]:
    counts, sums, largest = side.series_io_count, side.series_latency_ns_sum, side.series_latency_ns_max
    moved, due = sum(side.series_bytes), side.window_bytes + side.carried_in_bytes
    if moved != due:
        yield f"{moved:,} bytes in its seconds", f"{due:,}"
    if (done := sum(counts)) != (own := side.window_io_count + side.carried_in_io_count):
        yield f"{done:,} I/Os in its seconds", f"{own:,}"
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
    sequences = [(sequence, f"{test.settings.test}: ") for test in evidence.run.tests for sequence in test.sequences]
    for (sequence, prefix), (_, name) in zip(sequences, evidence.counted, strict=True):
        if sequence.trace is not None:
            counts, sums = _captured(evidence, name, sequence)
            due = step_times(sequence)
            for sequence_step in sequence_steps(sequence, prefix):
                if ran_whole(sequence_step.record):
                    yield from _captured_step(
                        sequence_step,
                        sequence.trace,
                        due[sequence_step.place],
                        counts[sequence_step.place],
                        int(sums[sequence_step.place]),
                    )


def _captured(evidence: Evidence, name: str, sequence: StoredSequence) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """What a capture holds of the windows of its steps: I/Os of each step and bucket, and sums of each step."""
    count = len(sequence.steps)
    counts, sums = np.zeros((count, BUCKET_COUNT), np.int64), np.zeros(count, np.int64)
    opened_ns = [step.start_ns for step in sequence.steps]
    for steps, latencies_ns in window_latencies(evidence.folder, name, opened_ns):
        np.add.at(counts, (steps, latency_buckets(latencies_ns)), 1)
        np.add.at(sums, steps, latencies_ns)
    return counts, sums


def _captured_step(
    step: Step, trace: TraceSummary, due: ResponseTimes, counts: NDArray[np.int64], total_ns: int
) -> Iterator[Broken]:
    kept, done = trace.io_counts[step.place], completed_count(step.record)
    if kept != done:
        yield Broken(place=step.where, found=f"{kept:,} I/Os captured", expected=f"{done:,}, as completed")
        return
    due_ns = sum(side.latency_ns_sum for _, side in step.sides)
    filled = np.flatnonzero(counts)
    if not (np.array_equal(filled, due.buckets) and np.array_equal(counts[filled], due.counts)):
        yield Broken(place=step.where, found="captured in other buckets", expected="as the histogram of its window")
    elif total_ns != due_ns:
        yield Broken(place=step.where, found=f"{total_ns:,} ns captured", expected=f"{due_ns:,} ns")
