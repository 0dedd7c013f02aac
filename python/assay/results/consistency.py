"""How even the seconds of a test are: their coefficient of variation, and the worst of them."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean, median, stdev
from typing import TYPE_CHECKING

from assay.results.measured import counted_sequences
from assay.results.seconds import completions_per_second

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engine.records import StoredTest

SECONDS_MIN = 5
"""Fewer say nothing of how even they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Consistency:
    """Of some whole seconds. variation : their standard deviation over their mean. worst : the least over the median.

    Both are None of fewer than five seconds, or where nothing was completed.
    """

    second_count: int
    variation: float | None
    worst: float | None


def consistency(counts: Sequence[float]) -> Consistency:
    """How even completions per second are. Worked: 90, 100, 100, 100, 110 -> a variation of 0.0707, a worst of 0.9."""
    middle = median(counts) if len(counts) >= SECONDS_MIN else 0.0
    if not middle:
        return Consistency(second_count=len(counts), variation=None, worst=None)
    return Consistency(second_count=len(counts), variation=stdev(counts) / fmean(counts), worst=min(counts) / middle)


def seconds_of(test: StoredTest, label: str) -> tuple[float, ...]:
    """Completions of every whole second of the steps of a label that count, in the order in which they ran.

    Worked: five rounds of a cell for 60 s each -> 300 values.
    """
    return tuple(
        count
        for sequence in counted_sequences(test)
        for place, _, asked in sequence.result_steps
        if asked.label == label
        for count in completions_per_second(sequence, place)
    )
