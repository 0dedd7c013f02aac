"""Heat maps as data for the screen; the page's script paints their fields: Plotly's gl3d bundle has no such trace."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from assay.pages.log_axis import labelled_ticks
from assay.report.heat_picture import field_values, heat_colours, scale_ends
from assay.report.plotly_axes import labels_at, placed, plane_layout, short, stored, x_axis, y_axis

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
    return {"layout": {**plane_layout(figure), "xaxis": across, "yaxis": up}, "heat": _fields(figure, heat)}


def _fields(figure: Figure, heat: Heat) -> dict[str, Any]:
    ends = scale_ends(field_values(heat))
    return {
        "x": short(placed(heat.x_edges, figure.x_scale)),
        "y": short(placed(heat.y_edges, figure.y_scale)),
        "z": [[None if value is None else stored(value) for value in row] for row in heat.rows],
        "texts": heat.texts,
        "columns": _names(heat.x_edges, figure.ticks),
        "rows": _names(heat.y_edges, figure.y_ticks),
        "title": heat.colour_title,
        "ends": placed(ends, "log"),
        "ticks": [[math.log10(tick.at), tick.label] for tick in labelled_ticks(*ends)],
        "colours": heat_colours(COLOURS),
    }


def _names(edges: tuple[float, ...], ticks: tuple[Tick, ...]) -> list[str]:
    """What each field along an axis is: the label of the tick in its middle, or from where to where it reaches."""
    pairs = list(pairwise(edges))
    found = labels_at(ticks, ((low + high) / 2 for low, high in pairs))
    return found or [f"{low:,.4g} - {high:,.4g}" for low, high in pairs]
