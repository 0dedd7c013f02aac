"""Reading runs from the index. What it answers is a hint: rows may be anybody's."""

from __future__ import annotations

import os
import stat
from collections import defaultdict
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from pydantic_core import from_json

from assay.archive.index.driver import SCHEMA, connected
from assay.archive.index.folders import given_name, run_address, site
from assay.errors import StoreError
from assay.summary.forms import ListedRun, ListedTest, round_range
from assay.version import tool_version
from assay.words.outcomes import NOT_CHECKED
from assay.words.visible import unicode_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from assay.archive.index.driver import Connection, Row
    from assay.archive.index.location import Place

    Parts = Mapping[int, Sequence[Row]]

PLAIN_FIELDS = (
    "run_id", "run_schema", "name", "started", "started_wall_ns", "tool_version", "edition", "suite", "operator", "lab",
    "host", "system", "label", "label_class", "level", "drive", "journal_hash", "journal_lines", "exit_code",
    "numbers_fault", "complete", "interrupted", "fault",
)  # fmt: skip
"""Fields of a run in a list that are columns of the same name."""
PLACE_COLUMNS = ("key", "site", "parent", "folder", "address", "look", "made_by", "missing_since_ns")
"""The location of a run, and the look of its folder."""
_LIST_COLUMNS = (
    *PLAIN_FIELDS, "drive_address", "deviations", "exit_codes", "drive_id", "drive_kind", "drive_model", "drive_serial",
    "drive_firmware", "drive_capacity_bytes", "written_bytes", "wear_pct_first", "wear_pct_last", "temperature_c_max",
    "health",
)  # fmt: skip
_OF_DRIVE = ("id", "kind", "model", "serial", "firmware", "capacity_bytes")
_OF_TEST = tuple(name for name in ListedTest.model_fields if name != "headlines")
_OF_QUOTED = ("unit", "value", "basis", "claim", "bound", "mark")
EVERY = "1 = 1"
"""The condition of all runs."""
ORDER = "place"
"""Column that orders tests in a run, numbers in a test, and tags."""
_MANY = 500
_ROWS = 6
"""Raised where the same run folder gives other rows: all are then read again."""
NOTE_FIELDS = ("hidden", "bad", "reason", "note", "role", "at_ns")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunNote:
    """A note on a run.

    hidden : whether lists leave it out. bad : whether it is left out of trends; reason : why.
    note : any text. role : of the session that wrote it. at_ns : when, by the wall clock.
    """

    hidden: bool = False
    bad: bool = False
    reason: str = ""
    note: str = ""
    role: str = ""
    at_ns: int = 0


@cache
def made_by() -> str:
    """The version that makes rows. Worked: ``"assay 0.1.0, rows 1"``."""
    return f"assay {tool_version()}, rows {_ROWS}"


@contextmanager
def reading(place: Place, *, older: bool = False) -> Iterator[Connection | None]:
    """The index at one instant; None without one yet, or if it has to be brought up to date first.

    older : also that of an older version, whose runs lie in the same columns.
    Raises StoreError if the database cannot be reached or is of a newer version, DamagedIndexError for a file that
    is none.
    """
    if place.path is not None and not place.path.exists():
        yield None
        return
    with connected(place, to_write=False) as reader:
        schema = reader.schema()
        yield reader if schema == SCHEMA or (older and schema) else None


def stored_runs(
    reader: Connection, where: str = EVERY, *values: object, columns: Sequence[str] = _LIST_COLUMNS
) -> list[Row]:
    """The rows of runs ``r`` under a condition.

    columns : besides where they lie. A row that names no folder directly below a folder of runs, or has the address of
    another, is none.
    """
    names = ", ".join((*PLACE_COLUMNS, *columns))
    return [row for row in reader.rows(f"SELECT {names} FROM assay_runs r WHERE {where}", *values) if _is_true(row)]


def listed_runs(
    reader: Connection, rows: Sequence[Row], name: Callable[[Row], str], *, numbers: bool
) -> list[ListedRun]:
    """Stored runs as a list has them.

    name : of the folder of a row, as the user is to read it. numbers : with the headlines of each test.
    """
    keys = [row["key"] for row in rows]
    tags = parts(reader, "assay_tags", "run_key", keys, ("tag",))
    tests = parts(reader, "assay_tests", "run_key", keys, ("key", *_OF_TEST))
    of_tests = [test["key"] for of_run in tests.values() for test in of_run] if numbers else []
    columns = (*_OF_QUOTED, "printed", "stat", "rounds")
    quoted = parts(reader, "assay_measures", "test_key", of_tests, columns, also="quoted AND ")
    # Only a file of this user's own vouches for the levels of this host's runs.
    here = site() if _is_private(reader.place) else None
    return [
        _run(row if row["site"] == here else row | {"level": NOT_CHECKED}, name(row), tags, tests, quoted)
        for row in rows
    ]


def notes_of(reader: Connection, addresses: Sequence[str]) -> dict[str, RunNote]:
    """The notes on the runs of a page by their addresses; those without any are left out."""
    marks = ", ".join("?" * len(addresses)) or "NULL"
    rows = reader.rows(f"SELECT * FROM assay_notes WHERE address IN ({marks})", *addresses)
    # SQLite gives flags back as 0 and 1.
    flags = [row | {name: bool(row[name]) for name in ("hidden", "bad")} for row in rows]
    return {row["address"]: RunNote(**{name: row[name] for name in NOTE_FIELDS}) for row in flags}


def folder_of(row: Row) -> str:
    """The path of a run folder, as the system has it."""
    return f"{given_name(row['parent'])}/{given_name(row['folder'])}"


def name_everywhere(row: Row) -> str:
    """The path of a run folder as a user reads it among those of several hosts."""
    path = unicode_name(folder_of(row))
    return path if row["site"] == site() else f"{unicode_name(given_name(row['site']))}:{path}"


def parts(
    reader: Connection, table: str, key: str, keys: Sequence[int], columns: Sequence[str], *, also: str = ""
) -> Parts:
    """The rows that belong to others, by the keys of those, in their order."""
    if not keys:
        return {}
    # All of a range at once is quicker than many lists of keys.
    among, values = f"IN ({', '.join('?' * len(keys))})", keys
    if len(keys) > _MANY:
        among, values = "BETWEEN ? AND ?", (min(keys), max(keys))
    names, wanted = ", ".join((key, *columns)), set(keys)
    parts: dict[int, list[Row]] = defaultdict(list)
    for row in reader.rows(f"SELECT {names} FROM {table} WHERE {also}{key} {among} ORDER BY {ORDER}", *values):
        if row[key] in wanted:
            parts[row[key]].append(row)
    return parts


def _run(row: Row, name: str, tags: Parts, tests: Parts, quoted: Parts) -> ListedRun:
    key, fault = row["key"], row["fault"]
    drive = {"path": row["drive"], **{field: row[f"drive_{field}"] for field in _OF_DRIVE}}
    try:
        of_run = [_test(test, quoted.get(test["key"], ())) for test in tests.get(key, ())]
        return ListedRun.model_validate(
            {
                **{field: row[field] for field in PLAIN_FIELDS},
                "run": name,
                "tags": [tag["tag"] for tag in tags.get(key, ())],
                "drive_facts": None if row["drive_id"] is None else drive,
                "deviations": from_json(row["deviations"]),
                "exit_codes": from_json(row["exit_codes"]),
                "tests": of_run,
                "withheld": [{"test": test["test"], "reason": test["withheld"]} for test in of_run if test["withheld"]],
                "fault": fault and fault.replace(folder_of(row), name),
                "missing": row["missing_since_ns"] is not None,
            }
        )
    except (ValueError, TypeError):
        from assay.report.formats.terminal.listed import unreadable_run  # noqa: PLC0415 - heavy, and seldom needed

        remedy = "make the index anew with: assay index rebuild"
        return unreadable_run(name, StoreError(name, "has values in the index that no run has", remedy))


def _test(row: Row, quoted: Sequence[Row]) -> Row:
    numbers = [
        {
            **{field: number[field] for field in _OF_QUOTED},
            "item": number["printed"],
            **round_range(number["value"], number["stat"], from_json(number["rounds"])),
        }
        for number in quoted
    ]
    return {**{field: row[field] for field in _OF_TEST}, "headlines": numbers}


def _is_true(row: Row) -> bool:
    """Whether a row names an entry of its folder of runs, by its own address."""
    if not isinstance(row["folder"], str) or not isinstance(row["parent"], str):
        return False
    try:
        name = given_name(row["folder"])
    except ValueError:
        return False
    is_entry = name not in {"", ".", ".."} and "/" not in name
    return is_entry and row["address"] == run_address(row["site"], row["parent"], row["folder"])


def _is_private(place: Place) -> bool:
    """Whether only this user can write an index: file and folder belong to the user."""
    if place.path is None:
        return False
    with suppress(OSError):
        return all(
            status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
            for status in (place.path.stat(), place.path.parent.stat())
        )
    return False
