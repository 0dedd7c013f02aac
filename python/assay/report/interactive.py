"""Figures as Plotly data for the screen. Columns are made of triangles: the gl3d bundle has no bars.

Colours of paper and grid are set by the page's script, which knows whether it is dark.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from assay.pages.palette import colour, symbol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from assay.pages.model import Figure, Series, Tick

HALF_WIDTH = 0.3
MAX_ROUND_TICKS = 26
SIGNIFICANT_DIGITS = 4
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


def _lines(figure: Figure) -> dict[str, Any]:
    traces = [_lines_trace(figure, series) for series in figure.series]
    return {"data": traces, "layout": {**_layout(figure), "xaxis": _x_axis(figure), "yaxis": _y_axis(figure)}}


def _columns(figure: Figure) -> dict[str, Any]:
    traces = [_columns_trace(figure, depth, series) for depth, series in enumerate(figure.series)]
    return {"data": traces, "layout": {**_layout(figure), "margin": _NO_MARGIN, "scene": _scene(figure)}}


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
        "x": series.x,
        "y": series.y,
        "mode": series.mode,
        "line": {"color": colour(series.colour), "dash": series.dash, "width": 2},
        "marker": {"color": colour(series.colour), "symbol": symbol(series.colour), "size": 8},
        **({"text": labels} if labels else {}),
        "hovertemplate": _hover(figure, series, x="%{text}" if labels else f"%{{x:{number_format(series.x)}}}"),
    }


def _hover(figure: Figure, series: Series, *, x: str) -> str:
    y = f"%{{y:{number_format(series.y)}}}"
    return f"{figure.x_title}: {x}<br>{figure.y_title}: <b>{y}</b><extra>{series.label}</extra>"


def number_format(values: Iterable[float]) -> str:
    """The d3 format in which the smallest of some values still shows four significant digits.

    Worked: 0.307 and 12.5 give ``,.4~f``, so that they show as 0.307 and 12.5; 24632 and 3000 give ``,.0~f``.
    """
    sizes = [abs(value) for value in values if value and math.isfinite(value)]
    smallest = min(sizes, default=1.0)
    decimals = SIGNIFICANT_DIGITS - 1 - math.floor(math.log10(smallest))
    return f",.{min(max(decimals, 0), MOST_DECIMALS)}~f"


def _labels(ticks: tuple[Tick, ...], places: Iterable[float]) -> list[str]:
    """The labels of places that all stand on a tick, or none."""
    names = {tick.at: tick.label for tick in ticks}
    found = [names.get(place, "") for place in places]
    return found if all(found) else []


def _x_axis(figure: Figure) -> dict[str, Any]:
    axis = {**_axis(figure.x_title), "type": figure.x_scale}
    if figure.ticks:
        return {
            **axis,
            **_tick_labels([tick.at for tick in figure.ticks], [tick.label for tick in figure.ticks]),
        }
    if not figure.rounds:
        return {**axis, "tickformat": ",~r", "rangemode": "tozero", "dtick": "D2" if figure.x_scale == "log" else None}
    rounds = [x for series in figure.series for x in series.x]
    return {**axis, "tick0": 0, "dtick": 1 + int(max(rounds) - min(rounds)) // MAX_ROUND_TICKS}


def _y_axis(figure: Figure) -> dict[str, Any]:
    if figure.y_ticks:
        ticks = _tick_labels([tick.at for tick in figure.y_ticks], [tick.label for tick in figure.y_ticks])
        return {**_axis(figure.y_title), "type": figure.y_scale, **ticks}
    return {
        **_axis(figure.y_title),
        "type": figure.y_scale,
        "rangemode": "normal" if figure.narrow else "tozero",
        "tickformat": ",~r",
        "dtick": "D2" if figure.y_scale == "log" else None,
    }


def _axis(title: str) -> dict[str, Any]:
    return {
        "title": {"text": title},
        "showline": True,
        "ticks": "outside",
        "zeroline": False,
        "automargin": True,
    }


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
    sizes = _tick_labels([tick.at for tick in figure.ticks], [tick.label for tick in figure.ticks])
    depths = [float(place) for place in range(len(figure.series))]
    mixes = _tick_labels(depths, [series.label for series in figure.series])
    return {
        "xaxis": {"title": {"text": figure.x_title}, **sizes},
        "yaxis": {"title": {"text": figure.z_title}, **mixes},
        "zaxis": {"title": {"text": f"{figure.y_title}<br> <br> "}, "tickformat": ",~r"},
        "aspectmode": "manual",
        "aspectratio": {"x": 2.2, "y": 1.5, "z": 0.95},
        "camera": {"eye": {"x": 1.17, "y": -2.75, "z": 1.34}, "center": {"x": 0, "y": 0, "z": -0.15}},
    }


_KINDS: dict[str, Callable[[Figure], dict[str, Any]]] = {"lines": _lines, "columns": _columns}
