"""Which columns of a CSV hold what: as the command line says, or as the public forms have it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from assay.errors import UsageError
from assay.spec.nearest import did_you_mean
from assay.workloads.traces.records import FLUSH, OPERATIONS, READ, TRIM, WRITE

if TYPE_CHECKING:
    from pathlib import Path

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


@dataclass(frozen=True, slots=True)
class _Form:
    """A public form. heads : its column names in small letters. typed : the column of the operation."""

    name: str
    heads: tuple[str, ...]
    places: str
    typed: int


# Sources: SNIA IOTTA 387, 28064 and the SYSTOR '17 README; alibaba/block-traces README.
_FORMS = (
    _Form(
        "MSR Cambridge",
        ("timestamp", "hostname", "disknumber", "type", "offset", "size", "responsetime"),
        "time=1:100ns,device=3,op=4,offset=5:bytes,size=6:bytes",
        3,
    ),
    _Form(
        "Alibaba 2020",
        ("device_id", "opcode", "offset", "length", "timestamp"),
        "device=1,op=2,offset=3:bytes,size=4:bytes,time=5:us",
        1,
    ),
    _Form(
        "Tencent CBS",
        ("timestamp", "offset", "size", "iotype", "volumeid"),
        "time=1:s,offset=2:sectors,size=3:sectors,op=4:0=read:1=write,device=5",
        3,
    ),
    _Form(
        "SYSTOR '17",
        ("timestamp", "response", "iotype", "lun", "offset", "size"),
        "time=1:s,op=3,device=4,offset=5:bytes,size=6:bytes",
        2,
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
            return _parsed(form.name, form.places, fields, delimiter)
        if _looks_like(form, fields):
            return replace(_parsed(form.name, form.places, fields, delimiter), guessed=form.places)
    raise UsageError(
        f"{path}:1",
        f"is of no form that is known, with {len(fields)} columns",
        "name the columns, as time=1:us,op=2,offset=3:bytes,size=4:bytes",
    )


def _looks_like(form: _Form, fields: list[str]) -> bool:
    """Whether a row without a head has as many columns and its numbers where the form has them."""
    if len(fields) != len(form.heads):
        return False
    operation = fields[form.typed]
    if form.name == "Tencent CBS":
        return operation in ("0", "1") and all(map(_NUMBER.fullmatch, fields))
    others = [fields[int(part.partition("=")[2].partition(":")[0]) - 1] for part in form.places.split(",")]
    numbers = [field for field in others if field != operation]
    return bool(_TYPE.fullmatch(operation)) and all(map(_NUMBER.fullmatch, numbers))


def _parsed(form: str, text: str, fields: list[str], delimiter: str) -> Columns:
    result: dict[str, tuple[int, str]] = {}
    operations: dict[str, int] = {}
    for part in text.split(","):
        word, equals, rest = (one.strip() for one in part.partition("="))
        if word == "op" and "=" in rest:
            rest, _, meanings = rest.partition(":")
            operations = _named_operations(meanings)
        column, _, unit = (one.strip() for one in rest.rpartition(":")) if ":" in rest else (rest, "", "")
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
        word, _, meaning = (one.strip() for one in part.partition("="))
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
