"""Asking the index for one run, for those of a page, and for those of a drive."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from assay.archive.index.drive_use import NO_USE, DriveUse
from assay.archive.index.filters import ANY, Condition, Wanted, all_of, any_of, text_conditions
from assay.archive.index.folders import site
from assay.archive.index.notes import RunNote, notes_of
from assay.archive.index.read import ORDER, folder_of, listed_runs, stored_runs
from assay.words.visible import unicode_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.archive.index.driver import Connection, Row
    from assay.summary.forms import ListedRun, Quoted

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
"""What a list is sorted by, with the columns that it stands for."""
_NUMERIC = {"r.started_wall_ns", "r.exit_code", "r.written_bytes"}


class KeyColumn(NamedTuple):
    """A key result as a column. test : its name. item, unit : of the number that people quote."""

    test: str
    item: str
    unit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What a page asks the index for.

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

    address, drive : what its page and that of its drive are asked for by; drive is empty where the folder cannot be
    read. folder : its path as the system has it, None on another host. parent : folder of runs as it is kept.
    host : its site. look : of the folder when it was read. use : what it did to its drive. note : None where it has
    none.
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
    """The run of an address, with the numbers of its tests; None where there is none."""
    return next(_runs(reader, stored_runs(reader, "address = ? ORDER BY key LIMIT 1", address)), None)


def found(reader: Connection, query: Query, *, page_runs: int = PAGE_RUNS) -> FoundRuns:
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
    """That runs are of the drive and folders of a query."""
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


_NUMBER = (
    "(SELECT m.value FROM assay_tests t JOIN assay_measures m ON m.test_key = t.key WHERE t.run_key = r.key "
    f"AND t.test = ? AND m.quoted AND m.printed = ? AND m.unit = ? ORDER BY t.key, m.{ORDER} LIMIT 1)"
)


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


_OF_USE = ("written_bytes", "wear_pct_first", "wear_pct_last", "temperature_c_max")
