"""Batches brought into the order of their times, however many there are.

Sorted runs go to a temporary file and are merged from there, so that memory holds a run and a little of each other.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

import numpy as np

from assay.errors import StoreError
from assay.workloads.traces.records import BATCH_ROWS, ROW, Batch, batch_of_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

RUN_ROWS = 1 << 18
_PIECE_ROWS = 1 << 13
_END = np.iinfo(np.int64).max


def in_order(batches: Iterable[Batch], *, run_rows: int = RUN_ROWS) -> Iterator[Batch]:
    """The same I/Os by time, those of one time as they came; times count from the first.

    run_rows : how many are sorted in memory at once. A trace that is longer needs room in the temporary folder, 25
    bytes for each of its I/Os. Raises StoreError where there is none.
    Worked: times 30, 10, 20 -> 0, 10, 20.
    """
    runs = _runs(batches, run_rows)
    first = next(runs, None)
    second = next(runs, None)
    if first is None:
        return
    if second is None:
        yield from _from_first(_pieces(first))
        return
    with tempfile.TemporaryFile() as file:
        heads = [_Head(file, 0, len(first)), _Head(file, len(first), len(second))]
        _keep(file, first)
        _keep(file, second)
        del first, second
        for run in runs:
            heads.append(_Head(file, heads[-1].end, len(run)))
            _keep(file, run)
        file.flush()
        yield from _from_first(_merged(heads))


class _Head:
    """What is left of a run in the file: a piece in memory and the rows behind it."""

    def __init__(self, file: IO[bytes], start: int, count: int) -> None:
        self.file, self.at, self.end = file, start, start + count
        self.piece: NDArray[np.void] = np.empty(0, ROW)

    def fill(self) -> None:
        """Read the next piece where there is none."""
        if len(self.piece) or self.at == self.end:
            return
        count = min(_PIECE_ROWS, self.end - self.at)
        raw = os.pread(self.file.fileno(), count * ROW.itemsize, self.at * ROW.itemsize)
        self.piece = np.frombuffer(raw, ROW)
        self.at += count

    @property
    def known_to(self) -> int:
        """The time up to which all rows of this run are in memory."""
        return _END if self.at == self.end else int(self.piece["time_ns"][-1])

    def take(self, time_ns: int, *, also_equal: bool) -> NDArray[np.void]:
        """The rows before a time, or up to it."""
        count = int(np.searchsorted(self.piece["time_ns"], time_ns, "right" if also_equal else "left"))
        taken, self.piece = self.piece[:count], self.piece[count:]
        return taken


@dataclass(frozen=True, slots=True)
class _Bound:
    time_ns: int
    index: int


def _merged(heads: list[_Head]) -> Iterator[Batch]:
    """All runs as one. Rows of one time keep the order of their runs, so an equal one of a later run waits."""
    while True:
        for head in heads:
            head.fill()
        heads = [head for head in heads if len(head.piece)]
        if not heads:
            return
        known = [head.known_to for head in heads]
        bound = _Bound(min(known), known.index(min(known)))
        parts = [
            head.take(bound.time_ns, also_equal=index <= bound.index or bound.time_ns == _END)
            for index, head in enumerate(heads)
        ]
        rows = np.concatenate(parts)
        yield from _pieces(rows[np.argsort(rows["time_ns"], kind="stable")])


def _runs(batches: Iterable[Batch], run_rows: int) -> Iterator[NDArray[np.void]]:
    """Sorted runs of about so many rows."""
    kept: list[NDArray[np.void]] = []
    count = 0
    for batch in batches:
        kept.append(batch.rows())
        count += len(batch)
        if count >= run_rows:
            yield _sorted(kept)
            kept, count = [], 0
    if count:
        yield _sorted(kept)


def _sorted(kept: list[NDArray[np.void]]) -> NDArray[np.void]:
    rows = np.concatenate(kept)
    kept.clear()
    times = rows["time_ns"]
    if np.all(times[1:] >= times[:-1]):
        return rows
    return rows[np.argsort(times, kind="stable")]


def _pieces(rows: NDArray[np.void]) -> Iterator[Batch]:
    for start in range(0, len(rows), BATCH_ROWS):
        yield batch_of_rows(rows[start : start + BATCH_ROWS])


def _from_first(batches: Iterable[Batch]) -> Iterator[Batch]:
    """Times from that of the first I/O."""
    first: int | None = None
    for batch in batches:
        first = int(batch.time_ns[0]) if first is None else first
        yield Batch(batch.time_ns - first, batch.operation, batch.offset_bytes, batch.length_bytes)


def _keep(file: IO[bytes], rows: NDArray[np.void]) -> None:
    try:
        file.write(rows.tobytes())
    except OSError as error:
        raise StoreError(
            tempfile.gettempdir(), f"cannot keep the trace while it is sorted: {error.strerror}", "free space there"
        ) from None
