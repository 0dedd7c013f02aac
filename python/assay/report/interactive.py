"""Figures as Plotly data for the screen. Columns are made of triangles: the gl3d bundle has no bars.

Colours of paper and grid are set by the page's script, which knows whether it is dark.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from assay.pages.model import SPAN_LABEL, TURNED_NOTE
from assay.pages.palette import COVERED_TIMES, DENSE_SHARE, MARK_COLOUR, MARK_SIZE, colour, symbol
from assay.pages.printed import bar_text
from assay.report.plotly_axes import (
    SIGNIFICANT_DIGITS,
    labelled,
    labels_at,
    number_format,
    plane_layout,
    short,
    tick_labels,
    x_axis,
    y_axis,
)
from assay.report.plotly_heat import heat_map

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.pages.model import Figure, Series

HALF_WIDTH = 0.3
_SPAN_COLOUR = "rgba(110, 150, 190, 0.22)"
# A scene has its labels inside.
_NO_MARGIN = {"l": 0, "r": 0, "t": 0, "b": 0}
# Two triangles for each face of a box whose corners are numbered x + 2 z + 4 y (0 or 1 each).
_BOX = (
    (0, 1, 3), (0, 3, 2), (4, 7, 5), (4, 6, 7), (0, 5, 1), (0, 4, 5),
    (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3),
)  # fmt: skip


def plotly_figure(figure: Figure) -> dict[str, Any] | None:
    """Turn a figure into Plotly's ``data`` and ``layout``, ready for JSON; a heat map into ``heat`` and ``layout``.

    Rows of dots stay the picture that they are: None. Worked: a figure with seven series gives seven traces.
    """
    return None if figure.dots else _KINDS[figure.kind](figure)


def _lines(figure: Figure) -> dict[str, Any]:
    ranks = figure.legend_order
    covered = figure.covered
    traces = [
        _lines_trace(figure, one, ranks.index(place), COVERED_TIMES if place in covered else 1)
        for place, one in enumerate(figure.series)
    ]
    layout = {**plane_layout(figure), "xaxis": x_axis(figure), "yaxis": y_axis(figure)}
    if figure.span:
        traces.insert(0, _span_trace())
        layout["shapes"] = [_span_shape(figure.span)]
    return {"data": traces, "layout": layout}


def _span_shape(span: tuple[float, float]) -> dict[str, Any]:
    """The shaded part of the x axis, in a colour that lets a light or dark ground through."""
    ends = {"x0": span[0], "x1": span[1], "y0": 0, "y1": 1, "yref": "paper"}
    return {"type": "rect", **ends, "layer": "below", "line": {"width": 0}, "fillcolor": _SPAN_COLOUR}


def _span_trace() -> dict[str, Any]:
    """What stands for it in the legend, with no point of its own, on the screen or in saved data."""
    marker = {"symbol": "square", "size": 14, "color": _SPAN_COLOUR}
    trace = {"type": "scatter", "name": SPAN_LABEL, "x": [None], "y": [None], "mode": "markers", "marker": marker}
    return {**trace, "showlegend": True, "hoverinfo": "skip", "meta": {"x": [], "y": []}}


def _bars(figure: Figure) -> dict[str, Any]:
    """Each series as outlines of bars that are filled: the bundle has no bars of a plane either."""
    return {
        "data": [trace for series in figure.series for trace in _bar_traces(figure, series)],
        "layout": {**plane_layout(figure), "hoverdistance": -1, "xaxis": x_axis(figure), "yaxis": y_axis(figure)},
    }


def _bar_traces(figure: Figure, series: Series) -> list[dict[str, Any]]:
    """The bars of a series, and above each its value, which is also where a reader points to."""
    shown = colour(series.colour)
    edges = [(x + side, y) for x, high in zip(series.x, series.y, strict=True) for side, y in _outline(high)]
    bars = {"x": [x for x, _ in edges], "y": [y for _, y in edges], "fill": "toself", "fillcolor": shown}
    line = {"color": shown, "width": 1}
    outline = {"type": "scatter", "name": series.label, "mode": "lines", "line": line, **bars, "hoverinfo": "skip"}
    value = {
        "type": "scatter",
        "name": series.label,
        "mode": "text",
        "showlegend": False,
        "x": short(series.x),
        "y": short(series.y),
        "textposition": "top center",
        "text": [bar_text(y) for y in series.y],
        "customdata": labels_at(figure.ticks, series.x) or [f"{x:,g}" for x in series.x],
        "hovertemplate": _hover(figure, series, x="%{customdata}"),
    }
    return [{**outline, "meta": {"x": [], "y": []}}, value]


def _outline(height: float) -> list[tuple[float, float | None]]:
    """The corners of a bar at zero, with a gap behind it."""
    return [(-HALF_WIDTH, 0.0), (-HALF_WIDTH, height), (HALF_WIDTH, height), (HALF_WIDTH, 0.0), (0.0, None)]


def _columns(figure: Figure) -> dict[str, Any]:
    traces = [_columns_trace(figure, depth, series) for depth, series in enumerate(_rows(figure))]
    layout = {**plane_layout(figure), "margin": _NO_MARGIN, "scene": _scene(figure)}
    if figure.highest_first:
        note = {"text": f"{figure.z_title}: {TURNED_NOTE}", "xref": "paper", "yref": "paper", "x": 0.5, "y": 1}
        layout["annotations"] = [{**note, "showarrow": False}]
    return {"data": traces, "layout": layout}


def _lines_trace(figure: Figure, series: Series, rank: int, times: float) -> dict[str, Any]:
    labels = labels_at(figure.ticks, series.x)
    return {
        "type": "scatter",
        "name": series.label,
        "showlegend": bool(series.label),
        # Plotly gives 1000 to what has none: the span stands before all series.
        "legendrank": 1001 + rank,
        "x": short(series.x),
        "y": short(series.y),
        # A line needs two points; one is shown by its marker.
        "mode": "markers" if series.mark or len(series.x) == 1 else series.mode,
        "line": {"color": colour(series.colour), "dash": series.dash, "width": 2 * times},
        "marker": _marker(series, times),
        **({"fill": "tozeroy"} if series.filled else {}),
        **({"text": labels} if labels else {}),
        "hovertemplate": _hover(figure, series, x="%{text}" if labels else f"%{{x:{number_format(series.x)}}}"),
    }


def _marker(series: Series, times: float) -> dict[str, Any]:
    shape = {"symbol": symbol(series.colour)}
    if series.mark:
        return {**shape, "color": MARK_COLOUR, "size": MARK_SIZE, "line": {"color": "black", "width": 1.2}}
    return {**shape, "color": colour(series.colour), "size": 8 * times * (DENSE_SHARE if series.dense else 1)}


def _hover(figure: Figure, series: Series, *, x: str) -> str:
    y = f"%{{y:{number_format(series.y)}}}"
    return f"{figure.x_title}: {x}<br>{figure.y_title}: <b>{y}</b><extra>{series.label}</extra>"


def _rows(figure: Figure) -> tuple[Series, ...]:
    """The series of columns from the front to the back, as on paper."""
    return figure.series[::-1] if figure.highest_first else figure.series


def _columns_trace(figure: Figure, depth: int, series: Series) -> dict[str, Any]:
    corners = [corner for x, y in zip(series.x, series.y, strict=True) for corner in _corners(x, float(depth), y)]
    triangles = [tuple(corner + 8 * box for corner in face) for box in range(len(series.x)) for face in _BOX]
    names = labels_at(figure.ticks, series.x) or [f"{x:g}" for x in series.x]
    return {
        "type": "mesh3d",
        "name": series.label,
        "showlegend": True,
        "color": colour(series.colour),
        "flatshading": True,
        "lighting": {"ambient": 0.75, "diffuse": 0.5, "specular": 0.05},
        **{axis: [corner[place] for corner in corners] for place, axis in enumerate("xyz")},
        **{axis: [face[place] for face in triangles] for place, axis in enumerate("ijk")},
        "text": [
            _column_hover(figure, series, *column) for column in zip(names, series.y, strict=True) for _ in _BOX[:8]
        ],
        "hoverinfo": "text",
        # What a reader who saves the data gets: the corners of boxes say little.
        "meta": {"x": names, "y": series.y},
    }


def _column_hover(figure: Figure, series: Series, name: str, height: float) -> str:
    digits = max(SIGNIFICANT_DIGITS - 1 - math.floor(math.log10(height)), 0) if height > 0 else 0
    return (
        f"{figure.x_title}: {name}<br>{figure.z_title}: {series.label}<br>{figure.y_title}: <b>{height:,.{digits}f}</b>"
    )


def _corners(x: float, depth: float, height: float) -> list[tuple[float, float, float]]:
    return [
        (x + side, depth + back, top)
        for back in (-HALF_WIDTH, HALF_WIDTH)
        for top in (0.0, height)
        for side in (-HALF_WIDTH, HALF_WIDTH)
    ]


def _scene(figure: Figure) -> dict[str, Any]:
    sizes = labelled(figure.ticks)
    mixes = tick_labels([float(place) for place in range(len(figure.series))], [one.label for one in _rows(figure)])
    height = {} if figure.y_most is None else {"range": [0, figure.y_most]}
    return {
        "xaxis": {"title": {"text": figure.x_title}, **sizes},
        "yaxis": {"title": {"text": figure.z_title}, **mixes},
        "zaxis": {"title": {"text": f"{figure.y_title}<br> <br> "}, "tickformat": ",~r", **height},
        "aspectmode": "manual",
        "aspectratio": {"x": 2.2, "y": 1.5, "z": 0.95},
        "camera": {
            "eye": {"x": 1.17 if figure.highest_left else -1.17, "y": -2.75, "z": 1.34},
            "center": {"x": 0, "y": 0, "z": -0.15},
        },
    }


_KINDS: dict[str, Callable[[Figure], dict[str, Any]]] = {
    "lines": _lines,
    "bars": _bars,
    "columns": _columns,
    "heat": heat_map,
}
