"""Rules of the folder: the document, the journal with its chain, and the form and order of its lines."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from assay.archive.verify.rule import Broken
from assay.engine.codec import decode
from assay.engine.records import DriveCondition
from assay.run.store import JOURNAL_NAME
from assay.run.store.document import Engine, read_head, report_date
from assay.run.store.journal import RESUMED, RUN_ENDED, is_sealed, run_breaks
from assay.run.store.read import Tables, stored_tests

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from assay.archive.verify.evidence import Evidence
    from assay.run.store.journal import Entry

_IN_TEST = {
    "test_condition", "purged", "steps", "stall", "verdict", "trimmed", "write_cache_set", "looked", "drive_changed",
    "read_back", "data_checked", "test_ended",
}  # fmt: skip
_BETWEEN_TESTS = {"test_started", "condition", RESUMED}
_ANYWHERE = {"asked", "engine", "advice", RUN_ENDED}
KINDS = _IN_TEST | _BETWEEN_TESTS | _ANYWHERE
"""Every kind of line that a run has."""


def document_form(evidence: Evidence) -> Iterable[Broken]:
    """The reader of ``run.json`` raises where it has another form."""
    evidence.read_document()
    return ()


def sealed_lines(evidence: Evidence) -> Iterator[Broken]:
    """Each line's own hash."""
    for number, line in enumerate(evidence.raw_lines, 1):
        if not is_sealed(line):
            yield Broken(
                place=f"{JOURNAL_NAME}:{number}",
                found="is not the line that was written",
                expected="its last field is the SHA-256 of what stands before it",
            )


def chained_lines(evidence: Evidence) -> Iterator[Broken]:
    """Each line names the one before it; the first names ``run.json``."""
    previous = hashlib.sha256(read_head(evidence.folder)).hexdigest()
    for number, line in enumerate(evidence.raw_lines, 1):
        lines = _link(line) if is_sealed(line) else None
        if lines is not None and lines != (number - 1, previous):
            yield Broken(
                place=f"{JOURNAL_NAME}:{number}",
                found=f"is line {lines[0]} behind {lines[1]:.16}",
                expected=f"line {number - 1} behind {previous:.16}",
            )
        previous = hashlib.sha256(line + b"\n").hexdigest()


def _link(line: bytes) -> tuple[Any, str] | None:
    """What a line says of its place; None of one that is no JSON object, which the rule of forms names."""
    try:
        content = json.loads(line)
        return content.get("seq"), str(content.get("previous"))
    except (ValueError, AttributeError, RecursionError):
        return None


def line_forms(evidence: Evidence) -> Iterator[Broken]:
    """The readers of lines raise where one has another form; a kind that no run has is read by nobody."""
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
    """The reader of specifications raises where one is not what its name says, or a name stands for nothing."""
    _ = evidence.asked
    return ()


def line_order(evidence: Evidence) -> Iterator[Broken]:
    """What happens in a test stands between its begin and its end, or the place where the run was resumed.

    A clock that is set back may make the first lines earlier than the start, but not all of them.
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
    """A run that ended has nothing behind its end, unless it was resumed."""
    lines, torn = evidence.journal.lines, bool(evidence.journal.torn_bytes)
    behind_end = [entry.kind for entry in lines[1:]]
    ends = [
        index
        for index, entry in enumerate(lines)
        if entry.kind == RUN_ENDED and behind_end[index : index + 1] != [RESUMED]
    ]
    if ends and (ends[0] != len(lines) - 1 or torn):
        behind = len(lines) - 1 - ends[0]
        found = f"{behind} lines after the end of the run" if behind else "a torn line after the end of the run"
        yield Broken(place=lines[ends[0]].place, found=found, expected="nothing after it")


def report_date_form(evidence: Evidence) -> Iterable[Broken]:
    """The reader of the report's date raises where it has another form."""
    report_date(evidence.folder)
    return ()
