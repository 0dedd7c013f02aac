"""The line figures of a report as charts of a spreadsheet, drawn from cells that hold their points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.pages.palette import colour

if TYPE_CHECKING:
    from collections.abc import Sequence

    import xlsxwriter

    from assay.pages.model import Figure, Series

CHARTS, POINTS = "Charts", "Chart points"
_WIDTH, _HEIGHT = 900, 440
_ROWS_PER_CHART = 24


def add_charts(book: xlsxwriter.Workbook, figures: Sequence[tuple[str, Figure]], head: Any) -> None:
    """Add a sheet of charts and one of their points; none where there is no figure of lines.

    figures : each with its title. head : the format of column heads.
    """
    lines = [(title, figure) for title, figure in figures if figure.kind == "lines"]
    if not lines:
        return
    shown, points = book.add_worksheet(CHARTS), book.add_worksheet(POINTS)
    column = 0
    for number, (title, figure) in enumerate(lines):
        chart = _chart(book, title, figure)
        for series in figure.series:
            if series.x:
                _write_points(points, column, figure, series, head)
                chart.add_series(_series(column, series))
                column += 2
        shown.insert_chart(number * _ROWS_PER_CHART, 0, chart, {"x_scale": 1, "y_scale": 1})


def _chart(book: xlsxwriter.Workbook, title: str, figure: Figure) -> Any:
    chart = book.add_chart({"type": "scatter", "subtype": "straight_with_markers"})
    chart.set_title({"name": title, "name_font": {"size": 12}, "overlay": False})
    chart.set_x_axis(_axis(figure.x_title, figure.x_scale))
    chart.set_y_axis(_axis(figure.y_title, figure.y_scale))
    chart.set_legend({"position": "right"})
    chart.set_size({"width": _WIDTH, "height": _HEIGHT})
    return chart


def _axis(title: str, scale: str) -> dict[str, Any]:
    shown = {
        "name": title,
        "num_format": "#,##0.###",
        "major_gridlines": {"visible": True, "line": {"color": "#DDDDDD"}},
    }
    return {**shown, "log_base": 10} if scale == "log" else shown


def _write_points(sheet: Any, column: int, figure: Figure, series: Series, head: Any) -> None:
    sheet.write_string(0, column, figure.x_title, head)
    sheet.write_string(0, column + 1, series.label or figure.y_title, head)
    sheet.write_column(1, column, series.x)
    sheet.write_column(1, column + 1, series.y)


def _series(column: int, series: Series) -> dict[str, Any]:
    last, line = len(series.x), {"color": colour(series.colour), "width": 1.5}
    marked = "markers" in series.mode and len(series.x) <= _MARKED_MAX
    return {
        "name": [POINTS, 0, column + 1] if series.label else "",
        "categories": [POINTS, 1, column, last, column],
        "values": [POINTS, 1, column + 1, last, column + 1],
        "line": {**line, "dash_type": _DASHES[series.dash]} if "lines" in series.mode else {"none": True},
        "marker": {"type": "circle", "size": 5, "fill": {"color": colour(series.colour)}}
        if marked
        else {"type": "none"},
    }


_DASHES = {"solid": "solid", "dash": "dash", "dot": "round_dot", "dashdot": "dash_dot"}
_MARKED_MAX = 100
