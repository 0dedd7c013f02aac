"""Rules of the folder: the document, the journal with its chain, its lines, and the tables that the journal names."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.archive.verify.evidence import Broken
from assay.engine.codec import decode
from assay.engine.records import DriveCondition
from assay.errors import AssayError
from assay.run.store import JOURNAL_NAME
from assay.run.store.document import Engine, read_head, report_date
from assay.run.store.journal import RESUMED, RUN_ENDED, is_sealed, run_breaks
from assay.run.store.read import Tables, check_replay, checked_table, stored_tests
from assay.run.store.tables import (
    HISTOGRAMS,
    INTENDED,
    LATENESS,
    LEAD_INS,
    REPLAYS,
    SERIES,
    TABLE_KINDS,
    direction_places,
    numbers,
    read_histograms,
    series_rows,
)
from assay.run.store.traces import trace_summary
from assay.spec.files import exists_inside

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from assay.archive.verify.evidence import Evidence
    from assay.engine.records import StepSpec
    from assay.run.store.document import Steps
    from assay.run.store.journal import Entry


_IN_TEST = {
    "test_condition", "purged", "steps", "stall", "verdict", "trimmed", "write_cache_set", "looked", "drive_changed",
    "read_back", "data_checked", "test_ended",
}  # fmt: skip
_BETWEEN_TESTS = {"test_started", "condition", RESUMED}
_ANYWHERE = {"asked", "engine", "advice", RUN_ENDED}
KINDS = _IN_TEST | _BETWEEN_TESTS | _ANYWHERE
"""Every kind of line that a run has."""
_AS_WRITTEN = "the table whose SHA-256 the journal names"
_ASCENDING = "each step, direction and bucket or second once, in ascending order"


def document_form(evidence: Evidence) -> Iterable[Broken]:
    """``run.json`` has its form; else its reader raises."""
    evidence.read_document()
    return ()


def sealed_lines(evidence: Evidence) -> Iterator[Broken]:
    """Each line ends with its own hash."""
    for number, line in enumerate(evidence.raw_lines, 1):
        if not is_sealed(line):
            yield Broken(
                place=f"{JOURNAL_NAME}:{number}",
                found="is not the line that was written",
                expected="its last field is the SHA-256 of what stands before it",
            )


def chained_lines(evidence: Evidence) -> Iterator[Broken]:
    """Each line names the previous line; the first names ``run.json``."""
    previous = hashlib.sha256(read_head(evidence.folder)).hexdigest()
    for number, line in enumerate(evidence.raw_lines, 1):
        link = _link(line) if is_sealed(line) else None
        if link is not None and link != (number - 1, previous):
            yield Broken(
                place=f"{JOURNAL_NAME}:{number}",
                found=f"is line {link[0]} behind {link[1]:.16}",
                expected=f"line {number - 1} behind {previous:.16}",
            )
        previous = hashlib.sha256(line + b"\n").hexdigest()


def _link(line: bytes) -> tuple[Any, str] | None:
    """The number and the previous hash in a line; None if it is no JSON object, which another rule names."""
    try:
        content = json.loads(line)
        return content.get("seq"), str(content.get("previous"))
    except (ValueError, AttributeError, RecursionError):
        return None


def line_forms(evidence: Evidence) -> Iterator[Broken]:
    """Each line has the form of its kind, else its reader raises; and its kind is one that runs have."""
    lines = evidence.journal.lines
    evidence.read_sequences()
    others = [entry for entry in lines if entry.kind not in {"steps", "asked"}]
    stored_tests(others, {}, Tables(folder=evidence.folder, contents={}))
    run_breaks(lines)
    for entry in others:
        match entry.kind:
            case "condition":
                decode(DriveCondition, entry.data, name=entry.place)
            case "engine":
                decode(Engine, {"facts": entry.data}, name=entry.place)
            case kind if kind not in KINDS:
                yield Broken(
                    place=entry.place, found=f"is of the kind {kind!r:.40}", expected="a kind of line of a run"
                )


def asked_digests(evidence: Evidence) -> Iterable[Broken]:
    """Each demand has the digest that names it, and each name a demand; else their reader raises."""
    _ = evidence.asked
    return ()


def line_order(evidence: Evidence) -> Iterator[Broken]:
    """Events of a test lie between its begin and its end, or the line where the run was resumed.

    A clock that is set back can make the first lines earlier than the start, but not all lines.
    """
    inside, began_ns = False, evidence.document.started_wall_ns
    if evidence.journal.lines and all(entry.wall_ns < began_ns for entry in evidence.journal.lines):
        place, found = "run.json: started_wall_ns", f"{began_ns} ns, later than every line of the journal"
        yield Broken(place=place, found=found, expected="the start of the run")
    for entry in evidence.journal.lines:
        if fault := _misplaced(entry, inside=inside):
            yield Broken(place=entry.place, found=fault, expected="each test from its begin to its end, then the next")
        if entry.kind in {"test_started", "test_ended", RESUMED}:
            inside = entry.kind == "test_started"


def _misplaced(entry: Entry, *, inside: bool) -> str | None:
    if entry.kind in _IN_TEST and not inside:
        return f"{entry.kind} outside a test"
    if entry.kind == "test_started" and inside:
        return "a test begins before the previous test ended"
    return "condition of the drive inside a test" if entry.kind == "condition" and inside else None


def run_end(evidence: Evidence) -> Iterator[Broken]:
    """No line follows the end of a run, unless it was resumed."""
    lines, torn = evidence.journal.lines, bool(evidence.journal.torn_bytes)
    behind_end = [entry.kind for entry in lines[1:]]
    ends = [
        index
        for index, entry in enumerate(lines)
        if entry.kind == RUN_ENDED and behind_end[index : index + 1] != [RESUMED]
    ]
    if ends and (ends[0] != len(lines) - 1 or torn):
        after_end = len(lines) - 1 - ends[0]
        found = f"{after_end} lines after the end of the run" if after_end else "a torn line after the end of the run"
        yield Broken(place=lines[ends[0]].place, found=found, expected="nothing after it")


def report_date_form(evidence: Evidence) -> Iterable[Broken]:
    """The report's date has its form; else its reader raises."""
    report_date(evidence.folder)
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _TableFaults:
    """Faults of the tables, each table read once: digests, forms, and the order of rows."""

    digests: list[AssayError]
    forms: list[AssayError]
    orders: list[Broken]


def table_digests(evidence: Evidence) -> Iterator[Broken]:
    """Every table has the digest that the journal names."""
    for error in _table_faults(evidence).digests:
        yield Broken(place=error.thing, found=error.reason, expected=_AS_WRITTEN)


def _table_faults(evidence: Evidence) -> _TableFaults:
    return evidence.once("tables", lambda: _read_tables(evidence))


def _read_tables(evidence: Evidence) -> _TableFaults:
    faults = _TableFaults(digests=[], forms=[], orders=[])
    for _, steps in evidence.sequences:
        for name, digest in steps.tables.items():
            try:
                if name.startswith(REPLAYS):
                    # A rule of the steps looks into it.
                    check_replay(evidence.folder, name, digest)
                    continue
                content = checked_table(evidence.folder, name, steps)
            except AssayError as error:
                faults.digests.append(error)
                continue
            try:
                fault = _row_fault(steps, name, content, str(evidence.folder / name))
            except AssayError as error:
                faults.forms.append(error)
                continue
            if fault:
                faults.orders.append(Broken(place=name, found=fault, expected=_ASCENDING))
    return faults


def _row_fault(steps: Steps, name: str, content: bytes, place: str) -> str | None:
    """The fault in the order of a table's rows; None without one. Raises StoreError for another form."""
    if name.startswith(SERIES):
        return _series_fault(series_rows(steps.steps, content, name=place))
    table = read_histograms(content, step_count=len(steps.steps), name=place)
    return _order_fault((table.step, table.direction, table.bucket))


def table_names(evidence: Evidence) -> Iterator[Broken]:
    """Each sequence has the tables of its number that its steps fill, and no others."""
    for number, (entry, steps) in enumerate(evidence.sequences, 1):
        expected = {f"{kind}/{number:06}.parquet" for kind in _kinds(steps, evidence.asked[entry.seq])}
        if set(steps.tables) != expected:
            found = ", ".join(sorted(steps.tables)) or "none"
            yield Broken(place=entry.place, found=found, expected=", ".join(sorted(expected)))


def _kinds(steps: Steps, asked: Sequence[StepSpec]) -> Iterator[str]:
    yield SERIES
    yield HISTOGRAMS
    if any(step.offered_io_count is not None for step in steps.steps):
        yield INTENDED
        yield LATENESS
    if any(side.lead_in_latency_ns_max is not None for step in steps.steps for side in step.sides):
        yield LEAD_INS
    if any(spec.pattern.operation == "replay" for spec in asked):
        yield REPLAYS


def unnamed_tables(evidence: Evidence) -> Iterator[Broken]:
    """Every table is named by a line, except the table that a run was writing when it was cut short."""
    named = {name for _, steps in evidence.sequences for name in steps.tables}
    cut = set() if evidence.journal.complete else {f"{len(evidence.sequences) + 1:06}.parquet"}
    for kind in TABLE_KINDS:
        for path in sorted((evidence.folder / kind).glob("*.parquet")):
            name = f"{kind}/{path.name}"
            if name not in named and path.name not in cut:
                yield Broken(place=name, found="is named by no line of the journal", expected="only named tables")


def table_forms(evidence: Evidence) -> Iterator[Broken]:
    """Every table has its columns, and rows of its steps only."""
    faults = _table_faults(evidence)
    _raise_first(faults.digests)
    for error in faults.forms:
        yield Broken(place=error.thing, found=error.reason, expected="a table of this kind and these steps")


def table_rows(evidence: Evidence) -> Iterator[Broken]:
    """Rows ascend without duplicates; a series has every second from 0 on."""
    faults = _table_faults(evidence)
    _raise_first([*faults.digests, *faults.forms])
    yield from faults.orders


def _raise_first(errors: Sequence[AssayError]) -> None:
    """Raise the error that keeps a rule from being checked."""
    for error in errors:
        raise error


def _series_fault(rows: Any) -> str | None:
    steps, seconds = (numbers(rows[column]) for column in ("step", "second"))
    if fault := _order_fault((steps, direction_places(rows["direction"]), seconds)):
        return fault
    # A second other than 0 follows the previous second of the same step and direction.
    alone = (np.diff(seconds.astype(np.int64), prepend=-1) != 1) & (seconds != 0)
    return f"row {int(np.argmax(alone)) + 1} has no second before it" if alone.any() else None


def _order_fault(columns: Sequence[Any]) -> str | None:
    """The first row that does not follow its predecessor; None if all do."""
    later = np.zeros(max(len(columns[0]) - 1, 0), dtype=np.bool_)
    equal = ~later
    for column in columns:
        difference = np.diff(column.astype(np.int64))
        later |= equal & (difference > 0)
        equal &= difference == 0
    return None if later.all() else f"row {int(np.argmin(later)) + 2} does not come after its predecessor"


def captures(evidence: Evidence) -> Iterator[Broken]:
    """Every capture that is due is present and can be read."""
    capture = evidence.document.plan.get("capture", "none")
    for (_, steps), name in zip(evidence.sequences, evidence.traces, strict=True):
        there = exists_inside(evidence.folder, name)
        kept = steps.keeps_ios or (capture != "none" and steps.role == "measure")
        if kept != there:
            found = "is there" if there else "is missing"
            expected = f"{'a' if kept else 'no'} trace, as its sequence and the plan say"
            yield Broken(place=name, found=found, expected=expected)
        elif there:
            yield from _trace_faults(evidence, name, len(steps.steps))


def _trace_faults(evidence: Evidence, name: str, step_count: int) -> Iterator[Broken]:
    capacity = evidence.document.identity.capacity_bytes
    try:
        trace_summary(evidence.folder, name, step_count=step_count, capacity_bytes=capacity)
    except AssayError as error:
        yield Broken(place=error.thing, found=error.reason, expected="a trace of these steps on this drive")
