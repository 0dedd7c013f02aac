"""Percentiles from every completion, exact to the nanosecond, held against the counts of the same step.

The counts say in which bucket a percentile lies, so that one pass over the completions with little memory finds it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from assay.results.histogram import BEYOND_MIN
from assay.spec.lazy import LazyModule
from assay.spec.units import MILLISECOND_NS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from assay.results.histogram import ResponseTimes
else:
    np = LazyModule("numpy")

POINT_SHARES = (0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999)
"""From the median to six nines."""

_SUB_BUCKETS = 512
_SATURATION = 1 << 40
_BUCKET_COUNT = 32 * _SUB_BUCKETS + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactTimes:
    """Percentiles of every completion of a step.

    io_count : completions kept. agrees : they fall into the buckets exactly as the step counted them; otherwise no
    percentile is given. percentiles_ms : by share, None with fewer than ten I/Os beyond.
    """

    io_count: int
    agrees: bool
    percentiles_ms: dict[float, float | None]


def exact_times(
    blocks: Iterable[NDArray[np.int64]], times: ResponseTimes, shares: Sequence[float] = POINT_SHARES
) -> ExactTimes:
    """Find percentiles among all completions.

    blocks : response times in ns, in any order. times : the counts of the same step.
    Worked: 1,000 I/Os of 1,000,100 ns and 20 of 5 ms -> 0.5 is 1.0001 ms.
    """
    ranks = {share: _rank(times.io_count, share) for share in shares}
    below = np.concatenate([[0], np.cumsum(times.counts)]).astype(np.int64)
    places = {share: int(np.searchsorted(below[1:], rank)) for share, rank in ranks.items() if rank is not None}
    wanted = {int(times.buckets[place]): Counter[int]() for place in places.values()}
    counted = np.zeros(_BUCKET_COUNT, np.int64)
    for block in blocks:
        buckets = latency_buckets(block)
        counted += np.bincount(buckets, minlength=_BUCKET_COUNT)
        for bucket, values in wanted.items():
            result, repeats = np.unique(block[buckets == bucket], return_counts=True)
            values.update(dict(zip(result.tolist(), repeats.tolist(), strict=True)))
    filled = np.flatnonzero(counted)
    agrees = np.array_equal(filled, times.buckets) and np.array_equal(counted[filled], times.counts)
    found_ms = {
        share: _value(wanted[int(times.buckets[place])], (ranks[share] or 0) - int(below[place]))
        for share, place in places.items()
        if agrees
    }
    return ExactTimes(
        io_count=int(counted.sum()), agrees=agrees, percentiles_ms={share: found_ms.get(share) for share in shares}
    )


def latency_buckets(latencies_ns: NDArray[np.int64]) -> NDArray[np.int64]:
    """The bucket of each response time; the same rule as the core's. Worked: 1,500,000 ns -> 6364."""
    values: NDArray[np.int64] = np.minimum(latencies_ns, np.int64(_SATURATION))
    # The exponent of a whole number below 2**53 as a float is its length in bits.
    lengths: NDArray[np.int64] = np.frexp(values.astype(np.float64))[1].astype(np.int64)
    octaves: NDArray[np.int64] = np.maximum(lengths - 10, np.int64(0))
    return octaves * _SUB_BUCKETS + np.right_shift(values, octaves)


def _rank(total: int, share: float) -> int | None:
    rank = int(-(-total * Fraction(str(share)) // 1))
    return None if total - rank < BEYOND_MIN else rank


def _value(values: Counter[int], rank: int) -> float:
    """The ``rank``-th smallest of counted values, from 1, in ms."""
    ordered = sorted(values)
    reached = np.cumsum([values[value] for value in ordered])
    return ordered[int(np.searchsorted(reached, rank))] / MILLISECOND_NS
