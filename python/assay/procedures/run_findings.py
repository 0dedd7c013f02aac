"""Everything that a reader must know of a run, each once: one list, the same in every format."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.procedures.conformity import deviations
from assay.results.events import disturbing
from assay.results.host import sequence_host
from assay.results.measured import counted_sequences
from assay.results.outcome import withheld_reason
from assay.results.run_checks import ENDED
from assay.results.sequence_names import sequence_place
from assay.results.stall import void_places
from assay.spec.units import MILLISECOND_NS
from assay.summary.findings import Found, break_texts, gathered
from assay.summary.pages.header import ENDINGS
from assay.summary.pages.model import Table
from assay.summary.table import UNIT, Column, Words, table_of
from assay.words.coded import Place, coded
from assay.words.printed import paragraph
from assay.words.text import text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.engine.records import StoredRun
    from assay.results.finding import Checked
    from assay.summary.findings import Gathered
    from assay.summary.pages.test_record import TestRecord
    from assay.summary.table import Declared, ResultTable
    from assay.words.coded import Coded

ALL_TESTS = "all"
FINDINGS = "Findings"
SEE_FINDINGS = "Disclosure, Findings"
"""How other pages name the list."""
ROWS_MAX = 120
"""Rows of one printed page, which may take several sheets."""
# What the checks of these names find is listed under a kind of its own, with more.
_LISTED = {"host", "drive-events", ENDED}
_TEST, _KIND, _WHERE = (Column(key, key.capitalize(), role="key") for key in ("test", "kind", "where"))
_WHAT = Column("what", "What was found")
_COLUMNS: Declared[Found] = (
    (_TEST, lambda finding: finding.test),
    (_KIND, lambda finding: finding.kind),
    (_WHERE, lambda finding: str(finding.where)),
    (_WHAT, lambda finding: text(finding.what)),
    (Column("measured", "Measured"), lambda finding: finding.measured),
    (Column("limit", "Limit"), lambda finding: finding.limit),
    (UNIT, lambda finding: finding.unit),
)
_GATHERED: Declared[Gathered] = (
    (_TEST, lambda one: one.test),
    (_KIND, lambda one: one.kind),
    (_WHERE, lambda one: one.where),
    (Column("count", "Places"), lambda one: one.count),
    (_WHAT, lambda one: one.what),
)
_GRAVE = {"ended early", "withheld"}
"""Kinds of findings without which there would be numbers."""
_PLACES = (
    "{count:,} in all, counted by location; findings.csv and results.json have a row for each. Values that differ by "
    "location are printed as a range."
)
_NOTE = (
    "Kinds: ended early; withheld (no result is printed); warning (as on the banner of its pages); void (in no verdict "
    "and no result); drive event (of the kernel's log); host (the test system disturbed it); moved (a cell that is not "
    "tracked: least to greatest round of the measurement window, and how far apart); remark (to be known of a number); "
    "check (beyond its limit); "
    "not run; deviation (from the specification); resumed (the run was interrupted, and went on later)."
)


def run_findings(run: StoredRun, tests: Sequence[TestRecord]) -> tuple[Found, ...]:
    """Everything found in a run, test by test, then what is of all tests; each once."""
    findings = [replace(said, test=test.name.upper()) for test in tests for said in _of(test)]
    findings += [Found(test=one.test.upper(), kind="not run", what=_stated(one.reason)) for one in run.skipped]
    findings += [Found(test=ALL_TESTS, kind="resumed", what=_stated(line)) for line in break_texts(run)]
    findings += [Found(test=ALL_TESTS, kind="deviation", what=_stated(line)) for line in deviations(run)]
    return tuple(dict.fromkeys(findings))


def finding_data(findings: Sequence[Found]) -> ResultTable:
    """The list as a table of CSV files, workbook and ``results.json``."""
    return table_of("findings", FINDINGS, _COLUMNS, findings, words=Words(none=""))


def gathered_data(findings: Sequence[Found]) -> ResultTable:
    """The list as people read it: a row for each finding with its places."""
    return table_of("gathered", FINDINGS, _GATHERED, gathered(findings), section="results")


def finding_tables(findings: Sequence[Found]) -> list[Table]:
    """The list as people read it, a row for each finding with its places, a table for each page of it."""
    listed = [(one.test, one.kind, one.where, f"{one.count:,}", one.what) for one in gathered(findings)]
    rows = tuple(listed) or ((ALL_TESTS, "none", "", "", "no findings"),)
    starts = range(0, len(rows), ROWS_MAX)
    grave = [line for line, row in enumerate(rows) if row[1] in _GRAVE]
    return [
        Table(
            caption=FINDINGS if start == 0 else f"{FINDINGS} from number {start + 1:,}",
            columns=tuple(column.title for column, _ in _GATHERED),
            rows=rows[start : start + ROWS_MAX],
            merged=(_TEST.title, _KIND.title),
            levels=tuple((line - start, 1, "bad") for line in grave if start <= line < start + ROWS_MAX),
            notes=(f"{_PLACES.format(count=len(findings))} {_NOTE}",) if start == starts[-1] else (),
        )
        for start in starts
    ]


def _of(test_record: TestRecord) -> Iterator[Found]:
    """Everything found in one test, without its name."""
    yield from _without_figure(test_record)
    for cell in test_record.moved:
        said = Found(test="", kind="moved", where=Place(cell.label), what=_stated(cell.text))
        yield replace(said, measured=cell.apart, limit=cell.limit, unit="share")
    yield from map(beyond, checks_beyond(test_record))


def beyond(check: Checked) -> Found:
    """What a check found in its worst place, and how many places are beyond the limit."""
    result, unit = check.finding, check.check.unit
    what = coded("titled", title=check.check.title, reason=result.reason)
    if check.marked > 1:
        what = coded("several", what=what, marked=check.marked, judged=check.judged)
    return Found(
        test="",
        kind="check",
        where=result.where,
        what=what,
        measured=_natural(result.measured, unit),
        limit=_natural(result.limit, unit),
        unit=unit,
    )


def _natural(value: float | None, unit: str) -> float | None:
    """A figure of a check in its unit; what has no unit is no figure."""
    if value is None or not unit:
        return None
    return float(value) / MILLISECOND_NS if unit == "ms" else float(value)


def _without_figure(one: TestRecord) -> Iterator[Found]:
    """What has no figure of its own."""
    test, withheld = one.test, withheld_reason(one.test)
    if test.ended in ENDINGS:
        ended = _stated(" ".join(filter(None, (ENDINGS[test.ended].lower(), test.ended_detail))))
        yield Found(test="", kind="ended early", what=ended)
    if withheld:
        yield Found(test="", kind="withheld", what=withheld)
    yield from (Found(test="", kind="warning", what=one.reason) for one in one.findings if one.reason)
    yield from (Found(test="", kind="void", where=place, what=reason) for place, reason in void_places(test))
    yield from _events(one)
    yield from _host(one)
    yield from (Found(test="", kind="remark", what=remark) for remark in one.remarks)


def _stated(words: str) -> Coded:
    """What is stored, or worded elsewhere, as a statement."""
    return coded("reason", reason=words)


def checks_beyond(test_record: TestRecord) -> list[Checked]:
    """The checks of a test that found something beyond their limit, without those of which more is listed."""
    return [check for check in test_record.checks if check.level in {"warn", "invalid"} and check.name not in _LISTED]


def _events(test_record: TestRecord) -> Iterator[Found]:
    for sequence in test_record.test.sequences:
        for step in sequence.steps:
            for event in disturbing(step):
                place = Place(paragraph(f"{sequence.name}, {step.label}"))
                yield Found(test="", kind="drive event", where=place, what=_stated(event.text))


def _host(test_record: TestRecord) -> Iterator[Found]:
    counted = {id(sequence) for sequence in counted_sequences(test_record.test)}
    for sequence in test_record.test.sequences:
        found = sequence_host(sequence)
        if found[0].marked:
            no_result = None if id(sequence) in counted else coded("in-no-result")
            what = coded("host-found", found=tuple(finding.reason for finding in found), no_result=no_result)
            yield Found(test="", kind="host", where=sequence_place(sequence), level=found[0].level, what=what)
