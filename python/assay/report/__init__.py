"""The report room lays out a stored run as paper, screen and tables. It computes and measures nothing.

One model (``assay.report.page``) feeds every format, so no two of them can disagree.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from assay.errors import StoreError
from assay.profile import stored_profile
from assay.records import (
    CrossStimulusSettings,
    DemandSettings,
    IdleRecoverySettings,
    LoopSettings,
    SaturationSettings,
    StudySettings,
)
from assay.report import disclosure
from assay.report.demand import demand_sheets
from assay.report.hir import IdleRecoverySheets
from assay.report.label import conformity_label
from assay.report.loop import LoopSheets
from assay.report.page import Report
from assay.report.printed import printable, utc_datetime
from assay.report.results_json import results_json
from assay.report.study import StudySheets
from assay.report.summary import all_tests_page, selected_page, test_page
from assay.report.table_csv import table_csv
from assay.report.wsat import SaturationSheets
from assay.report.xsr import CrossStimulusSheets
from assay.window import cross_stimulus_result, idle_recovery_result, loop_result, saturation_result, study_result

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from assay.profile import Profile
    from assay.records import StoredRun, StoredTest
    from assay.report.data_tables import DataTable
    from assay.report.page import Page
    from assay.report.sheets import Sheets

Format = Literal["pdf", "html", "csv", "xlsx", "json"]
FORMATS: tuple[Format, ...] = ("pdf", "html", "csv", "xlsx", "json")

__all__ = ["FORMATS", "Format", "build_report", "render", "render_pages"]


def render(run: StoredRun, folder: Path, *, formats: Collection[Format]) -> list[Path]:
    """Write the report of a stored run.

    folder : where the files go; made if missing. formats : any of ``FORMATS``.
    Returns the files written: ``report.pdf``, ``report.html``, ``report.xlsx``, one CSV file per table of numbers
    (``iops_matrix.csv``, ``wsat_samples.csv`` and so on) and ``results.json``, each put in place whole. The same run
    gives the same bytes each time.
    Raises VerificationError where the stored verdict is not the one its rounds give or a page does not fit
    its sheet; StoreError where the folder cannot be written or the run holds no test.
    """
    contents = dict(_contents(run, formats))
    return [_write(folder / name, content) for name, content in contents.items()]


def render_pages(report: Report, folder: Path, others: dict[str, bytes]) -> list[Path]:
    """Write a report of one's own pages as PDF and HTML, and other files beside it; the paths.

    Raises StoreError where the folder cannot be written.
    """
    contents = {**others, **dict(_documents(report, ("pdf", "html")))}
    return [_write(folder / name, content) for name, content in contents.items()]


def build_report(run: StoredRun) -> Report:
    """Lay out the pages of every test of a run, and the appendix behind them.

    The order is that of the specification's example: the summary of all tests, then for each test its summary and its
    pages; the drive's selected performance and the disclosure follow under numbers of their own.
    Raises VerificationError as ``render``; StoreError where there is nothing to report.
    """
    return _laid_out(run, _sheets(run))


def _laid_out(run: StoredRun, tests: list[Sheets]) -> Report:
    profile = tests[0].profile
    standard = [page for sheets in tests for page in (test_page(sheets), *sheets.report_pages())]
    pages = _numbered([all_tests_page(run, profile, tests), *standard], "")
    behind = _numbered([selected_page(run, profile, tests), *disclosure.pages(run, profile, tests)], "A")
    tool = f"{printable(run.platform.tool)} {printable(run.platform.tool_version)}"
    return Report(
        title=f"{printable(run.identity.model or run.identity.path)} {printable(run.identity.id)} - PTS report",
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


def _sheets(run: StoredRun) -> list[Sheets]:
    """The tests of a run on their way to pages."""
    if not run.tests:
        raise StoreError(f"run {run.run_id}", "holds no test", "run a test first")
    profile = stored_profile(run.profile)
    return [_test_sheets(run, test, number, profile) for number, test in _numbered_tests(run)]


def _test_sheets(run: StoredRun, test: StoredTest, number: int, profile: Profile) -> Sheets:
    prefix = f"{test.settings.test}-{number}"
    match test.settings:
        case LoopSettings():
            return LoopSheets(run=run, test=test, profile=profile, prefix=prefix, result=loop_result(test))
        case SaturationSettings():
            result = saturation_result(test, run.identity.capacity_bytes)
            return SaturationSheets(run=run, test=test, profile=profile, prefix=prefix, result=result)
        case IdleRecoverySettings():
            recovery = idle_recovery_result(test, run.identity.capacity_bytes)
            return IdleRecoverySheets(run=run, test=test, profile=profile, prefix=prefix, result=recovery)
        case CrossStimulusSettings():
            crossed = cross_stimulus_result(test)
            return CrossStimulusSheets(run=run, test=test, profile=profile, prefix=prefix, result=crossed)
        case StudySettings():
            studied = study_result(test)
            return StudySheets(run=run, test=test, profile=profile, prefix=prefix, result=studied)
        case DemandSettings():
            return demand_sheets(run, test, profile, prefix)


def _numbered_tests(run: StoredRun) -> list[tuple[int, StoredTest]]:
    """List the tests of a run, each with its place among those of the same name, from 1."""
    names = [test.settings.test for test in run.tests]
    return [(names[: place + 1].count(names[place]), test) for place, test in enumerate(run.tests)]


def _contents(run: StoredRun, formats: Collection[Format]) -> Iterator[tuple[str, bytes]]:
    asked, tests = set(formats), _sheets(run)
    report = _laid_out(run, tests) if asked & {"pdf", "html", "xlsx"} else None
    tables = [table for sheets in tests for table in _tables(sheets)] if asked & {"csv", "xlsx"} else []
    if report and asked & {"pdf", "html"}:
        yield from _documents(report, formats)
    if "csv" in formats:
        for table in tables:
            yield f"{table.name}.csv", table_csv(table.columns, table.rows)
    if report and "xlsx" in formats:
        from assay.report.workbook import workbook  # noqa: PLC0415

        yield "report.xlsx", workbook(report, tables)
    if "json" in formats:
        yield "results.json", results_json(run, tests)


def _tables(sheets: Sheets) -> Iterator[DataTable]:
    number = sheets.prefix.rpartition("-")[2]
    return sheets.tables("" if number == "1" else f"_{number}")


def _documents(report: Report, formats: Collection[Format]) -> Iterator[tuple[str, bytes]]:
    # Plotting and typesetting take a second to load, which only those who ask for a document pay.
    from assay.report.figure import figure_svg  # noqa: PLC0415

    pictures = {figure.name: figure_svg(figure) for figure in report.figures}
    if "pdf" in formats:
        from assay.report.pdf import report_pdf  # noqa: PLC0415

        yield "report.pdf", report_pdf(report, pictures)
    if "html" in formats:
        from assay.report.html import report_html  # noqa: PLC0415

        yield "report.html", report_html(report, pictures)


def _write(path: Path, content: bytes) -> Path:
    """Put a file in place whole: a reader sees the old one or the new one, never a part."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
        draft = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            draft.chmod(0o644)
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(str(path), error.strerror or str(error), "free the folder or choose another") from error
    return path
