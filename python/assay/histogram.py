"""Reading the response-time histogram that the stimulus engine fills.

Buckets are log-linear: 512 per octave, exact below 1,024 ns, saturated from 2**40 ns on. The bucket
of a value differs from it by at most 0.1 % of the value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

SUB_BUCKET_COUNT = 512
MIN_SAMPLES_BEYOND = 10

Buckets = tuple[tuple[int, int], ...]


def bucket_lower_ns(index: int) -> int:
    """Lowest latency of a bucket in ns. Worked: ``bucket_lower_ns(1024)`` is 1024, of 1025 is 1026."""
    octave = max(0, index // SUB_BUCKET_COUNT - 1)
    return (index - octave * SUB_BUCKET_COUNT) << octave


def bucket_mid_ns(index: int) -> float:
    """Middle of a bucket in ns, the value its members are reported as."""
    return (bucket_lower_ns(index) + bucket_lower_ns(index + 1) - 1) / 2


def merge(parts: Iterable[Buckets]) -> Buckets:
    """Add histograms bucket by bucket, without loss. Worked: ((1, 2),) + ((1, 3),) -> ((1, 5),)."""
    total: dict[int, int] = {}
    for part in parts:
        for index, count in part:
            total[index] = total.get(index, 0) + count
    return tuple(sorted(total.items()))


def percentile_ns(histogram: Buckets, quantile: float) -> float | None:
    """Latency below which the share ``quantile`` of the I/Os completed, in ns.

    quantile : in (0, 1). Returns None (printed n/a) when fewer than ten I/Os lie beyond it.
    Worked: 100 I/Os in bucket 500 -> percentile 0.5 is 500.0; percentile 0.95 is None.
    """
    total = sum(count for _, count in histogram)
    rank = quantile * total
    if total - rank < MIN_SAMPLES_BEYOND:
        return None
    seen = 0
    for index, count in histogram:
        seen += count
        if seen >= rank:
            return bucket_mid_ns(index)
    return None
