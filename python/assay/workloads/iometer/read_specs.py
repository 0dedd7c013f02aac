"""Reads the section ``'ACCESS SPECIFICATIONS``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.spec.units import KIB
from assay.workloads.iometer.model import IDLE, SPEC_NAME_MAX, AccessRow, AccessSpec, Assignment, Version, spec_name

if TYPE_CHECKING:
    from assay.workloads.iometer.lines import Line, Lines

END = "END access specifications"
NAME = "Access specification name,default assignment"
ROWS = "size,% of size,% reads,% random,delay,burst,align,reply"
ROWS_MAX = 100
_ASSIGNMENTS: dict[str, Assignment] = {
    "NONE": "NONE",
    "ALL": "ALL",
    "DISK": "DISK",
    "NET": "NET",
    "0": "NONE",
    "1": "ALL",
    "2": "DISK",
    "3": "NET",
}
_FIRST_NAMED = (1998, 5, 21)
_OLD_ROW = "size % of size % reads % random delay burst"
_OLD_CELLS = 6
_PERCENT = 100


def specs_of(lines: Lines, version: Version) -> tuple[AccessSpec, ...]:
    """The specifications of the section, in its order; of two of one name both, of which the later counts."""
    unnamed = version.is_dated and version.numbers < _FIRST_NAMED
    lines.long_rows = not version.is_dated
    specs = _unnamed(lines) if unnamed else _named(lines)
    lines.long_rows = False
    _note_repeated(lines, specs)
    return tuple(specs)


def _named(lines: Lines) -> list[AccessSpec]:
    result: list[AccessSpec] = []
    while lines.key((NAME, END))[0] == NAME:
        name = lines.value(NAME, (NAME, ROWS, END))
        text, assignment = _name(lines, name)
        lines.key((ROWS,))
        rows = _rows(lines)
        _check_sum(lines, rows, text, name)
        result.append(AccessSpec(name=text, assignment=assignment, rows=tuple(rows), line=name.number))
    return result


def _name(lines: Lines, line: Line) -> tuple[str, Assignment]:
    before, comma, behind = line.text.partition(",")
    if not comma:
        raise lines.fault(line.number, "has no default assignment", "name,NONE|ALL|DISK|NET")
    # The assignment is behind the last comma; what stands between belongs to no name.
    assignment = lines.word(behind.rpartition(",")[2], line, "the default assignment", _ASSIGNMENTS)
    name = lines.name(spec_name(before), line, "the name of the access specification", SPEC_NAME_MAX)
    if name != before.strip() or "," in behind:
        lines.note(
            line.number, f'Iometer ends this name at a comma, bar or letter beyond ASCII: it is read as "{name}"'
        )
    if name.casefold() == IDLE:
        raise lines.fault(line.number, f'"{name}" is the specification without I/Os, which is built in', "another name")
    return name, assignment


def _rows(lines: Lines) -> list[AccessRow]:
    rows: list[AccessRow] = []
    while (upcoming := lines.peek()) is not None and not upcoming.is_key:
        line = lines.take(ROWS)
        if not line.text:
            raise lines.fault(line.number, "is blank", f"{ROWS}, or '{END}")
        if len(rows) == ROWS_MAX:
            raise lines.fault(line.number, f"is line {ROWS_MAX + 1} of its specification", f"{ROWS_MAX} lines at most")
        rows.append(_row(lines, line, lines.cells(line, ROWS)))
    return rows


def _row(lines: Lines, line: Line, cells: list[str]) -> AccessRow:
    names = ROWS.split(",")
    numbers = [
        lines.number(cell, line, name, most=_PERCENT) if name.startswith("%") else lines.number(cell, line, name)
        for name, cell in zip(names, cells, strict=False)
    ]
    size, percent, reads, at_random, delay, burst, *more = numbers
    align, reply = more or (0, 0)
    return AccessRow(
        size_bytes=size,
        percent=percent,
        read_percent=reads,
        random_percent=at_random,
        delay_ms=delay,
        burst=burst,
        align_bytes=align,
        reply_bytes=reply,
        line=line.number,
    )


def _check_sum(lines: Lines, rows: list[AccessRow], name: str, line: Line) -> None:
    total = sum(row.percent for row in rows)
    if total != _PERCENT:
        at = rows[-1].line if rows else line.number
        raise lines.fault(at, f'the "% of size" of "{name}" sum to {total}', "a sum of 100")


def _unnamed(lines: Lines) -> list[AccessSpec]:
    """Of files before 1998.05.21: rows of six numbers; a specification ends where its shares have come to 100 %."""
    result: list[AccessSpec] = []
    rows: list[AccessRow] = []
    while (upcoming := lines.peek()) is not None:
        if upcoming.is_key and (rows or not _is_caption(upcoming)):
            break
        line = lines.take(_OLD_ROW)
        if line.is_key:
            continue
        cells = line.text.split()
        if len(cells) != _OLD_CELLS:
            raise lines.fault(line.number, f"has {len(cells)} values where there should be {_OLD_CELLS}", _OLD_ROW)
        rows.append(_row(lines, line, cells))
        total = sum(row.percent for row in rows)
        if total > _PERCENT or len(rows) > ROWS_MAX:
            _check_sum(lines, rows, "this specification", line)
        if total == _PERCENT:
            result.append(AccessSpec(name=_made_name(rows), assignment="ALL", rows=tuple(rows), line=rows[0].line))
            rows = []
    if rows:
        raise lines.fault(rows[-1].line, "the shares of this specification do not come to 100", "a sum of 100")
    lines.key((END,))
    return result


def _is_caption(line: Line) -> bool:
    return not line.text[1:].strip().casefold().startswith("end ")


def _made_name(rows: list[AccessRow]) -> str:
    """A name as Iometer makes one. Worked: 2048 bytes, 67 % reads, all random -> ``2 KiB random 67% reads``."""
    first = rows[0]
    size = f"{first.size_bytes // KIB} KiB" if first.size_bytes % KIB == 0 else f"{first.size_bytes} B"
    order = {0: "sequential", _PERCENT: "random"}.get(first.random_percent, f"{first.random_percent}% random")
    more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
    return f"{size} {order} {first.read_percent}% reads{more}"


def _note_repeated(lines: Lines, specs: list[AccessSpec]) -> None:
    known: dict[str, int] = {}
    for spec in specs:
        before = known.get(spec.name.casefold())
        if before is not None:
            lines.note(spec.line, f'"{spec.name}" replaces that of line {before}')
        known[spec.name.casefold()] = spec.line
