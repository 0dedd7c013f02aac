"""What every trace becomes: batches of I/Os as arrays, brought into the order of their times.

To be ordered, sorted runs go to a temporary file and are merged from there, so that memory holds a run and a little of
each other.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from assay.errors import StoreError
from assay.spec.lazy import LazyModule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray
else:
    np = LazyModule("numpy")


READ, WRITE, TRIM, FLUSH = range(4)
OPERATIONS = ("read", "write", "trim", "flush")
"""Names of the operations by their numbers."""
BATCH_ROWS = 1 << 16
"""About how many I/Os a batch has."""
BYTES_MAX = (1 << 63) - 1

ROW = [("time_ns", "<i8"), ("offset_bytes", "<i8"), ("length_bytes", "<i8"), ("operation", "u1")]
"""One I/O as rows are kept outside the memory."""
RUN_ROWS = 1 << 18
_PIECE_ROWS = 1 << 13
_END = (1 << 63) - 1


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Some I/Os of a trace; all arrays are of one length.

    time_ns : when each was issued. operation : its number in ``OPERATIONS``. offset_bytes, length_bytes : what it was
    of; both 0 for a flush.
    """

    time_ns: NDArray[np.int64]
    operation: NDArray[np.uint8]
    offset_bytes: NDArray[np.int64]
    length_bytes: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.time_ns)

    def taken(self, which: NDArray[np.intp] | NDArray[np.bool_] | slice) -> Batch:
        """Some of the I/Os, by places or by a mask."""
        return Batch(self.time_ns[which], self.operation[which], self.offset_bytes[which], self.length_bytes[which])

    def rows(self) -> NDArray[np.void]:
        """The I/Os as one array of rows."""
        rows = np.empty(len(self), ROW)
        rows["time_ns"], rows["operation"] = self.time_ns, self.operation
        rows["offset_bytes"], rows["length_bytes"] = self.offset_bytes, self.length_bytes
        return rows


def batch_of_rows(rows: NDArray[np.void]) -> Batch:
    """A batch of an array of rows."""
    names = ("time_ns", "operation", "offset_bytes", "length_bytes")
    return Batch(*(np.ascontiguousarray(rows[name]) for name in names))


def batch_of_lists(rows: Sequence[tuple[int, int, int, int]]) -> Batch:
    """A batch of tuples of time, operation, offset and length."""
    table = np.array(rows, np.int64).reshape(-1, 4)
    return Batch(table[:, 0].copy(), table[:, 1].astype(np.uint8), table[:, 2].copy(), table[:, 3].copy())


def in_order(batches: Iterable[Batch], *, run_rows: int = RUN_ROWS) -> Iterator[Batch]:
    """Order I/Os by time, those of one time as they came; times count from the first.

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
        size = np.dtype(ROW).itemsize
        raw = os.pread(self.file.fileno(), count * size, self.at * size)
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


def _merged(heads: list[_Head]) -> Iterator[Batch]:
    """All runs as one. Rows of one time keep the order of their runs, so an equal one of a later run waits."""
    while True:
        for head in heads:
            head.fill()
        heads = [head for head in heads if len(head.piece)]
        if not heads:
            return
        known = [head.known_to for head in heads]
        time_ns, last = min(known), known.index(min(known))
        parts = [head.take(time_ns, also_equal=index <= last or time_ns == _END) for index, head in enumerate(heads)]
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
