"""Reads of blocks that nothing was written to since the purge: a drive answers them without reading its flash.

Source: what a run stored, the bytes that each step wrote before, and the ranges that steps read. Sequential writes
cover the beginning of their range; of n bytes of random writes to a range of r bytes the share exp(-n/r) stays
unwritten, which is what is expected of places drawn evenly.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import exp
from typing import TYPE_CHECKING

from assay.engine.records import ActiveRange
from assay.results.finding import Finding, at_most
from assay.results.measured import counted_sequences
from assay.results.sequence_names import sequence_place
from assay.results.step import group_of, issued_bytes, issued_count
from assay.spec.lazy import LazyModule
from assay.words.coded import coded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from assay.engine.records import StoredSequence, StoredTest
    from assay.words.coded import Place
else:
    np = LazyModule("numpy")

UNWRITTEN_SHARE_MAX = 0.01
"""Of a range that is read, so much may be unwritten and still pass."""
_READ = 0


@dataclass(frozen=True, slots=True)
class _Write:
    """What a step wrote. left : share of the blocks of the range that it left as they were."""

    active: ActiveRange
    left: float


@dataclass(frozen=True, slots=True)
class _Group:
    """Steps that ran side by side. counts : results come from them."""

    place: Place
    counts: bool
    reads: tuple[ActiveRange, ...]
    writes: tuple[_Write, ...]


def unwritten_reads(test: StoredTest) -> Iterator[Finding]:
    """For each range that a result is of reads in, the share of it that was unwritten before; none without a purge.

    Worked: a purge, then reads of the whole drive -> ``warn``, measured 1.0; a fill of half before them -> 0.5.
    """
    if test.purge is None or test.purge.method == "overwrite":
        return
    counted = {id(sequence) for sequence in counted_sequences(test)}
    groups = [group for sequence in test.sequences for group in _groups(sequence, counts=id(sequence) in counted)]
    if not any(group.counts and group.reads for group in groups):
        return
    state = _Unwritten(groups)
    for group in groups:
        if group.counts:
            yield from (_finding(group, active, state.share(active)) for active in dict.fromkeys(group.reads))
        for write in group.writes:
            state.wrote(write)


def _finding(group: _Group, active: ActiveRange, share: float) -> Finding:
    size = active.segment_bytes * len(active.segment_starts)
    reason = coded("unwritten", share=share, size_bytes=size) if share else coded("none")
    level = at_most(share, UNWRITTEN_SHARE_MAX)
    return Finding(level=level, reason=reason, measured=share, limit=UNWRITTEN_SHARE_MAX, where=group.place)


def _groups(sequence: StoredSequence, *, counts: bool) -> Iterator[_Group]:
    in_order: Counter[ActiveRange] = Counter()
    places = range(len(sequence.steps))
    for first in (place for place in places if not sequence.asked[place].beside):
        own = [place for place in group_of(sequence.asked, first) if place in places]
        reads = tuple(one for place in own for one in _read_range(sequence, place))
        writes = tuple(write for place in own for write in _writes(sequence, place, in_order))
        yield _Group(sequence_place(sequence), counts, reads, writes)


def _read_range(sequence: StoredSequence, index: int) -> Iterator[ActiveRange]:
    """The range that a step reads; of a replay that from its first byte read to its last."""
    if not issued_count(sequence.steps[index].sides[_READ]):
        return
    if sequence.replayed is None:
        yield sequence.asked[index].active_range
        return
    reads = [batch.taken(batch.operation == _READ) for batch in sequence.replayed()]
    starts = [int(read.offset_bytes.min()) for read in reads if len(read)]
    ends = [int((read.offset_bytes + read.length_bytes).max()) for read in reads if len(read)]
    if starts:
        yield ActiveRange(segment_starts=(min(starts),), segment_bytes=max(ends) - min(starts))


def _writes(sequence: StoredSequence, index: int, in_order: Counter[ActiveRange]) -> Iterator[_Write]:
    """What a step wrote.

    in_order : bytes that sequential steps of the sequence wrote to each range; they go on where the one before ended.
    """
    spec = sequence.asked[index]
    active, random = spec.active_range, spec.pattern.random_share
    if not (moved := issued_bytes(sequence.steps[index].sides[1])) or sequence.replayed is not None:
        return
    size = active.segment_bytes * len(active.segment_starts)
    if random:
        yield _Write(active, exp(-moved / size))
        return
    in_order[active] += moved
    moved = in_order[active]
    if moved >= size:
        yield _Write(active, 0.0)
    elif len(active.segment_starts) == 1:
        yield _Write(ActiveRange(segment_starts=active.segment_starts, segment_bytes=moved), 0.0)
    else:
        yield _Write(active, 1 - moved / size)


class _Unwritten:
    """The unwritten share of every part of the drive between two bounds of ranges."""

    def __init__(self, groups: Iterable[_Group]) -> None:
        ranges = {one for group in groups for one in (*group.reads, *(write.active for write in group.writes))}
        ends = {start + more for one in ranges for start in one.segment_starts for more in (0, one.segment_bytes)}
        self._bounds = np.array(sorted(ends), np.int64)
        self._left = np.ones(max(len(ends) - 1, 0))
        self._masks: dict[ActiveRange, NDArray[np.bool_]] = {}

    def wrote(self, write: _Write) -> None:
        """Take in a write."""
        self._left[self._mask(write.active)] *= write.left

    def share(self, active: ActiveRange) -> float:
        """The unwritten share of a range."""
        mask = self._mask(active)
        sizes = np.diff(self._bounds)[mask]
        return float((sizes * self._left[mask]).sum() / sizes.sum())

    def _mask(self, active: ActiveRange) -> NDArray[np.bool_]:
        if active not in self._masks:
            mask = np.zeros(len(self._left), np.bool_)
            starts = np.array(active.segment_starts, np.int64)
            places = np.searchsorted(self._bounds, [starts, starts + active.segment_bytes])
            for first, end in places.T:
                mask[first:end] = True
            self._masks[active] = mask
        return self._masks[active]
