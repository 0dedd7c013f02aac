"""Heat maps as vector pictures, whose fields are one picture of dots: they are many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import LogNorm, to_hex
from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure as Canvas
    from numpy.typing import NDArray

    from assay.pages.model import Figure, Heat, Scale, Tick

_COLOURS = "viridis"
INK = "#111111"
"""Of texts in light fields: another black than that of the axes, which a dark page shows white."""
_DARK = 0.5
_SMALL_SIDES = {"left": 0.0, "right": 0.88}
"""Of the fields of a small map, which needs the room: labels stand beside them."""
_LEAST_SHARE = 0.75
"""The first colour stands for so much of the largest value at most."""
# Of red, green and blue in what the eye takes for brightness (ITU-R BT.709).
_BRIGHTNESS = np.array((0.2126, 0.7152, 0.0722))


def draw_heat(canvas: Canvas, figure: Figure, heat: Heat) -> None:
    """Draw a heat map on an empty canvas; where no texts say it, a scale says what its colours are.

    A logarithmic axis needs its ticks.

    An empty field is white.
    """
    axes: Any = canvas.add_subplot()
    if figure.small:
        canvas.subplots_adjust(**_SMALL_SIDES)
    values = field_values(heat)
    scale = LogNorm(*scale_ends(values))
    x_edges, y_edges = _placed(heat.x_edges, figure.x_scale), _placed(heat.y_edges, figure.y_scale)
    fields = axes.pcolorfast(x_edges, y_edges, values, cmap=_COLOURS, norm=scale)
    axes.set(xlabel=figure.x_label, ylabel=figure.y_label)
    _label(axes.xaxis, figure.ticks, figure.x_scale)
    # A small map has room for half of the places of a scale, not of named rows.
    half = 2 if figure.small and figure.y_scale == "log" else 1
    _label(axes.yaxis, figure.y_ticks[::half], figure.y_scale)
    if heat.texts:
        _write(axes, heat, values, scale)
        axes.set_title(heat.colour_title)
    else:
        _show_scale(canvas, fields, heat)


def heat_colours(count: int) -> list[str]:
    """The colours of the scale from low to high, as ``#rrggbb``. Worked: two -> ``#440154`` and ``#fde725``."""
    return [to_hex(colour) for colour in colormaps[_COLOURS](np.linspace(0, 1, count))]


def scale_ends(values: NDArray[np.float64]) -> tuple[float, float]:
    """The values of the first and the last colour; NaN is none.

    They are a quarter apart at least, so that a difference of 1 % looks small. Worked: 1 to 500 -> 1 and 500; 96 to 100
    -> 75 and 100.
    """
    lowest, highest = float(np.nanmin(values)), float(np.nanmax(values))
    return min(lowest, highest * _LEAST_SHARE), highest


def field_values(heat: Heat) -> NDArray[np.float64]:
    """The values of the fields as an array of rows and columns, NaN for an empty one."""
    return np.array([[np.nan if value is None else value for value in row] for row in heat.rows], np.float64)


def _placed(places: Sequence[float], scale: Scale) -> NDArray[np.float64]:
    """Where values stand: the picture of dots knows linear axes only."""
    found = np.array(places, np.float64)
    return np.log10(found) if scale == "log" else found


def _label(axis: Any, ticks: tuple[Tick, ...], scale: Scale) -> None:
    if ticks:
        axis.set_ticks(_placed([tick.at for tick in ticks], scale), labels=[tick.label for tick in ticks])
        axis.set_minor_locator(NullLocator())
    else:
        axis.set_major_formatter(FuncFormatter(_thousands))


def _write(axes: Any, heat: Heat, values: NDArray[np.float64], scale: LogNorm) -> None:
    """Write the texts into their fields, white on dark colours."""
    colours = colormaps[_COLOURS](scale(np.nan_to_num(values, nan=scale.vmax or 1)))[..., :3] @ _BRIGHTNESS
    for row, texts in enumerate(heat.texts):
        for column, text in enumerate(texts):
            x = (heat.x_edges[column] + heat.x_edges[column + 1]) / 2
            y = (heat.y_edges[row] + heat.y_edges[row + 1]) / 2
            shown = np.isnan(values[row, column]) or colours[row, column] > _DARK
            written = axes.text(x, y, text, ha="center", va="center", color=INK if shown else "white")
            # It lies inside the axes: the size of the picture need not wait for it.
            written.set_in_layout(False)


def _show_scale(canvas: Canvas, fields: Any, heat: Heat) -> None:
    bar: Any = canvas.colorbar(fields, pad=0.02, aspect=30)
    bar.set_label(heat.colour_title)
    bar.ax.yaxis.set_major_formatter(FuncFormatter(_thousands))
    bar.ax.yaxis.set_minor_formatter(NullFormatter())
    bar.solids.set_rasterized(True)


def _thousands(value: float, _: int | None) -> str:
    return f"{value:,.0f}" if value >= 1 else f"{value:.9f}".rstrip("0").rstrip(".")
