"""The tables of a run as ``assay show --full`` prints them: key results, then the tables of each test."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from assay.report.first_page.front import whole_views
from assay.summary.measures import basis_text, measure_text, range_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.report import ShownRun
    from assay.summary.record import RunSummary

_KEY_RESULTS = ("Test", "Number", "Value", "Unit", "Range over rounds", "From")


class PrintedTable(NamedTuple):
    """A table as text. right : places of the columns that stand at the right."""

    title: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: frozenset[int]
    notes: tuple[str, ...] = ()


def printed_tables(shown: ShownRun) -> Iterator[PrintedTable]:
    """The key results, then the tables of results of each test that has a value, then claims and baseline."""
    yield from key_results(shown.summary)
    labels = [f"{test.label}: " for test in shown.summary.tests]
    for label, tables in zip([*labels, ""], shown.tables, strict=True):
        for table in (table for table in tables if table.section == "results" and table.rows):
            for view in whole_views(table):
                cells = (tuple(f"{cell.text}{'*' * cell.is_marked}" for cell in row) for row in view.rows)
                spanner = f"; {view.spanner}" if view.spanner else ""
                right = frozenset(place for place, cell in enumerate(view.columns) if cell.is_number)
                headers, notes = tuple(cell.text for cell in view.columns), (view.note,) if view.note else ()
                yield PrintedTable(f"{label}{view.caption}{spanner}", headers, tuple(cells), right, notes)


def key_results(summary: RunSummary) -> Iterator[PrintedTable]:
    """The numbers that people quote; none of a test whose results are withheld.

    Worked: an IOPS test -> a row ``IOPS  RND 4KiB R  33,332.4  IOPS  33,100.2 - 33,510.0  average of rounds 1-5``.
    """
    rows = tuple(
        (test.label, measure.printed, measure_text(measure), measure.unit, range_text(measure), basis_text(measure))
        for test in summary.tests
        for measure in test.measures
        if measure.quoted and test.verdict.state not in {"withheld", "cut-short"}
    )
    if rows:
        yield PrintedTable("Key results", _KEY_RESULTS, rows, frozenset({2, 4}))


def right_headers(table: PrintedTable) -> Sequence[str]:
    """The headers of the columns that stand at the right."""
    return [header for place, header in enumerate(table.headers) if place in table.right]
