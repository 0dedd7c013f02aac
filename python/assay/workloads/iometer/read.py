"""Reads Iometer configuration files of all versions from before 1998 to 1.1.0, whole."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from assay.spec.text_file import named_bytes
from assay.workloads.iometer.lines import FILE_BYTES_MAX, Lines, decoded, known_key
from assay.workloads.iometer.model import VERSION_2006, Display, DisplayEntry, IcfFile, Setup, Version
from assay.workloads.iometer.read_managers import managers_of
from assay.workloads.iometer.read_setup import setup_of
from assay.workloads.iometer.read_specs import specs_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from assay.workloads.iometer.lines import Line
    from assay.workloads.iometer.model import AccessSpec, Manager

_REMEDY = "name an Iometer configuration file"
_VERSION = re.compile(r"'?\s*(?:Version\s+)?v?([0-9]{1,5})\.([0-9]{1,5})\.([0-9]{1,5})(.*)", re.IGNORECASE)
_VERSION_LINE = re.compile(r"'?\s*Version\b", re.IGNORECASE)
_SECTIONS = ("TEST SETUP*", "RESULTS DISPLAY*", "ACCESS SPECIFICATIONS*", "MANAGER LIST*")
_SPECS_KEY = "ACCESS SPECIFICATIONS*"
_END_DISPLAY = "END results display"
_UPDATE = "Update Frequency,Update Type"
_RECORD_UPDATE = "Record Last Update Results,Update Frequency,Update Type"
_UPDATE_TYPES = {one: one for one in ("WHOLE_TEST", "LAST_UPDATE")} | {"0": "WHOLE_TEST", "1": "LAST_UPDATE"}
_ENABLED = {"ENABLED": True, "DISABLED": False}


def read_icf(path: Path) -> IcfFile:
    """The whole of an Iometer configuration file of at most 4 MiB.

    Raises PlanError with line, section and what is expected.
    """
    raw = named_bytes(path, bytes_max=FILE_BYTES_MAX, remedy=_REMEDY)
    return parse_icf(raw, str(path))


def parse_icf(raw: bytes, source: str) -> IcfFile:
    """The same of the bytes of a file. source : its name, for faults. Raises PlanError."""
    return _Reader(Lines(decoded(raw, source), source)).file()


class _Reader:
    """One pass over the lines; sections come in any order, each at most once."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.version = self._version()
        self.begun: dict[str, int] = {}
        self.setup: Setup | None = None
        self.display: Display | None = None
        self.specs: tuple[AccessSpec, ...] = ()
        self.managers: tuple[Manager, ...] | None = None

    def file(self) -> IcfFile:
        readers: dict[str, Callable[[Line], None]] = {
            "TEST SETUP*": self._read_setup,
            "RESULTS DISPLAY*": self._read_display,
            _SPECS_KEY: self._read_specs,
            "MANAGER LIST*": self._read_managers,
        }
        while (title := self._title()) is not None:
            name, line = title
            self._begin(name, line)
            readers[name](line)
            self.lines.section = ""
        if not self.begun:
            raise self.lines.fault(1, "has none of the sections of an Iometer file", ", ".join(_titles()))
        return IcfFile(
            version=self.version,
            setup=self.setup,
            display=self.display,
            specs=self.specs,
            managers=self.managers,
            notes=tuple(self.lines.notes),
            source=self.lines.source,
        )

    def _version(self) -> Version | None:
        """Of the first line that is not blank; that of the end says the same once more."""
        while (line := self.lines.peek()) is not None and not line.text:
            self.lines.take("a version")
        if line is None:
            raise self.lines.fault(1, "is empty", "an Iometer configuration file")
        if (match := _VERSION.fullmatch(line.text)) is not None:
            self.lines.take("a version")
            first, second, third = (int(part) for part in match.groups()[:3])
            return Version(f"{match[1]}.{match[2]}.{match[3]}{match[4]}".strip(), (first, second, third))
        if _VERSION_LINE.match(line.text):
            raise self.lines.fault(line.number, "has no version of three numbers", f"Version {VERSION_2006.text}")
        self.lines.note(line.number, f"no version is stated: it is read as {VERSION_2006.text}; Iometer refuses it")
        return None

    def _title(self) -> tuple[str, Line] | None:
        """The title of the next section, None at the end of the file."""
        while (line := self.lines.peek()) is not None:
            if line.text and not (_VERSION_LINE.match(line.text) or _VERSION.fullmatch(line.text)):
                return self.lines.key(_SECTIONS)
            self._check_last_version(line)
            self.lines.take("a section")
        return None

    def _check_last_version(self, line: Line) -> None:
        match = _VERSION.fullmatch(line.text)
        stated = self.version.numbers if self.version else None
        if match and stated and tuple(int(part) for part in match.groups()[:3]) != stated:
            self.lines.note(line.number, f"{line.text} is not the version of the first line, which counts")

    def _begin(self, name: str, line: Line) -> None:
        title = name.removesuffix("*")
        if name in self.begun:
            reason = f"a second section '{title}; the first begins in line {self.begun[name]}"
            raise self.lines.fault(line.number, reason, "each section once")
        self.begun[name] = line.number
        self.lines.section = title

    def _read_setup(self, line: Line) -> None:
        self.setup = setup_of(self.lines, line.number, self.version or VERSION_2006, _SECTIONS)

    def _read_display(self, line: Line) -> None:
        self.display = _display(self.lines, line.number)

    def _read_specs(self, line: Line) -> None:
        del line
        self.specs = specs_of(self.lines, self.version or VERSION_2006)

    def _read_managers(self, line: Line) -> None:
        del line
        self.managers = managers_of(self.lines)


def _titles() -> list[str]:
    return [f"'{name.removesuffix('*')}" for name in _SECTIONS]


def _display(lines: Lines, number: int) -> Display:
    """The results display, which says nothing of I/Os: it is kept as it is."""
    keys = (_RECORD_UPDATE, _UPDATE, "Bar chart*", _END_DISPLAY)
    record_last: bool | None = None
    frequency, kind, entries = 0, "WHOLE_TEST", []
    while True:
        if _foreign(lines, keys):
            continue
        key, line = lines.key(keys)
        if key == _END_DISPLAY:
            break
        if key == "Bar chart*":
            value = lines.value(line.text[1:], keys, may_be_empty=True)
            entries.append(DisplayEntry(key=line.text[1:], value=value.text, line=line.number))
            continue
        value = lines.value(key, keys)
        cells = lines.cells(value, key)
        if key == _RECORD_UPDATE:
            record_last = lines.word(cells.pop(0), value, "Record Last Update Results", _ENABLED)
        frequency = lines.number(cells[0], value, "Update Frequency")
        kind = lines.word(cells[1], value, "Update Type", _UPDATE_TYPES)
    return Display(
        record_last=record_last, update_frequency=frequency, update_type=kind, entries=tuple(entries), line=number
    )


def _foreign(lines: Lines, known: tuple[str, ...]) -> bool:
    """Whether a line was taken that is none of the display's keys in known versions, and no end of it either."""
    line = lines.peek()
    if line is None or not line.text or (line.is_key and known_key(line, (*known, *_SECTIONS, "END *")) is not None):
        return False
    lines.take(_END_DISPLAY)
    lines.note(line.number, f'"{line.text[:60]}" is no key of the results display: left out')
    return True
