"""Which runs of a list are wanted: what a user filters by, asked of a run and of a database alike.

No text of a user becomes a part of a statement: all stand at question marks. SQLite folds the case of ASCII only and
PostgreSQL by its locale; both therefore have the texts folded by Python.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal

from assay.archive.index.driver import storable
from assay.errors import UsageError
from assay.summary.forms import GROUPS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from assay.summary.forms import LabelClass, ListedRun, Verdict

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_REMEDY = "give a day such as 2026-11-22, or an instant such as 2026-11-22T14:30, in UTC"
_INT_MAX, _INT_MIN = (1 << 63) - 1, -(1 << 63)
UNREADABLE: Literal["unreadable"] = "unreadable"
_FOUND = {
    "drives": ("drive", "drive_id", "drive_serial"),
    "models": ("drive_model",),
    "firmwares": ("drive_firmware",),
    "hosts": ("host", "system", "lab"),
    "names": ("name",),
}
"""Fields of ``Wanted`` that are found anywhere in the text of some columns."""
_OF_DRIVE = {f"drive_{name}": name for name in ("id", "serial", "model", "firmware")}
RUN_FOLDS = {f"{name}_folded": name for columns in _FOUND.values() for name in columns}
TEST_FOLDS = {f"{name}_folded": name for name in ("test", "procedure", "edition")}
"""Columns that are searched, each with the column that it is made from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a run must be: of each field one of its words; a field without any asks for nothing.

    drives, models, hosts, firmwares, names : found anywhere in the text, whatever the case. tags, tests, editions :
    the whole word, whatever the case. verdicts : of a test, or that the folder cannot be read.
    since_ns, until_ns : when the run began, since inclusive and until exclusive.
    What is asked of tests must hold of one and the same test.
    """

    drives: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    firmwares: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    editions: tuple[str, ...] = ()
    verdicts: tuple[Verdict | Literal["measured", "unreadable"], ...] = ()
    labels: tuple[LabelClass, ...] = ()
    since_ns: int | None = None
    until_ns: int | None = None

    def __call__(self, run: ListedRun) -> bool:
        """Whether a run is wanted."""
        return self._is_of_time(run.started_wall_ns) and self._is_of_run(run) and self._is_of_tests(run)

    def conditions(self, position: str) -> Iterator[Condition]:
        """What must hold of a row ``r`` of ``assay_runs`` that is wanted, one condition after the other.

        position : the database's function that answers where a text has another, ``instr`` or ``strpos``.
        Worked: ``Wanted(names=("Night",))`` -> ``(r.name_folded <> '' AND instr(r.name_folded, ?) > 0)`` of ``night``.
        """
        # No database takes a number beyond 64 bits.
        if self.since_ns is not None or self.until_ns is not None:
            yield Condition("r.started_wall_ns >= ?", (min(max(self.since_ns or 0, _INT_MIN), _INT_MAX),))
        if self.until_ns is not None:
            yield Condition("r.started_wall_ns < ?", (min(max(self.until_ns, _INT_MIN), _INT_MAX),))
        for words, columns in self._found():
            yield any_of(_contains(f"{column}_folded", word, position) for word in words for column in columns)
        if self.tags:
            tag = _equals(("t.tag_folded",), self.tags)
            yield Condition(f"EXISTS (SELECT 1 FROM assay_tags t WHERE t.run_key = r.key AND {tag.text})", tag.values)
        if self.labels:
            yield _equals(("r.label_class",), self.labels)
        if asked := self._asked_of_test():
            names = dict(zip(TEST_FOLDS.values(), TEST_FOLDS, strict=True))
            parts = [_equals([f"t.{names.get(field, field)}" for field in fields], words) for words, fields in asked]
            test, unreadable = all_of(parts), str(self._takes_unreadable).upper()
            of_test = f"EXISTS (SELECT 1 FROM assay_tests t WHERE t.run_key = r.key AND {test.text})"
            yield Condition(f"CASE WHEN r.fault IS NULL THEN {of_test} ELSE {unreadable} END", test.values)

    @property
    def _takes_unreadable(self) -> bool:
        return UNREADABLE in self.verdicts and not self.tests and not self.editions

    def _found(self) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
        """Words that are found in a text, with its columns."""
        for field, columns in _FOUND.items():
            if words := getattr(self, field):
                yield words, columns

    def _asked_of_test(self) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
        """Words that are asked of a test, with its fields of which any has to be one of them."""
        verdicts = tuple(verdict for name in self.verdicts for verdict in GROUPS.get(name, (name,)))
        asked = ((self.tests, ("test", "procedure")), (self.editions, ("edition",)), (verdicts, ("verdict",)))
        return [(words, fields) for words, fields in asked if words]

    def _is_of_time(self, began: int | None) -> bool:
        if self.since_ns is None and self.until_ns is None:
            return True
        return began is not None and (self.since_ns or 0) <= began and (self.until_ns is None or began < self.until_ns)

    def _is_of_run(self, run: ListedRun) -> bool:
        return (
            all(_is_found(words, [_text(run, column) for column in columns]) for words, columns in self._found())
            and _is_equal(self.tags, run.tags)
            and _is_equal(self.labels, (run.label_class,))
        )

    def _is_of_tests(self, run: ListedRun) -> bool:
        asked = self._asked_of_test()
        if asked and run.fault is not None:
            return self._takes_unreadable
        return not asked or any(
            all(_is_equal(words, [getattr(test, field) for field in fields]) for words, fields in asked)
            for test in run.tests
        )


ANY = Wanted()
"""Every run is wanted."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition of SQL that both databases know, with question marks, and their values."""

    text: str
    values: tuple[object, ...] = ()


NEVER = Condition("1 = 0")


def text_conditions(text: str, position: str) -> Iterator[Condition]:
    """What free text asks for: each of its words is in a text of the run, in any case.

    Worked: ``bay 2`` -> two conditions, of ``bay`` and of ``2``.
    """
    for word in text.split():
        yield _contains("words", word, position)


def any_of(conditions: Iterable[Condition]) -> Condition:
    """A condition that holds where any does; never where there are none."""
    return _joined(" OR ", tuple(conditions) or (NEVER,))


def all_of(conditions: Iterable[Condition]) -> Condition:
    """A condition that holds where all do; always where there are none."""
    return _joined(" AND ", tuple(conditions) or (Condition("1 = 1"),))


def folded(text: str | None) -> str:
    """A text of a column as it is searched; empty for None. Worked: ``STRASSE`` and ``straße`` are equal."""
    return "" if text is None else storable(text).casefold()


def since_ns(text: str | None) -> int | None:
    """The begin of what a user names, in ns since the Unix epoch. Raises UsageError where it names no time.

    Worked: ``1970-01-02`` -> 86,400 s in ns.
    """
    return None if text is None else _ns(_instant(text, "--since"))


def until_ns(text: str | None) -> int | None:
    """The first instant behind what a user names, a day with all its hours.

    Worked: ``1970-01-01`` -> 86,400 s in ns.
    """
    if text is None:
        return None
    instant = _instant(text, "--until")
    length = timedelta(days=1) if _DAY.fullmatch(text) else timedelta(microseconds=1)
    return _ns(instant) + length // timedelta(microseconds=1) * 1000


def _instant(text: str, option: str) -> datetime:
    try:
        result = datetime.fromisoformat(text)
        return result.astimezone(UTC) if result.tzinfo else result.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise UsageError(option, f"is {text!r}, which is no date", _REMEDY) from None


def _ns(instant: datetime) -> int:
    return (instant - _EPOCH) // timedelta(microseconds=1) * 1000


def _joined(between: str, conditions: Sequence[Condition]) -> Condition:
    text = between.join(condition.text for condition in conditions)
    return Condition(f"({text})", tuple(value for condition in conditions for value in condition.values))


def _contains(column: str, word: str, position: str) -> Condition:
    """That a text is not empty and has a word; one that no column can hold is in none."""
    if storable(word) != word:
        return NEVER
    return Condition(f"(r.{column} <> '' AND {position}(r.{column}, ?) > 0)", (word.casefold(),))


def _equals(columns: Sequence[str], words: Sequence[str]) -> Condition:
    """That one of the columns, which are folded, is one of the words."""
    values = tuple(word.casefold() for word in words if storable(word) == word)
    marks = ", ".join("?" * len(values))
    return any_of(Condition(f"{column} IN ({marks})", values) for column in columns) if values else NEVER


def _text(run: ListedRun, column: str) -> str | None:
    source, name = (run.drive_facts, _OF_DRIVE[column]) if column in _OF_DRIVE else (run, column)
    text: str | None = getattr(source, name, None)
    return text


def _is_found(words: Sequence[str], texts: Iterable[str | None]) -> bool:
    """Whether one of the words is in one of the texts."""
    return any(word.casefold() in text.casefold() for text in texts if text for word in words)


def _is_equal(words: Sequence[str], texts: Iterable[str]) -> bool:
    """Whether one of the words is one of the texts; always without words."""
    return not words or not {word.casefold() for word in words}.isdisjoint(text.casefold() for text in texts)
