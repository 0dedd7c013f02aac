"""Connections of the databases' own drivers, and their errors in our words."""

from __future__ import annotations

import sqlite3
import time
from typing import TYPE_CHECKING, Any

from assay.archive.index.location import driver, without_password
from assay.archive.index.version import SCHEMA
from assay.errors import StoreError

if TYPE_CHECKING:
    from pathlib import Path

    from assay.archive.index.location import Place

_LOG_WAIT_S, _PAUSE_S = 10, 0.05
READ_WAIT_S, WRITE_WAIT_S = 5, 60
"""How long a lock of another program is waited for. Only a program that is none of ours keeps readers waiting."""
_LOCK_TIMEOUT = "55P03"
"""What PostgreSQL calls it."""
_CODES_OF_LOCKS = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_CODES_OF_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def check_schema(place: Place, found: str) -> None:
    """Raise StoreError where the tables are of a newer version than this one. found : their revision."""
    if found > f"{SCHEMA:04}":
        reason = f"is an index of a newer version of Assay (schema {int(found)}, this version knows {SCHEMA})"
        raise UnusableIndexError(place.shown, reason, "use that version, or name another index with --index")


class UnusableIndexError(StoreError):
    """The index cannot be reached, read or written, or is of a newer version."""


class DamagedIndexError(UnusableIndexError):
    """The file of the index is no database, or a damaged one."""


def connected(place: Place, *, to_write: bool, wait_s: float | None = None) -> Any:
    """A connection. to_write : make a file of SQLite that is not there.

    wait_s : for locks of others; None: as long as a reader or a writer waits. Raises StoreError where the database
    cannot be reached.
    """
    wait_s = (WRITE_WAIT_S if to_write else READ_WAIT_S) if wait_s is None else wait_s
    try:
        return _sqlite(place, wait_s, to_write=to_write) if place.path else _postgresql(place, wait_s)
    except StoreError:
        raise
    except Exception as error:  # noqa: BLE001 - of two drivers
        raise database_error(place, error) from None


def database_error(place: Place, error: BaseException) -> StoreError:
    """An error of a driver as one that names the index, and says nothing of a password."""
    reason = without_password(str(error), place) or type(error).__name__
    if _is_locked(error):
        by = f"fuser {place.path} names it" if place.path else "pg_stat_activity names it"
        remedy = f"wait for that program or end it ({by}), or name another index with --index"
        return UnusableIndexError(place.shown, "is locked by another program", remedy)
    if place.path is None:
        return UnusableIndexError(
            place.shown, f"does not answer as an index ({reason})", "see that it runs and lets you in"
        )
    if isinstance(error, sqlite3.DatabaseError) and getattr(error, "sqlite_errorcode", 0) & 0xFF in _CODES_OF_DAMAGE:
        remedy = "remove it to rebuild it from the run folders, or name another with --index"
        return DamagedIndexError(place.shown, f"is not an index of runs, or is damaged ({reason})", remedy)
    return UnusableIndexError(place.shown, f"cannot be used as an index ({reason})", "name another file with --index")


def _is_locked(error: BaseException) -> bool:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in _CODES_OF_LOCKS or getattr(error, "sqlstate", "") == _LOCK_TIMEOUT


def _sqlite(place: Place, wait_s: float, *, to_write: bool) -> sqlite3.Connection:
    path = place.path
    if path is None:
        raise TypeError
    if to_write:
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise UnusableIndexError(
                str(path.parent), error.strerror or "cannot be made", "name another file"
            ) from None
    # Transactions are begun by us, never by the driver.
    connection = sqlite3.connect(path, timeout=wait_s, isolation_level=None, check_same_thread=False)
    try:
        _refuse_programs(connection, path)
        connection.execute("PRAGMA foreign_keys = ON")
        if to_write:
            _use_log(connection, min(wait_s, _LOG_WAIT_S))
            # What is lost with the power is made anew from the folders.
            connection.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        connection.close()
        raise
    return connection


def _refuse_programs(connection: sqlite3.Connection, path: Path) -> None:
    """Raise UnusableIndexError for views and triggers, which no index has: they would run with every question."""
    if connection.execute("SELECT count(*) FROM sqlite_master WHERE type IN ('view', 'trigger')").fetchone()[0]:
        raise UnusableIndexError(str(path), "holds a view or a trigger", "name another index with --index")


def _use_log(connection: sqlite3.Connection, wait_s: float) -> None:
    """Have a write-ahead log: readers and the writer then wait for each other no more."""
    for _ in range(max(round(wait_s / _PAUSE_S), 1)):
        try:
            # This alone does not wait for another connection that does the same.
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if not _is_locked(error):
                raise
            time.sleep(_PAUSE_S)
        else:
            return


def _postgresql(place: Place, wait_s: float) -> Any:
    psycopg = driver()
    connection = psycopg.connect(place.url, connect_timeout=10, application_name="assay", client_encoding="utf-8")
    connection.execute(f"SET lock_timeout = {round(wait_s * 1000)}")
    connection.commit()
    return connection
