"""The contradictions of a test that are looked for wherever a run is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.results.finding import Finding, once_per_test
from assay.results.record.counts import counters, sizes, threads
from assay.results.record.histograms import histogram_counts, histogram_ends
from assay.results.record.seconds import second_counts
from assay.results.record.times import carried, depth
from assay.words.coded import coded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from assay.engine.records import StoredTest
    from assay.results.record.contradiction import Contradiction

CONTRADICTIONS: tuple[Callable[[StoredTest], Iterator[Contradiction]], ...] = (
    histogram_counts,
    second_counts,
    histogram_ends,
    depth,
    carried,
    threads,
    sizes,
    counters,
)
"""In the order in which they are looked for. Little's law to the nanosecond is the check ``balance``."""


@once_per_test
def contradictions(test: StoredTest) -> tuple[Finding, ...]:
    """What the record of a test says against itself, beyond rounding; nothing where it says nothing.

    All of it is exact, so that a true record has none. Histograms and seconds count where they were read.
    Worked: a window of 66,661 reads with 33,331 in its histogram -> ``invalid``, ``"the record contradicts itself in
    RND 4KiB 100/0, round 1: 33,331 reads in the window histogram, expected 66,661"``.
    """
    return tuple(_findings(test))


def _findings(test: StoredTest) -> Iterator[Finding]:
    for find in CONTRADICTIONS:
        for result in find(test):
            reason = coded("record", where=result.where, stored=result.stored, expected=result.expected)
            yield Finding(level="invalid", reason=reason, where=result.where)
