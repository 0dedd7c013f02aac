"""Figures as vector pictures for paper (SVG), the same bytes each time."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator
from matplotlib.transforms import Bbox

from assay.pages.log_axis import TICKS_MAX, labelled_ticks, log_range
from assay.pages.model import SPAN_LABEL, TURNED_NOTE
from assay.pages.palette import COVERED_TIMES, DENSE_SHARE, MARK_COLOUR, MARK_SIZE, SPAN_COLOUR, colour, marker
from assay.pages.printed import bar_text
from assay.report.glyphs import spelled_out
from assay.report.heat_picture import draw_heat

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from assay.pages.model import Figure, Series, Tick

HEIGHT_IN = {"lines": 5.2, "bars": 5.2, "columns": 6.6, "heat": 5.0}
LOW_IN, SMALL_WIDTH_IN = 2.5, 2.25
"""A small picture is about as wide as the room for it on a card, so that its letters are as large there."""
LEGEND_BELOW = -0.13
SMALL_TICKS_MAX = 5
MANY_LABELS, SHORT_LABEL = 6, 8
ROUND_MARGIN = 0.4
COLUMN_WIDTH = 0.6
PAD_IN = 0.06
LINE_COLOUR, GRID_COLOUR = "#7d8791", "#e1e5e9"
# How far the frame of a picture beside another reaches: on the left, below and from above, for labels and three rows.
_FRAME_IN = (0.35, 0.75, 0.45)
_STYLE: dict[Any, Any] = {
    "svg.hashsalt": "assay",
    # Texts stay texts: shorter to draw and to store, found by a search, and in the fonts of the page.
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "text.parse_math": False,
    "axes.edgecolor": LINE_COLOUR,
    "xtick.color": LINE_COLOUR,
    "ytick.color": LINE_COLOUR,
    "xtick.labelcolor": "black",
    "ytick.labelcolor": "black",
    "xtick.major.size": 3.0,
    "ytick.major.size": 3.0,
    "axes.linewidth": 0.8,
    "axes.titlesize": 10,
    "axes.labelsize": 10,
    "grid.color": GRID_COLOUR,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.7,
    "lines.markersize": 5,
    "legend.fontsize": 9,
    "legend.frameon": False,
}
_SMALL: dict[Any, Any] = {
    "font.size": 7.65,
    "xtick.labelsize": 8.4,
    "ytick.labelsize": 8.4,
    "axes.labelsize": 8.4,
    "axes.titlesize": 8.4,
    "legend.fontsize": 8.2,
    "legend.handlelength": 1.1,
    "legend.handletextpad": 0.4,
    "legend.columnspacing": 0.8,
    "figure.subplot.left": 0.19,
    "figure.subplot.right": 0.97,
    "lines.markersize": 3.0,
    "lines.linewidth": 1.4,
}
_DASHES = {"solid": "-", "dash": "--", "dot": ":", "dashdot": "-."}


def figure_svg(figure: Figure) -> bytes:
    """Draw a figure as an SVG picture with its texts as texts.

    Returns SVG text without a date, equal for equal figures and one matplotlib version.
    """
    figure = spelled_out(figure)
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        height = SMALL_WIDTH_IN / figure.aspect if figure.small else LOW_IN if figure.low else HEIGHT_IN[figure.kind]
        if figure.small or figure.low:
            mpl.rcParams.update(_SMALL)
        canvas = Canvas(figsize=(height * figure.aspect, height))
        FigureCanvasSVG(canvas)
        if figure.kind == "columns":
            _draw_columns(canvas, figure)
        elif figure.heat is not None:
            draw_heat(canvas, figure, figure.heat)
        else:
            _draw_lines(canvas, figure)
        target = io.BytesIO()
        # With "tight" everything is laid out twice, which only columns in space need.
        bounds = "tight" if figure.kind == "columns" else _bounds(canvas, figure)
        canvas.savefig(target, format="svg", metadata={"Date": None}, bbox_inches=bounds, pad_inches=PAD_IN)
    # Without quotes, so that a page may hold the picture in an attribute.
    return target.getvalue().replace(b"'DejaVu Sans'", b"IBM Plex Sans, DejaVu Sans")


def _bounds(canvas: Canvas, figure: Figure) -> Any:
    """What is shown of a picture: what is drawn; of those side by side a frame that holds the legends of all."""
    drawn = canvas.get_tightbbox()
    # A heat map has no legend below it, and small pictures stand beside such of other kinds.
    if not figure.beside or figure.low or figure.small or figure.kind == "heat":
        return drawn
    width, height = canvas.get_size_inches()
    left, below, above = _FRAME_IN
    return Bbox.union([drawn, Bbox.from_extents(-left, -below, width, height - above)])


def _draw_lines(canvas: Canvas, figure: Figure) -> None:
    axes = canvas.add_subplot()
    if figure.span:
        # The words below a small picture say what is shaded.
        name = "" if figure.small else SPAN_LABEL
        axes.axvspan(*figure.span, color=SPAN_COLOUR, linewidth=0, zorder=0, label=name)
    covered, cut = figure.covered, bool(figure.x_drawn_range or figure.y_least)
    for place, series in enumerate(figure.series):
        if figure.kind == "bars":
            _draw_bars(axes, series)
        else:
            _draw_series(axes, series, wide=place in covered, clipped=cut)
    axes.set(xlabel=figure.x_label, ylabel=figure.y_label, xscale=figure.x_scale, yscale=figure.y_drawn_scale)
    axes.grid(visible=True, which="major")
    axes.spines[["top", "right"]].set_visible(False)
    _label_x_axis(axes, figure)
    _label_y_axis(axes, figure)
    handles, labels = _legend_entries(axes, figure)
    if figure.small and len(labels) == 1:
        return
    scale = 1 / DENSE_SHARE if any(one.dense for one in figure.series) else 1
    if figure.narrow or figure.beside:
        axes.legend(
            handles,
            labels,
            markerscale=scale,
            loc="upper center",
            bbox_to_anchor=(
                0.5,
                LEGEND_BELOW * (0.7 if figure.small else 1) * HEIGHT_IN["lines"] / canvas.get_figheight(),
            ),
            ncols=2
            if figure.low or figure.small
            else _legend_columns([series.label for series in figure.series if series.label]),
        )
    else:
        title = figure.legend_title or None
        beside = (1.01, 1.0)
        axes.legend(
            handles, labels, markerscale=scale, title=title, loc="upper left", bbox_to_anchor=beside, borderaxespad=0
        )


def _legend_entries(axes: Any, figure: Figure) -> tuple[list[Any], list[str]]:
    """What a legend shows and its names: the span, then the series in the order of the figure."""
    handles, labels = axes.get_legend_handles_labels()
    named = [place for place, series in enumerate(figure.series) if series.label]
    first = len(handles) - len(named)
    order = [*range(first), *(first + named.index(place) for place in figure.legend_order if place in named)]
    return [handles[place] for place in order], [labels[place] for place in order]


def _legend_columns(labels: Sequence[str]) -> int:
    """In how many columns a legend stands below: many short names stand in more. Worked: ``TC 1`` to ``TC 32`` -> 5."""
    short = len(labels) > MANY_LABELS and max(map(len, labels)) <= SHORT_LABEL
    return 5 if short else 3


def _draw_bars(axes: Any, series: Series) -> None:
    drawn = axes.bar(series.x, series.y, COLUMN_WIDTH, label=series.label, color=colour(series.colour), zorder=2)
    axes.bar_label(drawn, labels=[bar_text(y) for y in series.y], padding=2)


def _draw_series(axes: Any, series: Series, *, wide: bool, clipped: bool) -> None:
    shown = colour(series.colour)
    if not series.x:
        # Its name says why it has no point.
        axes.plot([], [], label=series.label or "_hidden", linestyle="")
        return
    if series.filled:
        axes.fill_between(series.x, series.y, min(series.y), color=shown, alpha=0.35, linewidth=0, zorder=1)
    if series.mark:
        style = {"markersize": MARK_SIZE, "markeredgecolor": "black", "markeredgewidth": 1.2, "color": MARK_COLOUR}
        axes.plot(series.x, series.y, label=series.label, marker=marker(series.colour), linestyle="", zorder=4, **style)
        return
    # A line needs two points; one is shown by its marker.
    marked = "markers" in series.mode or len(series.x) == 1
    times = COVERED_TIMES if wide else 1
    axes.plot(
        series.x,
        series.y,
        label=series.label or "_hidden",
        color=shown,
        marker=marker(series.colour) if marked else "",
        linestyle=_DASHES[series.dash] if "lines" in series.mode else "",
        markeredgecolor="white" if series.mode == "lines+markers" else shown,
        markeredgewidth=0.4,
        markersize=mpl.rcParams["lines.markersize"] * times * (DENSE_SHARE if series.dense else 1),
        linewidth=mpl.rcParams["lines.linewidth"] * times,
        zorder=3 if marked and not wide else 2,
        # A point at the edge of an axis that shows all of them is not to be cut in half.
        clip_on=clipped or not marked,
    )


def _label_x_axis(axes: Any, figure: Figure) -> None:
    places = [x for series in figure.series for x in series.x]
    if figure.x_drawn_range:
        axes.set_xlim(*figure.x_drawn_range)
    elif figure.rounds:
        axes.set_xlim(min(places) - ROUND_MARGIN, max(places) + ROUND_MARGIN)
    elif figure.x_scale == "linear" and not figure.ticks:
        axes.set_xlim(left=0)
    if figure.ticks:
        _set_ticks(axes.xaxis, figure.ticks)
    elif figure.rounds:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=27, steps=[1, 2, 5, 10], min_n_ticks=1))
    elif figure.x_scale == "log":
        _label_log_axis(axes.xaxis, axes.set_xlim, places, SMALL_TICKS_MAX if figure.small else TICKS_MAX)
    else:
        axes.xaxis.set_major_formatter(FuncFormatter(_thousands))


def _label_y_axis(axes: Any, figure: Figure) -> None:
    if figure.y_ticks:
        _set_ticks(axes.yaxis, figure.y_ticks)
        if figure.y_least is not None:
            axes.set_ylim(bottom=figure.y_least)
        return
    if figure.y_drawn_scale == "log":
        _label_log_axis(axes.yaxis, axes.set_ylim, figure.y_values)
        return
    axes.set_ylim(*figure.y_range)
    axes.yaxis.set_major_formatter(FuncFormatter(_thousands))


def _set_ticks(axis: Any, ticks: Sequence[Tick]) -> None:
    axis.set_ticks([tick.at for tick in ticks], [tick.label for tick in ticks])
    axis.set_minor_locator(NullLocator())


def _label_log_axis(
    axis: Any, limit: Callable[[float, float], object], values: Sequence[float], most: int = TICKS_MAX
) -> None:
    low, high = log_range(values)
    limit(low, high)
    _set_ticks(axis, labelled_ticks(low, high, most=most))


def _draw_columns(canvas: Canvas, figure: Figure) -> None:
    axes: Any = canvas.add_subplot(projection="3d")
    rows = figure.series[::-1] if figure.highest_first else figure.series
    for depth, series in enumerate(rows):
        _draw_column_row(axes, depth, series)
    axes.set_xlabel(figure.x_title, labelpad=14)
    axes.set_ylabel(figure.z_title, labelpad=10)
    if figure.highest_first:
        axes.text2D(0.5, 1.0, f"{figure.z_title}: {TURNED_NOTE}", transform=axes.transAxes, ha="center")
    axes.set_zlabel(figure.y_title, labelpad=12)
    if figure.y_most is not None:
        axes.set_zlim(0, figure.y_most)
    # A column at the end of an axis is not to be cut in half.
    axes.set_xlim(-COLUMN_WIDTH, len(figure.ticks) - 1 + COLUMN_WIDTH)
    axes.set_ylim(-COLUMN_WIDTH, len(rows) - 1 + COLUMN_WIDTH)
    axes.set_xticks([tick.at for tick in figure.ticks], [tick.label for tick in figure.ticks])
    axes.set_yticks(range(len(rows)), [series.label for series in rows])
    axes.zaxis.set_major_formatter(FuncFormatter(_thousands))
    axes.tick_params(pad=3)
    axes.view_init(elev=26, azim=-62 if figure.highest_left else -118)
    axes.set_box_aspect((3.0, 1.9, 1.35), zoom=1.25)


def _draw_column_row(axes: Any, depth: int, series: Series) -> None:
    count = len(series.x)
    places = [x - COLUMN_WIDTH / 2 for x in series.x]
    backs = [depth - COLUMN_WIDTH / 2] * count
    sides = [COLUMN_WIDTH] * count
    drawn = axes.bar3d(places, backs, [0.0] * count, sides, sides, list(series.y), color=colour(series.colour))
    # Seen from a corner, the first and the last stand beyond the flat frame of the picture, which would cut them.
    drawn.set_clip_on(False)


def _thousands(value: float, _: int | None) -> str:
    return f"{value:,.6g}"
