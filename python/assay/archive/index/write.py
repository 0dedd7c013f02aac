"""Writing the index: one writer at a time, each row of a run with all that belongs to it in one transaction."""

from __future__ import annotations

import hashlib
import json
import time
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from itertools import count, zip_longest
from typing import TYPE_CHECKING, Any

from assay.archive.index.drive_use import NO_USE, DriveUse
from assay.archive.index.driver import READ_WAIT_S, UnusableIndexError, connected, storable
from assay.archive.index.folders import drive_address, run_address
from assay.archive.index.read import NOTE_FIELDS, PLAIN_FIELDS, RunNote, made_by, reading
from assay.archive.index.search import RUN_FOLDS, TEST_FOLDS, folded
from assay.errors import ValueRangeError
from assay.summary.measures import basis_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from assay.archive.index.driver import Connection, Row
    from assay.archive.index.location import Place
    from assay.summary.forms import ListedRun, ListedTest
    from assay.summary.record import Measure

NOTE_TEXT_MAX = 2000
_AT = "site = ? AND parent = ? AND folder = ?"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRun:
    """A run folder as it was read for the index.

    folder : its name as it is kept. look : what it looked like before it was read. measures : of its tests, in order.
    claims : of the data sheet, by their keys. conditions : of its tests, in order, as
    ``compare.subject.held_conditions`` has them. use : what it did to its drive.
    """

    folder: str
    look: str
    listed: ListedRun
    measures: tuple[tuple[Measure, ...], ...] = ()
    claims: Mapping[str, float] = field(default_factory=dict)
    conditions: tuple[dict[str, Any], ...] = ()
    use: DriveUse = NO_USE


@contextmanager
def writing(place: Place, wait_s: float | None = None) -> Iterator[Connection]:
    """A transaction that no other writer is in; the tables are there and of the form that this version knows.

    wait_s : for locks of others; None: as long as a writer waits.
    Raises StoreError if the database cannot be reached or written, or is of a newer version.
    """
    with connected(place, to_write=True, wait_s=wait_s) as writer:
        writer.make_tables()
        yield writer


def store_runs(writer: Connection, site: str, parent: str, read_runs: Iterable[ReadRun]) -> None:
    """Put runs into the index in place of what was there of the same folders. parent : name as it is kept."""
    run_keys, test_keys = (
        count(writer.rows(f"SELECT coalesce(max(key), 0) AS n FROM {table}")[0]["n"] + 1)
        for table in ("assay_runs", "assay_tests")
    )
    for run_key, read_run in zip(run_keys, read_runs, strict=False):
        listed = read_run.listed
        forget_runs(writer, site, parent, (read_run.folder,))
        writer.insert("assay_runs", [{"key": run_key, **_run_row(site, parent, read_run)}])
        tags = enumerate(listed.tags)
        writer.insert(
            "assay_tags",
            [{"run_key": run_key, "place": index, "tag": tag, "tag_folded": folded(tag)} for index, tag in tags],
        )
        for index, (test, measures, conditions) in enumerate(
            zip_longest(listed.tests, read_run.measures, read_run.conditions)
        ):
            key = next(test_keys)
            row = {"key": key, "run_key": run_key, "place": index, **_test_row(test, conditions)}
            writer.insert("assay_tests", [row])
            writer.insert("assay_measures", list(_measure_rows(key, measures or (), read_run.claims)))


def mark_missing(writer: Connection, site: str, parent: str, folders: Iterable[str], now_ns: int | None) -> None:
    """Mark runs whose folder is gone; ``now_ns`` None takes the mark from those that are back."""
    for folder in folders:
        writer.run(f"UPDATE assay_runs SET missing_since_ns = ? WHERE {_AT}", now_ns, site, parent, folder)


def forget_runs(writer: Connection, site: str, parent: str, folders: Iterable[str]) -> None:
    """Take runs out of the index; notes on them stay. folders : names as they are kept."""
    for folder in folders:
        writer.run(f"DELETE FROM assay_runs WHERE {_AT}", site, parent, folder)


def clear(writer: Connection, site: str) -> None:
    """Forget every run of the folders of a host."""
    writer.run("DELETE FROM assay_runs WHERE site = ?", site)


def write_note(index: Place, address: str, note: RunNote) -> RunNote:
    """Replace the note on a run; its time is now.

    Raises ValueRangeError for a bad run without a reason, or a text of more than 2,000 characters; StoreError if
    the index cannot be written, or has no tables yet.
    """
    checked = _checked_note(note)
    with reading(index) as reader:
        if reader is None:
            raise UnusableIndexError(index.shown, "has no runs yet", "bring it up with: assay index update FOLDER")
    changed = ", ".join(f"{name} = excluded.{name}" for name in NOTE_FIELDS)
    with writing(index, READ_WAIT_S) as writer:
        row = {"address": address, **asdict(checked)}
        writer.insert("assay_notes", [row], f"ON CONFLICT (address) DO UPDATE SET {changed}")
    return checked


def _run_row(site: str, parent: str, read_run: ReadRun) -> Row:
    listed, use = read_run.listed, read_run.use
    drive = listed.drive_facts
    facts = drive.model_dump(exclude={"path"}) if drive else {}
    row = {
        "site": site,
        "parent": parent,
        "folder": read_run.folder,
        "look": read_run.look,
        "made_by": made_by(),
        **{name: getattr(listed, name) for name in PLAIN_FIELDS},
        **{f"drive_{name}": value for name, value in facts.items()},
        "withheld": bool(listed.withheld),
        "deviations": json.dumps(list(map(storable, listed.deviations))),
        "exit_codes": json.dumps(listed.exit_codes),
        **asdict(use),
        "health": json.dumps(use.health),
    }
    folds = {name: folded(row.get(source)) for name, source in RUN_FOLDS.items()}
    searched = (folded(site), folded(read_run.folder), *folds.values())
    searched = (*searched, *map(folded, listed.tags), *(folded(test.test) for test in listed.tests))
    return {
        **row,
        **folds,
        # A text a line: free text is searched in it.
        "words": "\n".join(filter(None, searched)),
        "address": run_address(site, parent, read_run.folder),
        "drive_address": drive_address(drive.model, drive.serial, drive.id) if drive else "",
    }


def _test_row(test: ListedTest, conditions: dict[str, Any] | None) -> Row:
    row = test.model_dump(exclude={"headlines"})
    kept = json.dumps(conditions, sort_keys=True, default=str) if conditions else ""
    return {
        **row,
        **{name: folded(row[source]) for name, source in TEST_FOLDS.items()},
        "conditions": kept,
        "conditions_key": hashlib.sha256(kept.encode()).hexdigest()[:12] if kept else "",
    }


def _measure_rows(test_key: int, measures: Iterable[Measure], claims: Mapping[str, float]) -> Iterator[Row]:
    for index, measure in enumerate(measures):
        yield {
            "test_key": test_key,
            "place": index,
            "cell": json.dumps(measure.cell),
            "label": measure.label,
            "name": measure.key,
            "unit": measure.unit,
            "better": measure.better,
            "stat": measure.stat,
            "value": None if measure.value is None else float(measure.value),
            "rounds": json.dumps(list(map(float, measure.rounds))),
            "judged": measure.tracked,
            "bound": measure.bound,
            "mark": measure.mark,
            "quoted": measure.quoted,
            "printed": measure.printed,
            "basis": basis_text(measure) if measure.quoted else "",
            "claim": claims.get(measure.claim) if measure.claim else None,
        }


def _checked_note(note: RunNote) -> RunNote:
    reason, text = storable(note.reason.strip()), storable(note.note.strip())
    if note.bad and not reason:
        raise ValueRangeError("Reason", "is empty", "state why the run is bad")
    for name, value in (("Reason", reason), ("Note", text)):
        if len(value) > NOTE_TEXT_MAX:
            raise ValueRangeError(name, f"has {len(value):,} characters", f"shorten it to {NOTE_TEXT_MAX:,}")
    return replace(note, reason=reason if note.bad else "", note=text, at_ns=note.at_ns or time.time_ns())
