"""Cells, formats and charts of a workbook."""

from __future__ import annotations

from math import floor, log10
from typing import TYPE_CHECKING, Any, NamedTuple

from assay.report.drawing.theme import colour
from assay.words.coded import Coded
from assay.words.text import text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import xlsxwriter

    from assay.summary.table import Column, Lines, Raw, ResultTable


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
    sheet.set_header(f"&L{_plain(header)}&R&A")
    sheet.set_footer(f"&L{_plain(footer)}&RPage &P of &N")


def _plain(text: str) -> str:
    """A text of a header, of which a spreadsheet takes 255 characters; ``&`` begins a command."""
    return text.replace("&", "&&")[:120]


def width_of(column: Column, index: int, rows: Sequence[tuple[Raw, ...]]) -> int:
    """How wide a column is, with the arrow of its filter."""
    widest = max((len(_shown(row[index])) for row in rows[:_WIDTH_ROWS]), default=0)
    return min(max(len(column.key) + 3, widest + 1, _WIDTH_MIN), _WIDTH_MAX)


def _shown(value: Raw) -> str:
    result = cell_value(value)
    return result if isinstance(result, str) else "" if result is None else f"{result:,.{_DIGITS - 1}f}"


CHARTS, POINTS = "Charts", "Chart points"
_WIDTH, _HEIGHT = 900, 440
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
            _write_points(points, column, one, series, head)
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
    chart.set_size({"width": _WIDTH, "height": _HEIGHT})
    return chart


def _axis(title: str, *, log: bool) -> dict[str, Any]:
    lines = {"visible": True, "line": {"color": "#DDDDDD"}}
    shown = {"name": title, "num_format": "#,##0.###", "major_gridlines": lines}
    return {**shown, "log_base": 10} if log else shown


def _write_points(sheet: Any, column: int, chart: _Chart, series: _Series, head: Any) -> None:
    sheet.write_string(0, column, chart.x.heading, head)
    sheet.write_string(0, column + 1, series.name, head)
    sheet.write_column(1, column, [x for x, _ in series.points])
    sheet.write_column(1, column + 1, [y for _, y in series.points])


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
