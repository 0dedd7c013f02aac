"""I/Os rounded outwards to whole logical blocks, counted for every size of block that a drive may have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from assay.workloads.traces.records import FLUSH, READ, WRITE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.workloads.traces.records import Batch

BLOCKS = tuple(1 << power for power in range(9, 17))
"""Logical blocks in bytes, 512 to 65,536."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounded:
    """What whole blocks make of the I/Os of a trace.

    block_bytes : the logical block. io_count : I/Os that begin or end inside a block, and become larger.
    largest_bytes : the largest read or write as issued. write_bytes : written in all, as issued.
    """

    block_bytes: int
    io_count: int
    largest_bytes: int
    write_bytes: int

    @property
    def sentence(self) -> str | None:
        """The count in words; None where every I/O consists of whole blocks.

        Worked: 99 I/Os -> ``99 I/Os begin or end inside a block of 512 bytes and are issued rounded outwards``.
        """
        if not self.io_count:
            return None
        verbs = "begin or end inside" if self.io_count > 1 else "begins or ends inside"
        end = "are issued rounded outwards" if self.io_count > 1 else "is issued rounded outwards"
        noun = "I/Os" if self.io_count > 1 else "I/O"
        return f"{self.io_count:,} {noun} {verbs} a block of {self.block_bytes:,} bytes and {end}"


def block_span(batch: Batch, block_bytes: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first block of each I/O and how many blocks it touches. Worked: bytes 256 to 767 by 512 -> block 0, two."""
    start, inside = np.divmod(batch.offset_bytes, block_bytes)
    return start, -(-(inside + batch.length_bytes) // block_bytes)


class RoundedSums:
    """Sums over the batches of a trace, for each of ``BLOCKS``."""

    def __init__(self) -> None:
        self._sums = {block: [0, 0, 0] for block in BLOCKS}

    def add(self, batch: Batch) -> None:
        """Take in a batch of I/Os as they are issued."""
        for block, sums in self._sums.items():
            length = block_span(batch, block)[1] * block
            sums[0] += int(((length != batch.length_bytes) & (batch.operation != FLUSH)).sum())
            moved = length[(batch.operation == READ) | (batch.operation == WRITE)]
            sums[1] = max(sums[1], int(moved.max(initial=0)))
            sums[2] += int(length[batch.operation == WRITE].sum())

    def result(self) -> tuple[Rounded, ...]:
        """What was found, by ascending block."""
        return tuple(
            Rounded(block_bytes=block, io_count=count, largest_bytes=largest, write_bytes=written)
            for block, (count, largest, written) in self._sums.items()
        )
