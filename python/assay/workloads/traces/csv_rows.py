"""Traces as CSV: blocks of lines as arrays, and the line that is wrong where one is."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.workloads.traces.columns import OP_EXAMPLE
from assay.workloads.traces.records import BYTES_MAX, FLUSH, READ, TRIM, WRITE, Batch
from assay.workloads.traces.text import Block, blocks, fault, several_devices, shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from assay.workloads.traces.columns import Columns

_LEFT_OUT = 255
_OPERATIONS = {
    **dict.fromkeys(("r", "rs", "read"), READ),
    **dict.fromkeys(("w", "ws", "write"), WRITE),
    **dict.fromkeys(("d", "trim", "discard", "unmap"), TRIM),
    **dict.fromkeys(("f", "flush", "sync"), FLUSH),
    # SYSTOR '17: an I/O that had no answer.
    "": _LEFT_OUT,
}
_DECIMALS = 9
_INTEGER = re.compile(rb"\s*\d{1,19}\s*")
_PLAIN = r"\d{1,18}(\.\d{1,9})?"
_TIME = re.compile(rf"\s*{_PLAIN}\s*".encode())


@dataclass(slots=True)
class _State:
    """What the lines before said.

    base : time of the first one, in its unit with nine decimals. others : operations without a meaning in the columns.
    """

    path: Path
    columns: Columns
    device: str | None
    base: int | None = None
    devices: set[str] = field(default_factory=set)
    others: set[str] = field(default_factory=set)


def csv_batches(path: Path, columns: Columns, device: str | None) -> Iterator[Batch]:
    """The I/Os of a CSV in the order of the file; times count from its first line.

    device : the only one to take, as its column has it; None where the file is of one. Lines without an operation are
    left out. Raises UsageError with the line that is wrong.
    """
    state = _State(path, columns, device)
    for block in blocks(path):
        body = block
        if block.line == 1 and columns.has_head:
            body = Block(2, block.content.partition(b"\n")[2])
        if body.content.strip():
            batch = _batch(state, body)
            if len(batch):
                yield batch


def _batch(state: _State, block: Block) -> Batch:
    """A block as arrays. What the fast way cannot read is looked at line by line for its fault."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    faults = (pa.ArrowException, ValueError, OverflowError, KeyError)
    try:
        return _fast(state, block)
    except faults:
        if (result := _found_fault(state, block)) is not None:
            raise result from None
    # Blank lines say nothing; only they are left to be wrong.
    lines = [line for line in block.content.split(b"\n") if line.strip()]
    try:
        return _fast(state, Block(block.line, b"\n".join([*lines, b""])))
    except faults:
        last = block.line + block.content.count(b"\n") - 1
        reason = f"and the lines up to {last} have times or places that cannot be counted"
        raise fault(state.path, block.line, reason, "correct the units of the columns") from None


def _fast(state: _State, block: Block) -> Batch:
    import pyarrow as pa  # noqa: PLC0415 - slow to import
    import pyarrow.compute as pc  # noqa: PLC0415
    from pyarrow import csv  # noqa: PLC0415

    columns = state.columns
    names = [f"f{number}" for number in range(columns.count)]
    table = csv.read_csv(
        pa.BufferReader(block.content),
        read_options=csv.ReadOptions(column_names=names, use_threads=False, block_size=len(block.content) + 1),
        parse_options=csv.ParseOptions(delimiter=columns.delimiter, quote_char=False, ignore_empty_lines=False),
        convert_options=csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False),
    )
    part = [pc.utf8_trim_whitespace(column.combine_chunks()) for column in table.columns]
    operation = _operations(state, block, part[columns.operation])
    kept = operation != _LEFT_OUT
    if columns.device is not None:
        kept &= _device(state, block, part[columns.device], kept)
    time_ns = _times(state, part[columns.time])
    # A flush is of no place, whatever stands there.
    flush = operation == FLUSH
    offset = _bytes(pc, _zeroed(part[columns.offset], flush), columns.offset_bytes)
    size = _bytes(pc, _zeroed(part[columns.size], flush), columns.size_bytes)
    if (offset > BYTES_MAX - size).any():
        raise ValueError
    return Batch(time_ns, operation, offset, size).taken(kept)


def _zeroed(column: Any, which: NDArray[np.bool_]) -> Any:
    import pyarrow as pa  # noqa: PLC0415 - slow to import
    import pyarrow.compute as pc  # noqa: PLC0415

    return pc.if_else(pa.array(which), "0", column) if which.any() else column


def _operations(state: _State, block: Block, column: Any) -> NDArray[np.uint8]:
    encoded = column.dictionary_encode()
    words = [word.casefold() for word in encoded.dictionary.to_pylist()]
    meanings = _meanings(state.columns)
    if (other := state.columns.other) is not None:
        unnamed = {word for word in words if word not in meanings}
        state.others |= unnamed
        if len(state.others) > 1:
            raise _several_operations(state, block)
        meanings |= dict.fromkeys(unnamed, other)
    codes = np.array([meanings[word] for word in words], np.uint8)
    return np.asarray(codes[encoded.indices.to_numpy()])


def _meanings(columns: Columns) -> dict[str, int]:
    """What the words of the column of operations mean: those that are named, else the usual ones."""
    return {**columns.operations, "": _LEFT_OUT} if columns.operations else dict(_OPERATIONS)


def _several_operations(state: _State, block: Block) -> Exception:
    last = block.line + block.content.count(b"\n") - 1
    named = " and ".join(shown(word) for word in sorted(state.others)[:2])
    reason = f"has the unnamed operations {named} up to here"
    return fault(state.path, last, reason, f"name each: {OP_EXAMPLE}")


def _device(state: _State, block: Block, column: Any, kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which lines are of the device that is asked for."""
    encoded = column.dictionary_encode()
    names, indices = encoded.dictionary.to_pylist(), encoded.indices.to_numpy()
    if state.device is not None:
        return np.asarray(np.array([name == state.device for name in names], np.bool_)[indices])
    state.devices |= {names[index] for index in np.unique(indices[kept])}
    if len(state.devices) > 1:
        raise several_devices(state.path, block.line + block.content.count(b"\n") - 1, state.devices)
    return np.ones(len(indices), np.bool_)


def _times(state: _State, column: Any) -> NDArray[np.int64]:
    """Nanoseconds from the first line, to the last decimal that there is."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    factor = state.columns.time_ns
    try:
        units = column.cast(pa.int64()).to_numpy()
        scale = 10**_DECIMALS
    except pa.ArrowInvalid:
        units, scale = _decimal(column), 1
    state.base = int(units[0]) * scale if state.base is None else state.base
    base, odd = divmod(state.base, scale)
    units = units - base
    if scale == 1:
        return np.asarray(units // (10**_DECIMALS // factor), np.int64)
    if int(np.abs(units).max()) > BYTES_MAX // factor - 1:
        raise OverflowError
    return np.asarray(units * factor - odd * factor // scale, np.int64)


def _decimal(column: Any) -> NDArray[np.int64]:
    """Decimal numbers in billionths. Only plain ones are cast: an exponent can end the process inside Arrow."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import
    import pyarrow.compute as pc  # noqa: PLC0415

    if not pc.all(pc.match_substring_regex(column, f"^{_PLAIN}$"), min_count=0).as_py():
        raise ValueError
    words = np.frombuffer(column.cast(pa.decimal128(28, _DECIMALS)).buffers()[1], "<i8").reshape(-1, 2)
    low, high = words[: len(column), 0], words[: len(column), 1]
    if (high != 0).any() or (low < 0).any():
        raise OverflowError
    return low


def _bytes(pc: Any, column: Any, unit: int) -> NDArray[np.int64]:
    values = np.array(pc.cast(column, "int64").to_numpy())
    if (values < 0).any() or (values > BYTES_MAX // unit).any():
        raise OverflowError
    return np.asarray(values * unit, np.int64)


def _found_fault(state: _State, block: Block) -> Exception | None:
    """The first line of a block that cannot be read, in words; None where each can be, but for blank ones."""
    columns = state.columns
    delimiter = columns.delimiter.encode()
    for number, raw in enumerate(block.content.split(b"\n")[:-1], block.line):
        if not raw.strip():
            continue
        fields = raw.rstrip(b"\r").split(delimiter)
        if len(fields) != columns.count:
            reason = f"has {len(fields)} columns, and the first line {columns.count}"
            return fault(state.path, number, reason, "write the same in every line")
        if result := _line_fault(columns, fields):
            return fault(state.path, number, *result)
    return None


def _line_fault(columns: Columns, fields: list[bytes]) -> tuple[str, str] | None:
    operation = fields[columns.operation]
    meanings, word = _meanings(columns), operation.decode("utf-8", "replace").strip().casefold()
    if word not in meanings and columns.other is None:
        return f"has the operation {shown(operation)}", f"write R or W, or say what it means: {OP_EXAMPLE}"
    if not _TIME.fullmatch(fields[columns.time]):
        return f"has the time {shown(fields[columns.time])}", "write a number with at most nine decimals"
    for name, place, unit in (
        ("offset", columns.offset, columns.offset_bytes),
        ("size", columns.size, columns.size_bytes),
    ):
        if meanings.get(word) == FLUSH:
            continue
        if not _INTEGER.fullmatch(fields[place]) or int(fields[place]) * unit > BYTES_MAX:
            return f"has the {name} {shown(fields[place])}", "write a whole number that a drive can have"
    try:
        b"".join(fields).decode("utf-8")
    except UnicodeDecodeError:
        return "is not UTF-8 text", "save it as UTF-8"
    return None
