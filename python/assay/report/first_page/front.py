"""What a report on the screen begins with: the summary, a page for each test, and the method."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.report.first_page.page import method_page, summary_page
from assay.report.formats.anchors import unique
from assay.report.test_page.page import Tested, test_pages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engine.records import StoredRun
    from assay.report.first_page.page import MethodPage, SummaryPage
    from assay.report.test_page.page import TestPage
    from assay.summary.pages.figures import MainFigure
    from assay.summary.pages.model import Figure, Report
    from assay.summary.pages.test_record import TestRecord
    from assay.summary.record import RunSummary, TestSummary

_ASPECTS = {"": 1.6, "-high": 1.4, "-tall": 1.25}
"""Width over height of a figure on paper, by what its name ends with: the sheet takes the one that fits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Front:
    """The pages before the annexes. tests : one alone stands on the summary page."""

    summary: SummaryPage
    tests: tuple[TestPage, ...]
    method: MethodPage

    @property
    def figures(self) -> tuple[MainFigure, ...]:
        """All figures, each once."""
        return (*self.summary.figures, *(figure for test in self.tests for figure in test.figures))

    @property
    def alone(self) -> TestPage | None:
        """The page of the only test, which stands on the summary; None of several."""
        return self.tests[0] if len(self.tests) == 1 else None

    @property
    def anchors(self) -> dict[str, str]:
        """The address of each test's page by the label of the test; none of a test that has no page of its own."""
        pages = () if self.alone else self.tests
        return {label: page.anchor for page in pages for label in page.labels}


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    """What stands on paper. front : the sheets before those of the specification; None of a report without tests."""

    report: Report
    front: Front | None = None

    @property
    def figures(self) -> tuple[Figure, ...]:
        """All figures, those of the front first."""
        front = self.front.figures if self.front else ()
        shaped = (_fitted(one.figure, name, aspect) for one in front for name, aspect in _ASPECTS.items())
        return (*shaped, *self.report.printed_figures)


def report_front(run: StoredRun, reports: Sequence[TestRecord], run_summary: RunSummary) -> Front:
    """Lay out the front of a run's report.

    Worked: a client suite -> a summary and four pages of tests, none of which has a figure of the summary.
    """
    tested = [_tested(report, test) for report, test in zip(reports, run_summary.tests, strict=True)]
    summary = summary_page(run_summary, [figure for one in tested for figure in one.figures])
    said = [one for _, one in run_summary.said]
    pages = [*test_pages(tested, summary.figures, said, run_summary.claims)]
    anchors = unique(page.anchor for page in pages)
    return Front(
        summary=summary,
        tests=tuple(replace(page, anchor=anchor) for page, anchor in zip(pages, anchors, strict=True)),
        method=method_page(run, reports),
    )


def _fitted(figure: Figure, name: str, aspect: float) -> Figure:
    """A figure in letters that can be read on half of a page. name : of its shape."""
    shaped = replace(figure, name=f"{figure.name}{name}", aspect=aspect, reading="")
    return replace(shaped, small=True, beside=True, narrow=False, low=False)


def _tested(report: TestRecord, summary: TestSummary) -> Tested:
    """A test with its figures and tables; without any where its results are withheld."""
    if report.withheld:
        return Tested(summary=summary, sheet=report.sheet, figures=(), tables=())
    figures = tuple(replace(one, figure=replace(one.figure, reading="")) for one in report.figures)
    return Tested(summary=summary, sheet=report.sheet, figures=figures, tables=tuple(report.tables()))
