"""What a report begins with: summary, a page for each test with question, tiles, figures and results, method."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from math import log
from typing import TYPE_CHECKING

from assay.report.first_page.page import Said, method_page, summary_page, test_tiles, worst
from assay.summary.insights import TEST_MAX, in_words, level_of_said
from assay.summary.measures import MAXIMUM, MEAN, measure_words
from assay.summary.pages.model import slug, unique
from assay.summary.table import pivoted
from assay.summary.verdict import level_of, verdict_text
from assay.words.coded import Coded
from assay.words.digits import three_digits
from assay.words.printed import NOT_AVAILABLE, milliseconds_text, mix_label, paragraph
from assay.words.text import text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from assay.engine.records import StoredRun
    from assay.report.first_page.page import MethodPage, SummaryPage, TileView
    from assay.summary.pages.figures import MainFigure
    from assay.summary.pages.model import Figure, Report
    from assay.summary.pages.test_record import TestRecord
    from assay.summary.record import Level, RunSummary, TestSummary
    from assay.summary.table import Column, Pivoted, Raw, ResultTable


COLUMNS_MAX = 9
"""More columns than this do not fit beside each other."""
ROWS_MAX = 16
"""More rows than this are left to the data."""
SHADES = 9
"""Steps of colour of a matrix, 1 the lowest value, on a logarithmic scale; 0 is none."""

PIVOTS_MAX = 2
"""So many matrices stand beside each other."""

_ORDER = {"latency_ms_p99.9": 1, MAXIMUM: 2, MEAN: 3}
"""Of pivots; before them stands what a test is about."""
_WHOLE_FROM = 100
_OF_MEASURES = "value"
"""The column of a table of different numbers that holds the key of each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CellView:
    """A printed cell. is_number : it stands to the right. shade : 0 to 9. is_marked : with an asterisk."""

    text: str
    is_number: bool = False
    shade: int = 0
    is_marked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TableView:
    """A printed table. spanner : over all columns but the first. more_rows : how many are left out. note : below it."""

    caption: str
    columns: tuple[CellView, ...]
    rows: tuple[tuple[CellView, ...], ...]
    spanner: str = ""
    more_rows: int = 0
    note: str = ""

    @property
    def is_matrix(self) -> bool:
        """Whether values stand under what they depend on."""
        return bool(self.spanner)


def result_tables(tables: Sequence[ResultTable], *, without_first: bool = False) -> tuple[TableView, ...]:
    """The first table of results, or two of its pivots where it has some; none without one.

    without_first : the summary shows the first pivot.
    Worked: an IOPS test -> IOPS and 99.9 % of its response times, a row for each block size, a column for each mix.
    """
    result = [table for table in tables if table.section == "results" and table.rows]
    views = [(one, view) for one in result for view in _pivots(one)]
    if not views:
        return (_plain(result[0], _kept(result[0])),) if result else ()
    first, *others = sorted(views, key=lambda pair: _ORDER.get(pair[1].value.key, 0))
    chosen = others if without_first else [first, *(others or [])]
    return tuple(_matrix(*pair) for pair in chosen[:PIVOTS_MAX])


def whole_views(table: ResultTable) -> Iterator[TableView]:
    """Every view of a table with all its rows; all of its columns where it has no pivot."""
    views = [*_pivots(table)]
    for view in views:
        yield _matrix(table, view, rows_max=len(view.rows))
    if not views:
        yield _plain(table, range(len(table.columns)), rows_max=len(table.rows))


def merged(tables: Sequence[ResultTable]) -> ResultTable | None:
    """Tables of the same columns one below the other, as of two block sizes of one test; None where they differ."""
    first = tables[0]
    if any(table.columns != first.columns for table in tables):
        return None
    return replace(first, rows=tuple(row for table in tables for row in table.rows))


def _pivots(table: ResultTable) -> Iterator[Pivoted]:
    """The views that have a number anywhere."""
    views = (view for pivot in table.pivots if (view := pivoted(table, pivot)))
    return (view for view in views if any(_positive(cell) for _, row in view.rows for cell in row))


def _matrix(table: ResultTable, view: Pivoted, *, rows_max: int = ROWS_MAX) -> TableView:
    values = [one for _, row in view.rows for cell in row if (one := _positive(cell))]
    ends = (min(values), max(values)) if values else (1.0, 1.0)
    shown = view.rows[:rows_max]
    value = view.value.heading
    return TableView(
        caption=value if table.title in {view.value.title, value} else f"{table.title}: {value}",
        spanner=view.across.heading if view.across.key != "read_pct" else "Read/write mix (%)",
        columns=(
            *(CellView(text=one.heading) for one in view.down),
            *(CellView(text=_heading(view.across, heading), is_number=True) for heading in view.headings),
        ),
        rows=tuple(
            (
                *(CellView(text=_printed(column, one)) for column, one in zip(view.down, line, strict=True)),
                *(
                    replace(_cell(view.value, one), shade=_shade(one, ends), is_marked=(index, at) in view.marked)
                    for at, one in enumerate(row)
                ),
            )
            for index, (line, row) in enumerate(shown)
        ),
        more_rows=len(view.rows) - len(shown),
        note=f"* {view.mark.heading}" if view.mark and view.marked else "",
    )


def _plain(table: ResultTable, kept: Sequence[int], *, rows_max: int = ROWS_MAX) -> TableView:
    shown = table.rows[:rows_max]
    columns = [table.columns[place] for place in kept]
    cells = tuple(tuple(_cell(table.columns[place], row[place]) for place in kept) for row in shown)
    numbers = [any(row[place].is_number for row in cells) for place in range(len(kept))]
    heads = (
        CellView(text=column.heading, is_number=is_number) for column, is_number in zip(columns, numbers, strict=True)
    )
    return TableView(caption=table.title, columns=tuple(heads), rows=cells, more_rows=len(table.rows) - len(shown))


def _kept(table: ResultTable) -> list[int]:
    """Places of the columns that say something, keys before values, in the order of ``brief``; at most nine."""
    told = [place for place in range(len(table.columns)) if _tells(table, place)]
    keys = [place for place in told if table.columns[place].role == "key"]
    values = [place for place in told if place not in keys]
    kept = [*keys, *values][:COLUMNS_MAX]
    return sorted(kept, key=lambda place: (table.brief.index(table.columns[place].key) if table.brief else 0, place))


def _tells(table: ResultTable, index: int) -> bool:
    """Whether a column is asked for and has a value anywhere; a key is to tell rows apart."""
    column, values = table.columns[index], {row[index] for row in table.rows}
    asked = not table.brief or column.key in table.brief
    if column.role == "key":
        return asked and (len(values) > 1 or len(table.rows) == 1)
    return asked and bool(values - {None, 0})


def _heading(column: Column, value: Raw) -> str:
    """Worked: 65 % reads -> ``"65/35"``."""
    return mix_label(value) if column.key == "read_pct" and isinstance(value, int) else _printed(column, value)


def _cell(column: Column, value: Raw) -> CellView:
    is_number = value is None or (isinstance(value, int | float) and not isinstance(value, bool))
    return CellView(text=_printed(column, value), is_number=is_number)


def _printed(column: Column, value: Raw) -> str:
    """Worked: 33,332.4 IOPS -> ``"33,332"``, 0.0299 ms -> ``"0.0299"``, true -> ``"yes"``, None -> n/a."""
    if value is None:
        return NOT_AVAILABLE
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Coded):
        return text(value)
    if isinstance(value, str):
        return measure_words(value) if column.key == _OF_MEASURES else paragraph(value)
    return _number(column, value)


def _number(column: Column, value: float) -> str:
    if isinstance(value, int) or column.role == "key":
        return f"{value:,}" if isinstance(value, int) else three_digits(value)
    if column.unit == "ms":
        return milliseconds_text(value)
    return f"{value:,.0f}" if abs(value) >= _WHOLE_FROM else three_digits(value)


def _positive(value: Raw) -> float:
    """The value of a cell where it is a number above zero, else 0."""
    return float(value) if isinstance(value, int | float) and value > 0 else 0.0


def _shade(value: Raw, ends: tuple[float, float]) -> int:
    """A step of colour. Worked: 10 between 1 and 100 -> 5."""
    result = _positive(value)
    if not result or ends[1] <= ends[0]:
        return 0
    return 1 + round(log(result / ends[0]) / log(ends[1] / ends[0]) * (SHADES - 1))


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
    told = paragraph(verdict_text(test.verdict))
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
