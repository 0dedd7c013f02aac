"""What a trace is like: sizes, mix, sequentiality, intensity, footprint, and the times between its I/Os."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.spec.lazy import LazyModule
from assay.workloads.traces.records import FLUSH, OPERATIONS, Batch

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray
else:
    np = LazyModule("numpy")

SEQUENTIAL_BEFORE = 32
"""An I/O is sequential where it starts at the end of one of so many I/Os of its operation before it."""
SIZES_SHOWN = 32
INTERVALS_MAX = 1024
_KINDS = len(OPERATIONS)
_SECOND_NS = 10**9
_SIZES_KEPT = 1 << 16
QUANTILES = (0.01, 0.1, 0.5, 0.9, 0.99)
_PARTS = 128
"""Buckets of each power of two: a bucket is at most 1 / 128 of its values wide."""
KEPT_MAX = 1 << 18
"""Separate regions that are kept; with more of them all are rounded out to a coarser grain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeShare:
    """I/Os of one operation and size. share : of all I/Os, in [0, 1]. length_bytes : None for all other sizes."""

    operation: str
    length_bytes: int | None
    io_count: int
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamMap:
    """The facts of a trace.

    io_count, io_bytes : per operation. sequential_count : per operation, by the rule of ``SEQUENTIAL_BEFORE``.
    sizes : the most frequent first. span_ns : from the first issue to the last. end_bytes : behind the last byte.
    footprint_bytes : distinct bytes that are touched, rounded out to ``footprint_grain_bytes``.
    intensity : I/Os per interval of ``interval_ns``. gap_ns : times between issues by quantile, within 1 %.
    """

    io_count: dict[str, int]
    io_bytes: dict[str, int]
    sequential_count: dict[str, int]
    sizes: tuple[SizeShare, ...]
    span_ns: int
    end_bytes: int
    footprint_bytes: int
    footprint_grain_bytes: int
    interval_ns: int
    intensity: tuple[int, ...]
    gap_ns: dict[float, int]
    gap_ns_max: int

    @property
    def total_count(self) -> int:
        """All I/Os."""
        return sum(self.io_count.values())

    @property
    def ios_per_s(self) -> float | None:
        """The mean intensity; None where all were issued at once. Worked: 11 I/Os over 1 s -> 10 gaps per s."""
        return (self.total_count - 1) * _SECOND_NS / self.span_ns if self.span_ns else None

    @property
    def sequential_share(self) -> float | None:
        """The share of sequential I/Os of those that have a place; None without any."""
        placed = self.total_count - self.io_count[OPERATIONS[FLUSH]]
        return sum(self.sequential_count.values()) / placed if placed else None


def stream_map(trace: Iterable[Batch]) -> StreamMap:
    """Sum up a trace batch by batch; times must ascend, as a Trace gives them.

    Worked: reads of 4 KiB at 0, 4096 and 1 MiB -> one of three is sequential, the footprint is 12288 bytes.
    """
    sums = _Sums()
    for batch in trace:
        if len(batch):
            sums.add(batch)
    return sums.result()


class _Sums:
    """What is kept between batches."""

    def __init__(self) -> None:
        self.count = np.zeros(_KINDS, np.int64)
        self.amount = [0] * _KINDS
        self.sequential = np.zeros(_KINDS, np.int64)
        self.ends = [np.full(SEQUENTIAL_BEFORE, -1, np.int64) for _ in range(_KINDS)]
        self.sizes: Counter[tuple[int, int | None]] = Counter()
        self.regions, self.gaps = Regions(), GapCounts()
        self.interval_ns, self.intensity = _SECOND_NS // 1000, np.zeros(INTERVALS_MAX, np.int64)
        self.last_ns: int | None = None
        self.end_bytes = 0

    def add(self, batch: Batch) -> None:
        """Take in a batch."""
        self.count += np.bincount(batch.operation, minlength=_KINDS)
        for kind in range(_KINDS):
            which = batch.operation == kind
            if which.any():
                self._add_kind(kind, batch.offset_bytes[which], batch.length_bytes[which])
        self._add_times(batch.time_ns)

    def _add_kind(self, kind: int, offset: NDArray[np.int64], length: NDArray[np.int64]) -> None:
        # Python's integers: the sum of hostile lengths passes 64 bits.
        lengths, counts = np.unique(length, return_counts=True)
        self.amount[kind] += sum(int(length) * int(count) for length, count in zip(lengths, counts, strict=True))
        for size, count in zip(lengths.tolist(), counts.tolist(), strict=True):
            known = (kind, size) in self.sizes or len(self.sizes) < _SIZES_KEPT
            self.sizes[kind, size if known else None] += count
        if kind == FLUSH:
            return
        end = offset + length
        self.end_bytes = max(self.end_bytes, int(end.max()))
        self.regions.add(offset, end)
        before = np.concatenate([self.ends[kind], end])
        result = np.zeros(len(offset), np.bool_)
        for back in range(1, SEQUENTIAL_BEFORE + 1):
            result |= before[SEQUENTIAL_BEFORE - back : len(before) - back] == offset
        self.sequential[kind] += int(result.sum())
        self.ends[kind] = before[-SEQUENTIAL_BEFORE:]

    def _add_times(self, time_ns: NDArray[np.int64]) -> None:
        before = time_ns[:1] if self.last_ns is None else np.array([self.last_ns], np.int64)
        gaps = np.diff(np.concatenate([before, time_ns]))
        self.gaps.add(gaps[1:] if self.last_ns is None else gaps)
        self.last_ns = int(time_ns[-1])
        while self.last_ns // self.interval_ns >= INTERVALS_MAX:
            # Twice as long, and half as many.
            pairs = self.intensity.reshape(-1, 2).sum(axis=1)
            self.intensity = np.concatenate([pairs, np.zeros(INTERVALS_MAX // 2, np.int64)])
            self.interval_ns *= 2
        self.intensity += np.bincount(time_ns // self.interval_ns, minlength=INTERVALS_MAX)

    def result(self) -> StreamMap:
        """The facts so far."""
        footprint, grain = self.regions.result()
        last = self.last_ns or 0
        names = [OPERATIONS[kind] for kind in range(_KINDS)]
        intervals = last // self.interval_ns + 1 if self.last_ns is not None else 0
        return StreamMap(
            io_count=dict(zip(names, self.count.tolist(), strict=True)),
            io_bytes=dict(zip(names, self.amount, strict=True)),
            sequential_count=dict(zip(names, self.sequential.tolist(), strict=True)),
            sizes=self._shares(),
            span_ns=last,
            end_bytes=self.end_bytes,
            footprint_bytes=footprint,
            footprint_grain_bytes=grain,
            interval_ns=self.interval_ns,
            intensity=tuple(self.intensity[:intervals].tolist()),
            gap_ns=self.gaps.quantiles(),
            gap_ns_max=self.gaps.largest_ns,
        )

    def _shares(self) -> tuple[SizeShare, ...]:
        """The most frequent sizes, and of each operation all others as one."""
        ranked = sorted(
            self.sizes.items(), key=lambda item: (item[0][1] is None, -item[1], item[0][0], item[0][1] or 0)
        )
        merged: Counter[tuple[int, int | None]] = Counter()
        for index, ((kind, length), count) in enumerate(ranked):
            merged[kind, length if index < SIZES_SHOWN else None] += count
        total = int(self.count.sum())
        return tuple(
            SizeShare(operation=OPERATIONS[kind], length_bytes=length, io_count=count, share=count / total)
            for (kind, length), count in merged.items()
        )


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
        buckets = [int(np.searchsorted(places, max(1, np.ceil(quantile * total)))) for quantile in QUANTILES]
        ends = (min(_upper_ns(bucket), self.largest_ns) for bucket in buckets)
        return dict(zip(QUANTILES, ends, strict=True))


def _bucket(gap_ns: NDArray[np.int64]) -> NDArray[np.int64]:
    """The bucket of each time: its highest eight bits, and how many are below them."""
    # The power of two of a float may be one too high for large integers, never too low.
    power = np.maximum(np.frexp(gap_ns.astype(np.float64))[1].astype(np.int64) - 8, 0)
    return np.asarray(power * _PARTS + (gap_ns >> power), np.int64)


def _upper_ns(bucket: int) -> int:
    power = max(bucket // _PARTS - 1, 0)
    return ((bucket - power * _PARTS + 1) << power) - 1


class Regions:
    """Touched bytes as regions that do not meet."""

    def __init__(self, kept_max: int = KEPT_MAX) -> None:
        self.kept_max = kept_max
        self.grain = 1
        self.starts = np.empty(0, np.int64)
        self.ends = np.empty(0, np.int64)
        self.waiting: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        self.waiting_count = 0

    def add(self, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> None:
        """Take in regions, in any order; empty ones touch nothing."""
        some = ends > starts
        self.waiting.append((starts[some], ends[some]))
        self.waiting_count += int(some.sum())
        if self.waiting_count > self.kept_max:
            self._merge()

    def result(self) -> tuple[int, int]:
        """How many bytes are touched, and the grain that they are rounded out to; 1 is exact."""
        self._merge()
        return sum((self.ends - self.starts).tolist()), self.grain

    def _merge(self) -> None:
        starts = np.concatenate([self.starts, *(starts for starts, _ in self.waiting)])
        ends = np.concatenate([self.ends, *(ends for _, ends in self.waiting)])
        self.waiting, self.waiting_count = [], 0
        self._join(starts, ends)
        while len(self.starts) > self.kept_max:
            self.grain = max(self.grain * 2, 512)
            self._join(self.starts, self.ends)

    def _join(self, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> None:
        """Round out, sort, and join what meets."""
        if not len(starts):
            return
        starts = starts // self.grain * self.grain
        # Rounded up by the rest, since the end of a drive of 2^63 bytes has nothing behind it.
        ends = np.where(ends % self.grain, np.maximum(ends, (ends // self.grain + 1) * self.grain), ends)
        order = np.argsort(starts, kind="stable")
        starts, ends = starts[order], np.maximum.accumulate(ends[order])
        new = np.concatenate([[True], starts[1:] > ends[:-1]])
        last = np.concatenate([new[1:], [True]])
        self.starts, self.ends = starts[new], ends[last]
