"""A run as one spreadsheet workbook, the same bytes each time: results as blocks of tests, tables, charts, facts."""

from __future__ import annotations

import io
from dataclasses import asdict, dataclass
from math import floor, log10
from typing import TYPE_CHECKING, Any, NamedTuple

import xlsxwriter

from assay.procedures.conformity import conformity_label, deviations
from assay.procedures.run_findings import gathered_data
from assay.report.annex.trust import level_label
from assay.report.drawing.theme import colour
from assay.summary.pages.header import colophon, model_label
from assay.summary.table import UNIT, Column, pivoted, table_of
from assay.summary.verdict import verdict_text
from assay.words.coded import Coded
from assay.words.printed import demand_label, paragraph, printable, utc, utc_datetime, words
from assay.words.text import text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from assay.engine.records import StoredRun
    from assay.summary.findings import Found
    from assay.summary.pages.test_record import TestRecord
    from assay.summary.record import Measure
    from assay.summary.table import Declared, Lines, Pivoted, Raw, ResultTable


_DIGITS, _DECIMALS_MAX = 4, 9
_WIDTH_MIN, _WIDTH_MAX = 9, 44
_WIDTH_ROWS = 200
"""Rows that a width is taken from."""
_MARKED = "#FCE8B2"


class Formats:
    """The formats of a workbook, each made once."""

    def __init__(self, book: xlsxwriter.Workbook) -> None:
        self._book, self._made = book, dict[tuple[str, bool], Any]()
        self.title = book.add_format({"bold": True, "font_size": 14})
        self.test = book.add_format({"bold": True, "font_size": 12, "font_color": "#FFFFFF", "bg_color": "#2F4B66"})
        self.caption = book.add_format({"bold": True})
        self.head = book.add_format(
            {"bold": True, "bg_color": "#E8EDF2", "bottom": 1, "text_wrap": True, "align": "right"}
        )
        self.key = book.add_format({"bold": True, "bg_color": "#E8EDF2", "bottom": 1, "text_wrap": True})
        self.note = book.add_format({"italic": True, "font_color": "#555555"})
        self.missing = book.add_format({"align": "right", "font_color": "#777777"})

    def number(self, value: float, *, marked: bool = False) -> Any:
        """The format of a number. marked : it is shaded."""
        form = number_format(value)
        if (form, marked) not in self._made:
            shade = {"bg_color": _MARKED} if marked else {}
            self._made[form, marked] = self._book.add_format({"num_format": form, **shade})
        return self._made[form, marked]


def number_format(value: float) -> str:
    """Whole numbers without a point, others to four significant digits.

    Worked: 24632.4 -> ``#,##0``, 33.25 -> ``#,##0.00``, 0.0604 -> ``#,##0.00000``, 8 -> ``#,##0``.
    """
    if value == int(value):
        return "#,##0"
    decimals = min(max(_DIGITS - 1 - floor(log10(abs(value))), 0), _DECIMALS_MAX)
    return f"#,##0.{'0' * decimals}" if decimals else "#,##0"


def write_value(
    sheet: Any,
    at: tuple[int, int],
    value: Raw,
    formats: Formats,
    *,
    missing: str = "",
    marked: bool = False,
    plain: bool = False,
) -> None:
    """Write a value.

    at : row and column, from 0. missing : what stands for None; nothing where it is empty. plain : a number has all its
    digits, as what tells rows apart.
    """
    shown = cell_value(value)
    if shown is None:
        if missing:
            sheet.write_string(*at, missing, formats.missing)
    elif isinstance(shown, str):
        sheet.write_string(*at, shown, formats.missing if isinstance(value, Coded) else None)
    else:
        sheet.write_number(*at, shown, None if plain else formats.number(shown, marked=marked))


def cell_value(value: Raw) -> float | str | None:
    """A number or a text; None for None."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return text(value) if isinstance(value, Coded) else value


def printed_alike(sheet: Any, header: str, footer: str, heading_rows: int) -> None:
    """Landscape, one page wide, with heading rows, header and footer on every page."""
    sheet.set_landscape()
    sheet.set_paper(9)
    sheet.fit_to_pages(1, 0)
    sheet.set_margins(left=0.4, right=0.4)
    sheet.repeat_rows(0, heading_rows - 1)
    # A spreadsheet takes 255 characters of a header, in which & begins a command.
    head, foot = (text.replace("&", "&&")[:120] for text in (header, footer))
    sheet.set_header(f"&L{head}&R&A")
    sheet.set_footer(f"&L{foot}&RPage &P of &N")


def width_of(column: Column, index: int, rows: Sequence[tuple[Raw, ...]]) -> int:
    """How wide a column is, with the arrow of its filter."""
    widest = 0
    for row in rows[:_WIDTH_ROWS]:
        shown = cell_value(row[index])
        number = "" if shown is None or isinstance(shown, str) else f"{shown:,.{_DIGITS - 1}f}"
        widest = max(widest, len(shown if isinstance(shown, str) else number))
    return min(max(len(column.key) + 3, widest + 1, _WIDTH_MIN), _WIDTH_MAX)


CHARTS, POINTS = "Charts", "Chart points"
_CHART_WIDTH, _CHART_HEIGHT = 900, 440
_ROWS_PER_CHART = 24
_MARKED_MAX = 100
_SERIES_MAX = 40
"""More lines than this cannot be told apart, and are no chart."""


class _Series(NamedTuple):
    name: str
    points: list[tuple[float, float]]


class _Chart(NamedTuple):
    title: str
    x: Column
    y: Column
    log: str
    series: list[_Series]


def add_charts(book: xlsxwriter.Workbook, tables: Sequence[tuple[str, ResultTable]], head: Any) -> None:
    """Add a sheet of charts and one of their points; none where no table draws any.

    tables : each with the title of its test. head : the format of column heads.
    """
    charts = [chart for title, table in tables for lines in table.lines for chart in _charts(title, table, lines)]
    if not charts:
        return
    shown, points = book.add_worksheet(CHARTS), book.add_worksheet(POINTS)
    points.freeze_panes(1, 0)
    column = 0
    for number, one in enumerate(charts):
        chart = _empty_chart(book, one)
        for index, series in enumerate(one.series):
            for at, title in enumerate((one.x.heading, series.name), column):
                points.write_string(0, at, title, head)
                points.write_column(1, at, [point[at - column] for point in series.points])
            chart.add_series(_series(column, index, series))
            column += 2
        shown.insert_chart(number * _ROWS_PER_CHART, 0, chart, {"x_scale": 1, "y_scale": 1})


def _charts(title: str, table: ResultTable, lines: Lines) -> Iterator[_Chart]:
    """A chart for each value of ``each``, one in all without it."""
    x, y = (table.columns[table.place(key)] for key in (lines.x, lines.y))
    each = table.place(lines.each) if lines.each else None
    for value in dict.fromkeys(None if each is None else row[each] for row in table.rows):
        rows = [row for row in table.rows if each is None or row[each] == value]
        which = "" if each is None else f", {_named(table.columns[each], value)}"
        series = _lines(table, rows, lines)
        if 0 < len(series) <= _SERIES_MAX:
            yield _Chart(f"{title}: {y.heading}{which}", x, y, lines.log, series)


def _lines(table: ResultTable, rows: Sequence[tuple[Raw, ...]], lines: Lines) -> list[_Series]:
    x, y = table.place(lines.x), table.place(lines.y)
    by = [table.place(key) for key in lines.by]
    result: dict[tuple[Raw, ...], list[tuple[float, float]]] = {}
    for row in rows:
        across, up = row[x], row[y]
        if isinstance(across, int | float) and isinstance(up, int | float) and (not lines.log or min(across, up) > 0):
            result.setdefault(tuple(row[place] for place in by), []).append((across, up))
    names = (
        ", ".join(_named(table.columns[place], key) for place, key in zip(by, keys, strict=True)) for keys in result
    )
    return [
        _Series(name or table.columns[y].heading, points) for name, points in zip(names, result.values(), strict=True)
    ]


def _named(column: Column, value: Raw) -> str:
    """Worked: 4 in the column of sizes -> ``"4 KiB"``, 2 in that of groups -> ``"Access group 2"``."""
    shown = cell_value(value)
    if isinstance(shown, str):
        return shown
    number = "n/a" if shown is None else f"{shown:,.6g}"
    return (
        f"{number} {column.unit}" if column.unit not in {"", "%"} else f"{column.title} {number} {column.unit}".strip()
    )


def _empty_chart(book: xlsxwriter.Workbook, one: _Chart) -> Any:
    chart = book.add_chart({"type": "scatter", "subtype": "straight_with_markers"})
    chart.set_title({"name": one.title, "name_font": {"size": 12}, "overlay": False})
    chart.set_x_axis(_axis(one.x.heading, log=one.log == "x"))
    chart.set_y_axis(_axis(one.y.heading, log=one.log == "y"))
    chart.set_legend({"position": "right"})
    chart.set_size({"width": _CHART_WIDTH, "height": _CHART_HEIGHT})
    return chart


def _axis(title: str, *, log: bool) -> dict[str, Any]:
    lines = {"visible": True, "line": {"color": "#DDDDDD"}}
    shown = {"name": title, "num_format": "#,##0.###", "major_gridlines": lines}
    return {**shown, "log_base": 10} if log else shown


def _series(column: int, index: int, series: _Series) -> dict[str, Any]:
    last, drawn = len(series.points), {"color": colour(index)}
    marked = {"type": "circle", "size": 5, "fill": drawn} if last <= _MARKED_MAX else {"type": "none"}
    return {
        "name": [POINTS, 0, column + 1],
        "categories": [POINTS, 1, column, last, column],
        "values": [POINTS, 1, column + 1, last, column + 1],
        "line": {**drawn, "width": 1.5},
        "marker": marked,
    }


_SPAN = 12
"""Columns that the title of a test is drawn over."""
_MISSING = "n/a"


class Block(NamedTuple):
    """One test. lines : what stands below its title, each a name and a text. tables : of numbers, a sheet each.

    first : a table above them that has no sheet.
    """

    title: str
    lines: tuple[tuple[str, str], ...]
    tables: tuple[ResultTable, ...]
    first: ResultTable | None = None


def write_block(sheet: Any, row: int, block: Block, formats: Formats) -> int:
    """Write a test from a row on; the row behind it."""
    for place in range(_SPAN):
        sheet.write_string(row, place, "" if place else block.title, formats.test)
    for line, (name, said) in enumerate(block.lines, row + 1):
        sheet.write_string(line, 0, name, formats.caption)
        sheet.write_string(line, 1, said)
    end = row + 1 + len(block.lines)
    for table in (block.first, *block.tables):
        if table and table.section == "results" and table.rows:
            end = _write_views(sheet, end + 1, table, formats)
    return end


def _write_views(sheet: Any, row: int, table: ResultTable, formats: Formats) -> int:
    """A table by its pivots; whole where it has none, or one has two rows in a cell."""
    views = [pivoted(table, pivot) for pivot in table.pivots]
    result = [view for view in views if view]
    if not result or len(result) < len(views):
        return _write_whole(sheet, row, table, formats)
    for view in (one for one in result if any(value is not None for _, values in one.rows for value in values)):
        row = _write_pivot(sheet, row, table.title, view, formats) + 1
    return row - 1


def _write_whole(sheet: Any, row: int, table: ResultTable, formats: Formats) -> int:
    sheet.write_string(row, 0, table.title, formats.caption)
    if len(table.columns) > _SPAN and len(table.rows) < _SPAN:
        return _write_across(sheet, row + 1, table, formats)
    _write_heads(sheet, row + 1, table.columns, formats)
    for line, values in enumerate(table.rows, row + 2):
        for index, value in enumerate(values):
            plain = table.columns[index].role == "key"
            write_value(sheet, (line, index), value, formats, missing=_MISSING, plain=plain)
    return row + 2 + len(table.rows)


def _write_across(sheet: Any, row: int, table: ResultTable, formats: Formats) -> int:
    """A table of many columns and few rows, each row as a column under what tells it apart."""
    keys = [index for index, column in enumerate(table.columns) if column.role == "key"]
    sheet.write_string(row, 0, ", ".join(table.columns[key].heading for key in keys), formats.key)
    for across, values in enumerate(table.rows, 1):
        heading = ", ".join(str(cell_value(values[key])) for key in keys if values[key] is not None)
        sheet.write_string(row, across, heading, formats.head)
    shown = [place for place in range(len(table.columns)) if place not in keys]
    for line, place in enumerate(shown, row + 1):
        sheet.write_string(line, 0, table.columns[place].heading)
        for across, values in enumerate(table.rows, 1):
            write_value(sheet, (line, across), values[place], formats, missing=_MISSING)
    return row + 1 + len(shown)


def _write_pivot(sheet: Any, row: int, title: str, view: Pivoted, formats: Formats) -> int:
    """The title with the unit, what stands across, its values, and a row each for what stands down."""
    named = view.value.heading
    first = len(view.down)
    sheet.write_string(row, 0, named if title == named else f"{title}: {named}", formats.caption)
    sheet.write_string(row + 1, first, view.across.heading, formats.note)
    _write_heads(sheet, row + 2, view.down, formats)
    for index, heading in enumerate(view.headings, first):
        if isinstance(heading, str):
            sheet.write_string(row + 2, index, heading, formats.head)
        else:
            sheet.write(row + 2, index, heading, formats.head)
    for line, (keys, values) in enumerate(view.rows):
        for index, value in enumerate((*keys, *values)):
            marked = (line, index - first) in view.marked
            at = (row + 3 + line, index)
            write_value(sheet, at, value, formats, missing=_MISSING, marked=marked, plain=index < first)
    end = row + 3 + len(view.rows)
    if view.mark and view.marked:
        sheet.write_string(end, 0, f"Shaded: {view.mark.heading[:1].lower()}{view.mark.heading[1:]}.", formats.note)
        end += 1
    return end


def _write_heads(sheet: Any, row: int, columns: Sequence[Column], formats: Formats) -> None:
    for index, column in enumerate(columns):
        sheet.write_string(row, index, column.heading, formats.key if column.role == "key" else formats.head)


_SHEET_NAME_MAX = 31
RESULTS, FACTS = "Results", "Run"
# Excel keeps this name for itself.
_RESERVED = ("history",)
_KEY_WIDTH, _WIDTH, _COLUMNS = 34, 13, 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Book:
    """A workbook. label : below its title. footer : of printed pages. facts : a sheet behind the results, if any."""

    title: str
    label: str
    footer: str
    date: datetime
    blocks: tuple[Block, ...]
    facts: ResultTable | None = None


def workbook(book: Book) -> bytes:
    """Write a sheet of results, a block per test, one of facts, one per table, and charts of what tables draw.

    Texts are written as texts, never as formulas. Every sheet has frozen heads, widths that fit and a print set-up.
    """
    target = io.BytesIO()
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    made = xlsxwriter.Workbook(target, options)
    made.set_properties({"title": book.title, "created": book.date.replace(tzinfo=None)})
    formats = Formats(made)
    _write_results(made.add_worksheet(RESULTS), book, formats)
    if book.facts:
        _write_table(made.add_worksheet(FACTS), book.facts, book, formats)
    tables = [table for block in book.blocks for table in block.tables]
    for name, table in zip(sheet_names([table.key for table in tables]), tables, strict=True):
        _write_table(made.add_worksheet(name), table, book, formats)
    add_charts(made, [(block.title, table) for block in book.blocks for table in block.tables], formats.key)
    made.close()
    return target.getvalue()


def sheet_names(names: Sequence[str]) -> list[str]:
    """Names of sheets, each once whatever its case and at most 31 characters, as a workbook demands.

    A name that is longer, or taken, ends in ``~`` and its number among the sheets.
    Worked: ``["a" * 32, "b"]`` -> ``["a" * 29 + "~1", "b"]``.
    """
    taken = {*(name.lower() for name in (RESULTS, FACTS, CHARTS, POINTS)), *_RESERVED}
    result = []
    for index, name in enumerate(names, 1):
        if len(name) > _SHEET_NAME_MAX or name.lower() in taken:
            end = f"~{index}"
            result.append(name[: _SHEET_NAME_MAX - len(end)] + end)
        else:
            result.append(name)
        taken.add(result[-1].lower())
    return result


def _write_results(sheet: Any, book: Book, formats: Formats) -> None:
    sheet.set_column(0, 0, _KEY_WIDTH)
    sheet.set_column(1, _COLUMNS, _WIDTH)
    sheet.write_string(0, 0, book.title, formats.title)
    sheet.write_string(1, 0, book.label)
    sheet.freeze_panes(2, 1)
    row = 3
    for block in book.blocks:
        row = write_block(sheet, row, block, formats) + 2
    printed_alike(sheet, book.title, book.footer, 2)


def _write_table(sheet: Any, table: ResultTable, book: Book, formats: Formats) -> None:
    """A table as its CSV file has it, with a filter; the columns at its begin that tell rows apart stay in view."""
    keys = next((index for index, column in enumerate(table.columns) if column.role != "key"), 0)
    sheet.freeze_panes(1, keys)
    for place, column in enumerate(table.columns):
        sheet.set_column(place, place, width_of(column, place, table.rows))
        sheet.write_string(0, place, column.key, formats.key)
    for row, values in enumerate(table.rows, 1):
        for place, value in enumerate(values):
            write_value(sheet, (row, place), value, formats, plain=place < keys)
    sheet.autofilter(0, 0, max(len(table.rows), 1), len(table.columns) - 1)
    printed_alike(sheet, f"{book.title}: {table.title}", book.footer, 1)


_QUOTED: Declared[Measure] = (
    (Column("number", "Key result", role="key"), lambda measure: measure.printed),
    (Column("value", "Value"), lambda measure: None if measure.value is None else float(measure.value)),
    (UNIT, lambda measure: measure.unit),
    (Column("least", "Least round"), lambda measure: float(min(measure.rounds)) if measure.rounds else None),
    (Column("greatest", "Greatest round"), lambda measure: float(max(measure.rounds)) if measure.rounds else None),
    (Column("basis", "From"), lambda measure: measure.basis),
    (Column("bound", "Host's part"), lambda measure: measure.bound),
    (Column("mark", "Host"), lambda measure: measure.mark),
)


class _Fact(NamedTuple):
    part: str
    name: str
    value: Raw


_FACTS: Declared[_Fact] = (
    (Column("part", "Part", role="key"), lambda fact: fact.part),
    (Column("fact", "Fact", role="key"), lambda fact: fact.name),
    (Column("value", "Value"), lambda fact: fact.value),
)


def run_book(
    run: StoredRun,
    tests: Sequence[tuple[TestRecord, Sequence[ResultTable]]],
    tables: Sequence[ResultTable],
    found: Sequence[Found],
) -> Book:
    """The workbook of a run. tests : each with its tables. tables : those of the whole run. found : in it."""
    of_run = Block("All tests", (), tuple(tables), gathered_data(found))
    blocks = []
    for test, own in tests:
        key_results = table_of("key_results", "Key results", _QUOTED, test.key_results, section="results")
        blocks.append(Block(test.name.upper(), tuple(_test_lines(test)), tuple(own), key_results))
    return Book(
        title=f"{model_label(run)} - results",
        label=conformity_label(run),
        footer=colophon(run),
        date=utc_datetime(run.report_date_ns),
        blocks=(*blocks, of_run),
        facts=table_of("run", "Run", _FACTS, _facts(run, [test for test, _ in tests])),
    )


def _test_lines(test: TestRecord) -> Iterator[tuple[str, str]]:
    """How a test came out, what was asked of the drive, and what a reader must know of it."""
    yield "Verdict", verdict_text(test.verdict)
    yield "Demand", demand_label(test.test.settings.demand)
    yield "Test", paragraph(test.outline)
    if test.banner:
        yield "Warning", test.banner
    yield from (("Remark", text(line)) for line in test.remarks)


def _facts(run: StoredRun, tests: Iterable[TestRecord]) -> Iterator[_Fact]:
    yield _Fact("Run", "run", printable(run.run_id))
    yield _Fact("Run", "conformity", conformity_label(run))
    yield _Fact("Run", "level", level_label(run))
    yield _Fact("Run", "started", utc(run.started_wall_ns))
    yield from (_Fact("Run", words(name), paragraph(said)) for name, said in run.description.items())
    yield from (_Fact("Deviation", str(number), paragraph(one)) for number, one in enumerate(deviations(run), 1))
    records = [("Drive", asdict(run.identity)), ("Test system", asdict(run.platform)), ("I/O", run.engine)]
    records += [(test.name.upper(), asdict(test.test.settings)) for test in tests]
    # Of each record what is a single value.
    for part, record in records:
        for name, value in record.items():
            if isinstance(value, bool | int | float) or (isinstance(value, str) and value):
                yield _Fact(part, words(name), paragraph(value) if isinstance(value, str) else value)
