"""Traces as CSV: which columns hold what, blocks of lines as arrays, and the line that is wrong where one is."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from assay.errors import UsageError
from assay.spec.lazy import LazyModule
from assay.spec.nearest import did_you_mean
from assay.workloads.traces.records import BYTES_MAX, FLUSH, OPERATIONS, READ, TRIM, WRITE, Batch
from assay.workloads.traces.text import Block, blocks, fault, several_devices, shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray
else:
    np = LazyModule("numpy")


TIME_UNITS = {"s": 10**9, "ms": 10**6, "us": 1000, "100ns": 100, "ns": 1}
"""Nanoseconds of each unit of times."""
SIZE_UNITS = {"bytes": 1, "sectors": 512, "KiB": 1024}
"""Bytes of each unit of offsets and sizes."""
OP_EXAMPLE = "--columns ... op=2:1=read:0=write"
"""How the meaning of operations is named."""
_MEANINGS = {"read": READ, "write": WRITE, "trim": TRIM, "flush": FLUSH}
_WORDS = ("time", "op", "offset", "size", "device")
_NUMBER = re.compile(r"\s*[+-]?\d+(\.\d+)?\s*")
_TYPE = re.compile(r"(?i)\s*(r|w|read|write)\s*")
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


@dataclass(frozen=True, slots=True)
class Columns:
    """Where each value is, by number from 0, and its unit; ``device`` is None where all is of one drive.

    form : what the form is called. has_head : whether the first line names columns. delimiter : between them.
    operations : meaning of words that are named. guessed : the columns that a file without heads was taken to have, in
    the words of ``--columns``; None where heads or the user name them.
    """

    form: str
    time: int
    operation: int
    offset: int
    size: int
    device: int | None
    count: int
    time_ns: int
    offset_bytes: int
    size_bytes: int
    has_head: bool
    delimiter: str
    operations: dict[str, int] = field(default_factory=dict)
    guessed: str | None = None

    @property
    def other(self) -> int | None:
        """What an operation without a name means, where one read or one write alone is named: the other of the two."""
        if len(self.operations) != 1:
            return None
        (only,) = self.operations.values()
        return {READ: WRITE, WRITE: READ}.get(only)

    @property
    def told(self) -> str:
        """Which column is taken for what, with its unit. Worked: ``time 1 (s), op 3, offset 5 (bytes), ...``."""
        time = next(name for name, value in TIME_UNITS.items() if value == self.time_ns)
        offset, size = (
            next(name for name, value in SIZE_UNITS.items() if value == each)
            for each in (self.offset_bytes, self.size_bytes)
        )
        device = "" if self.device is None else f", device {self.device + 1}"
        return (
            f"columns: time {self.time + 1} ({time}), op {self.operation + 1}{self._meanings}, "
            f"offset {self.offset + 1} ({offset}), size {self.size + 1} ({size}){device}"
        )

    @property
    def _meanings(self) -> str:
        """What words mean. Worked: one read named -> `` (1 is read, any other is write)``."""
        if not self.operations:
            return ""
        named = [f"{word} is {OPERATIONS[kind]}" for word, kind in self.operations.items()]
        rest = [] if self.other is None else [f"any other is {OPERATIONS[self.other]}"]
        return f" ({', '.join([*named, *rest])})"


class _Form(NamedTuple):
    """A public form. heads : its column names in small letters. columns : in the words of ``--columns``."""

    name: str
    heads: tuple[str, ...]
    columns: str


# Sources: SNIA IOTTA 387, 28064 and the SYSTOR '17 README; alibaba/block-traces README.
_FORMS = (
    _Form(
        "MSR Cambridge",
        ("timestamp", "hostname", "disknumber", "type", "offset", "size", "responsetime"),
        "time=1:100ns,device=3,op=4,offset=5:bytes,size=6:bytes",
    ),
    _Form(
        "Alibaba 2020",
        ("device_id", "opcode", "offset", "length", "timestamp"),
        "device=1,op=2,offset=3:bytes,size=4:bytes,time=5:us",
    ),
    _Form(
        "Tencent CBS",
        ("timestamp", "offset", "size", "iotype", "volumeid"),
        "time=1:s,offset=2:sectors,size=3:sectors,op=4:0=read:1=write,device=5",
    ),
    _Form(
        "SYSTOR '17",
        ("timestamp", "response", "iotype", "lun", "offset", "size"),
        "time=1:s,op=3,device=4,offset=5:bytes,size=6:bytes",
    ),
)


def columns_of(path: Path, head: bytes, named: str | None) -> Columns:
    """Decide which columns hold what.

    head : the beginning of the file. named : as ``time=1:us,op=2,offset=3:bytes,size=4:bytes``, by number from 1 or by
    heading; ``device=5`` where there are several drives in it.
    Raises UsageError where the form is none that is known.
    """
    lines = head.split(b"\n")
    first = lines[0].decode("utf-8", "replace").rstrip("\r")
    delimiter = next((mark for mark in (",", ";", "\t") if mark in first), ",")
    fields = [field.strip() for field in first.split(delimiter)]
    if named is not None:
        return _parsed("columns as named", named, fields, delimiter)
    for form in _FORMS:
        if tuple(field.casefold() for field in fields) == form.heads:
            return _parsed(form.name, form.columns, fields, delimiter)
        if _looks_like(form, fields):
            return replace(_parsed(form.name, form.columns, fields, delimiter), guessed=form.columns)
    raise UsageError(
        f"{path}:1",
        f"is of no form that is known, with {len(fields)} columns",
        "name the columns, as time=1:us,op=2,offset=3:bytes,size=4:bytes",
    )


def _looks_like(form: _Form, fields: list[str]) -> bool:
    """Whether a row without a head has as many columns and its numbers where the form has them."""
    if len(fields) != len(form.heads):
        return False
    named = {part.partition("=")[0]: part.partition("=")[2].partition(":")[0] for part in form.columns.split(",")}
    operation = fields[int(named["op"]) - 1]
    if form.name == "Tencent CBS":
        return operation in ("0", "1") and all(map(_NUMBER.fullmatch, fields))
    numbers = [field for field in (fields[int(number) - 1] for number in named.values()) if field != operation]
    return bool(_TYPE.fullmatch(operation)) and all(map(_NUMBER.fullmatch, numbers))


def _parsed(form: str, text: str, fields: list[str], delimiter: str) -> Columns:
    result: dict[str, tuple[int, str]] = {}
    operations: dict[str, int] = {}
    for part in text.split(","):
        word, equals, rest = (text.strip() for text in part.partition("="))
        if word == "op" and "=" in rest:
            rest, _, meanings = rest.partition(":")
            operations = _named_operations(meanings)
        column, _, unit = (text.strip() for text in rest.rpartition(":")) if ":" in rest else (rest, "", "")
        if word not in _WORDS or not equals or word in result:
            remedy = did_you_mean(word, _WORDS, f"write {', '.join(_WORDS)}, each once")
            raise UsageError(f"columns {part.strip()[:80]!r}", "names no value of an I/O", remedy)
        result[word] = _place(column, fields), unit
    for word in _WORDS[:4]:
        if word not in result:
            raise UsageError(f"columns {text[:80]!r}", f"do not say where {word} is", "add it")
    time = _unit(result["time"][1], TIME_UNITS, "time", "s")
    offset, size = (_unit(result[word][1], SIZE_UNITS, word, "bytes") for word in ("offset", "size"))
    return Columns(
        form=form,
        time=result["time"][0],
        operation=result["op"][0],
        offset=result["offset"][0],
        size=result["size"][0],
        device=result["device"][0] if "device" in result else None,
        count=len(fields),
        time_ns=time,
        offset_bytes=offset,
        size_bytes=size,
        has_head=not _NUMBER.fullmatch(fields[result["time"][0]]),
        delimiter=delimiter,
        operations=operations,
    )


def _named_operations(text: str) -> dict[str, int]:
    """Meanings of operations. Worked: ``1=read:0=write`` -> ``{"1": READ, "0": WRITE}``."""
    operations: dict[str, int] = {}
    for part in text.split(":"):
        word, _, meaning = (text.strip() for text in part.partition("="))
        if meaning not in _MEANINGS or word.casefold() in operations:
            remedy = f"write {OP_EXAMPLE}, of {', '.join(_MEANINGS)}, each value once"
            raise UsageError(f"columns op {part.strip()[:80]!r}", "names no meaning of an operation", remedy)
        operations[word.casefold()] = _MEANINGS[meaning]
    return operations


def _place(column: str, fields: list[str]) -> int:
    if column.isdigit() and len(column) < 5 and 1 <= int(column) <= len(fields):  # noqa: PLR2004 - digits
        return int(column) - 1
    names = [field.casefold() for field in fields]
    if column.casefold() in names:
        return names.index(column.casefold())
    remedy = did_you_mean(column, fields, f"write a number from 1 to {len(fields)}, or a heading of the first line")
    raise UsageError(f"column {column[:80]!r}", "is not in the file", remedy)


def _unit(unit: str, units: dict[str, int], word: str, otherwise: str) -> int:
    value = units.get(unit or otherwise)
    if value is None:
        raise UsageError(f"columns {word}", f"has the unit {unit[:40]!r}", f"choose from {', '.join(units)}")
    return value


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
        return _arrays(state, block)
    except faults:
        if (result := _first_fault(state, block)) is not None:
            raise result from None
    # Blank lines say nothing; only they are left to be wrong.
    lines = [line for line in block.content.split(b"\n") if line.strip()]
    try:
        return _arrays(state, Block(block.line, b"\n".join([*lines, b""])))
    except faults:
        reason = f"and the lines up to {block.last_line} have times or places that cannot be counted"
        raise fault(state.path, block.line, reason, "correct the units of the columns") from None


def _arrays(state: _State, block: Block) -> Batch:
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
    offset, size = (
        _bytes(pc.if_else(pa.array(flush), "0", part[index]) if flush.any() else part[index], unit)
        for index, unit in ((columns.offset, columns.offset_bytes), (columns.size, columns.size_bytes))
    )
    if (offset > BYTES_MAX - size).any():
        raise ValueError
    return Batch(time_ns, operation, offset, size).taken(kept)


def _operations(state: _State, block: Block, column: Any) -> NDArray[np.uint8]:
    encoded = column.dictionary_encode()
    words = [word.casefold() for word in encoded.dictionary.to_pylist()]
    meanings = _meanings(state.columns)
    if (other := state.columns.other) is not None:
        unnamed = {word for word in words if word not in meanings}
        state.others |= unnamed
        if len(state.others) > 1:
            named = " and ".join(shown(word) for word in sorted(state.others)[:2])
            reason = f"has the unnamed operations {named} up to here"
            raise fault(state.path, block.last_line, reason, f"name each: {OP_EXAMPLE}")
        meanings |= dict.fromkeys(unnamed, other)
    codes = np.array([meanings[word] for word in words], np.uint8)
    return np.asarray(codes[encoded.indices.to_numpy()])


def _meanings(columns: Columns) -> dict[str, int]:
    """What the words of the column of operations mean: those that are named, else the usual ones."""
    return {**columns.operations, "": _LEFT_OUT} if columns.operations else dict(_OPERATIONS)


def _device(state: _State, block: Block, column: Any, kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which lines are of the device that is asked for."""
    encoded = column.dictionary_encode()
    names, indices = encoded.dictionary.to_pylist(), encoded.indices.to_numpy()
    if state.device is not None:
        return np.asarray(np.array([name == state.device for name in names], np.bool_)[indices])
    state.devices |= {names[index] for index in np.unique(indices[kept])}
    if len(state.devices) > 1:
        raise several_devices(state.path, block.last_line, state.devices)
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


def _bytes(column: Any, unit: int) -> NDArray[np.int64]:
    values = np.array(column.cast("int64").to_numpy())
    if (values < 0).any() or (values > BYTES_MAX // unit).any():
        raise OverflowError
    return np.asarray(values * unit, np.int64)


def _first_fault(state: _State, block: Block) -> Exception | None:
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
