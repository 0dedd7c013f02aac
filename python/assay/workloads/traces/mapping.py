"""A trace of one drive as it is issued to another: mapped by a stated rule, in whole blocks, at a speed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from assay.errors import UsageError
from assay.spec.lazy import LazyModule
from assay.workloads.traces.records import FLUSH, READ, TRIM, WRITE, Batch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np
    from numpy.typing import NDArray
else:
    np = LazyModule("numpy")

Rule = Literal["keep", "scale", "wrap"]
"""Addresses as they are; all stretched or shrunk alike; or counted from the start again behind the drive's end."""

BLOCKS = tuple(1 << power for power in range(9, 17))
"""Logical blocks in bytes, 512 to 65,536."""
TRIM_BYTES_MAX = 1 << 30
"""Larger trims are issued as several of at most this size, all of them due at once. Captures keep sizes in 31 bits."""
_DIGIT = 1 << 20
_BLOCKS_MAX = 1 << 40


def issued(batches: Iterable[Batch]) -> Iterator[Batch]:
    """The I/Os as they are issued: none of no bytes but flushes, and no trim that is too large for one command.

    Worked: a trim of 2.5 GiB is issued as three, of 1, 1 and 0.5 GiB.
    """
    for batch in batches:
        yield _issued(batch)


def _issued(batch: Batch) -> Batch:
    kept = batch.taken((batch.length_bytes > 0) | (batch.operation == FLUSH))
    pieces = np.where(kept.operation == TRIM, -(-kept.length_bytes // TRIM_BYTES_MAX), 1)
    if not len(kept) or pieces.max() <= 1:
        return kept
    source = np.repeat(np.arange(len(kept)), pieces)
    nth = np.arange(len(source)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    parts = kept.taken(source)
    start = nth * TRIM_BYTES_MAX * (parts.operation == TRIM)
    length = np.where(
        parts.operation == TRIM, np.minimum(parts.length_bytes - start, TRIM_BYTES_MAX), parts.length_bytes
    )
    return Batch(parts.time_ns, parts.operation, parts.offset_bytes + start, length)


@dataclass(frozen=True, slots=True)
class Mapping:
    """Where each I/O goes. span_bytes : of the drive that was traced; the others are of the drive that is asked."""

    rule: Rule
    span_bytes: int
    capacity_bytes: int
    logical_block_bytes: int

    @property
    def sentence(self) -> str:
        """The rule in words, for the report."""
        block = f"starts are rounded down and ends up to {self.logical_block_bytes} bytes"
        words = {
            "keep": "Addresses are those of the trace",
            "scale": f"Each start is multiplied by {self.capacity_bytes} / {self.span_bytes}",
            "wrap": f"Each start is taken modulo the capacity of {self.capacity_bytes} bytes",
        }[self.rule]
        return f"{words}; {block}; an I/O that would pass the end is moved to end there."


def mapping_for(rule: Rule, *, span_bytes: int, capacity_bytes: int, logical_block_bytes: int) -> Mapping:
    """Check that a rule can be used.

    span_bytes : size of the traced drive, or the end of the trace's last I/O.
    Raises UsageError where ``keep`` is asked for and the trace goes beyond the drive, and for sizes that no drive has.
    """
    block = logical_block_bytes
    sizes_ok = block >= 1 and span_bytes >= 1 and capacity_bytes >= block
    if not sizes_ok or max(span_bytes, capacity_bytes) // block >= _BLOCKS_MAX:
        raise UsageError("the trace", f"spans {span_bytes} bytes, which cannot be mapped", "check its units")
    if rule == "keep" and span_bytes > capacity_bytes:
        reason = f"goes up to byte {span_bytes}, and the drive has {capacity_bytes}"
        raise UsageError("the trace", reason, "map it with the rule scale or wrap")
    return Mapping(rule, span_bytes, capacity_bytes, logical_block_bytes)


def mapped(batches: Iterable[Batch], mapping: Mapping) -> Iterator[Batch]:
    """The I/Os where the mapping puts them, whole blocks inside the drive.

    Worked: ``scale`` from 1,000 to 500 blocks puts block 400 at 200; ``wrap`` puts block 700 at 200.
    """
    for batch in batches:
        yield _mapped(batch, mapping)


def _mapped(batch: Batch, mapping: Mapping) -> Batch:
    block = mapping.logical_block_bytes
    capacity = mapping.capacity_bytes // block
    start, touched = block_span(batch, block)
    count = np.minimum(touched, capacity)
    if mapping.rule == "scale":
        start = scaled(start, capacity, -(-mapping.span_bytes // block))
    elif mapping.rule == "wrap":
        start = start % capacity
    start = np.clip(start, 0, capacity - count)
    is_flush = batch.operation == FLUSH
    start[is_flush] = count[is_flush] = 0
    return Batch(batch.time_ns, batch.operation, start * block, count * block)


def scaled(values: NDArray[np.int64], numerator: int, denominator: int) -> NDArray[np.int64]:
    """``values * numerator // denominator`` to the unit, in two digits so that no product passes 64 bits.

    All below 2^40, values below the denominator. Worked: 2^39 of 2^40 - 1 on 2^40 - 1 -> 2^39.
    """
    values = np.minimum(values, denominator)
    high, low = values // _DIGIT, values % _DIGIT
    quotient, rest = np.divmod(high * numerator, denominator)
    return np.asarray(quotient * _DIGIT + (rest * _DIGIT + low * numerator) // denominator, np.int64)


def at_speed(batches: Iterable[Batch], speed: float) -> Iterator[Batch]:
    """The I/Os at another speed. Worked: at 2.0 an I/O of 10 us is due at 5 us."""
    for batch in batches:
        due_ns = batch.time_ns if speed == 1 else np.asarray(batch.time_ns / speed, np.int64)
        yield Batch(due_ns, batch.operation, batch.offset_bytes, batch.length_bytes)


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
        noun, verbs, verb = ("I/Os", "begin or end", "are") if self.io_count > 1 else ("I/O", "begins or ends", "is")
        place = f"inside a block of {self.block_bytes:,} bytes"
        return f"{self.io_count:,} {noun} {verbs} {place} and {verb} issued rounded outwards"


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
