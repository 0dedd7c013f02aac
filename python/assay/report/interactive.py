"""Figures as Plotly data for the screen. Columns are made of triangles: the gl3d bundle has no bars.

Colours of paper and grid are set by the page's script, which knows whether it is dark.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from assay.pages.log_axis import labelled_ticks, log_range
from assay.pages.model import SPAN_LABEL, TURNED_NOTE
from assay.pages.palette import MARK_COLOUR, MARK_SIZE, colour, symbol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from assay.pages.model import Figure, Scale, Series, Tick

HALF_WIDTH = 0.3
MAX_ROUND_TICKS = 26
DECADE = 10
_SPAN_COLOUR = "rgba(110, 150, 190, 0.22)"
STILL_ASPECT = 1.25
_STORED_DIGITS = 9
_FEW_DECIMALS, _ROUNDED_DIGITS = 5, 6
SIGNIFICANT_DIGITS = 5
MOST_DECIMALS = 9
# A scene has its labels inside.
_NO_MARGIN = {"l": 0, "r": 0, "t": 0, "b": 0}
# Two triangles for each face of a box whose corners are numbered x + 2 z + 4 y (0 or 1 each).
_BOX = (
    (0, 1, 3), (0, 3, 2), (4, 7, 5), (4, 6, 7), (0, 5, 1), (0, 4, 5),
    (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3),
)  # fmt: skip


def plotly_figure(figure: Figure) -> dict[str, Any] | None:
    """Turn a figure into Plotly's ``data`` and ``layout``, ready for JSON; None for a kind that is not drawn.

    Worked: a figure with seven series gives seven traces.
    """
    draw = _KINDS.get(figure.kind)
    return draw(figure) if draw else None


def on_screen(figure: Figure) -> Figure:
    """The same, and narrower where it stays a picture, so that a phone can show its texts."""
    return figure if figure.kind in _KINDS else replace(figure, aspect=min(figure.aspect, STILL_ASPECT))


def _lines(figure: Figure) -> dict[str, Any]:
    traces = [_lines_trace(figure, series) for series in figure.series]
    layout = {**_layout(figure), "xaxis": _x_axis(figure), "yaxis": _y_axis(figure)}
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


def _columns(figure: Figure) -> dict[str, Any]:
    traces = [_columns_trace(figure, depth, series) for depth, series in enumerate(_rows(figure))]
    layout = {**_layout(figure), "margin": _NO_MARGIN, "scene": _scene(figure)}
    if figure.highest_first:
        note = {"text": f"{figure.z_title}: {TURNED_NOTE}", "xref": "paper", "yref": "paper", "x": 0.5, "y": 1}
        layout["annotations"] = [{**note, "showarrow": False}]
    return {"data": traces, "layout": layout}


def _layout(figure: Figure) -> dict[str, Any]:
    return {
        "margin": {"l": 80, "r": 20, "t": 15, "b": 60},
        "legend": _legend(figure),
        "showlegend": True,
        "hovermode": "closest",
    }


def _legend(figure: Figure) -> dict[str, Any]:
    if figure.narrow or figure.beside:
        return {"orientation": "h", "y": -0.2}
    return {"title": {"text": figure.legend_title or figure.z_title}}


def _lines_trace(figure: Figure, series: Series) -> dict[str, Any]:
    labels = _labels(figure.ticks, series.x)
    return {
        "type": "scatter",
        "name": series.label,
        "showlegend": bool(series.label),
        "x": _short(series.x),
        "y": _short(series.y),
        # A line needs two points; one is shown by its marker.
        "mode": "markers" if series.mark or len(series.x) == 1 else series.mode,
        "line": {"color": colour(series.colour), "dash": series.dash, "width": 2},
        "marker": _marker(series),
        **({"fill": "tozeroy"} if series.filled else {}),
        **({"text": labels} if labels else {}),
        "hovertemplate": _hover(figure, series, x="%{text}" if labels else f"%{{x:{number_format(series.x)}}}"),
    }


def _short(values: Iterable[float]) -> list[float]:
    """Numbers with nine digits: more are no longer seen, and take half of a large report.

    Worked: 0.00035026562500000005 -> 0.000350265625.
    """
    return [value if isinstance(value, int) else float(f"{value:.{_STORED_DIGITS}g}") for value in values]


def _marker(series: Series) -> dict[str, Any]:
    shape = {"symbol": symbol(series.colour)}
    if series.mark:
        return {**shape, "color": MARK_COLOUR, "size": MARK_SIZE, "line": {"color": "black", "width": 1.2}}
    return {**shape, "color": colour(series.colour), "size": 8}


def _hover(figure: Figure, series: Series, *, x: str) -> str:
    y = f"%{{y:{number_format(series.y)}}}"
    return f"{figure.x_title}: {x}<br>{figure.y_title}: <b>{y}</b><extra>{series.label}</extra>"


def number_format(values: Iterable[float]) -> str:
    """The d3 format in which the smallest of some values still shows five significant digits.

    Where that would be many decimals, each has six significant digits instead, if none has more before its point.
    Worked: 0.307 and 12.5 give ``,.5~f``, so that they show as 0.307 and 12.5; 24632 and 3000 give ``,.1~f``; 0.0003
    and 1.5 give ``,.6~r``.
    """
    sizes = [abs(value) for value in values if value and math.isfinite(value)]
    smallest = min(sizes, default=1.0)
    decimals = SIGNIFICANT_DIGITS - 1 - math.floor(math.log10(smallest))
    if _FEW_DECIMALS < decimals <= MOST_DECIMALS and max(sizes, default=0.0) < 10**_ROUNDED_DIGITS:
        return f",.{_ROUNDED_DIGITS}~r"
    return f",.{min(max(decimals, 0), MOST_DECIMALS)}~f"


def _labels(ticks: tuple[Tick, ...], places: Iterable[float]) -> list[str]:
    """The labels of places that all stand on a tick, or none."""
    names = {tick.at: tick.label for tick in ticks}
    found = [names.get(place, "") for place in places]
    return found if all(found) else []


def _x_axis(figure: Figure) -> dict[str, Any]:
    axis = {**_axis(figure.x_label), "type": figure.x_scale}
    if figure.x_range:
        axis["range"] = _placed(figure.x_range, figure.x_scale)
    values = [x for series in figure.series for x in series.x]
    if figure.ticks:
        return {**axis, **_labelled(figure.ticks)}
    if figure.rounds:
        return {**axis, "tick0": 0, "dtick": 1 + int(max(values) - min(values)) // MAX_ROUND_TICKS}
    return {**axis, **_scale(figure.x_scale, values)}


def _y_axis(figure: Figure) -> dict[str, Any]:
    axis = {**_axis(figure.y_label), "type": figure.y_drawn_scale}
    if not figure.y_ticks:
        ends = {"range": list(figure.y_range)} if figure.y_drawn_scale == "linear" and figure.y_values else {}
        return {**axis, **_scale(figure.y_drawn_scale, figure.y_values), **ends}
    if figure.y_least is not None:
        axis["range"] = [*_placed((figure.y_least,), figure.y_scale), None]
    return {**axis, **_labelled(figure.y_ticks)}


def _scale(scale: Scale, values: list[float]) -> dict[str, Any]:
    """Where an axis without ticks of its own begins and what it labels, as on paper.

    Labels below a decade are fixed; above, finer ones come as the reader looks closer.
    """
    if scale == "linear" or not values:
        return {"tickformat": ",~r", "rangemode": "tozero"}
    low, high = log_range(values)
    ticks = labelled_ticks(low, high)
    if high / low < DECADE:
        return {"range": _placed((low, high), scale), **_labelled(ticks)}
    powers = all(math.log10(tick.at).is_integer() for tick in ticks)
    return {"range": _placed((low, high), scale), "tickformat": ",~r", "dtick": 1 if powers else "D2"}


def _placed(places: Iterable[float], scale: Scale) -> list[float]:
    """Where an axis has values: Plotly wants the logarithms."""
    return [math.log10(place) for place in places] if scale == "log" else list(places)


def _axis(title: str) -> dict[str, Any]:
    return {
        "title": {"text": title},
        "showline": True,
        "ticks": "outside",
        "zeroline": False,
        "automargin": True,
    }


def _labelled(ticks: Iterable[Tick]) -> dict[str, Any]:
    return _tick_labels([tick.at for tick in ticks], [tick.label for tick in ticks])


def _rows(figure: Figure) -> tuple[Series, ...]:
    """The series of columns from the front to the back, as on paper."""
    return figure.series[::-1] if figure.highest_first else figure.series


def _tick_labels(values: list[float], labels: list[str]) -> dict[str, Any]:
    return {"tickmode": "array", "tickvals": values, "ticktext": labels}


def _columns_trace(figure: Figure, depth: int, series: Series) -> dict[str, Any]:
    corners = [corner for x, y in zip(series.x, series.y, strict=True) for corner in _corners(x, float(depth), y)]
    triangles = [tuple(corner + 8 * box for corner in face) for box in range(len(series.x)) for face in _BOX]
    names = _labels(figure.ticks, series.x) or [f"{x:g}" for x in series.x]
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
    sizes = _labelled(figure.ticks)
    mixes = _tick_labels([float(place) for place in range(len(figure.series))], [one.label for one in _rows(figure)])
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


_KINDS: dict[str, Callable[[Figure], dict[str, Any]]] = {"lines": _lines, "columns": _columns}
