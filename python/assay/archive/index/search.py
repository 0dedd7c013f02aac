"""Searches of the index: conditions on runs, free text, sort keys and pages."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from assay.archive.index.drive_use import NO_USE, DriveUse
from assay.archive.index.driver import storable
from assay.archive.index.folders import site
from assay.archive.index.read import ORDER, RunNote, folder_of, listed_runs, notes_of, stored_runs
from assay.errors import UsageError
from assay.summary.forms import GROUPS, Verdict
from assay.words.visible import unicode_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from assay.archive.index.driver import Connection, Row
    from assay.summary.forms import LabelClass, ListedRun, Quoted


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_REMEDY = "give a day such as 2026-11-22, or an instant such as 2026-11-22T14:30, in UTC"
_INT_MAX, _INT_MIN = (1 << 63) - 1, -(1 << 63)
UNREADABLE: Literal["unreadable"] = "unreadable"
VERDICTS: tuple[str, ...] = (*dict.fromkeys((*get_args(Verdict), *GROUPS)), UNREADABLE)
"""Words of a filter by outcome."""
_TEXT_COLUMNS = {
    "drives": ("drive", "drive_id", "drive_serial"),
    "models": ("drive_model",),
    "firmwares": ("drive_firmware",),
    "hosts": ("host", "system", "lab"),
    "names": ("name",),
}
"""Fields of ``Wanted`` that are found anywhere in the text of some columns."""
_OF_DRIVE = {f"drive_{name}": name for name in ("id", "serial", "model", "firmware")}
RUN_FOLDS = {f"{name}_folded": name for columns in _TEXT_COLUMNS.values() for name in columns}
TEST_FOLDS = {f"{name}_folded": name for name in ("test", "procedure", "edition")}
"""Columns that are searched, each with the column that it is made from."""
PAGE_RUNS = 100
SORTS = {
    "run": ("r.name_folded", "r.folder"),
    "started": ("r.started_wall_ns",),
    "drive": ("r.drive_model_folded", "r.drive_serial_folded"),
    "firmware": ("r.drive_firmware_folded",),
    "host": ("r.host_folded",),
    "outcome": ("r.exit_code",),
    "written": ("r.written_bytes",),
}
"""Sort keys of a list, each with its columns."""
_NUMERIC = {"r.started_wall_ns", "r.exit_code", "r.written_bytes"}
_NUMBER = (
    "(SELECT m.value FROM assay_tests t JOIN assay_measures m ON m.test_key = t.key WHERE t.run_key = r.key "
    f"AND t.test = ? AND m.quoted AND m.printed = ? AND m.unit = ? ORDER BY t.key, m.{ORDER} LIMIT 1)"
)
_OF_USE = ("written_bytes", "wear_pct_first", "wear_pct_last", "temperature_c_max")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A filter of runs: of each field one of its words has to match; a field without words matches all.

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
        """The conditions on a row ``r`` of ``assay_runs``, one after the other.

        position : the database's function that answers where a text has another, ``instr`` or ``strpos``.
        Worked: ``Wanted(names=("Night",))`` -> ``(r.name_folded <> '' AND instr(r.name_folded, ?) > 0)`` of ``night``.
        """
        # No database takes a number beyond 64 bits.
        if self.since_ns is not None or self.until_ns is not None:
            yield Condition("r.started_wall_ns >= ?", (min(max(self.since_ns or 0, _INT_MIN), _INT_MAX),))
        if self.until_ns is not None:
            yield Condition("r.started_wall_ns < ?", (min(max(self.until_ns, _INT_MIN), _INT_MAX),))
        for words, columns in self._searched():
            yield any_of(_contains(f"{column}_folded", word, position) for word in words for column in columns)
        if self.tags:
            tag = _equals(("t.tag_folded",), self.tags)
            yield Condition(f"EXISTS (SELECT 1 FROM assay_tags t WHERE t.run_key = r.key AND {tag.text})", tag.values)
        if self.labels:
            yield _equals(("r.label_class",), self.labels)
        if tests := self._test_words():
            names = dict(zip(TEST_FOLDS.values(), TEST_FOLDS, strict=True))
            parts = [_equals([f"t.{names.get(field, field)}" for field in fields], words) for words, fields in tests]
            test, unreadable = all_of(parts), str(self._takes_unreadable).upper()
            of_test = f"EXISTS (SELECT 1 FROM assay_tests t WHERE t.run_key = r.key AND {test.text})"
            yield Condition(f"CASE WHEN r.fault IS NULL THEN {of_test} ELSE {unreadable} END", test.values)

    @property
    def _takes_unreadable(self) -> bool:
        return UNREADABLE in self.verdicts and not self.tests and not self.editions

    def _searched(self) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
        """Words that a text has to contain, with its columns."""
        for field, columns in _TEXT_COLUMNS.items():
            if words := getattr(self, field):
                yield words, columns

    def _test_words(self) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
        """Words, each with the fields of a test of which one has to equal a word."""
        verdicts = tuple(verdict for name in self.verdicts for verdict in GROUPS.get(name, (name,)))
        parts = ((self.tests, ("test", "procedure")), (self.editions, ("edition",)), (verdicts, ("verdict",)))
        return [(words, fields) for words, fields in parts if words]

    def _is_of_time(self, began: int | None) -> bool:
        if self.since_ns is None and self.until_ns is None:
            return True
        return began is not None and (self.since_ns or 0) <= began and (self.until_ns is None or began < self.until_ns)

    def _is_of_run(self, run: ListedRun) -> bool:
        return (
            all(_contains_any(words, [_text(run, column) for column in columns]) for words, columns in self._searched())
            and _equals_any(self.tags, run.tags)
            and _equals_any(self.labels, (run.label_class,))
        )

    def _is_of_tests(self, run: ListedRun) -> bool:
        parts = self._test_words()
        if parts and run.fault is not None:
            return self._takes_unreadable
        return not parts or any(
            all(_equals_any(words, [getattr(test, field) for field in fields]) for words, fields in parts)
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
    """The conditions of free text: each of its words is in a text of the run, in any case.

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
    """The begin of what a user names, in ns since the Unix epoch. Raises UsageError if it names no time.

    Worked: ``1970-01-02`` -> 86,400 s in ns.
    """
    return None if text is None else _ns(_instant(text, "--since"))


def until_ns(text: str | None) -> int | None:
    """The first instant after a time that a user names, a day with all its hours.

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
    """The condition that a text is not empty and has a word; a word that no column can hold matches nothing."""
    if storable(word) != word:
        return NEVER
    return Condition(f"(r.{column} <> '' AND {position}(r.{column}, ?) > 0)", (word.casefold(),))


def _equals(columns: Sequence[str], words: Sequence[str]) -> Condition:
    """The condition that one of the folded columns equals one of the words."""
    values = tuple(word.casefold() for word in words if storable(word) == word)
    marks = ", ".join("?" * len(values))
    return any_of(Condition(f"{column} IN ({marks})", values) for column in columns) if values else NEVER


def _text(run: ListedRun, column: str) -> str | None:
    source, name = (run.drive_facts, _OF_DRIVE[column]) if column in _OF_DRIVE else (run, column)
    text: str | None = getattr(source, name, None)
    return text


def _contains_any(words: Sequence[str], texts: Iterable[str | None]) -> bool:
    """Whether one of the words is in one of the texts."""
    return any(word.casefold() in text.casefold() for text in texts if text for word in words)


def _equals_any(words: Sequence[str], texts: Iterable[str]) -> bool:
    """Whether one of the words is one of the texts; always without words."""
    return not words or not {word.casefold() for word in words}.isdisjoint(text.casefold() for text in texts)


class KeyColumn(NamedTuple):
    """A key result as a column. test : its name. item, unit : of the number that people quote."""

    test: str
    item: str
    unit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """The query of a page.

    text : free text; each of its words has to be in run, name, drive, model, serial number, firmware, host, tags or
    tests. parents : folders of runs of this host as they are kept; None: all of them. Runs of other hosts are always
    among those listed. drive : address of a drive; empty: any. hidden, missing : whether runs that were hidden, or
    whose folder is gone, are listed.
    sort : a key of ``SORTS``, or a key result. page : from 1.
    """

    wanted: Wanted = ANY
    text: str = ""
    parents: tuple[str, ...] | None = None
    drive: str = ""
    hidden: bool = False
    missing: bool = False
    sort: str | KeyColumn = "started"
    descending: bool = True
    page: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRun:
    """A run of the index.

    address, drive : of its page and of the page of its drive; drive is empty if the folder cannot be read.
    folder : its path as the system has it, None on another host. parent : folder of runs as it is kept. host : its
    site. look : of the folder when it was read. use : of its drive. note : None without one.
    """

    address: str
    host: str
    folder: str | None
    listed: ListedRun
    drive: str = ""
    parent: str = ""
    look: str = ""
    use: DriveUse = NO_USE
    note: RunNote | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRuns:
    """The runs of a page, in order. total : how many runs all pages have."""

    runs: tuple[FoundRun, ...]
    total: int


def run_at(reader: Connection, address: str) -> FoundRun | None:
    """The run of an address, with the numbers of its tests; None without one."""
    return next(_runs(reader, stored_runs(reader, "address = ? ORDER BY key LIMIT 1", address)), None)


def find_runs(reader: Connection, query: Query, *, page_runs: int = PAGE_RUNS) -> FoundRuns:
    """The runs that a query chooses, with the numbers of their tests; filtered, sorted and cut by the database.

    page_runs : runs of a page. Worked: 250 runs, page 3 of 100 -> the last 50 of them, total 250.
    """
    condition = all_of(_conditions(query, reader.position))
    source = f"FROM assay_runs r LEFT JOIN assay_notes n ON n.address = r.address WHERE {condition.text}"
    total = reader.rows(f"SELECT count(*) AS total {source}", *condition.values)[0]["total"]
    order = _order(query, reader.binary)
    asked = f"SELECT r.key {source} ORDER BY {order.text} LIMIT ? OFFSET ?"
    page = (page_runs, (max(query.page, 1) - 1) * page_runs)
    keys = [row["key"] for row in reader.rows(asked, *condition.values, *order.values, *page)]
    rows = stored_runs(reader, f"key IN ({', '.join('?' * len(keys)) or 'NULL'})", *keys)
    return FoundRuns(runs=tuple(_runs(reader, sorted(rows, key=lambda row: keys.index(row["key"])))), total=total)


def scope(query: Query) -> Iterator[Condition]:
    """The conditions that runs are of the drive and folders of a query."""
    if query.drive:
        yield Condition("r.drive_address = ?", (query.drive,))
    if query.parents is not None:
        here = site()
        parents = [Condition("(r.site = ? AND r.parent = ?)", (here, parent)) for parent in query.parents]
        yield any_of([Condition("r.site <> ?", (here,)), *parents])


def key_columns(runs: Sequence[FoundRun], count_max: int | None = None) -> tuple[KeyColumn, ...]:
    """The key results of some runs as columns, in the order in which they come up.

    count_max : of columns; those that most runs have are chosen. None: all.
    Worked: two runs with ``RND 4KiB R``, one of them with ``SEQ 128KiB R``, at most one column -> the first.
    """
    counts = Counter(column for run in runs for column in key_results(run.listed))
    chosen = [column for column, _ in counts.most_common(count_max)]
    return tuple(column for column in counts if column in chosen)


def key_results(run: ListedRun) -> dict[KeyColumn, Quoted]:
    """The numbers of a run by their columns; of two in the same column the first."""
    numbers: dict[KeyColumn, Quoted] = {}
    for test in run.tests:
        for number in test.headlines:
            numbers.setdefault(KeyColumn(test.test, number.item, number.unit), number)
    return numbers


def _conditions(query: Query, position: str) -> Iterator[Condition]:
    if not query.missing:
        yield Condition("r.missing_since_ns IS NULL")
    if not query.hidden:
        yield Condition("(n.hidden IS NULL OR NOT n.hidden)")
    yield from scope(query)
    yield from query.wanted.conditions(position)
    yield from text_conditions(query.text, position)


def _order(query: Query, binary: str) -> Condition:
    """Rows without a value come last either way; runs that are alike stand by their addresses."""
    direction = "DESC" if query.descending else "ASC"
    if isinstance(query.sort, KeyColumn):
        return Condition(f"{_NUMBER} {direction} NULLS LAST, r.address", tuple(query.sort))
    terms = [
        f"{column} {direction} NULLS LAST" if column in _NUMERIC else f"{column} COLLATE {binary} {direction}"
        for column in SORTS[query.sort]
    ]
    return Condition(", ".join([*terms, f"r.address {direction}"]))


def _runs(reader: Connection, rows: Sequence[Row]) -> Iterator[FoundRun]:
    notes = notes_of(reader, [row["address"] for row in rows])
    listed = listed_runs(reader, rows, lambda row: unicode_name(folder_of(row)), numbers=True)
    for row, run in zip(rows, listed, strict=True):
        yield FoundRun(
            address=row["address"],
            host=row["site"],
            folder=folder_of(row) if row["site"] == site() else None,
            listed=run,
            drive=row["drive_address"],
            parent=row["parent"],
            look=row["look"],
            use=DriveUse(**{name: row[name] for name in _OF_USE}, health=json.loads(row["health"] or "{}")),
            note=notes.get(row["address"]),
        )
