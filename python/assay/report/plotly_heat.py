"""Heat maps as data for the screen; the page's script paints their fields: Plotly's gl3d bundle has no such trace."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from assay.pages.log_axis import labelled_ticks
from assay.report.heat_picture import heat_colours
from assay.report.plotly_axes import placed, plane_layout, short, x_axis, y_axis

if TYPE_CHECKING:
    from assay.pages.model import Figure, Heat, Tick

COLOURS = 9


def heat_map(figure: Figure) -> dict[str, Any]:
    """The fields, what a reader is told of each row and column, and the layout of a heat map, ready for JSON.

    Raises ValueError for a figure without fields.
    Worked: edges 0, 1, 2 with a tick ``4`` at 0.5 and ``8`` at 1.5 -> columns named ``4`` and ``8``.
    """
    heat = figure.heat
    if heat is None:
        raise ValueError(f"figure {figure.name}: a heat map needs fields")
    ends = ((heat.x_edges[0], heat.x_edges[-1]), (heat.y_edges[0], heat.y_edges[-1]))
    across = {**x_axis(figure), "range": placed(ends[0], figure.x_scale), "showgrid": False}
    up = {**y_axis(figure), "range": placed(ends[1], figure.y_scale), "showgrid": False}
    return {"data": [], "layout": {**plane_layout(figure), "xaxis": across, "yaxis": up}, "heat": _fields(figure, heat)}


def _fields(figure: Figure, heat: Heat) -> dict[str, Any]:
    values = [value for row in heat.rows for value in row if value is not None]
    ticks = labelled_ticks(*_scale_ends(values))
    return {
        "x": short(heat.x_edges),
        "y": short(heat.y_edges),
        "z": [[None if value is None else round(value, 6) for value in row] for row in heat.rows],
        "texts": heat.texts,
        "columns": _names(heat.x_edges, figure.ticks),
        "rows": _names(heat.y_edges, figure.y_ticks),
        "title": heat.colour_title,
        "ticks": [[tick.at, tick.label] for tick in ticks],
        "colours": heat_colours(COLOURS),
    }


def _scale_ends(values: list[float]) -> tuple[float, float]:
    lowest, highest = min(values), max(values)
    return lowest, highest if highest > lowest else lowest * 10


def _names(edges: tuple[float, ...], ticks: tuple[Tick, ...]) -> list[str]:
    """What each field along an axis is: the label of the tick in its middle, or from where to where it reaches."""
    labels = {tick.at: tick.label for tick in ticks}
    pairs = list(pairwise(edges))
    found = [labels.get((low + high) / 2, "") for low, high in pairs]
    return found if all(found) else [f"{low:,.4g} - {high:,.4g}" for low, high in pairs]
