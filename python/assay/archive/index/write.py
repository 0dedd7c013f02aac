"""Writing the index: one writer at a time, each row of a run with all that belongs to it in one transaction."""

from __future__ import annotations

import hashlib
import json
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from sqlalchemy import create_engine, delete, event, insert, inspect, text, update
from sqlalchemy.exc import DBAPIError

from assay.archive.index.drive_use import NO_USE, DriveUse
from assay.archive.index.driver import UnusableIndexError, check_schema, connected, database_error
from assay.archive.index.fields import FLAG_FIELDS, PLAIN_FIELDS
from assay.archive.index.folded import RUN_FOLDS, TEST_FOLDS, all_words, folded, storable
from assay.archive.index.folders import drive_address, run_address
from assay.archive.index.migrate import HEAD, current, migrate
from assay.archive.index.tables import HEADLINES, MEASURES, RUNS, TAGS, TESTS
from assay.archive.index.version import VERSION_TABLE, made_by

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sqlalchemy import Connection, Engine

    from assay.archive.index.location import Place
    from assay.summary.forms import ListedRun, ListedTest
    from assay.summary.record import Measure

_KEY_DIGITS = 12
"""Of the digest of conditions."""
_LOCK_NUMBER = 0x61737361
"""Of PostgreSQL's advisory lock: who migrates first makes the tables, the other finds them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRun:
    """A run folder as it was read for the index.

    folder : its name as it is kept. look : what it looked like before it was read. measures : of its tests, in order.
    conditions : of its tests, in order, as ``compare.conditions.held_conditions`` has them. use : what it did to its
    drive.
    """

    folder: str
    look: str
    listed: ListedRun
    measures: tuple[tuple[Measure, ...], ...] = ()
    conditions: tuple[dict[str, Any], ...] = ()
    use: DriveUse = NO_USE


@contextmanager
def writing(place: Place) -> Iterator[Connection]:
    """A transaction that no other writer is in; the tables are there and of the form that this version knows.

    Raises StoreError where the database cannot be reached or written, or is of a newer version.
    """
    engine = _engine(place)
    try:
        with engine.begin() as connection:
            if place.path is None:
                connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK_NUMBER})"))
            _prepare(place, connection)
            yield connection
    except DBAPIError as error:
        raise database_error(place, error.orig or error) from None
    finally:
        engine.dispose()


def store_runs(connection: Connection, site: str, parent: str, read_runs: Iterable[ReadRun]) -> None:
    """Put runs into the index in place of what was there of the same folders. parent : name as it is kept."""
    for read_run in read_runs:
        forget_runs(connection, site, parent, (read_run.folder,))
        (key,) = connection.execute(insert(RUNS), _run_row(site, parent, read_run)).inserted_primary_key or (0,)
        tags = [_part(key, index, tag=tag, tag_folded=folded(tag)) for index, tag in enumerate(read_run.listed.tags)]
        _insert(connection, TAGS, tags)
        tests = zip_longest(read_run.listed.tests, read_run.measures, read_run.conditions)
        for place, (test, measures, conditions) in enumerate(tests):
            _store_test(connection, _part(key, place, **_test_row(test, conditions)), test, measures or ())


def store_measures(connection: Connection, test_key: int, measures: Iterable[Measure]) -> None:
    """Store the flat list of the numbers of a test."""
    _insert(
        connection,
        MEASURES,
        [
            {
                "test_key": test_key,
                "place": index,
                "cell": json.dumps(measure.cell),
                "label": measure.label,
                "name": measure.key,
                "unit": measure.unit,
                "better": measure.better,
                "value": None if measure.value is None else float(measure.value),
                "rounds": json.dumps(list(map(float, measure.rounds))),
                "judged": measure.tracked,
                "bound": measure.bound,
                "mark": measure.mark,
            }
            for index, measure in enumerate(measures)
        ],
    )


def mark_missing(connection: Connection, site: str, parent: str, folders: Sequence[str], now_ns: int | None) -> None:
    """Mark runs whose folder is gone; ``now_ns`` None takes the mark from those that are back."""
    for folder in folders:
        connection.execute(update(RUNS).where(*_of(site, parent, folder)).values(missing_since_ns=now_ns))


def forget_runs(connection: Connection, site: str, parent: str, folders: Iterable[str]) -> None:
    """Take runs out of the index; notes on them stay. folders : names as they are kept."""
    for folder in folders:
        connection.execute(delete(RUNS).where(*_of(site, parent, folder)))


def clear(connection: Connection, site: str) -> None:
    """Forget every run of the folders of a host."""
    connection.execute(delete(RUNS).where(RUNS.c.site == site))


def _prepare(place: Place, connection: Connection) -> None:
    """Have the tables there, of the form that this version knows. Raises StoreError as ``writing``."""
    result = current(connection)
    check_schema(place, result)
    if place.path and not result and set(inspect(connection).get_table_names()) - {VERSION_TABLE}:
        raise UnusableIndexError(place.shown, "is a database of something else", "name another file with --index")
    if result != HEAD:
        migrate(connection)


def _engine(place: Place) -> Engine:
    kind = "sqlite" if place.path else "postgresql+psycopg"
    engine = create_engine(f"{kind}://", creator=lambda: connected(place, to_write=True))
    if place.path:
        # Two writers wait for each other from the beginning of a transaction on, and none reads what becomes stale.
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
    return engine


def _of(site: str, parent: str, folder: str) -> tuple[Any, ...]:
    return RUNS.c.site == site, RUNS.c.parent == parent, RUNS.c.folder == folder


def _test_row(test: ListedTest, conditions: dict[str, Any] | None) -> dict[str, Any]:
    row = test.model_dump(exclude={"headlines"})
    kept = json.dumps(conditions, sort_keys=True, default=str) if conditions else ""
    key = hashlib.sha256(kept.encode()).hexdigest()[:_KEY_DIGITS] if kept else ""
    folds = {name: folded(row[source]) for name, source in TEST_FOLDS.items()}
    return {**row, **folds, "conditions": kept, "conditions_key": key}


def _store_test(connection: Connection, row: dict[str, Any], test: ListedTest, measures: Sequence[Measure]) -> None:
    (key,) = connection.execute(insert(TESTS), row).inserted_primary_key or (0,)
    numbers = [{"test_key": key, "place": nth, **headline.model_dump()} for nth, headline in enumerate(test.headlines)]
    _insert(connection, HEADLINES, numbers)
    store_measures(connection, key, measures)


def _insert(connection: Connection, table: Any, rows: list[dict[str, Any]]) -> None:
    if rows:
        connection.execute(insert(table), rows)


def _part(run_key: int, index: int, **values: Any) -> dict[str, Any]:
    return {"run_key": run_key, "place": index, **values}


def _run_row(site: str, parent: str, read_run: ReadRun) -> dict[str, Any]:
    listed, drive = read_run.listed, read_run.listed.drive_facts
    facts = drive.model_dump(exclude={"path"}) if drive else {}
    row = {
        "site": site,
        "parent": parent,
        "folder": read_run.folder,
        "look": read_run.look,
        "made_by": made_by(),
        **{name: getattr(listed, name) for name in (*PLAIN_FIELDS, *FLAG_FIELDS, "fault")},
        **{f"drive_{name}": value for name, value in facts.items()},
        "withheld": bool(listed.withheld),
        "deviations": json.dumps(listed.deviations),
        "exit_codes": json.dumps(listed.exit_codes),
        **asdict(read_run.use),
        "health": json.dumps(read_run.use.health),
    }
    return row | _searched(row, listed)


def _searched(row: dict[str, Any], listed: ListedRun) -> dict[str, str]:
    """What a run is asked for by, and searched by."""
    folds = {name: folded(row.get(source)) for name, source in RUN_FOLDS.items()}
    texts = (row["site"], row["folder"], *folds.values(), *listed.tags, *(test.test for test in listed.tests))
    return {
        "address": run_address(row["site"], row["parent"], row["folder"]),
        "drive_address": _drive_address(listed),
        **folds,
        "words": all_words(texts),
    }


def _drive_address(listed: ListedRun) -> str:
    drive = listed.drive_facts
    if drive is None:
        return ""
    serial = None if drive.serial is None else storable(drive.serial)
    return drive_address(storable(drive.model), serial, storable(drive.id))
