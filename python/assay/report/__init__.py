"""The frame of a report: a stored run laid out as paper, screen and tables. It computes and measures nothing.

One model (``assay.pages.model``) feeds every format, so no two of them can disagree.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Literal

from assay.errors import StoreError
from assay.pages.model import Report
from assay.pages.printed import printable, utc_datetime
from assay.procedures.editions import stored_edition
from assay.procedures.registry import find_procedure
from assay.report import disclosure
from assay.report.anchors import test_pages
from assay.report.conforming import conformity_label
from assay.report.results_json import results_json
from assay.report.summary import all_tests_page, selected_page, test_page
from assay.report.table_csv import table_csv
from assay.report.write import foreign, write_formats

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from assay.engine.records import StoredRun, StoredTest
    from assay.pages.model import DataTable, Page
    from assay.pages.test_report import TestReport
    from assay.report.write import Contents, Maker
    from assay.spec.edition import Edition

Format = Literal["pdf", "html", "csv", "xlsx", "json"]
FORMATS: tuple[Format, ...] = ("pdf", "html", "csv", "xlsx", "json")

__all__ = ["FORMATS", "Format", "build_report", "render", "render_pages"]


def render(run: StoredRun, folder: Path, *, formats: Collection[Format], below: str = "") -> list[Path]:
    """Write the report of a stored run.

    folder : where the files go; made if missing. below : a folder in it that they go into.
    formats : any of ``FORMATS``.
    Returns the files written: ``report.pdf``, ``report.html``, ``report.xlsx``, one CSV file per table of numbers
    (``iops_matrix.csv``, ``wsat_samples.csv`` and so on) and ``results.json``, each put in place whole. The same run
    gives the same bytes each time.
    Raises VerificationError where the stored verdict is not the one its rounds give or a page does not fit
    its sheet; StoreError where the folder cannot be written, the run holds no test, or a format cannot be made. All
    other formats are written before.
    """
    tests = foreign(lambda: _parts(run), f"run {run.run_id}")
    laid_out = cache(lambda: _laid_out(run, tests))
    pictures = cache(lambda: _pictures(laid_out()))
    tables = cache(lambda: _all_tables(tests))
    makers: dict[Format, Maker] = {
        "json": lambda: [("results.json", results_json(run, tests))],
        "csv": lambda: [(f"{table.name}.csv", table_csv(table.columns, table.rows)) for table in tables()],
        "xlsx": lambda: _workbook(laid_out(), tables()),
        "html": lambda: _html(laid_out(), pictures()),
        "pdf": lambda: _pdf(laid_out(), pictures()),
    }
    written = write_formats(folder, {name: maker for name, maker in makers.items() if name in formats}, below)
    return [path for name in FORMATS for path in written.get(name, [])]


def render_pages(report: Report, folder: Path, others: dict[str, bytes]) -> list[Path]:
    """Write a report of other pages as PDF and HTML, and other files beside it; the paths.

    Raises StoreError where the folder cannot be written, and as ``render`` for a page.
    """
    pictures = cache(lambda: _pictures(report))
    makers: dict[str, Maker] = {
        "others": others.items,
        "html": lambda: _html(report, pictures()),
        "pdf": lambda: _pdf(report, pictures()),
    }
    written = write_formats(folder, makers)
    return [path for name in ("others", "pdf", "html") for path in written[name]]


def build_report(run: StoredRun) -> Report:
    """Lay out the pages of every test of a run, and the appendix behind them.

    The order is that of the specification's example: the summary of all tests, then for each test its summary and its
    pages; the drive's selected performance and the disclosure follow under numbers of their own.
    Raises VerificationError as ``render``; StoreError where there is nothing to report.
    """
    return _laid_out(run, _parts(run))


def _laid_out(run: StoredRun, tests: list[TestReport]) -> Report:
    edition = tests[0].edition
    standard = [
        page
        for test_report in tests
        for page in test_pages(test_report.prefix, (test_page(test_report), *test_report.report_pages()))
    ]
    pages = _numbered([all_tests_page(run, edition, tests), *standard], "")
    behind = _numbered([selected_page(run, edition, tests), *disclosure.pages(run, edition, tests)], "A")
    tool = f"{printable(run.platform.tool)} {printable(run.platform.tool_version)}"
    return Report(
        title=f"{printable(run.identity.model_number or run.identity.path)} {printable(run.identity.id)} - PTS report",
        label=conformity_label(run),
        colophon=f"{tool} - run {printable(run.run_id)}",
        date=utc_datetime(run.report_date_ns).timetuple()[:6],
        pages=(*pages, behind[0]),
        disclosure=behind[1:],
        appendix=(*disclosure.run_blocks(run), *(block for one in tests for block in disclosure.test_blocks(one))),
    )


def _numbered(pages: list[Page], prefix: str) -> tuple[Page, ...]:
    last = f"{prefix}{len(pages)}"
    return tuple(replace(page, place=f"{prefix}{place} of {last}") for place, page in enumerate(pages, 1))


def _parts(run: StoredRun) -> list[TestReport]:
    """The tests of a run on their way to pages."""
    if not run.tests:
        raise StoreError(f"run {run.run_id}", "holds no test", "run a test first")
    edition = stored_edition(run.edition)
    return [_test_report(run, test, number, edition) for number, test in _numbered_tests(run)]


def _test_report(run: StoredRun, test: StoredTest, number: int, edition: Edition) -> TestReport:
    procedure = find_procedure(test.settings.procedure)
    return procedure.report(run, test, edition, f"{test.settings.test}-{number}")


def _numbered_tests(run: StoredRun) -> list[tuple[int, StoredTest]]:
    """List the tests of a run, each with its place among those of the same name, from 1."""
    names = [test.settings.test for test in run.tests]
    return [(names[: place + 1].count(names[place]), test) for place, test in enumerate(run.tests)]


def _all_tables(tests: Sequence[TestReport]) -> list[DataTable]:
    """Every table of numbers, each under a name of its own."""
    found: dict[str, DataTable] = {}
    for table in (table for test_report in tests for table in _tables(test_report)):
        name = table.name if table.name not in found else f"{table.name}_{len(found) + 1}"
        found[name] = replace(table, name=name)
    return list(found.values())


def _tables(test_report: TestReport) -> Iterator[DataTable]:
    number = test_report.prefix.rpartition("-")[2]
    return test_report.tables("" if number == "1" else f"_{number}")


# Plotting and typesetting take a second to load, which only those who ask for a document pay.


def _pictures(report: Report) -> dict[str, bytes]:
    from assay.report.figure import figure_svg  # noqa: PLC0415

    return {figure.name: figure_svg(figure) for figure in report.figures}


def _pdf(report: Report, pictures: Mapping[str, bytes]) -> Contents:
    from assay.report.pdf import report_pdf  # noqa: PLC0415

    return [("report.pdf", report_pdf(report, pictures))]


def _html(report: Report, pictures: Mapping[str, bytes]) -> Contents:
    from assay.report.html import report_html  # noqa: PLC0415

    return [("report.html", report_html(report, pictures))]


def _workbook(report: Report, tables: Sequence[DataTable]) -> Contents:
    from assay.report.workbook import workbook  # noqa: PLC0415

    return [("report.xlsx", workbook(report, tables))]
