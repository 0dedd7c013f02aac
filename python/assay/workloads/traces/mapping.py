"""A trace of one drive put on another of a different size, by a rule that is stated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from assay.errors import UsageError
from assay.workloads.traces.records import FLUSH, Batch
from assay.workloads.traces.rounding import block_span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

Rule = Literal["keep", "scale", "wrap"]
"""Addresses as they are; all stretched or shrunk alike; or counted from the start again behind the drive's end."""

_DIGIT = 1 << 20
_BLOCKS_MAX = 1 << 40


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
