"""One layer over SQLite and PostgreSQL: their own drivers, statements that both know, errors in our words."""

from __future__ import annotations

import re
import sqlite3
import time
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.archive.index.location import driver, without_password
from assay.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.archive.index.location import Place

Row = dict[str, Any]
SCHEMA = 5
"""Version of ``tables.sql``. An index with a greater version is of a newer Assay."""
READ_WAIT_S, WRITE_WAIT_S = 5, 60
"""How long a lock of another program is waited for. Only a program that is none of ours keeps readers waiting."""
_LOG_WAIT_S, _PAUSE_S = 10, 0.05
_VERSION_TABLE = "assay_index_version"
_TABLES = ("assay_measures", "assay_headlines", "assay_tests", "assay_tags", "assay_runs")
"""Those that are made from run folders, of this and of older versions."""
_LOCK_TIMEOUT = "55P03"
"""Its name in PostgreSQL."""
_LOCK_NUMBER = 0x61737361
"""Key of PostgreSQL's advisory lock, which the one writer holds: the first writer makes the tables."""
_CODES_OF_LOCKS = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_CODES_OF_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


class UnusableIndexError(StoreError):
    """The index cannot be reached, read or written, or is of a newer version."""


class DamagedIndexError(UnusableIndexError):
    """The file of the index is no database, or a damaged one."""


class Connection:
    """A transaction of an index. A value of a statement stands at a question mark.

    position : its function that finds a text in another. binary : its collation by code points.
    """

    def __init__(self, place: Place, connection: Any) -> None:
        self.place, self._connection = place, connection
        self.position, self.binary = ("instr", "BINARY") if place.path else ("strpos", '"C"')

    def run(self, statement: str, *values: object) -> Any:
        """Carry out a statement; its cursor."""
        return self._connection.execute(self._marked(statement), values)

    def rows(self, statement: str, *values: object) -> list[Row]:
        """The rows of a statement by the names of their columns."""
        cursor = self.run(statement, *values)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor]

    def insert(self, table: str, rows: Sequence[Row], more: str = "") -> None:
        """Insert rows of equal columns into a table. more : SQL after the values."""
        if rows:
            columns, marks = ", ".join(rows[0]), ", ".join("?" * len(rows[0]))
            statement = self._marked(f"INSERT INTO {table} ({columns}) VALUES ({marks}) {more}")
            values = [[storable(x) if isinstance(x, str) else x for x in row.values()] for row in rows]
            self._connection.cursor().executemany(statement, values)

    def tables(self) -> set[str]:
        """The names of all tables."""
        of_file = "SELECT name FROM sqlite_master WHERE type = 'table'"
        of_server = "SELECT tablename AS name FROM pg_tables WHERE schemaname = ANY (current_schemas(false))"
        return {row["name"] for row in self.rows(of_file if self.place.path else of_server)}

    def schema(self) -> int:
        """The version of its tables; 0 if there are none. Raises UnusableIndexError for one that is newer."""
        rows = self.rows("SELECT version_num FROM assay_index_version") if _VERSION_TABLE in self.tables() else ()
        schema = next((int(row["version_num"]) for row in rows if re.fullmatch(r"\d{4}", str(row["version_num"]))), 0)
        if schema > SCHEMA:
            reason = f"is an index of a newer version of Assay (schema {schema}, this version knows {SCHEMA})"
            raise UnusableIndexError(self.place.shown, reason, "use that version, or name another index with --index")
        return schema

    def make_tables(self) -> None:
        """Make the tables in the form of this version; of an older version only the notes stay.

        Raises UnusableIndexError for a file of something else, or of a newer version.
        """
        schema = self.schema()
        if schema == SCHEMA:
            return
        if self.place.path and not schema and self.tables() - {_VERSION_TABLE}:
            reason = "is a database of something else"
            raise UnusableIndexError(self.place.shown, reason, "name another file with --index")
        for table in _TABLES if schema else ():
            self.run(f"DROP TABLE IF EXISTS {table}")
        for statement in Path(__file__).with_name("tables.sql").read_text("utf-8").split(";\n"):
            self.run(statement)
        self.run("DELETE FROM assay_index_version")
        self.insert(_VERSION_TABLE, [{"version_num": f"{SCHEMA:04}"}])

    def _marked(self, statement: str) -> str:
        return statement if self.place.path else statement.replace("?", "%s")


@contextmanager
def connected(place: Place, *, to_write: bool, wait_s: float | None = None) -> Iterator[Connection]:
    """A transaction of a reader at one instant, or of the only writer, committed at its end.

    to_write : make a file of SQLite that is not there. wait_s : for locks of others; None: as readers or writers do.
    Raises StoreError if the database cannot be reached, read or written.
    """
    wait_s = (WRITE_WAIT_S if to_write else READ_WAIT_S) if wait_s is None else wait_s
    errors = sqlite3.Error if place.path else driver().Error
    try:
        with closing(_opened(place, wait_s, to_write=to_write)) as connection:
            _begin(connection, place, wait_s, to_write=to_write)
            yield Connection(place, connection)
            if to_write:
                connection.commit()
    except errors as error:
        raise _database_error(place, error) from None


def storable(text: str) -> str:
    r"""A text as both databases take it: NUL and halves of surrogate pairs are escaped.

    Worked: ``a\0b`` with a NUL becomes ``a\\x00b``.
    """
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode("utf-8")


def _database_error(place: Place, error: BaseException) -> StoreError:
    """An error of a driver as an error that names the index and hides the password."""
    reason = without_password(str(error), place) or type(error).__name__
    if _is_locked(error):
        by = f"fuser {place.path} names it" if place.path else "pg_stat_activity names it"
        remedy = f"wait for that program or end it ({by}), or name another index with --index"
        return UnusableIndexError(place.shown, "is locked by another program", remedy)
    if place.path is None:
        reason = f"does not answer as an index ({reason})"
        return UnusableIndexError(place.shown, reason, "see that it runs and lets you in")
    if getattr(error, "sqlite_errorcode", 0) & 0xFF in _CODES_OF_DAMAGE:
        remedy = "remove it to rebuild it from the run folders, or name another with --index"
        return DamagedIndexError(place.shown, f"is not an index of runs, or is damaged ({reason})", remedy)
    return UnusableIndexError(place.shown, f"cannot be used as an index ({reason})", "name another file with --index")


def _is_locked(error: BaseException) -> bool:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in _CODES_OF_LOCKS or getattr(error, "sqlstate", "") == _LOCK_TIMEOUT


def _opened(place: Place, wait_s: float, *, to_write: bool) -> Any:
    path = place.path
    if path is None:
        return driver().connect(place.url, connect_timeout=10, application_name="assay", client_encoding="utf-8")
    if to_write:
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            reason = error.strerror or "cannot be made"
            raise UnusableIndexError(str(path.parent), reason, "name another file") from None
    # Transactions are begun by us, never by the driver.
    return sqlite3.connect(path, timeout=wait_s, isolation_level=None, check_same_thread=False)


def _begin(connection: Any, place: Place, wait_s: float, *, to_write: bool) -> None:
    """Set what a transaction needs, and begin it. Raises UnusableIndexError for views and triggers."""
    if place.path is None:
        connection.execute(f"SET lock_timeout = {round(wait_s * 1000)}")
        connection.commit()
        snapshot = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
        connection.execute(f"SELECT pg_advisory_xact_lock({_LOCK_NUMBER})" if to_write else snapshot)
        return
    # No index has any, and they would run with every question.
    if connection.execute("SELECT 1 FROM sqlite_master WHERE type IN ('view', 'trigger')").fetchone():
        raise UnusableIndexError(place.shown, "holds a view or a trigger", "name another index with --index")
    connection.execute("PRAGMA foreign_keys = ON")
    if to_write:
        _use_log(connection, min(wait_s, _LOG_WAIT_S))
        # What is lost with the power is made anew from the folders.
        connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("BEGIN IMMEDIATE" if to_write else "BEGIN")


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
