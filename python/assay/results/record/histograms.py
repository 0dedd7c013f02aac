"""Histograms against the counts and times of the steps that they are of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.results.histogram import SATURATION_NS, bucket_of
from assay.results.record.contradiction import Contradiction
from assay.results.record.steps import sequence_steps
from assay.results.record.totals import NO_IO, histogram_sums
from assay.results.step import issued_count
from assay.words.coded import Coded, coded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import DirectionRecord, StoredSequence, StoredTest
    from assay.results.record.steps import Step
    from assay.results.record.totals import Sums

_PREFIXES = {
    "window": "latency_ns",
    "lead-in": "lead_in_latency_ns",
    "intended": "intended_ns",
    "lateness": "late_ns",
}
"""What a direction's record calls the times of each histogram."""
_OF_ARRIVALS = {"intended", "lateness"}
_LAST_BUCKET = bucket_of(SATURATION_NS)
"""Of all that is longer than the others hold: a sum has no upper limit there."""


def histogram_counts(test: StoredTest) -> Iterator[Contradiction]:
    """Histograms count what the steps issued, in each direction, where they were read.

    Worked: a window of 66,661 reads with 33,331 in its histogram -> ``33,331 reads in the window histogram``.
    """
    for step, name, side, kind, sums in _histograms(test):
        due = _lead_in_count(side) if kind == "lead-in" else side.latency_io_count
        if sums.io_count != due:
            stored = coded("record-histogram", count=sums.io_count, side=name, kind=kind)
            yield Contradiction(where=step.where, stored=stored, expected=coded("record-exactly", count=due))


def _lead_in_count(side: DirectionRecord) -> int:
    """The I/Os that a step issued before its window opened."""
    return issued_count(side) - side.latency_io_count


def histogram_ends(test: StoredTest) -> Iterator[Contradiction]:
    """The smallest and largest latency lie in the first and last bucket, and their sum between the buckets' limits.

    Worked: 3 I/Os in the bucket of 1,499,136 to 1,501,183 ns and a sum of 9 ms -> ``a sum of 9,000,000 ns``.
    """
    for step, name, side, kind, sums in _histograms(test):
        least, most, total = (getattr(side, f"{_PREFIXES[kind]}_{part}") for part in ("min", "max", "sum"))
        if fault := _ends_fault(sums, least, most, total):
            expected = coded("record-buckets", count=sums.bucket_count, side=name, kind=kind)
            yield Contradiction(where=step.where, stored=fault, expected=expected)


def _ends_fault(sums: Sums, least: int | None, most: int | None, total: int | None) -> Coded | None:
    if not sums.io_count:
        return None if least is most is None and not total else coded("record-times-of-none")
    if least is None or most is None or total is None:
        return coded("record-no-times")
    for name, value, bucket in (("smallest", least, sums.first), ("largest", most, sums.last)):
        if bucket_of(value) != bucket:
            return coded("record-other-bucket", end=name, time_ns=value)
    fits = sums.least_ns <= total and (total <= sums.most_ns or sums.last == _LAST_BUCKET)
    return None if fits else coded("record-sum", time_ns=total)


def _histograms(test: StoredTest) -> Iterator[tuple[Step, str, DirectionRecord, str, Sums]]:
    """Every histogram: its step, direction, that record, which of ``_PREFIXES`` it is, and its sums."""
    for sequence in test.sequences:
        if sequence.histograms is not None:
            yield from _of_sequence(sequence)


def _of_sequence(sequence: StoredSequence) -> Iterator[tuple[Step, str, DirectionRecord, str, Sums]]:
    tables = {
        "window": histogram_sums(sequence.histograms),
        "lead-in": histogram_sums(sequence.lead_in),
        "intended": histogram_sums(sequence.intended),
        "lateness": histogram_sums(sequence.lateness),
    }
    for step in sequence_steps(sequence):
        for direction, (name, side) in enumerate(step.sides):
            for kind, sums in tables.items():
                if kind not in _OF_ARRIVALS or step.record.offered_io_count is not None:
                    yield step, name, side, kind, sums.get((step.place, direction), NO_IO)
