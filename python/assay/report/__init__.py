"""The report room lays out a stored run as paper, screen and tables. It computes and measures nothing.

One model (``assay.report.page``) feeds every format, so no two of them can disagree.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from assay.errors import StoreError
from assay.profile import stored_profile
from assay.report import disclosure
from assay.report.iops import iops_pages
from assay.report.label import conformity_label
from assay.report.lat import lat_pages
from assay.report.loop import Sheets
from assay.report.page import Report
from assay.report.printed import printable, utc_datetime
from assay.report.results_json import results_json
from assay.report.table_csv import matrix_csv, rounds_csv
from assay.report.tp import tp_pages
from assay.window import loop_result

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from assay.records import StoredRun, StoredTest
    from assay.report.page import Block, Page

Format = Literal["pdf", "html", "csv", "json"]
FORMATS: tuple[Format, ...] = ("pdf", "html", "csv", "json")
_PAGES = {"iops": iops_pages, "tp": tp_pages, "lat": lat_pages}

__all__ = ["FORMATS", "Format", "build_report", "render"]


def render(run: StoredRun, folder: Path, *, formats: Collection[Format]) -> list[Path]:
    """Write the report of a stored run.

    folder : where the files go; made if missing. formats : any of ``FORMATS``.
    Returns the files written: ``report.pdf``, ``report.html``, ``iops_matrix.csv``, ``iops_rounds.csv`` and
    ``results.json``, each put in place whole. The same run gives the same bytes each time.
    Raises VerificationError where the stored verdict is not the one its rounds give or a page does not fit
    its sheet; StoreError where the folder cannot be written or the run holds no test.
    """
    contents = dict(_contents(run, formats))
    return [_write(folder / name, content) for name, content in contents.items()]


def build_report(run: StoredRun) -> Report:
    """Lay out the pages of every test of a run, and the appendix behind them.

    Raises VerificationError as ``render``; StoreError where there is nothing to report.
    """
    tests = _numbered_tests(run)
    tool = f"{printable(run.platform.tool)} {printable(run.platform.tool_version)}"
    return Report(
        title=f"{printable(run.identity.model or run.identity.path)} {printable(run.identity.id)} - PTS report",
        label=conformity_label(run),
        colophon=f"{tool} - run {printable(run.run_id)}",
        date=utc_datetime(run.report_date_ns).timetuple()[:6],
        pages=tuple(page for number, test in tests for page in _pages(run, test, number)),
        appendix=(*disclosure.run_blocks(run), *(block for _, test in tests for block in _appendix(run, test))),
    )


def _pages(run: StoredRun, test: StoredTest, number: int) -> tuple[Page, ...]:
    name = test.settings.test
    profile, result = stored_profile(run.profile), loop_result(test)
    sheets = Sheets(run=run, test=test, profile=profile, result=result, prefix=f"{name}-{number}")
    return _PAGES[_family(name)](sheets)


def _family(test: str) -> str:
    return test.partition("-")[0]


def _appendix(run: StoredRun, test: StoredTest) -> tuple[Block, ...]:
    return disclosure.test_blocks(test, stored_profile(run.profile))


def _numbered_tests(run: StoredRun) -> list[tuple[int, StoredTest]]:
    """List the tests of a run, each with its place among those of the same name, from 1."""
    if not run.tests:
        raise StoreError(f"run {run.run_id}", "holds no test", "run a test first")
    if unknown := sorted({test.settings.test for test in run.tests if _family(test.settings.test) not in _PAGES}):
        raise StoreError(f"run {run.run_id}", f"test {unknown[0]!r} has no report pages", "use a newer version")
    names = [test.settings.test for test in run.tests]
    return [(names[: place + 1].count(names[place]), test) for place, test in enumerate(run.tests)]


def _contents(run: StoredRun, formats: Collection[Format]) -> Iterator[tuple[str, bytes]]:
    if "pdf" in formats or "html" in formats:
        yield from _documents(run, formats)
    if "csv" in formats:
        for number, test in _numbered_tests(run):
            suffix = "" if number == 1 else f"_{number}"
            name = test.settings.test.replace("-", "_")
            yield f"{name}_matrix{suffix}.csv", matrix_csv(run, test)
            yield f"{name}_rounds{suffix}.csv", rounds_csv(test)
    if "json" in formats:
        yield "results.json", results_json(run)


def _documents(run: StoredRun, formats: Collection[Format]) -> Iterator[tuple[str, bytes]]:
    # Plotting and typesetting take a second to load, which only those who ask for a document pay.
    from assay.report.figure import figure_svg  # noqa: PLC0415

    report = build_report(run)
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
