"""The lines of an Iometer file: what is a key and what a value, and faults with their place."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from assay.errors import PlanError
from assay.spec.nearest import nearest
from assay.spec.toml_file import without_mark
from assay.workloads.iometer.model import Note

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

T = TypeVar("T")

FILE_BYTES_MAX = 4 << 20
LINES_MAX = 200_000
LINE_LETTERS_MAX = 199
"""Iometer reads no longer lines; rows of accesses may be longer in 1.1.0."""
INT_MAX = 2**31 - 1
SECTORS_MAX = 2**64 - 1

_REMEDY = "name an Iometer configuration file"
_DIGITS = re.compile(r"[0-9]{1,20}")
_SHOWN_MAX = 60


class Line(NamedTuple):
    """A line. number : from 1. text : without blanks at its ends. is_key : an apostrophe stands in its first column."""

    number: int
    text: str
    is_key: bool


def decoded(raw: bytes, source: str, *, remedy: str = _REMEDY) -> str:
    """The text of a file: UTF-8 where it is such, else the 8-bit code of Windows. Raises PlanError for others."""
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise PlanError(source, "is UTF-16 text", "save it as ANSI or UTF-8")
    if b"\0" in raw:
        number = raw.count(b"\n", 0, raw.index(b"\0")) + 1
        raise PlanError(f"{source}:{number}", "is no text: it holds a zero byte", remedy)
    try:
        return without_mark(raw).decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("cp1252", "replace")


class Lines:
    """The lines of a file, read one after the other. section : the title of the one that is being read."""

    def __init__(self, text: str, source: str) -> None:
        texts = text.split("\n")
        if len(texts) > LINES_MAX:
            raise PlanError(source, f"has more than {LINES_MAX:,} lines", _REMEDY)
        self._lines = [Line(number, text.strip(), text.startswith("'")) for number, text in enumerate(texts, 1)]
        while self._lines and not self._lines[-1].text:
            self._lines.pop()
        self._place = 0
        self.source, self.section = source, ""
        self.notes: list[Note] = []
        self.long_rows = False

    def peek(self) -> Line | None:
        """The next line, None at the end of the file."""
        return self._lines[self._place] if self._place < len(self._lines) else None

    def take(self, expected: str) -> Line:
        """The next line. Raises PlanError at the end of the file, or where Iometer would not read the line."""
        line = self.peek()
        if line is None:
            raise self.fault(len(self._lines), "the file ends here", expected)
        self._place += 1
        if len(line.text) > LINE_LETTERS_MAX and not self.long_rows:
            raise self.fault(line.number, f"is longer than {LINE_LETTERS_MAX} characters", "a shorter line")
        return line

    def key(self, known: Iterable[str]) -> tuple[str, Line]:
        """The next key, as it is spelt in ``known``, without its apostrophe. Raises PlanError where there is none."""
        names = list(known)
        expected = _listed(names)
        line = self.take(expected)
        if not line.text:
            raise self.fault(line.number, "is blank", expected)
        if not line.is_key:
            reason = f"{_shown(line.text)} is no key: no apostrophe stands in the first column"
            raise self.fault(line.number, reason, expected)
        result = known_key(line, names)
        if result is None:
            meant = nearest(line.text[1:], names)
            raise self.fault(line.number, f"{_shown(line.text)} is no key here", f"'{meant}" if meant else expected)
        return result, line

    def value(self, key: str, known: Iterable[str], *, may_be_empty: bool = False) -> Line:
        """The line of the value of a key; captions between are skipped. known : keys, which are no captions."""
        names = list(known)
        while True:
            upcoming = self.peek()
            if upcoming is not None and upcoming.is_key and known_key(upcoming, names) is not None:
                if may_be_empty:
                    self.note(upcoming.number, f"'{key} has no line before this line: it is read as empty")
                    return Line(upcoming.number, "", is_key=False)
                raise self.fault(upcoming.number, f"'{key} has no value", f"the value of '{key}")
            line = self.take(f"the value of '{key}")
            if not line.is_key:
                break
        if not line.text and not may_be_empty:
            raise self.fault(line.number, "is blank", f"the value of '{key}")
        return line

    def note(self, number: int, text: str) -> None:
        """Keep what is read otherwise than it is written."""
        self.notes.append(Note(line=number, text=text))

    def fault(self, number: int, reason: str, expected: str) -> PlanError:
        """A fault with its line and section."""
        section = f" {self.section}" if self.section else ""
        return PlanError(f"{self.source}:{number}{section}", reason, f"expected: {expected}")

    def number(self, text: str, line: Line, what: str, *, least: int = 0, most: int = INT_MAX) -> int:
        """A whole number. Raises PlanError where it is none or outside of its range."""
        text = text.strip()
        if not _DIGITS.fullmatch(text) or not least <= int(text) <= most:
            raise self.fault(line.number, f"{what} is {_shown(text)}", f"a whole number from {least} to {most}")
        return int(text)

    def word(self, text: str, line: Line, what: str, words: Mapping[str, T]) -> T:
        """What a word stands for, whatever the case of its letters. Raises PlanError for another."""
        result = words.get(text.strip().upper())
        if result is None:
            raise self.fault(line.number, f"{what} is {_shown(text.strip())}", ", ".join(words))
        return result

    def cells(self, line: Line, names: str) -> list[str]:
        """The parts of a value between commas. names : of the parts, between commas as in the file."""
        cells = [part.strip() for part in line.text.split(",")]
        expected = names.split(",")
        if len(cells) != len(expected):
            reason = f"has {len(cells)} value{'s' * (len(cells) > 1)} where there should be {len(expected)}"
            raise self.fault(line.number, reason, names)
        return cells

    def name(self, text: str, line: Line, what: str, most: int) -> str:
        """A name that is not empty and not too long."""
        if not text or len(text) > most:
            reason = "is longer than a name may be" if text else "is empty"
            raise self.fault(line.number, f"{what} {reason}", f"1 to {most} characters")
        return text


def known_key(line: Line, known: Iterable[str]) -> str | None:
    """The key that a line is. Those that end in ``*`` match what begins like them."""
    said = _normal(line.text[1:])
    for name in known:
        if said == _normal(name) or (name.endswith("*") and said.startswith(_normal(name[:-1]))):
            return name
    return None


@lru_cache(maxsize=1024)
def _normal(key: str) -> str:
    return re.sub(r"\s*,\s*", ",", " ".join(key.split())).casefold()


def _listed(names: Iterable[str]) -> str:
    return " or ".join(f"'{name.removesuffix('*')}" for name in names)


def _shown(text: str) -> str:
    return f'"{text[:_SHOWN_MAX]}"' + "..." * (len(text) > _SHOWN_MAX)
