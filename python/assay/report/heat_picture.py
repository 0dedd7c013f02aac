"""Heat maps as vector pictures; fields without texts are many and are drawn as one picture of dots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import LogNorm
from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas
    from numpy.typing import NDArray

    from assay.pages.model import Figure, Heat, Tick

DOTS_PER_INCH = 150
_COLOURS = "viridis"
_DARK = 0.5
# Of red, green and blue in what the eye takes for brightness (ITU-R BT.709).
_BRIGHTNESS = np.array((0.2126, 0.7152, 0.0722))


def draw_heat(canvas: Canvas, figure: Figure, heat: Heat) -> None:
    """Draw a heat map on an empty canvas, with a scale of its colours beside it. An empty field is white."""
    canvas.set_dpi(DOTS_PER_INCH)
    axes: Any = canvas.add_subplot()
    values = np.array([[np.nan if value is None else value for value in row] for row in heat.rows], np.float64)
    scale = _scale(values)
    fields = axes.pcolormesh(heat.x_edges, heat.y_edges, values, cmap=_COLOURS, norm=scale, rasterized=not heat.texts)
    axes.set(xlabel=figure.x_title, ylabel=figure.y_title, xscale=figure.x_scale, yscale=figure.y_scale)
    axes.set(xlim=(heat.x_edges[0], heat.x_edges[-1]), ylim=(heat.y_edges[0], heat.y_edges[-1]))
    _label(axes.xaxis, figure.ticks)
    _label(axes.yaxis, figure.y_ticks)
    _write(axes, heat, values, scale)
    _show_scale(canvas, fields, heat)


def _scale(values: NDArray[np.float64]) -> LogNorm:
    lowest, highest = float(np.nanmin(values)), float(np.nanmax(values))
    return LogNorm(lowest, highest if highest > lowest else lowest * 10)


def _label(axis: Any, ticks: tuple[Tick, ...]) -> None:
    if ticks:
        axis.set_ticks([tick.at for tick in ticks], labels=[tick.label for tick in ticks])
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
            axes.text(x, y, text, ha="center", va="center", color="black" if shown else "white")


def _show_scale(canvas: Canvas, fields: Any, heat: Heat) -> None:
    bar: Any = canvas.colorbar(fields, pad=0.02, aspect=30)
    bar.set_label(heat.colour_title)
    bar.ax.yaxis.set_major_formatter(FuncFormatter(_thousands))
    bar.ax.yaxis.set_minor_formatter(NullFormatter())
    bar.solids.set_rasterized(True)


def _thousands(value: float, _: int | None) -> str:
    return f"{value:,.6g}"
