"""Reads Iometer configuration files of all versions from before 1998 to 1.1.0, whole."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from assay.spec.toml_file import named_bytes
from assay.spec.units import KIB
from assay.workloads.iometer import keys
from assay.workloads.iometer.lines import FILE_BYTES_MAX, Lines, decoded, known_key
from assay.workloads.iometer.model import (
    IDLE,
    ROW_FIELDS,
    SPEC_NAME_MAX,
    VERSION_2006,
    AccessRow,
    AccessSpec,
    Assigned,
    Assignment,
    Display,
    IcfFile,
    Manager,
    Setup,
    Target,
    TargetSettings,
    Version,
    Worker,
    spec_name,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from assay.workloads.iometer.lines import Line

ROWS_MAX = 100
_REMEDY = "name an Iometer configuration file"
_VERSION = re.compile(r"'?\s*(?:Version\s+)?v?([0-9]{1,5})\.([0-9]{1,5})\.([0-9]{1,5})(.*)", re.IGNORECASE)
_VERSION_LINE = re.compile(r"'?\s*Version\b", re.IGNORECASE)
_FIRST_NAMED, _FIRST_WITH_END, _FIRST_STRICT = (1998, 5, 21), (1998, 10, 9), (1999, 2, 17)
_OLD_ROW = "size % of size % reads % random delay burst"
_OLD_CELLS = 6
_PERCENT = 100


def read_icf(path: Path) -> IcfFile:
    """The whole of an Iometer configuration file of at most 4 MiB.

    Raises PlanError with line, section and what is expected.
    """
    raw = named_bytes(path, bytes_max=FILE_BYTES_MAX, remedy=_REMEDY)
    return parse_icf(raw, str(path))


def parse_icf(raw: bytes, source: str) -> IcfFile:
    """Read the bytes of a configuration file. source : its name, for faults. Raises PlanError.

    Sections come in any order, each at most once.
    """
    lines = Lines(decoded(raw, source), source)
    stated = _version(lines)
    version = stated or VERSION_2006
    sections: dict[str, Any] = {}
    begun: dict[str, int] = {}
    while (key := _title(lines, stated)) is not None:
        title, line = key[0].removesuffix("*"), key[1]
        if title in begun:
            reason = f"a second section '{title}; the first begins in line {begun[title]}"
            raise lines.fault(line.number, reason, "each section once")
        begun[title] = line.number
        lines.section = title
        field, read = _SECTIONS[key[0]]
        sections[field] = read(lines, line.number, version)
        lines.section = ""
    if not begun:
        titles = ", ".join(f"'{name.removesuffix('*')}" for name in _SECTIONS)
        raise lines.fault(1, "has none of the sections of an Iometer file", titles)
    return IcfFile(version=stated, **sections, notes=tuple(lines.notes), source=source)


def _version(lines: Lines) -> Version | None:
    """The version of the first line that is not blank; the last line repeats it."""
    while (line := lines.peek()) is not None and not line.text:
        lines.take("a version")
    if line is None:
        raise lines.fault(1, "is empty", "an Iometer configuration file")
    if (match := _VERSION.fullmatch(line.text)) is not None:
        lines.take("a version")
        first, second, third = (int(part) for part in match.groups()[:3])
        return Version(f"{match[1]}.{match[2]}.{match[3]}{match[4]}".strip(), (first, second, third))
    if _VERSION_LINE.match(line.text):
        raise lines.fault(line.number, "has no version of three numbers", f"Version {VERSION_2006.text}")
    lines.note(line.number, f"no version is stated: it is read as {VERSION_2006.text}; Iometer refuses it")
    return None


def _title(lines: Lines, version: Version | None) -> tuple[str, Line] | None:
    """The title of the next section, None at the end of the file. version : as the first line states it."""
    while (line := lines.peek()) is not None:
        match = _VERSION.fullmatch(line.text)
        if line.text and not match and not _VERSION_LINE.match(line.text):
            return lines.key(_SECTIONS)
        if match and version and tuple(int(part) for part in match.groups()[:3]) != version.numbers:
            lines.note(line.number, f"{line.text} is not the version of the first line, which counts")
        lines.take("a section")
    return None


def _setup(lines: Lines, number: int, version: Version) -> Setup:
    """The test set-up; in files up to 1998 the next title ends it."""
    known = (*keys.SETUP, keys.END_SETUP)
    result: dict[str, Any] = {}
    places: dict[str, int] = {}
    while not (version.is_before(_FIRST_WITH_END) and _ends_without_end(lines)):
        if version.is_before(_FIRST_STRICT) and _skipped(lines, known):
            continue
        name, line = lines.key(known)
        if name == keys.END_SETUP:
            break
        key = keys.SETUP[name]
        if key.field in result:
            raise lines.fault(line.number, f"'{name.removesuffix('*')} is there twice", "each key once")
        value = lines.value(name, known, may_be_empty=key.field == "description")
        result[key.field], places[key.field] = key.read(lines, value), value.number
    return Setup(**result, lines=places, line=number)


def _ends_without_end(lines: Lines) -> bool:
    line = lines.peek()
    return line is None or (line.is_key and known_key(line, _SECTIONS) is not None)


def _skipped(lines: Lines, known: Sequence[str]) -> bool:
    """Whether the next line was taken as one of a key that files before 1999 may have and Iometer leaves out."""
    line = lines.peek()
    if line is None or (line.is_key and known_key(line, known) is not None):
        return False
    lines.take(keys.END_SETUP)
    lines.note(line.number, f'"{line.text[:60]}" is no key of the test set-up: left out, as Iometer does')
    return True


def _display(lines: Lines, number: int, _version: Version) -> Display:
    """The results display, whatever it says."""
    ends = (keys.END_SETUP, keys.END_DISPLAY, keys.END_SPECS, keys.END_MANAGERS, *_SECTIONS)
    texts: list[str] = []
    while (line := lines.peek()) is None or not line.is_key or known_key(line, ends) is None:
        texts.append(lines.take(f"'{keys.END_DISPLAY}").text)
    lines.key((keys.END_DISPLAY,))
    return Display(texts=tuple(texts), line=number)


def _specs(lines: Lines, _number: int, version: Version) -> tuple[AccessSpec, ...]:
    """The specifications in their order; of two of one name both, of which the later counts."""
    lines.long_rows = not version.is_dated
    specs = _unnamed_specs(lines) if version.is_before(_FIRST_NAMED) else _named_specs(lines)
    lines.long_rows = False
    known: dict[str, int] = {}
    for spec in specs:
        name = spec.name.casefold()
        if name in known:
            lines.note(spec.line, f'"{spec.name}" replaces that of line {known[name]}')
        known[name] = spec.line
    return tuple(specs)


def _named_specs(lines: Lines) -> list[AccessSpec]:
    result: list[AccessSpec] = []
    while lines.key((keys.SPEC, keys.END_SPECS))[0] == keys.SPEC:
        line = lines.value(keys.SPEC, (keys.SPEC, keys.ROWS, keys.END_SPECS))
        name, assignment = _spec_head(lines, line)
        lines.key((keys.ROWS,))
        rows = _rows(lines)
        _check_sum(lines, rows, name, line)
        result.append(AccessSpec(name=name, assignment=assignment, rows=tuple(rows), line=line.number))
    return result


def _spec_head(lines: Lines, line: Line) -> tuple[str, Assignment]:
    """Name and default assignment of a specification."""
    before, comma, behind = line.text.partition(",")
    if not comma:
        raise lines.fault(line.number, "has no default assignment", "name,NONE|ALL|DISK|NET")
    # The assignment is behind the last comma; what stands between belongs to no name.
    assignment: Assignment = lines.word(behind.rpartition(",")[2], line, "the default assignment", keys.ASSIGNMENTS)
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
        line = lines.take(keys.ROWS)
        if not line.text:
            raise lines.fault(line.number, "is blank", f"{keys.ROWS}, or '{keys.END_SPECS}")
        if len(rows) == ROWS_MAX:
            raise lines.fault(line.number, f"is line {ROWS_MAX + 1} of its specification", f"{ROWS_MAX} lines at most")
        rows.append(_row(lines, line, lines.cells(line, keys.ROWS)))
    return rows


def _row(lines: Lines, line: Line, cells: list[str]) -> AccessRow:
    """A row of eight numbers, or of the first six."""
    numbers = [part.read(lines, cell, line) for part, cell in zip(keys.ROW, cells, strict=False)]
    return AccessRow(**dict(zip(ROW_FIELDS, numbers, strict=False)), line=line.number)


def _check_sum(lines: Lines, rows: list[AccessRow], name: str, line: Line) -> None:
    total = sum(row.percent for row in rows)
    if total != _PERCENT:
        at = rows[-1].line if rows else line.number
        raise lines.fault(at, f'the "% of size" of "{name}" sum to {total}', "a sum of 100")


def _unnamed_specs(lines: Lines) -> list[AccessSpec]:
    """Read rows of six numbers, as files before 1998.05.21 have them.

    A specification ends where its shares have come to 100 %.
    """
    result: list[AccessSpec] = []
    rows: list[AccessRow] = []
    while (upcoming := lines.peek()) is not None:
        if upcoming.is_key and (rows or upcoming.text[1:].strip().casefold().startswith("end ")):
            break
        line = lines.take(_OLD_ROW)
        if line.is_key:
            # A caption.
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
    lines.key((keys.END_SPECS,))
    return result


def _made_name(rows: list[AccessRow]) -> str:
    """A name as Iometer makes one. Worked: 2048 bytes, 67 % reads, all random -> ``2 KiB random 67% reads``."""
    first = rows[0]
    size = f"{first.size_bytes // KIB} KiB" if first.size_bytes % KIB == 0 else f"{first.size_bytes} B"
    order = {0: "sequential", _PERCENT: "random"}.get(first.random_percent, f"{first.random_percent}% random")
    more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
    return f"{size} {order} {first.read_percent}% reads{more}"


def _managers(lines: Lines, _number: int, _version: Version) -> tuple[Manager, ...]:
    """Hosts, their workers, and what these drive."""
    result: list[Manager] = []
    while (key := lines.key((keys.MANAGER, keys.END_MANAGERS)))[0] == keys.MANAGER:
        result.append(_manager(lines, key[1].number))
    return tuple(result)


def _manager(lines: Lines, number: int) -> Manager:
    known = (keys.ADDRESS, keys.WORKER, keys.END_MANAGER)
    value = lines.value(keys.MANAGER, (keys.MANAGER, *known))
    digits, _, name = value.text.partition(",")
    identity = lines.number(digits, value, "the manager's ID")
    address: str | None = None
    workers: list[Worker] = []
    while (key := lines.key(known))[0] != keys.END_MANAGER:
        line = key[1]
        if key[0] == keys.ADDRESS:
            if address is not None:
                raise lines.fault(line.number, f"'{keys.ADDRESS} is there twice", "each key once")
            address = lines.value(keys.ADDRESS, known, may_be_empty=True).text
            continue
        if len(workers) == keys.WORKERS_MAX:
            reason = f"is worker {keys.WORKERS_MAX + 1}"
            raise lines.fault(line.number, reason, f"{keys.WORKERS_MAX} workers at most")
        workers.append(_worker(lines, line.number))
    return Manager(number=identity, name=name.strip(), address=address or "", workers=tuple(workers), line=number)


def _worker(lines: Lines, number: int) -> Worker:
    value = lines.value(keys.WORKER, _WORKER_KEYS)
    name = lines.name(value.text, value, "the name of the worker", keys.NAME_MAX)
    result: dict[str, Any] = {}
    while (key := lines.key(_WORKER_KEYS))[0] != keys.END_WORKER:
        field, read = _WORKER[key[0]]
        if field in result:
            raise lines.fault(key[1].number, f"'{key[0]} is there twice", "each key once")
        result[field] = read(lines, key[1])
    return Worker(name=name, **result, line=number)


def _kind(lines: Lines, line: Line) -> str:
    text = ",".join(part.strip() for part in line.text.split(","))
    return lines.word(text, line, "the type", keys.KINDS)


def _settings(lines: Lines, begun: Line) -> TargetSettings:
    known = (*keys.TARGET_SETTINGS, keys.END_SETTINGS)
    settings: dict[str, Any] = {}
    places: dict[str, int] = {}
    while (key := lines.key(known)[0]) != keys.END_SETTINGS:
        value = lines.value(key, known, may_be_empty=key == keys.INTERFACE)
        texts = [value.text] if key == keys.INTERFACE else lines.cells(value, key)
        parts = keys.TARGET_SETTINGS[key].items()
        read = {field: part.read(lines, text, value) for (field, part), text in zip(parts, texts, strict=True)}
        if settings.keys() & read.keys():
            raise lines.fault(value.number, f"the values of '{key} are there twice", "each key once")
        settings |= read
        places |= dict.fromkeys(read, value.number)
    seed = settings.pop("seed", None)
    settings["fixed_seed"] = seed if settings.pop("is_seeded", False) else None
    return TargetSettings(**settings, lines=places, line=begun.number)


def _assigned(lines: Lines, _begun: Line) -> tuple[Assigned, ...]:
    expected = f"the name of an access specification, or '{keys.END_ASSIGNED}"
    result: list[Assigned] = []
    while (upcoming := lines.peek()) is None or not upcoming.is_key:
        line = lines.take(expected)
        if not line.text:
            raise lines.fault(line.number, "is blank", expected)
        result.append(Assigned(name=spec_name(line.text), line=line.number))
    lines.key((keys.END_ASSIGNED,))
    return tuple(result)


def _targets(lines: Lines, _begun: Line) -> tuple[Target, ...]:
    targets: list[Target] = []
    while (key := lines.key((keys.TARGET, keys.END_TARGETS)))[0] == keys.TARGET:
        if len(targets) == keys.TARGETS_MAX:
            reason = f"is target {keys.TARGETS_MAX + 1}"
            raise lines.fault(key[1].number, reason, f"{keys.TARGETS_MAX} targets at most")
        targets.append(_target(lines, key[1].number))
    return tuple(targets)


def _target(lines: Lines, number: int) -> Target:
    known = (keys.TARGET_TYPE, keys.TARGET_MANAGER, keys.END_TARGET)
    value = lines.value(keys.TARGET, known)
    result: dict[str, Any] = {"name": lines.name(value.text, value, "the name of the target", keys.TARGET_NAME_MAX)}
    while (key := lines.key(known)[0]) != keys.END_TARGET:
        value = lines.value(key, known)
        result |= {"kind": _kind(lines, value)} if key == keys.TARGET_TYPE else {"manager": value.text}
    return Target(**result, line=number)


_SECTIONS: dict[str, tuple[str, Callable[[Lines, int, Version], Any]]] = {
    "TEST SETUP*": ("setup", _setup),
    "RESULTS DISPLAY*": ("display", _display),
    "ACCESS SPECIFICATIONS*": ("specs", _specs),
    "MANAGER LIST*": ("managers", _managers),
}
"""The titles of sections, each with its field of ``IcfFile`` and what reads it."""

_WORKER: dict[str, tuple[str, Callable[[Lines, Line], Any]]] = {
    keys.TYPE: ("kind", lambda lines, _begun: _kind(lines, lines.value(keys.TYPE, _WORKER_KEYS))),
    keys.SETTINGS: ("settings", _settings),
    keys.ASSIGNED: ("assigned", _assigned),
    keys.TARGETS: ("targets", _targets),
}
_WORKER_KEYS: tuple[str, ...] = (*_WORKER, keys.END_WORKER)
