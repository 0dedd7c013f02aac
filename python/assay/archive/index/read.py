"""Reading the index, by the drivers themselves and statements that both databases know."""

from __future__ import annotations

import json
import os
import stat
from collections import defaultdict
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeVar

from assay.archive.index.driver import check_schema, connected, database_error
from assay.archive.index.fields import FLAG_FIELDS, PLAIN_FIELDS, ROW_FIELDS
from assay.archive.index.folders import given_name, run_address, site
from assay.archive.index.version import SCHEMA, VERSION_TABLE, made_by
from assay.summary.forms import Facts, ListedDrive, ListedRun, ListedTest, Quoted, Withheld
from assay.words.levels import NOT_CHECKED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from assay.archive.index.location import Place

Row = dict[str, Any]
F = TypeVar("F", bound=Facts)
_MANY = 500
_RUNS = f"SELECT {', '.join(ROW_FIELDS)} FROM assay_runs"  # noqa: S608 - our own names


@dataclass(frozen=True, slots=True)
class Known:
    """What the index has of the folders of runs that were asked for: a row of each run."""

    rows: tuple[Row, ...]

    def looks(self) -> dict[str, str]:
        """What each folder looked like when it was read; empty where it was read by another version."""
        return {row["folder"]: row["look"] if row["made_by"] == made_by() else "" for row in self.rows}

    def missing(self) -> set[str]:
        """The folders that are marked as missing."""
        return {row["folder"] for row in self.rows if row["missing_since_ns"] is not None}


@contextmanager
def reading(place: Place) -> Iterator[Reader | None]:
    """The index as it is at one instant; None where there is none yet, or one that has to be brought up first.

    Raises StoreError where the database cannot be reached or is of a newer version, DamagedIndexError for a file that
    is none.
    """
    if place.path is not None and not place.path.exists():
        yield None
        return
    connection = connected(place, to_write=False)
    try:
        reader = Reader(connection, is_file=place.path is not None, vouches=is_private(place))
        result = reader.revision()
        check_schema(place, result)
        yield reader if result == f"{SCHEMA:04}" else None
    except driver_errors(place) as error:
        raise database_error(place, error) from None
    finally:
        connection.close()


class Reader:
    """Asks one database. Everything it answers is of the same instant, and a hint: rows may be anybody's.

    A row that names no folder directly below a folder of runs, or has the address of another, is none. vouches : only
    this user can have written what the rows say of the levels of this host's runs.
    position : its function that finds a text in another. binary : its collation by code points.
    """

    def __init__(self, connection: Any, *, is_file: bool, vouches: bool) -> None:
        self._connection, self._is_file, self._vouches = connection, is_file, vouches
        self.position, self.binary = ("instr", "BINARY") if is_file else ("strpos", '"C"')
        connection.execute("BEGIN" if is_file else "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")

    def revision(self) -> str:
        """The revision of its tables; empty where there are none."""
        there = (
            "SELECT count(*) AS n FROM sqlite_master WHERE name = ? AND type = 'table'"
            if self._is_file
            else "SELECT count(*) AS n FROM pg_tables WHERE tablename = ? AND schemaname = ANY (current_schemas(false))"
        )
        if not self.rows(there, VERSION_TABLE)[0]["n"]:
            return ""
        result = self.rows(f"SELECT version_num FROM {VERSION_TABLE}")  # noqa: S608 - our own name
        return str(result[0]["version_num"]) if result else ""

    def rows(self, statement: str, *values: object) -> list[Row]:
        """The rows of a statement by the names of their columns. Its values stand at question marks."""
        asked = statement if self._is_file else statement.replace("?", "%s")
        cursor = self._connection.execute(asked, values)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor]

    def known(self, site: str, parent: str) -> Known:
        """What there is of one folder of runs; both names as they are kept."""
        return _known(self.rows(f"{_RUNS} WHERE site = ? AND parent = ?", site, parent))

    def everything(self) -> Known:
        """What there is of all folders of all hosts."""
        return _known(self.rows(_RUNS))

    def keyed(self, keys: Sequence[int]) -> Known:
        """The runs of some keys, in their order."""
        rows = {row["key"]: row for row in self._of("assay_runs", "key", keys, ", ".join(ROW_FIELDS))}
        return _known(rows[key] for key in keys if key in rows)

    def parents(self, site: str) -> list[str]:
        """The folders of runs of a host that it knows."""
        parents = self.rows("SELECT DISTINCT parent FROM assay_runs WHERE site = ? ORDER BY parent", site)
        return sorted(row["parent"] for row in parents)

    def listed(self, known: Known, name: Callable[[Row], str], *, numbers: bool) -> list[ListedRun]:
        """The runs as a list has them.

        name : of the folder of a row, as the user is to read it. numbers : with the headlines of each test.
        """
        keys = [row["key"] for row in known.rows]
        tags = self._parts("assay_tags", "run_key", keys)
        tests = self._parts("assay_tests", "run_key", keys)
        of_tests = [row["key"] for rows in tests.values() for row in rows] if numbers else []
        headlines = self._parts("assay_headlines", "test_key", of_tests)
        here = site() if self._vouches else None
        return [
            _run(
                row if row["site"] == here else row | {"level": NOT_CHECKED},
                name(row),
                tags.get(row["key"], ()),
                tests.get(row["key"], ()),
                headlines,
            )
            for row in known.rows
        ]

    def _parts(self, table: str, key: str, keys: Sequence[int]) -> Mapping[int, Sequence[Row]]:
        """The rows that belong to others, by the keys of those, in their order."""
        parts: dict[int, list[Row]] = defaultdict(list)
        for row in self._of(table, key, keys):
            parts[row[key]].append(row)
        for rows in parts.values():
            rows.sort(key=lambda row: int(row["place"]))
        return parts

    def _of(self, table: str, key: str, keys: Sequence[int], columns: str = "*") -> list[Row]:
        if not keys:
            return []
        if len(keys) > _MANY:
            # All of a range at once is quicker than many lists of keys; what was not asked for is left out.
            wanted = set(keys)
            result = self.rows(f"SELECT {columns} FROM {table} WHERE {key} BETWEEN ? AND ?", min(keys), max(keys))  # noqa: S608
            return [row for row in result if row[key] in wanted]
        marks = ", ".join("?" * len(keys))
        return self.rows(f"SELECT {columns} FROM {table} WHERE {key} IN ({marks})", *keys)  # noqa: S608 - our own names


def _known(rows: Iterable[Row]) -> Known:
    return Known(tuple(row for row in rows if _is_true(row)))


def _is_true(row: Row) -> bool:
    """Whether a row names an entry of its folder of runs, by its own address."""
    if not isinstance(row["folder"], str) or not isinstance(row["parent"], str):
        return False
    try:
        name = given_name(row["folder"])
    except ValueError:
        return False
    is_entry = name not in {"", ".", ".."} and name == PurePath(name).name
    return is_entry and row["address"] == run_address(row["site"], row["parent"], row["folder"])


def is_private(place: Place) -> bool:
    """Whether nobody but this user can write an index: a file and a folder of his own."""
    if place.path is None:
        return False
    with suppress(OSError):
        return all(
            found.st_uid == os.geteuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
            for found in (place.path.stat(), place.path.parent.stat())
        )
    return False


def folder_of(row: Row) -> str:
    """The path of a run folder, as the system has it."""
    return f"{given_name(row['parent'])}/{given_name(row['folder'])}"


def driver_errors(place: Place) -> tuple[type[BaseException], ...]:
    """The errors that the driver of a database raises."""
    if place.path is not None:
        import sqlite3  # noqa: PLC0415

        return (sqlite3.Error,)
    import psycopg  # noqa: PLC0415

    return (psycopg.Error,)


def _run(
    row: Row, name: str, tags: Sequence[Row], tests: Sequence[Row], headlines: Mapping[int, Sequence[Row]]
) -> ListedRun:
    listed = tuple(_test(test, headlines.get(test["key"], ())) for test in tests)
    fault = row["fault"]
    return _made(
        ListedRun,
        {
            **{field: row[field] for field in PLAIN_FIELDS},
            "schema_version": _FORM,
            "run": name,
            "tags": tuple(tag["tag"] for tag in tags),
            "drive_facts": _drive(row),
            "deviations": _texts(row["deviations"]),
            "exit_codes": _texts(row["exit_codes"]),
            "tests": listed,
            "withheld": tuple(Withheld(test=one.test, reason=one.withheld) for one in listed if one.withheld),
            **{field: bool(row[field]) for field in FLAG_FIELDS},
            "fault": fault and fault.replace(folder_of(row), name),
            "missing": row["missing_since_ns"] is not None,
        },
    )


_FORM = ListedRun.model_fields["schema_version"].default


@lru_cache(maxsize=4096)
def _texts(text: str) -> tuple[Any, ...]:
    """A stored list; none where others wrote something else."""
    try:
        found = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        found = None
    return tuple(found) if isinstance(found, list) else ()


def _made(form: type[F], values: dict[str, Any]) -> F:
    """A record of all its fields without a look at each: they were looked at when they were stored.

    pydantic's own ``model_construct`` takes longer than its validation.
    """
    made = form.__new__(form)
    object.__setattr__(made, "__dict__", values)
    object.__setattr__(made, "__pydantic_fields_set__", set(values))
    object.__setattr__(made, "__pydantic_extra__", None)
    object.__setattr__(made, "__pydantic_private__", None)
    return made


def _drive(row: Row) -> ListedDrive | None:
    if row["drive_id"] is None:
        return None
    return _made(ListedDrive, {"path": row["drive"], **{field: row[f"drive_{field}"] for field in _OF_DRIVE}})


def _test(row: Row, headlines: Sequence[Row]) -> ListedTest:
    return _made(
        ListedTest,
        {
            **{field: row[field] for field in _OF_TEST},
            "reached": bool(row["reached"]),
            "cut_short": bool(row["cut_short"]),
            "headlines": tuple(
                _made(Quoted, {field: headline[field] for field in _OF_HEADLINE}) for headline in headlines
            ),
        },
    )


_OF_DRIVE = ("id", "kind", "model", "serial", "firmware", "capacity_bytes")
_OF_TEST = (
    "test", "procedure", "edition", "verdict", "measured", "ended", "withheld", "started_wall_ns",
    "ended_wall_ns",
)  # fmt: skip
_OF_HEADLINE = ("item", "unit", "value", "least", "greatest", "basis", "claim", "bound", "mark")
