"""Reads the section ``'TEST SETUP``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from assay.workloads.iometer.lines import known_key
from assay.workloads.iometer.model import Cycling, QueueCycling, Record, Setup, StepKind, TestType, Version

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from assay.workloads.iometer.lines import Line, Lines

END = "END test setup"
# Older files have the place of a word in these lists instead of the word.
TEST_TYPES: tuple[TestType, ...] = get_args(TestType)
RECORDS: tuple[Record, ...] = get_args(Record)
_KINDS: tuple[StepKind, ...] = get_args(StepKind)
_PER_CPU = "NUMBER_OF_CPUS"
_WORKERS_MAX = 128
_LAST_WITHOUT_END = (1998, 10, 8)
_FIRST_STRICT = (1999, 2, 17)


def _numbered(words: Sequence[Any]) -> dict[str, Any]:
    """Words and the numbers that older files have for them. Worked: LINEAR, EXPONENTIAL also as 0 and 1."""
    return {word: word for word in words} | {str(number): word for number, word in enumerate(words)}


def _description(_lines: Lines, line: Line) -> str:
    return line.text


def _run_time(lines: Lines, line: Line) -> tuple[int, int, int]:
    hours, minutes, seconds = _parts(lines, line, "hours minutes seconds")
    return (
        lines.number(hours, line, "hours"),
        lines.number(minutes, line, "minutes"),
        lines.number(seconds, line, "seconds"),
    )


def _seconds(lines: Lines, line: Line) -> int:
    return lines.number(line.text, line, "Ramp Up Time")


def _spawned(lines: Lines, line: Line) -> int | None:
    if line.text.upper() == _PER_CPU:
        return None
    return lines.number(line.text, line, f"the number of workers (or {_PER_CPU})", most=_WORKERS_MAX)


def _record(lines: Lines, line: Line) -> Record:
    result: Record = lines.word(line.text, line, "Record Results", _numbered(RECORDS))
    return result


def _cycling(lines: Lines, line: Line) -> Cycling:
    start, step, kind = _parts(lines, line, "start step type")
    return Cycling(
        start=lines.number(start, line, "start", least=1),
        step=lines.number(step, line, "step"),
        kind=lines.word(kind, line, "step type", _numbered(_KINDS)),
    )


def _queue_cycling(lines: Lines, line: Line) -> QueueCycling:
    start, end, step, kind = _parts(lines, line, "start end step type")
    return QueueCycling(
        start=lines.number(start, line, "start", least=1),
        end=lines.number(end, line, "end", least=1),
        step=lines.number(step, line, "step"),
        kind=lines.word(kind, line, "step type", _numbered(_KINDS)),
    )


def _test_type(lines: Lines, line: Line) -> TestType:
    result: TestType = lines.word(line.text, line, "Test Type", _numbered(TEST_TYPES))
    return result


_KEYS: dict[str, tuple[str, Callable[[Lines, Line], Any]]] = {
    "Test Description": ("description", _description),
    "Run Time": ("run_time", _run_time),
    "Ramp Up Time*": ("ramp_up_s", _seconds),
    "Default Disk Workers to Spawn": ("disk_workers", _spawned),
    "Default Network Workers to Spawn": ("network_workers", _spawned),
    "Default Workers to Spawn": ("disk_workers", _spawned),
    "Record Results": ("record", _record),
    "Worker Cycling": ("worker_cycling", _cycling),
    "Disk Cycling": ("disk_cycling", _cycling),
    "Queue Depth Cycling": ("queue_cycling", _queue_cycling),
    "Test Type": ("test_type", _test_type),
}
"""Each key with its field and what reads its value."""


def setup_of(lines: Lines, number: int, version: Version, sections: Sequence[str]) -> Setup:
    """The section behind its title in line ``number``. sections : titles, one of which ends it in files up to 1998."""
    old = version.is_dated and version.numbers <= _LAST_WITHOUT_END
    lenient = version.is_dated and version.numbers < _FIRST_STRICT
    known = (*_KEYS, END)
    result: dict[str, Any] = {}
    places: dict[str, int] = {}
    while not (old and _ends_without_end(lines, sections)):
        if lenient and _skipped(lines, known):
            continue
        key, line = lines.key(known)
        if key == END:
            break
        field, read = _KEYS[key]
        if field in result:
            raise lines.fault(line.number, f"'{key.removesuffix('*')} is there twice", "each key once")
        value = lines.value(key, known, may_be_empty=field == "description")
        result[field], places[field] = read(lines, value), value.number
    return Setup(**result, lines=places, line=number)


def _ends_without_end(lines: Lines, sections: Sequence[str]) -> bool:
    line = lines.peek()
    return line is None or (line.is_key and known_key(line, sections) is not None)


def _skipped(lines: Lines, known: Sequence[str]) -> bool:
    """Whether the next line was taken as one of a key that files before 1999 may have and Iometer leaves out."""
    line = lines.peek()
    if line is None or (line.is_key and known_key(line, known) is not None):
        return False
    lines.take(END)
    lines.note(line.number, f'"{line.text[:60]}" is no key of the test set-up: left out, as Iometer does')
    return True


def _parts(lines: Lines, line: Line, names: str) -> list[str]:
    """The parts of a value between blanks or commas."""
    parts = line.text.replace(",", " ").split()
    count = len(names.split())
    if len(parts) != count:
        raise lines.fault(line.number, f"has {len(parts)} values where there should be {count}", names)
    return parts
