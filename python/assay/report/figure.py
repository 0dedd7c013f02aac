"""Figures as vector pictures for paper (SVG), the same bytes each time."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from assay.pages.palette import colour, marker
from assay.report.glyphs import spelled_out

if TYPE_CHECKING:
    from assay.pages.model import Figure, Series

HEIGHT_IN = {"lines": 4.5, "columns": 6.6}
ROUND_MARGIN = 0.4
COLUMN_WIDTH = 0.6
_STYLE: dict[Any, Any] = {
    "svg.hashsalt": "assay",
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "text.parse_math": False,
    "axes.edgecolor": "#444444",
    "axes.linewidth": 0.8,
    "axes.titlesize": 10,
    "axes.labelsize": 10,
    "grid.color": "#d5d5d5",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.5,
    "lines.markersize": 5,
    "legend.fontsize": 9,
    "legend.frameon": False,
}
_DASHES = {"solid": "-", "dash": "--", "dot": ":"}


def figure_svg(figure: Figure) -> bytes:
    """Draw a figure as an SVG picture with its texts as paths.

    Returns SVG text without a date, equal for equal figures and one matplotlib version.
    """
    figure = spelled_out(figure)
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        height = HEIGHT_IN[figure.kind]
        canvas = Canvas(figsize=(height * figure.aspect, height))
        FigureCanvasSVG(canvas)
        if figure.kind == "columns":
            _draw_columns(canvas, figure)
        else:
            _draw_lines(canvas, figure)
        target = io.BytesIO()
        canvas.savefig(target, format="svg", metadata={"Date": None}, bbox_inches="tight", pad_inches=0.06)
    return target.getvalue()


def _draw_lines(canvas: Canvas, figure: Figure) -> None:
    axes = canvas.add_subplot()
    for series in figure.series:
        _draw_series(axes, series)
    axes.set(xlabel=figure.x_title, ylabel=figure.y_title, xscale=figure.x_scale, yscale=figure.y_scale)
    axes.grid(visible=True, which="major")
    axes.spines[["top", "right"]].set_visible(False)
    _label_x_axis(axes, figure)
    _label_y_axis(axes, figure)
    if figure.narrow or figure.beside:
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=3)
    else:
        title = figure.legend_title or None
        axes.legend(title=title, loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0)


def _draw_series(axes: Any, series: Series) -> None:
    shown = colour(series.colour)
    axes.plot(
        series.x,
        series.y,
        label=series.label or "_hidden",
        color=shown,
        marker=marker(series.colour) if "markers" in series.mode else "",
        linestyle=_DASHES[series.dash] if "lines" in series.mode else "",
        markeredgecolor="white" if series.mode == "lines+markers" else shown,
        markeredgewidth=0.4,
        zorder=3 if "markers" in series.mode else 2,
    )


def _label_x_axis(axes: Any, figure: Figure) -> None:
    if figure.ticks:
        axes.set_xticks([tick.at for tick in figure.ticks], [tick.label for tick in figure.ticks])
        axes.xaxis.set_minor_locator(NullLocator())
        return
    if not figure.rounds:
        axes.xaxis.set_major_formatter(FuncFormatter(_thousands))
        if figure.x_scale == "linear":
            axes.set_xlim(left=0)
        else:
            axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            axes.xaxis.set_minor_locator(NullLocator())
        return
    rounds = [x for series in figure.series for x in series.x]
    axes.set_xlim(min(rounds) - ROUND_MARGIN, max(rounds) + ROUND_MARGIN)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=27, steps=[1, 2, 5, 10], min_n_ticks=1))


def _label_y_axis(axes: Any, figure: Figure) -> None:
    if figure.y_ticks:
        axes.set_yticks([tick.at for tick in figure.y_ticks], [tick.label for tick in figure.y_ticks])
        axes.yaxis.set_minor_locator(NullLocator())
        return
    if figure.y_scale == "log":
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.margins(y=0.06)
    elif not figure.narrow:
        axes.set_ylim(bottom=0, top=1.06 * max(y for series in figure.series for y in series.y) or 1.0)
    axes.yaxis.set_major_formatter(FuncFormatter(_thousands))


def _draw_columns(canvas: Canvas, figure: Figure) -> None:
    axes: Any = canvas.add_subplot(projection="3d")
    for depth, series in enumerate(figure.series):
        _draw_column_row(axes, depth, series)
    axes.set_xlabel(figure.x_title, labelpad=14)
    axes.set_ylabel(figure.z_title, labelpad=10)
    axes.set_zlabel(figure.y_title, labelpad=12)
    axes.set_xticks([tick.at for tick in figure.ticks], [tick.label for tick in figure.ticks])
    axes.set_yticks(range(len(figure.series)), [series.label for series in figure.series])
    axes.zaxis.set_major_formatter(FuncFormatter(_thousands))
    axes.tick_params(pad=3)
    axes.view_init(elev=26, azim=-62)
    axes.set_box_aspect((3.0, 1.9, 1.35), zoom=1.25)


def _draw_column_row(axes: Any, depth: int, series: Series) -> None:
    count = len(series.x)
    places = [x - COLUMN_WIDTH / 2 for x in series.x]
    backs = [depth - COLUMN_WIDTH / 2] * count
    sides = [COLUMN_WIDTH] * count
    axes.bar3d(places, backs, [0.0] * count, sides, sides, list(series.y), color=colour(series.colour))


def _thousands(value: float, _: int | None) -> str:
    return f"{value:,.6g}"
