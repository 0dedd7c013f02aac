"""Notes on runs: hidden, marked as bad with a reason, and a text; they stay when the index is made anew."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.archive.index.driver import READ_WAIT_S, UnusableIndexError, connected, database_error
from assay.archive.index.folded import storable
from assay.archive.index.read import driver_errors, reading
from assay.errors import ValueRangeError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.archive.index.location import Place
    from assay.archive.index.read import Reader, Row

TEXT_MAX = 2000
_COLUMNS = ("address", "hidden", "bad", "reason", "note", "role", "at_ns")
_MANY = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class RunNote:
    """What people say of a run.

    hidden : whether lists leave it out. bad : whether it is left out of trends; reason : why.
    note : any text. role : of the session that wrote it. at_ns : when, by the wall clock.
    """

    hidden: bool = False
    bad: bool = False
    reason: str = ""
    note: str = ""
    role: str = ""
    at_ns: int = 0


def notes_of(reader: Reader, addresses: Iterable[str]) -> dict[str, RunNote]:
    """The notes on some runs by their addresses; those without any are left out."""
    wanted = list(addresses)
    rows: list[Row] = []
    for begin in range(0, len(wanted), _MANY):
        part = wanted[begin : begin + _MANY]
        marks = ", ".join("?" * len(part))
        rows += reader.rows(f"SELECT * FROM assay_notes WHERE address IN ({marks})", *part)  # noqa: S608 - our names
    return {row["address"]: _note(row) for row in rows}


def write_note(index: Place, address: str, note: RunNote) -> RunNote:
    """Put a note on a run in place of the one that it had; its time is now.

    Raises ValueRangeError for a bad run without a reason, or a text of more than 2,000 characters; StoreError where
    the index cannot be written, or has no tables yet.
    """
    checked = _checked(note)
    with reading(index) as reader:
        if reader is None:
            raise UnusableIndexError(index.shown, "has no runs yet", "bring it up with: assay index update FOLDER")
    connection = connected(index, to_write=True, wait_s=READ_WAIT_S)
    try:
        row = (address, checked.hidden, checked.bad, checked.reason, checked.note, checked.role, checked.at_ns)
        connection.execute(_statement("?" if index.path else "%s"), row)
        connection.commit()
    except driver_errors(index) as error:
        raise database_error(index, error) from None
    finally:
        connection.close()
    return checked


def _statement(mark: str) -> str:
    """What puts a row in place of another. mark : the driver's for a value."""
    changed = ", ".join(f"{name} = excluded.{name}" for name in _COLUMNS[1:])
    marks = ", ".join([mark] * len(_COLUMNS))
    return (
        f"INSERT INTO assay_notes ({', '.join(_COLUMNS)}) VALUES ({marks}) "  # noqa: S608 - our own names
        f"ON CONFLICT (address) DO UPDATE SET {changed}"
    )


def _checked(note: RunNote) -> RunNote:
    reason, text = storable(note.reason.strip()), storable(note.note.strip())
    if note.bad and not reason:
        raise ValueRangeError("Reason", "is empty", "state why the run is bad")
    for name, value in (("Reason", reason), ("Note", text)):
        if len(value) > TEXT_MAX:
            raise ValueRangeError(name, f"has {len(value):,} characters", f"shorten it to {TEXT_MAX:,}")
    kept = reason if note.bad else ""
    return RunNote(
        hidden=note.hidden, bad=note.bad, reason=kept, note=text, role=note.role, at_ns=note.at_ns or time.time_ns()
    )


def _note(row: Row) -> RunNote:
    values = {name: row[name] for name in _COLUMNS[1:]}
    return RunNote(**{**values, "hidden": bool(row["hidden"]), "bad": bool(row["bad"])})
