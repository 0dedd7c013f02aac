"""Sums of a table over each direction of each step, exact."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from assay.results.histogram import SATURATION_NS, bucket_of, lowest_ns
from assay.spec.lazy import LazyModule

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from assay.engine.records import HistogramTable

    Side = tuple[int, int]
    """A step by its index in the sequence, and a direction by its index in ``DIRECTIONS``."""
else:
    np = LazyModule("numpy")

_DIRECTION_BITS, _BUCKET_BITS = 2, 15
"""Enough for either, so that a row has one number that sorts."""
_EXACT = float(1 << 62)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """The histogram of one direction of one step.

    io_count : I/Os. first, last : lowest and highest bucket. bucket_count : buckets that are not empty.
    least_ns, most_ns : sums of all response times if each were the lowest, or the highest, of its bucket.
    """

    io_count: int
    first: int
    last: int
    bucket_count: int
    least_ns: int
    most_ns: int


NO_IO = Sums(io_count=0, first=0, last=0, bucket_count=0, least_ns=0, most_ns=0)


def histogram_sums(table: HistogramTable | None) -> dict[Side, Sums]:
    """The histogram of each direction of each step that has I/Os.

    Worked: 3 I/Os in the bucket of 1,499,136 to 1,501,183 ns -> a ``least_ns`` of 4,497,408.
    """
    if table is None or not len(table.step):
        return {}
    rows = (_sides_of(table.step, table.direction) << _BUCKET_BITS) + table.bucket.astype(np.int64)
    counts = table.count.astype(np.int64)
    if np.any(rows[1:] < rows[:-1]):
        order = np.argsort(rows)
        rows, counts = rows[order], counts[order]
    return dict(_sides(rows, counts))


def _sides(rows: NDArray[np.int64], counts: NDArray[np.int64]) -> Iterator[tuple[Side, Sums]]:
    keys, buckets = rows >> _BUCKET_BITS, rows & ((1 << _BUCKET_BITS) - 1)
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    ends = np.append(starts[1:], len(keys))
    limits_ns = _limits_ns()
    summed = [_summed(counts, starts), *(_summed(counts, starts, limits_ns[buckets + more]) for more in (0, 1))]
    for start, end, io_count, least_ns, above_ns in zip(starts.tolist(), ends.tolist(), *summed, strict=True):
        sums = Sums(
            io_count=io_count,
            first=int(buckets[start]),
            last=int(buckets[end - 1]),
            bucket_count=end - start,
            least_ns=least_ns,
            most_ns=above_ns - io_count,
        )
        yield _side(int(keys[start])), sums


@cache
def _limits_ns() -> NDArray[np.int64]:
    """The lowest latency of each bucket, and what none reaches."""
    return lowest_ns(np.arange(bucket_of(SATURATION_NS) + 2, dtype=np.uint64))


def _summed(counts: NDArray[np.int64], starts: NDArray[np.intp], values: NDArray[np.int64] | None = None) -> list[int]:
    """The sum of the counts, or of count x value, from each start to the next."""
    largest = float(counts.sum(dtype=np.float64)) * (1 if values is None else float(values.max()))
    # Numbers that no run has, of a file that somebody made, do not fit and are added as Python's.
    whole: NDArray[Any] = counts if largest < _EXACT else counts.astype(np.object_)
    products = whole if values is None else whole * values
    summed: list[int] = np.add.reduceat(products, starts).tolist()
    return summed


def side_sums(step: NDArray[np.uint64], direction: NDArray[np.int8], values: NDArray[np.uint64]) -> dict[Side, int]:
    """The sum of the values of each direction of each step, in whatever order the rows are.

    Worked: 100 I/Os in second 0 and 90 in second 1 of the reads of step 0 -> ``{(0, 0): 190}``.
    """
    if not len(step):
        return {}
    keys = _sides_of(step, direction)
    order = np.argsort(keys, kind="stable")
    keys, ordered = keys[order], values[order].astype(np.int64)
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    return {_side(key): total for key, total in zip(keys[starts].tolist(), _summed(ordered, starts), strict=True)}


def _sides_of(step: NDArray[Any], direction: NDArray[np.int8]) -> NDArray[np.int64]:
    """A number that stands for the step and direction of each row."""
    sides: NDArray[np.int64] = (step.astype(np.int64) << _DIRECTION_BITS) + direction
    return sides


def _side(number: int) -> Side:
    return number >> _DIRECTION_BITS, number & ((1 << _DIRECTION_BITS) - 1)
