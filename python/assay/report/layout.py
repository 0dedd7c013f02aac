"""The frame of a report: a stored run laid out as paper, screen and tables. It computes and measures nothing.

One model (``assay.summary.pages.model``) feeds every format, so no two of them can disagree.
"""

from __future__ import annotations

import gc
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING

from assay.errors import StoreError
from assay.procedures.conformity import conformity_label
from assay.procedures.editions import stored_edition
from assay.procedures.registry import find_procedure
from assay.procedures.run_findings import finding_data, finding_tables, run_findings
from assay.report.annex import disclosure
from assay.report.annex.summary import all_tests_page, annex_verdict, selected_page, test_page
from assay.report.first_page.claims import baseline_data, claim_data
from assay.report.first_page.front import Paper, report_front
from assay.report.first_page.run_summary import summarise_run
from assay.report.formats import FORMATS, RESULTS
from assay.report.formats.data import results_text, run_results, sequence_table, table_csv
from assay.report.formats.write import foreign, write_formats
from assay.summary.pages.header import colophon
from assay.summary.pages.histograms import distribution_pages, percentile_data, screen_blocks
from assay.summary.pages.model import Report, slug
from assay.summary.pages.test_record import Source, record_of
from assay.summary.verdict import level_of
from assay.words.printed import printable, utc_datetime

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from assay.engine.records import StoredRun
    from assay.report.first_page.front import Front
    from assay.report.formats import Format
    from assay.report.formats.data import ResultsForm
    from assay.report.formats.pdf import Typesetting
    from assay.report.formats.write import Contents, Maker
    from assay.summary.findings import Found
    from assay.summary.pages.model import Figure, Page
    from assay.summary.pages.test_record import TestRecord
    from assay.summary.record import Held, RunSummary
    from assay.summary.table import ResultTable


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRun:
    """A run with all its numbers. tables : of each test, and last those of the run."""

    run: StoredRun
    tests: Sequence[TestRecord]
    summary: RunSummary
    tables: tuple[tuple[ResultTable, ...], ...]

    @property
    def results(self) -> ResultsForm:
        """The run as JSON has it."""
        *of_tests, of_run = self.tables
        return run_results(self.run, self.summary, list(zip(self.tests, of_tests, strict=True)), of_run)


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Collect garbage rarely: of the many small parts of pages and pictures, alive to the end, a tenth of the time."""
    before = gc.get_threshold()
    gc.set_threshold(50_000, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


@_rare_collections()
def render(
    run: StoredRun,
    folder: Path,
    *,
    formats: Collection[Format],
    below: str = "",
    shown: Callable[[str, int, int], None] = lambda *_: None,
    held: Callable[[Sequence[TestRecord]], Held | None] = lambda _: None,
    assets_at: str = "",
) -> list[Path]:
    """Write the report of a stored run.

    folder : where the files go; made if missing. below : a folder in it that they go into.
    formats : any of ``FORMATS``. shown : called as each is begun, with its name, its number from 1, and their count.
    held : how the limits of its plan came out, of its tests. assets_at : address below which a server has style and
    script of the HTML; empty: they are in the file.
    Returns the files written: ``report.pdf``, ``report.html``, ``report.xlsx``, one CSV file per table of numbers
    (``iops_matrix.csv``, ``wsat_samples.csv`` and so on) and ``results.json``, each put in place whole. The same run
    gives the same bytes each time.
    Raises VerificationError where the stored verdict is not the one its rounds give; StoreError where the folder cannot
    be written, the run holds no test, a page does not fit its sheet, or a format cannot be made. All other formats are
    written before.
    """
    tests = records_of_tests(run)
    result = cache(lambda: run_findings(run, tests))
    laid_out = cache(lambda: _laid_out(run, tests, result()))
    summary = cache(lambda: summarise_run(run, tests, held(tests)))
    front = cache(lambda: report_front(run, tests, summary()))
    picture = cache(_picture)
    grouped = cache(lambda: _tables_of_tests(tests))
    of_run = cache(lambda: list(_run_tables(run, tests, result())))
    outcome = cache(lambda: run_results(run, summary(), list(zip(tests, grouped(), strict=True)), of_run()))
    begun = _begun(lambda: Paper(report=laid_out(), front=front()), picture) if "pdf" in formats else None
    makers: dict[Format, Maker] = {
        "json": lambda: [(RESULTS, results_text(outcome()))],
        "csv": lambda: [
            *((f"{table.key}.csv", table_csv(table)) for table in (*chain.from_iterable(grouped()), *of_run())),
            *(file for test in tests for file in test.files()),
        ],
        "xlsx": lambda: _workbook(run, list(zip(tests, grouped(), strict=True)), of_run(), result()),
        "html": lambda: _html(laid_out(), front(), assets_at),
        "pdf": lambda: _pdf(Paper(report=laid_out(), front=front()), picture, begun),
    }
    chosen = {name: maker for name, maker in makers.items() if name in formats}
    with begun or nullcontext():
        written = write_formats(folder, chosen, below, shown=shown)
    return [path for name in FORMATS for path in written.get(name, [])]


@_rare_collections()
def render_pages(report: Report, folder: Path, others: dict[str, bytes], assets_at: str = "") -> list[Path]:
    """Write a report of other pages as PDF and HTML, and other files beside it; the paths.

    assets_at : as of ``render``.
    Raises StoreError where the folder cannot be written, and as ``render`` for a page.
    """
    picture = cache(_picture)
    makers: dict[str, Maker] = {
        "others": others.items,
        "html": lambda: _html(report, assets_at=assets_at),
        "pdf": lambda: _pdf(Paper(report=report), picture, None),
    }
    written = write_formats(folder, makers)
    return [path for name in ("others", "pdf", "html") for path in written[name]]


@_rare_collections()
def shown_run(run: StoredRun, held: Callable[[Sequence[TestRecord]], Held | None]) -> ShownRun:
    """A run with all its tables and numbers. held : how the limits of its plan came out, of its tests.

    Raises VerificationError as ``render``; StoreError where there is nothing to show.
    """

    def work() -> ShownRun:
        tests = records_of_tests(run)
        summary = summarise_run(run, tests, held(tests))
        of_run = list(_run_tables(run, tests, run_findings(run, tests)))
        tables = tuple(map(tuple, (*_tables_of_tests(tests), of_run)))
        return ShownRun(run=run, tests=tests, summary=summary, tables=tables)

    return foreign(work, f"run {run.run_id}")


def build_report(run: StoredRun) -> Report:
    """Lay out the pages of every test of a run, and the appendix behind them.

    The order is that of the specification's example: the summary of all tests, then for each test its summary and its
    pages; the drive's selected performance and the disclosure follow under numbers of their own.
    Raises VerificationError as ``render``; StoreError where there is nothing to report.
    """
    tests = records_of_tests(run)
    return _laid_out(run, tests, run_findings(run, tests))


def _laid_out(run: StoredRun, tests: list[TestRecord], findings: Sequence[Found]) -> Report:
    edition, listed = tests[0].edition, finding_tables(findings)
    pages = [all_tests_page(run, edition, tests), *(page for test in tests for page in _pages_of(test))]
    times = [page for test in tests if test.distribution for page in distribution_pages(test.distribution, test.banner)]
    # Of how many sheets is known to paper alone, where a page may take several.
    selected, *behind = (
        replace(page, place=f"A{place}")
        for place, page in enumerate(
            [selected_page(run, edition, tests), *disclosure.pages(run, tests, listed), *times], 1
        )
    )
    model = printable(run.identity.model_number or run.identity.path)
    # The identity of a simulated drive says how it was made.
    name = model if run.identity.kind == "simulated" else f"{model} {printable(run.identity.id)}"
    return Report(
        title=f"{name} - PTS report",
        label=conformity_label(run),
        colophon=colophon(run),
        date=utc_datetime(run.report_date_ns).timetuple()[:6],
        pages=(
            *(replace(page, place=f"{place} of {len(pages)}") for place, page in enumerate(pages, 1)),
            selected,
        ),
        disclosure=tuple(behind),
        appendix=(
            *listed,
            *disclosure.run_blocks(run),
            disclosure.integrity(tests),
            *(
                block
                for test in tests
                for blocks in (
                    disclosure.test_blocks(test),
                    screen_blocks(test.distribution) if test.distribution else (),
                )
                for block in blocks
            ),
        ),
    )


def _pages_of(test: TestRecord) -> Iterator[Page]:
    """The pages of a test under its name; the first has the name alone as its anchor, and says how it came out."""
    for index, page in enumerate((test_page(test), *test.pages)):
        anchor = slug(f"{test.name} {page.subtitle}") if index else slug(test.name)
        outcome = "" if index else annex_verdict(test)
        level = level_of(test.verdict) if test.ruled.exists else "unknown"
        yield replace(page, part=test.name.upper(), outcome=outcome, level=level, anchor=anchor)


def records_of_tests(run: StoredRun) -> list[TestRecord]:
    """The tests of a run, each worked out.

    Raises VerificationError as ``render``; StoreError of a run without a test, or whose records do not fit together.
    """
    if not run.tests:
        raise StoreError(f"run {run.run_id}", "holds no test", "run a test first")
    return foreign(lambda: list(_records(run)), f"run {run.run_id}")


def _records(run: StoredRun) -> Iterator[TestRecord]:
    """Each test with its number among the tests of its name."""
    edition, names = stored_edition(run.edition), [test.settings.test for test in run.tests]
    for index, test in enumerate(run.tests):
        prefix = f"{names[index]}-{names[: index + 1].count(names[index])}"
        source = Source(run=run, test=test, edition=edition, prefix=prefix)
        yield record_of(find_procedure(test.settings.procedure).report(source))


def _tables_of_tests(tests: Sequence[TestRecord]) -> list[list[ResultTable]]:
    """The tables of numbers of each test, each table under a name of its own."""
    taken: set[str] = set()
    grouped: list[list[ResultTable]] = []
    for test in tests:
        spread = [percentile_data(test.distribution, test.suffix)] if test.distribution else []
        grouped.append([])
        for table in (*test.tables(), sequence_table(test.test, test.suffix), *spread):
            key = table.key if table.key not in taken else f"{table.key}_{len(taken) + 1}"
            taken.add(key)
            grouped[-1].append(replace(table, key=key))
    return grouped


def _run_tables(run: StoredRun, tests: Sequence[TestRecord], findings: Sequence[Found]) -> Iterator[ResultTable]:
    """Claims and baseline where the plan states them, and what a reader must know."""
    yield from (table for table in (claim_data(run, tests), baseline_data(run, tests)) if table.rows)
    yield finding_data(findings)


# Plotting and typesetting take a second to load, which only those who ask for a document pay.


def _pictures(figures: Iterable[Figure], picture: Callable[[Figure], bytes]) -> dict[str, bytes]:
    return {figure.name: picture(figure) for figure in figures}


def _picture(figure: Figure) -> bytes:
    from assay.report.formats.pdf import figure_svg  # noqa: PLC0415

    return figure_svg(figure)


def _begun(paper: Callable[[], Paper], picture: Callable[[Figure], bytes]) -> Typesetting | None:
    """The PDF of a report, set while its other formats are made; None where that fails, which it will once more."""
    from assay.report.formats.pdf import begin  # noqa: PLC0415

    # Whatever fails here is raised where the format is made.
    with suppress(Exception):
        begun = begin(paper())
        with suppress(Exception):
            begun.supply(_pictures(paper().figures, picture))
        return begun
    return None


def _pdf(paper: Paper, picture: Callable[[Figure], bytes], begun: Typesetting | None) -> Contents:
    from assay.report.formats.pdf import report_pdf  # noqa: PLC0415

    return [("report.pdf", report_pdf(paper, _pictures(paper.figures, picture), begun))]


def _html(report: Report, front: Front | None = None, assets_at: str = "") -> Contents:
    from assay.report.formats.html import linked, report_html  # noqa: PLC0415

    return [("report.html", report_html(report, front, linked(assets_at) if assets_at else None))]


def _workbook(
    run: StoredRun,
    tests: list[tuple[TestRecord, list[ResultTable]]],
    tables: Sequence[ResultTable],
    findings: Sequence[Found],
) -> Contents:
    from assay.report.formats.workbook import run_book, workbook  # noqa: PLC0415

    return [("report.xlsx", workbook(run_book(run, tests, tables, findings)))]
