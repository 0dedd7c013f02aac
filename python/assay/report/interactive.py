"""Figures as Plotly data for the screen. Columns are made of triangles: the gl3d bundle has no bars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.pages.palette import colour, symbol

if TYPE_CHECKING:
    from assay.pages.model import Figure, Series

HALF_WIDTH = 0.3
MAX_ROUND_TICKS = 26
# Two triangles for each face of a box whose corners are numbered x + 2 z + 4 y (0 or 1 each).
_BOX = (
    (0, 1, 3), (0, 3, 2), (4, 7, 5), (4, 6, 7), (0, 5, 1), (0, 4, 5),
    (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3),
)  # fmt: skip


def plotly_figure(figure: Figure) -> dict[str, Any]:
    """Turn a figure into Plotly's ``data`` and ``layout``, ready for JSON.

    Worked: a figure with seven series gives seven traces.
    """
    if figure.kind == "columns":
        traces = [_columns_trace(figure, depth, series) for depth, series in enumerate(figure.series)]
        return {"data": traces, "layout": {**_layout(figure), "scene": _scene(figure)}}
    traces = [_lines_trace(series) for series in figure.series]
    return {"data": traces, "layout": {**_layout(figure), "xaxis": _x_axis(figure), "yaxis": _y_axis(figure)}}


def _layout(figure: Figure) -> dict[str, Any]:
    return {
        "font": {"family": "DejaVu Sans, Verdana, sans-serif", "size": 13, "color": "#222222"},
        "paper_bgcolor": "#ffffff",
        "plot_bgcolor": "#ffffff",
        "margin": {"l": 80, "r": 20, "t": 15, "b": 60},
        "legend": _legend(figure),
        "showlegend": True,
        "hovermode": "closest",
    }


def _legend(figure: Figure) -> dict[str, Any]:
    if figure.narrow or figure.beside:
        return {"orientation": "h", "y": -0.2}
    return {"title": {"text": figure.legend_title or figure.z_title}}


def _lines_trace(series: Series) -> dict[str, Any]:
    return {
        "type": "scatter",
        "name": series.label,
        "showlegend": bool(series.label),
        "x": series.x,
        "y": series.y,
        "mode": series.mode,
        "line": {"color": colour(series.colour), "dash": series.dash, "width": 2},
        "marker": {"color": colour(series.colour), "symbol": symbol(series.colour), "size": 8},
        "hovertemplate": "%{x}: %{y:,.1f}<extra>%{fullData.name}</extra>",
    }


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
        "gridcolor": "#dddddd",
        "linecolor": "#444444",
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
    labels = [
        f"{tick.label} KiB, {series.label}: {height:,.1f} {figure.y_title}"
        for tick, height in zip(figure.ticks, series.y, strict=True)
    ]
    return {
        "type": "mesh3d",
        "name": series.label,
        "showlegend": True,
        "color": colour(series.colour),
        "flatshading": True,
        "lighting": {"ambient": 0.75, "diffuse": 0.5, "specular": 0.05},
        **{axis: [corner[place] for corner in corners] for place, axis in enumerate("xyz")},
        **{axis: [face[place] for face in triangles] for place, axis in enumerate("ijk")},
        "text": [label for label in labels for _ in range(8)],
        "hoverinfo": "text",
    }


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
        "camera": {"eye": {"x": 1.05, "y": -2.45, "z": 1.2}, "center": {"x": 0, "y": 0, "z": -0.15}},
    }
