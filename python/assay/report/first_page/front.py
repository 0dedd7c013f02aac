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
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

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


def result_tables(all_tables: Iterable[ResultTable], *, without_first: bool = False) -> tuple[TableView, ...]:
    """The first table of results, or two of its pivots where it has some; none without one.

    without_first : the summary shows the first pivot.
    Worked: an IOPS test -> IOPS and 99.9 % of its response times, a row for each block size, a column for each mix.
    """
    tables = [table for table in all_tables if table.section == "results" and table.rows]
    views = [(table, view) for table in tables for view in _pivots(table)]
    if not views:
        return tuple(_plain(table, _kept(table)) for table in tables[:1])
    first, *others = sorted(views, key=lambda pair: _ORDER.get(pair[1].value.key, 0))
    chosen = others if without_first else [first, *others]
    return tuple(_matrix(*pair) for pair in chosen[:PIVOTS_MAX])


def whole_views(table: ResultTable) -> Iterator[TableView]:
    """Every view of a table with all its rows; all of its columns where it has no pivot."""
    views = [*_pivots(table)]
    for view in views:
        yield _matrix(table, view, rows_max=len(view.rows))
    if not views:
        yield _plain(table, range(len(table.columns)), rows_max=len(table.rows))


def _pivots(table: ResultTable) -> Iterator[Pivoted]:
    """The views that have a number anywhere."""
    views = (view for pivot in table.pivots if (view := pivoted(table, pivot)))
    return (view for view in views if any(_positive(cell) for _, row in view.rows for cell in row))


def _matrix(table: ResultTable, view: Pivoted, *, rows_max: int = ROWS_MAX) -> TableView:
    values = [one for _, row in view.rows for cell in row if (one := _positive(cell))]
    ends = (min(values), max(values)) if values else (1.0, 1.0)
    shown = view.rows[:rows_max]
    value, mixes = view.value.heading, view.across.key == "read_pct"
    heads = (mix_label(one) if mixes and isinstance(one, int) else _printed(view.across, one) for one in view.headings)
    return TableView(
        caption=value if table.title in {view.value.title, value} else f"{table.title}: {value}",
        spanner="Read/write mix (%)" if mixes else view.across.heading,
        columns=(
            *(CellView(text=one.heading) for one in view.down),
            *(CellView(text=head, is_number=True) for head in heads),
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
    keys, values = list[int](), list[int]()
    for place, column in enumerate(table.columns):
        found = {row[place] for row in table.rows}
        # A key is to tell rows apart, a value to be there.
        if table.brief and column.key not in table.brief:
            continue
        if column.role == "key" and (len(found) > 1 or len(table.rows) == 1):
            keys.append(place)
        elif column.role != "key" and found - {None, 0}:
            values.append(place)
    kept = [*keys, *values][:COLUMNS_MAX]
    return sorted(kept, key=lambda place: (table.brief.index(table.columns[place].key) if table.brief else 0, place))


def _cell(column: Column, value: Raw) -> CellView:
    is_number = value is None or (isinstance(value, int | float) and not isinstance(value, bool))
    return CellView(text=_printed(column, value), is_number=is_number)


def _printed(column: Column, value: Raw) -> str:
    """Worked: 33,332.4 IOPS -> ``"33,332"``, 0.0299 ms -> ``"0.0299"``, true -> ``"yes"``, None -> n/a."""
    if value is None:
        return NOT_AVAILABLE
    if isinstance(value, bool | Coded):
        return text(value) if isinstance(value, Coded) else ("no", "yes")[value]
    if isinstance(value, str):
        return measure_words(value) if column.key == _OF_MEASURES else paragraph(value)
    if isinstance(value, int):
        return f"{value:,}"
    if column.role == "key":
        return three_digits(value)
    large = f"{value:,.0f}" if abs(value) >= _WHOLE_FROM else three_digits(value)
    return milliseconds_text(value) if column.unit == "ms" else large


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
        """The level of the worst of its tests."""
        return worst(verdict.level for verdict in self.verdicts)


def _page(
    tests: Sequence[tuple[TestRecord, TestSummary]],
    shown: Collection[MainFigure],
    said: Sequence[Coded],
    claims: Mapping[str, float],
) -> TestPage:
    """The page of a test, or of those that share it. shown : figures of the summary, which no page repeats.

    Worked: TP 128 and TP 1024 -> one page with the tiles of both.
    """
    summaries = [summary for _, summary in tests]
    labels, names = tuple(summary.label for summary in summaries), len(tests) > 1
    figures = [list(test.figures) for test, _ in tests]
    without = any(figure.kind == "matrix" and figure in shown for own in figures for figure in own)
    tables = result_tables(_shared_tables([test for test, _ in tests]), without_first=without)
    has_matrix = any(table.is_matrix for table in tables)
    left = [[one for one in own if one not in shown and not (has_matrix and one.kind == "matrix")] for own in figures]
    findings = [Said(text=in_words(one), level=level_of_said(one)) for test in summaries for one in test.said]
    caveats = [
        Said(text=paragraph(text(caveat.said)), level=caveat.level) for test in summaries for caveat in test.caveats
    ]
    return TestPage(
        anchor=f"test-{slug(tests[0][0].sheet)}",
        labels=labels,
        title=summaries[0].title if (summaries[0].title,) != labels else "",
        question=summaries[0].question,
        verdicts=tuple(
            Said(
                text=f"{f'{test.label}: ' if names else ''}{paragraph(verdict_text(test.verdict))}",
                level=level_of(test.verdict),
            )
            for test in summaries
        ),
        tiles=tuple(tile for summary in summaries for tile in test_tiles(summary, said, claims)),
        # The first of each of several tests.
        figures=tuple(figure for own in left for figure in (own[:1] if names else own))[:FIGURES_MAX],
        tables=tables,
        findings=tuple(dict.fromkeys(findings))[:TEST_MAX],
        caveats=tuple(dict.fromkeys(caveats)),
    )


def _shared_tables(tests: Sequence[TestRecord]) -> Iterator[ResultTable]:
    """The tables of results of tests one below the other, as of two block sizes; none whose columns differ."""
    of_tests = [
        [] if test.withheld else [table for table in test.tables() if table.section == "results"] for test in tests
    ]
    for first, *others in zip(*of_tests, strict=False):
        if all(table.columns == first.columns for table in others):
            yield replace(first, rows=tuple(row for table in (first, *others) for row in table.rows))


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
        shaped = (
            replace(
                one.figure,
                name=f"{one.figure.name}{name}",
                aspect=aspect,
                room="front",
            )
            for one in front
            for name, aspect in _ASPECTS.items()
        )
        return (*shaped, *self.report.printed_figures)


def report_front(run: StoredRun, tests: Sequence[TestRecord], run_summary: RunSummary) -> Front:
    """Lay out the front of a run's report.

    Worked: a client suite -> a summary and four pages of tests, none of which has a figure of the summary.
    """
    summary = summary_page(run_summary, [figure for test in tests for figure in test.figures])
    said = [statement for _, statement in run_summary.said]
    sheets = groupby(zip(tests, run_summary.tests, strict=True), key=lambda pair: pair[0].sheet)
    pages = [_page(list(same), summary.figures, said, run_summary.claims) for _, same in sheets]
    anchors = unique(page.anchor for page in pages)
    return Front(
        summary=summary,
        tests=tuple(replace(page, anchor=anchor) for page, anchor in zip(pages, anchors, strict=True)),
        method=method_page(run, tests),
    )
