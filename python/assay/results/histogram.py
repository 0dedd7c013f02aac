"""Percentiles of response times, from exact counts that are merged before anything is read from them.

Buckets are log-linear, 512 to an octave: the middle of a bucket differs from every value in it by at most 0.1 %.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

from assay.spec.lazy import LazyModule
from assay.spec.units import MILLISECOND_NS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from assay.engine.records import DirectionRecord, HistogramTable, StepRecord, StoredSequence
else:
    np = LazyModule("numpy")

BEYOND_MIN = 10
"""A percentile with fewer I/Os beyond it is not given."""

NINES = (0.999, 0.9999, 0.99999)
"""Three, four and five nines, as PTS 2.0 reports them."""

_SUB_BUCKETS = 512
_EXACT_BITS = 10
"""A latency of so many bits has a bucket of its own."""
SATURATION_NS = 1 << 40
"""What is longer falls into the last bucket."""


@dataclass(frozen=True, slots=True, eq=False)
class ResponseTimes:
    """How many I/Os fell into each bucket; buckets ascend and are not empty. ``counts`` has their length.

    latency_ms_max, smallest_ms : exact, between which every percentile lies; None where they are
    not known.
    """

    buckets: NDArray[np.uint64]
    counts: NDArray[np.uint64]
    latency_ms_max: float | None = None
    smallest_ms: float | None = None

    @property
    def io_count(self) -> int:
        """All I/Os counted."""
        return int(self.counts.sum())

    @property
    def middles_ms(self) -> NDArray[np.float64]:
        """The middle of each bucket in ms."""
        return _middles_ms(self.buckets)

    def percentile(self, share: float) -> float | None:
        """The response time in ms that ``share`` of the I/Os did not exceed; None with fewer than ten I/Os beyond.

        share : in (0, 1).
        It is the middle of its bucket, held between minimum and maximum.
        Worked: of 1,000 I/Os of 1 ms and 10 of 5 ms, 0.99 is 1 ms; of 1,009 no 0.9999 is given.
        """
        return percentiles(self, (share,))[share]

    def held(self, middle: float) -> float:
        """The middle of a bucket in ms, between minimum and maximum."""
        above = middle if self.smallest_ms is None else max(middle, self.smallest_ms)
        return above if self.latency_ms_max is None else min(above, self.latency_ms_max)

    def shares(self) -> NDArray[np.float64]:
        """The share of I/Os up to and including each bucket."""
        return np.cumsum(self.counts) / max(self.io_count, 1)


def step_times(sequence: StoredSequence) -> list[ResponseTimes]:
    """Reads and writes together, for each step of a sequence; empty where its histograms were not read."""
    return _by_step(sequence, sequence.histograms, [_range_ns(step, "latency_ns") for step in sequence.steps])


def all_step_times(sequences: Iterable[StoredSequence]) -> list[ResponseTimes]:
    """Response times of each step of several sequences, in order."""
    return [step_time for sequence in sequences for step_time in step_times(sequence)]


def intended_times(sequence: StoredSequence) -> list[ResponseTimes]:
    """Response times of each step from when its I/Os were due; empty without a stated arrival rate."""
    return _by_step(sequence, sequence.intended, [_range_ns(step, "intended_ns") for step in sequence.steps])


def lateness_times(sequence: StoredSequence) -> list[ResponseTimes]:
    """How much later than due the same I/Os were issued; empty without a stated arrival rate."""
    return _by_step(sequence, sequence.lateness, [_range_ns(step, "late_ns") for step in sequence.steps])


def direction_times(direction: DirectionRecord) -> ResponseTimes:
    """The response times of one direction of a step that holds its histogram."""
    counted = np.array(direction.histogram or np.empty((0, 2)), np.uint64).reshape(-1, 2)
    ends = _ends_ms((direction.latency_ns_min, direction.latency_ns_max))
    return _summed(counted[:, 0], counted[:, 1], *ends)


def merged(parts: Sequence[ResponseTimes]) -> ResponseTimes:
    """Add up counts bucket by bucket, without loss. Worked: 2 I/Os and 3 I/Os in one bucket -> 5 in it."""
    if not parts:
        return _summed(np.empty(0, np.uint64), np.empty(0, np.uint64))
    buckets, counts = ([getattr(part, name) for part in parts] for name in ("buckets", "counts"))
    smallest = [part.smallest_ms for part in parts if part.smallest_ms is not None]
    largest = [part.latency_ms_max for part in parts if part.latency_ms_max is not None]
    ends = min(smallest, default=None), max(largest, default=None)
    return _summed(np.concatenate(buckets), np.concatenate(counts), *ends)


def percentiles(times: ResponseTimes, shares: Iterable[float] = NINES) -> dict[float, float | None]:
    """Several percentiles in ms by share, each as ``ResponseTimes.percentile`` says."""
    wanted = tuple(shares)
    counted = np.cumsum(times.counts)
    total = int(counted[-1]) if len(counted) else 0
    ranks = {share: _rank(total, share) for share in wanted}
    given = [share for share in wanted if total - ranks[share] >= BEYOND_MIN]
    # A list of whole numbers as it is would become floats beside unsigned counts, which are exact up to 2^53 only.
    places = np.searchsorted(counted, np.array([ranks[share] for share in given], np.uint64))
    middles = dict(zip(given, _middles_ms(times.buckets[places]).tolist(), strict=True))
    return {share: times.held(middles[share]) if share in middles else None for share in wanted}


def _range_ns(step: StepRecord, name: str) -> tuple[int | None, int | None]:
    """The smallest and the largest of a kind of latency, over reads and writes."""
    smallest, largest = (
        [value for side in step.sides if (value := getattr(side, f"{name}_{end}")) is not None]
        for end in ("min", "max")
    )
    return min(smallest, default=None), max(largest, default=None)


def _ends_ms(ends: tuple[int | None, int | None]) -> tuple[float | None, float | None]:
    smallest, largest = (None if end is None else end / MILLISECOND_NS for end in ends)
    return smallest, largest


def _by_step(
    sequence: StoredSequence, table: HistogramTable | None, ends_ns: Sequence[tuple[int | None, int | None]]
) -> list[ResponseTimes]:
    if table is None:
        return []
    order = np.argsort(table.step, kind="stable")
    places = np.searchsorted(table.step[order], np.arange(len(sequence.steps) + 1))
    spans = zip(ends_ns, places[:-1], places[1:], strict=True)
    return [_gathered(table, order[first:last], _ends_ms(ends)) for ends, first, last in spans]


def _gathered(
    table: HistogramTable, rows: NDArray[np.intp], ends_ms: tuple[float | None, float | None]
) -> ResponseTimes:
    return _summed(table.bucket[rows].astype(np.uint64), table.count[rows], *ends_ms)


def _summed(
    buckets: NDArray[np.uint64],
    counts: NDArray[np.uint64],
    smallest_ms: float | None = None,
    latency_ms_max: float | None = None,
) -> ResponseTimes:
    if np.all(buckets[1:] > buckets[:-1]):
        # Of one direction: they ascend as they are stored, and none comes twice.
        return ResponseTimes(buckets, counts, latency_ms_max, smallest_ms)
    unique, places = np.unique(buckets, return_inverse=True)
    total = np.zeros(len(unique), np.uint64)
    np.add.at(total, places, counts)
    return ResponseTimes(unique, total, latency_ms_max, smallest_ms)


@cache
def _share(share: float) -> Fraction:
    """A share as it is written, not as the nearest binary number. Worked: 0.999 -> 999/1000."""
    return Fraction(str(share))


def _rank(total: int, share: float) -> int:
    """How many I/Os are a share of all, rounded up. Worked: 0.99 of 1,010 -> 1,000."""
    return math.ceil(total * _share(share))


def bucket_of(latency_ns: int) -> int:
    """The bucket of a response time; the same rule as the core's. Worked: 1,500,000 ns -> 6364."""
    value = min(latency_ns, SATURATION_NS)
    octave = max(value.bit_length() - _EXACT_BITS, 0)
    return octave * _SUB_BUCKETS + (value >> octave)


def lowest_ns(buckets: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The lowest latency of each bucket in ns; the same rule as the core's.

    Worked: bucket 6364 holds 1,500,000 ns; its lowest latency is 1,499,136 ns.
    """
    whole = buckets.astype(np.int64)
    octave = np.maximum(whole // _SUB_BUCKETS - 1, 0)
    lowest: NDArray[np.int64] = (whole - octave * _SUB_BUCKETS) << octave
    return lowest


def _middles_ms(buckets: NDArray[np.uint64]) -> NDArray[np.float64]:
    return (_lower_ns(buckets) + _lower_ns(buckets + np.uint64(1)) - 1) / 2 / MILLISECOND_NS


def _lower_ns(buckets: NDArray[np.uint64]) -> NDArray[np.float64]:
    return lowest_ns(buckets).astype(np.float64)
