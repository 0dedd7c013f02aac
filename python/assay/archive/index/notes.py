"""Notes on runs: hidden, marked as bad with a reason, and a text; they stay when the index is made anew."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from assay.archive.index.driver import READ_WAIT_S, UnusableIndexError, storable
from assay.archive.index.read import reading
from assay.archive.index.write import writing
from assay.errors import ValueRangeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.archive.index.driver import Connection
    from assay.archive.index.location import Place

TEXT_MAX = 2000
_FIELDS = ("hidden", "bad", "reason", "note", "role", "at_ns")


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


def notes_of(reader: Connection, addresses: Sequence[str]) -> dict[str, RunNote]:
    """The notes on the runs of a page by their addresses; those without any are left out."""
    marks = ", ".join("?" * len(addresses)) or "NULL"
    rows = reader.rows(f"SELECT * FROM assay_notes WHERE address IN ({marks})", *addresses)
    # SQLite gives flags back as 0 and 1.
    flags = [row | {name: bool(row[name]) for name in ("hidden", "bad")} for row in rows]
    return {row["address"]: RunNote(**{name: row[name] for name in _FIELDS}) for row in flags}


def write_note(index: Place, address: str, note: RunNote) -> RunNote:
    """Put a note on a run in place of the one that it had; its time is now.

    Raises ValueRangeError for a bad run without a reason, or a text of more than 2,000 characters; StoreError where
    the index cannot be written, or has no tables yet.
    """
    checked = _checked(note)
    with reading(index) as reader:
        if reader is None:
            raise UnusableIndexError(index.shown, "has no runs yet", "bring it up with: assay index update FOLDER")
    changed = ", ".join(f"{name} = excluded.{name}" for name in _FIELDS)
    with writing(index, READ_WAIT_S) as writer:
        row = {"address": address, **asdict(checked)}
        writer.insert("assay_notes", [row], f"ON CONFLICT (address) DO UPDATE SET {changed}")
    return checked


def _checked(note: RunNote) -> RunNote:
    reason, text = storable(note.reason.strip()), storable(note.note.strip())
    if note.bad and not reason:
        raise ValueRangeError("Reason", "is empty", "state why the run is bad")
    for name, value in (("Reason", reason), ("Note", text)):
        if len(value) > TEXT_MAX:
            raise ValueRangeError(name, f"has {len(value):,} characters", f"shorten it to {TEXT_MAX:,}")
    return replace(note, reason=reason if note.bad else "", note=text, at_ns=note.at_ns or time.time_ns())
