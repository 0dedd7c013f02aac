"""The charts of a workbook: what tables draw, from cells that hold the points, every series with its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from assay.report.drawing.theme import colour
from assay.report.formats.workbook.cells import cell_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import xlsxwriter

    from assay.summary.table import Column, Lines, Raw, ResultTable

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
