"""The page of one test, or of the tests that share a page."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from assay.report.first_page.page import Said, verdict_line, worst
from assay.report.first_page.tiles import test_tiles
from assay.report.formats.anchors import slug
from assay.report.test_page.result_table import merged, result_tables
from assay.summary.ranking import TEST_MAX, in_words, level_of_said
from assay.summary.verdict import level_of
from assay.words.printed import paragraph
from assay.words.text import text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from assay.report.first_page.tiles import TileView
    from assay.report.test_page.result_table import TableView
    from assay.summary.pages.main_figure import MainFigure
    from assay.summary.record import Level, TestSummary
    from assay.summary.table import ResultTable
    from assay.words.coded import Coded

FIGURES_MAX = 2
"""So many figures stand on the page of a test."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tested:
    """One test with what its page is made of. sheet : tests of the same share a page. figures, tables : in order."""

    summary: TestSummary
    sheet: str
    figures: tuple[MainFigure, ...]
    tables: tuple[ResultTable, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TestPage:
    """All that the page of a test shows, printed.

    anchor : its address. labels, title : of its tests; no title where it is the label.
    verdicts : how it came out, of several by their names.
    findings : at most three that the summary does not show.
    """

    __test__ = False

    anchor: str
    labels: tuple[str, ...]
    title: str
    question: str
    verdicts: tuple[Said, ...]
    tiles: tuple[TileView, ...]
    figures: tuple[MainFigure, ...]
    tables: tuple[TableView, ...]
    findings: tuple[Said, ...]
    caveats: tuple[Said, ...]

    @property
    def level(self) -> Level:
        """That of the worst of its tests."""
        return worst(verdict.level for verdict in self.verdicts)


def test_pages(
    tests: Sequence[Tested], shown: Collection[MainFigure], said: Sequence[Coded], claims: Mapping[str, float]
) -> Iterator[TestPage]:
    """A page for each test; one for those that share it. shown : figures of the summary, which no page repeats.

    Worked: TP 128 and TP 1024 -> one page with the tiles of both.
    """
    for sheet, group in groupby(tests, key=lambda test: test.sheet):
        yield _page(sheet, tuple(group), shown, said, claims)


def _page(
    sheet: str,
    tests: tuple[Tested, ...],
    shown: Collection[MainFigure],
    said: Sequence[Coded],
    claims: Mapping[str, float],
) -> TestPage:
    summaries = [test.summary for test in tests]
    without = any(figure.kind == "matrix" and figure in shown for test in tests for figure in test.figures)
    tables = _tables(tests, without_first=without)
    findings = [Said(text=in_words(one), level=level_of_said(one)) for test in summaries for one in test.said]
    caveats = [
        Said(text=paragraph(text(caveat.said)), level=caveat.level) for test in summaries for caveat in test.caveats
    ]
    return TestPage(
        anchor=f"test-{slug(sheet)}",
        labels=tuple(summary.label for summary in summaries),
        title=summaries[0].title if [summaries[0].title] != [summary.label for summary in summaries] else "",
        question=summaries[0].question,
        verdicts=tuple(_verdict(summary, named=len(tests) > 1) for summary in summaries),
        tiles=tuple(tile for summary in summaries for tile in test_tiles(summary, said, claims)),
        figures=_figures(tests, shown, has_matrix=any(table.is_matrix for table in tables)),
        tables=tables,
        findings=tuple(dict.fromkeys(findings))[:TEST_MAX],
        caveats=tuple(dict.fromkeys(caveats)),
    )


def _verdict(test: TestSummary, *, named: bool) -> Said:
    """Worked: one of two tests -> ``"TP-128: steady, rounds 1-5"``."""
    told = verdict_line(test)
    return Said(text=f"{test.label}: {told}" if named else told, level=level_of(test.verdict))


def _tables(tests: Sequence[Tested], *, without_first: bool) -> tuple[TableView, ...]:
    first, *others = ([table for table in test.tables if table.section == "results"] for test in tests)
    if others:
        rows = [merged(same) for same in zip(first, *others, strict=False)]
        first = [row for row in rows if row]
    return result_tables(first, without_first=without_first)


def _figures(tests: Sequence[Tested], shown: Collection[MainFigure], *, has_matrix: bool) -> tuple[MainFigure, ...]:
    """Two that the summary does not show, the first of each of several tests; no matrix beside a table of the same."""
    left = [
        [figure for figure in test.figures if figure not in shown and not (has_matrix and figure.kind == "matrix")]
        for test in tests
    ]
    if len(tests) == 1:
        return tuple(left[0][:FIGURES_MAX])
    return tuple(figures[0] for figures in left if figures)[:FIGURES_MAX]
