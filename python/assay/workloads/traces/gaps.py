"""Times between I/Os, counted in buckets that are within 1 % of what they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

QUANTILES = (0.01, 0.1, 0.5, 0.9, 0.99)
_PARTS = 128
"""Buckets of each power of two: a bucket is at most 1 / 128 of its values wide."""


class GapCounts:
    """Counts of times per bucket. Below 256 ns each has one of its own."""

    def __init__(self) -> None:
        self.counts = np.zeros(64 * _PARTS, np.int64)
        self.largest_ns = 0

    def add(self, gap_ns: NDArray[np.int64]) -> None:
        """Count times, none of them negative."""
        if len(gap_ns):
            self.counts += np.bincount(_bucket(gap_ns), minlength=len(self.counts))
            self.largest_ns = max(self.largest_ns, int(gap_ns.max()))

    def quantiles(self) -> dict[float, int]:
        """The upper end of the bucket that each quantile lies in, at most the largest; empty without times.

        Worked: 100 gaps of 1 to 100 ns -> 50 ns at 0.5.
        """
        total = int(self.counts.sum())
        if not total:
            return {}
        places = np.cumsum(self.counts)
        quantiles = {one: int(np.searchsorted(places, max(1, np.ceil(one * total)))) for one in QUANTILES}
        return {one: min(_upper_ns(bucket), self.largest_ns) for one, bucket in quantiles.items()}


def _bucket(gap_ns: NDArray[np.int64]) -> NDArray[np.int64]:
    """The bucket of each time: its highest eight bits, and how many are below them."""
    # The power of two of a float may be one too high for large integers, never too low.
    power = np.maximum(np.frexp(gap_ns.astype(np.float64))[1].astype(np.int64) - 8, 0)
    return np.asarray(power * _PARTS + (gap_ns >> power), np.int64)


def _upper_ns(bucket: int) -> int:
    power = max(bucket // _PARTS - 1, 0)
    return ((bucket - power * _PARTS + 1) << power) - 1
