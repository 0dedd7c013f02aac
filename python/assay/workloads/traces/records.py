"""What every trace becomes: batches of I/Os as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

READ, WRITE, TRIM, FLUSH = range(4)
OPERATIONS = ("read", "write", "trim", "flush")
"""Names of the operations by their numbers."""
BATCH_ROWS = 1 << 16
"""About how many I/Os a batch has."""
BYTES_MAX = (1 << 63) - 1

ROW = np.dtype([("time_ns", "<i8"), ("offset_bytes", "<i8"), ("length_bytes", "<i8"), ("operation", "u1")])
"""One I/O as rows are kept outside the memory."""


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
        """The same as one array of rows."""
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
