"""The first page: the drive, the verdict of every test, the numbers that people quote, and what was unusual.

It comes before the pages of the specification and has no number among them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.pages.distribution import printed_map
from assay.pages.header import TARGETS, model_label, target_kind
from assay.pages.label import beside, host_label
from assay.pages.model import WIDE_ASPECT, Page, Table, Text, pictured
from assay.report.breaks import break_texts
from assay.report.cards import SPREAD_SAID, cards
from assay.report.conforming import conformity_head, deviations
from assay.report.findings import checks_beyond
from assay.report.headline_tables import headline_tables
from assay.report.insights import findings_table
from assay.report.level import level_label
from assay.report.summary import joined_banner, summary_header
from assay.report.unusual import unusual_table
from assay.results import disturbed_count, driven_s, withheld_reason
from assay.spec.units import GB, GIB, SECOND_NS, count_label, duration_label
from assay.words.printed import NOT_APPLICABLE, UNKNOWN, capacity_label, paragraph
from assay.words.text import text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.engine.records import StoredRun
    from assay.pages.distribution import Distribution
    from assay.pages.model import Entry, Figure, Header
    from assay.pages.test_report import TestReport
    from assay.report.cards import Placed
    from assay.spec.edition import Edition

_TITLE = "Executive Summary"
_FACTS = ("Serial No.", "Firmware Rev", "Interface", "NAND Type")
_HOST = "Disturbed by the host"
VERDICT_COLUMNS = ("Test", "Verdict", "Rounds or time/GB", _HOST)
_NAMED = 3
_MANY_TESTS = 5
_ROWS_MAX = 12
"""A small picture has room for the names of so many rows."""
_TRACKED = "A verdict is that of the tracked cells; other cells that moved are listed among what was unusual."
_CHECKS = (
    "A check beyond its limit warns of how a test was carried out; where that makes numbers unusable they are withheld."
)
_NOT_WATCHED = "not watched"


def executive_page(
    run: StoredRun,
    edition: Edition,
    placed: Sequence[Placed],
) -> Page:
    """Lay out the first page: its tables for the workbook, and a card of the same for each test on paper and screen."""
    tests = [one.report for one in placed]
    # A run of this host is as far vouched for as every report says that it is.
    level = f" - {level_label(run)}" if run.origin else ""
    verdicts, of_run = _verdicts(run, placed), tuple(_of_run(run, tests))
    said, unusual = findings_table(run, tests), unusual_table(tests, of_run)
    outcomes = [row[1] for row in verdicts.rows]
    head = summary_header(run, edition)
    return Page(
        title=_drive(run),
        chapter=_TITLE,
        subtitle=_TITLE,
        header=head,
        banner=joined_banner(tests),
        blocks=(),
        columns=((verdicts, *said, unusual, Text(paragraphs=(_reading(tests),))), headline_tables(run, tests)),
        cards=cards(run, placed, outcomes, of_run),
        facts=_facts(head),
        notes=(SPREAD_SAID, *_baseline(run), *verdicts.notes, *_checks(tests), _reading(tests)),
        others=tuple(_maps([one.spread for one in placed])),
        outcome=f"{conformity_head(run)}{level}",
    )


def _facts(head: Header) -> tuple[Entry, ...]:
    """What a header knows of dates and drive, for the line below the drive's name."""
    known = (pair for group in head.groups for pair in group.entries if pair[0] in _FACTS and pair[1] != UNKNOWN)
    return (*head.dates, *known)


def _baseline(run: StoredRun) -> Iterator[str]:
    """Whose numbers the baseline has, where the plan states some."""
    if any((run.plan.get("baseline") or {}).values()):
        yield f"Baseline: {paragraph(run.description.get('baseline')) or 'not named'}; nothing is judged by it."


def _checks(tests: Sequence[TestReport]) -> Iterator[str]:
    """What a check beyond its limit means, where there is one."""
    if any(map(checks_beyond, tests)):
        yield _CHECKS


def _maps(spread: Sequence[Distribution | None]) -> Iterator[Figure]:
    """The maps of response times of the first and of the last test that has one of few rows."""
    found = [(one, drawn) for one in spread if one and (drawn := printed_map(one)) and len(drawn.y_ticks) <= _ROWS_MAX]
    for one, drawn in (*found[:1], *found[1:][-1:]):
        asked = f"{one.title}: how are response times spread? {drawn.reading}"
        # Beside the pictures of many tests it is as small as these.
        yield pictured(drawn, f"{drawn.name}-picture", asked, WIDE_ASPECT, small=len(spread) >= _MANY_TESTS)


def _drive(run: StoredRun) -> str:
    """Its model, and its capacity where the model does not say it.

    Worked: ``"SLC-A, 100 GB"`` of 100.00 GB stays, ``"SLC-A"`` becomes ``"SLC-A, 100.00 GB"``.
    """
    model, size = model_label(run), run.identity.capacity_bytes
    named = (f"{size / GB:g} GB", f"{size / GIB:g} GiB", capacity_label(size))
    return model if any(name in model for name in named) else f"{model}, {capacity_label(size)}"


def _verdicts(run: StoredRun, placed: Sequence[Placed]) -> Table:
    tests = [one.report for one in placed]
    rows = [
        (one.label, _in_its_row(one), one.facts.extent, disturbed_label(one), of.pages)
        for one, of in zip(tests, placed, strict=True)
    ]
    rows += [(one.test.upper(), f"{NOT_APPLICABLE}: {paragraph(one.reason)}", "", "", "") for one in run.skipped]
    table = Table(caption="Verdict of each test", columns=(*VERDICT_COLUMNS, "Pages"), rows=tuple(rows))
    shown = without_host(table)
    moved = (_TRACKED,) if any(one.moved_cells() for one in tests) else ()
    return replace(
        shown, notes=(*moved, *shown.notes, time_text(driven_s(run), simulated=run.identity.kind == "simulated"))
    )


def time_text(driven_s: float, *, simulated: bool) -> str:
    """How long the drive was driven. Worked: 7,200 s -> ``"Time on the drive: 2 h."``, 10.8019 s -> ``... 10.8 s.``."""
    whose = "simulated drive, by its own clock" if simulated else "drive"
    return f"Time on the {whose}: {duration_label(round(round(driven_s, 1 if driven_s >= 1 else 3) * SECOND_NS))}."


def _in_its_row(test_report: TestReport) -> str:
    """The verdict without its rounds where these are what the row says of the extent."""
    facts = test_report.facts
    return _verdict(test_report, "" if facts.rounds == facts.extent else facts.window)


def without_host(table: Table) -> Table:
    """A table of verdicts without its column on the host where nobody watched that in any test; a note says so.

    Worked: two tests, ``not watched`` in both -> one column less and the note ``Disturbed by the host: not watched.``
    """
    place = VERDICT_COLUMNS.index(_HOST)
    if {row[place] for row in table.rows} - {_NOT_WATCHED, ""}:
        return table
    return replace(table.without(_HOST), notes=(f"{_HOST}: {_NOT_WATCHED}.",))


def disturbed_label(test_report: TestReport) -> str:
    """How many of the measured parts the host disturbed. Worked: nobody watched it -> ``"not watched"``."""
    return host_label(test_report.test) or _NOT_WATCHED


def verdict(test_report: TestReport) -> str:
    """How a test came out. Worked: ``"steady state: YES, rounds 1-5"``; ``"WITHHELD: 1 I/O error in the test"``.

    Of a test whose other cells moved: ``"steady state: YES, rounds 1-5; 5 other cells moved"``; of one that the test
    system disturbed: ``"steady state: YES, rounds 1-5; host disturbed 2 of 5"``.
    """
    return _verdict(test_report, test_report.facts.window)


def _verdict(test_report: TestReport, window: str) -> str:
    withheld = withheld_reason(test_report.test)
    if withheld:
        return f"WITHHELD: {text(withheld)}"
    told = ", ".join(filter(None, (f"steady state: {test_report.facts.steady}", window)))
    return "; ".join((told, *beside(test_report.test, len(test_report.moved_cells()))))


def _of_run(run: StoredRun, tests: Sequence[TestReport]) -> Iterator[tuple[str, str]]:
    """What was unusual in the run as a whole."""
    found = [(one.label, count) for one in tests if (count := disturbed_count(one.test)) and count[0]]
    if found:
        named = ", ".join(f"{name} {marked} of {parts}" for name, (marked, parts) in found)
        yield "all", f"the host disturbed measured parts ({named}): their numbers are of host and drive together"
    if target := TARGETS.get(target_kind(run)):
        yield (
            "all",
            f"the target is {target}: whether its I/Os reached a medium, or the host's memory alone, is not known",
        )
    yield from (("all", line) for line in break_texts(run))
    if run.skipped:
        names = ", ".join(one.test.upper() for one in run.skipped)
        yield "all", f"{count_label(len(run.skipped), 'test')} of the plan not run: {names}"
    listed = deviations(run)
    if listed:
        named = "; ".join(listed[:_NAMED])
        rest = f"; {len(listed) - _NAMED} more under Disclosure" if listed[_NAMED:] else ""
        yield "all", f"{count_label(len(listed), 'deviation')} from the specification: {named}{rest}"


def _reading(tests: Sequence[TestReport]) -> str:
    """Where to read on."""
    each = "the test" if len(tests) == 1 else "each test"
    told = f"{each} on its own pages; every setting with its source, deviation, check and limit under Disclosure"
    return f"Read on: {told}. Not every setting is confirmed against the text of the specification: its source says so."
