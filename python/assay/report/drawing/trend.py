"""Runs over time: a dot each with its interval, the levels between changes, the baseline, and numbered changes.

```
 IOPS        1: -10.2 %
  o  o |o             :
 ---o------           :        dots lead to their runs
            : o    o
            :---o----
```
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from assay.report.drawing.frame import frame, frame_parts
from assay.report.drawing.plane import legend, legend_parts
from assay.report.drawing.theme import DASHES, Size, group, length, markers, path, series_class, text, text_width
from assay.summary.pages.model import Figure, Series

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.report.drawing.frame import Frame
    from assay.summary.pages.model import Tick
    from assay.summary.record import Level as Verdict

DESK = Size(width=1200, height=420, letters=13, beside=False)
PHONE = Size(width=350, height=300, letters=12, beside=False)
LINKED_MAX = 300
"""More dots than these are drawn without links; the table has them."""
_RADIUS, _DENSE_RADIUS, _CAP, _LEVEL_WIDTH, _HEAD = 0.36, 0.2, 0.28, 0.17, 1.7
"""In letters: of dots, of many dots, of caps and levels; what the numbers of changes take above the plot."""
_DENSE = 100
"""From so many dots on they are small, and have no intervals."""
INK = 8
"""The index of the colour of text, for levels of all groups."""
_MARGIN = 0.04
_LEVEL_LABEL, _BASELINE_LABEL = "Mean between changes", "Baseline"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendDot:
    """A run. x : on the axis. low, high : ends of its interval, None without any. group : index among the groups.

    address : of its page. title : what it is in words.
    """

    x: float
    y: float
    group: int
    address: str
    title: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendLevel:
    """The mean between two changes. group : index of its colour."""

    x_first: float
    x_last: float
    y: float
    group: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendMark:
    """A change. x : between the last dot before it and the first after it. label : its number and size."""

    x: float
    number: int
    label: str
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendChart:
    """A chart as data. groups : names, in the order of their indices. ticks : labelled positions across.

    baseline : a value, None without any.
    """

    x_title: str
    y_title: str
    groups: tuple[str, ...]
    dots: tuple[TrendDot, ...]
    levels: tuple[TrendLevel, ...] = ()
    marks: tuple[TrendMark, ...] = ()
    ticks: tuple[Tick, ...] = ()
    baseline: float | None = None


def trend_pictures(chart: TrendChart) -> str:
    """The chart for a desk and for a phone, of which a style sheet shows the one that fits."""
    return "".join(
        f'<div class="{name}">{trend_svg(chart, size)}</div>' for name, size in (("desk", DESK), ("phone", PHONE))
    )


def trend_svg(chart: TrendChart, size: Size) -> str:
    """Draw a chart as a part of a page that has ``screen_rules``. A reader who cannot see it has the table of the page.

    Returns SVG, equal for equal charts.
    """
    figure = _figure(chart)
    entries = legend(figure, size)
    size = replace(size, height=size.height + max(entries.below - 2 * size.letters, 0))
    drawn = frame(figure, size, below=entries.below)
    if chart.marks:
        drawn = replace(drawn, y=replace(drawn.y, end=drawn.y.end + _HEAD * size.letters))
    parts = [
        *frame_parts(drawn),
        *_baseline(drawn, chart),
        *_marks(drawn, chart),
        *_dots(drawn, chart),
        *_levels(drawn, chart),
        *legend_parts(entries, size, drawn.x.start),
    ]
    box = f'viewBox="0 0 {length(size.width)} {length(size.height)}" font-size="{length(size.letters)}"'
    return f'<svg class="fig" aria-hidden="true" {box}>{"".join(parts)}</svg>'


def _figure(chart: TrendChart) -> Figure:
    """What the frame and the legend are laid out from."""
    x = [dot.x for dot in chart.dots] or [0.0]
    margin = (max(x) - min(x)) * _MARGIN or 0.5
    return Figure(
        name="trend",
        kind="lines",
        alt="",
        x_title=chart.x_title,
        y_title=chart.y_title,
        series=tuple(_legend_series(chart)),
        ticks=chart.ticks,
        x_range=(min(x) - margin, max(x) + margin),
        # A trend is read for small differences.
        room="box",
    )


def _legend_series(chart: TrendChart) -> Iterator[Series]:
    """An entry of the legend each; the last has no label and spans the values."""
    for index, name in enumerate(chart.groups):
        yield Series(label=name, x=(0.0,), y=(chart.dots[0].y,), colour=index, mode="markers")
    if chart.levels:
        level = chart.levels[0]
        yield Series(label=_LEVEL_LABEL, x=(0.0, 1.0), y=(level.y, level.y), colour=level.group, mode="lines")
    if chart.baseline is not None:
        yield Series(
            label=_BASELINE_LABEL, x=(0.0, 1.0), y=(chart.baseline,) * 2, colour=INK, mode="lines", dash="dash"
        )
    values = [y for dot in chart.dots for y in (dot.low, dot.y, dot.high) if y is not None]
    yield Series(label="", x=(0.0,) * len(values), y=tuple(values), colour=0, mode="markers")


def _baseline(drawn: Frame, chart: TrendChart) -> Iterator[str]:
    if chart.baseline is not None:
        line = f"M{length(drawn.x.start)} {length(drawn.y.at(chart.baseline))}H{length(drawn.x.end)}"
        yield group([path(line, "l", dash=DASHES[1], width=1.2)], series_class(INK))


def _marks(drawn: Frame, chart: TrendChart) -> Iterator[str]:
    """A line for each change, with its number and, where all have space, its size."""
    letters = drawn.letters
    places = [drawn.x.at(mark.x) for mark in chart.marks]
    widest = max((text_width(mark.label, letters) for mark in chart.marks), default=0)
    fits = all(second - first > widest + letters for first, second in pairwise(places))
    for mark, x in zip(chart.marks, places, strict=True):
        label = mark.label if fits else str(mark.number)
        half = text_width(label, letters * 1.05) / 2
        at = min(max(x, half), drawn.width - half)
        line = path(f"M{length(x)} {length(drawn.y.end)}V{length(drawn.y.start)}", "l", dash="4 3", width=1.4)
        words = text((at, drawn.y.end - letters * 0.3), label, anchor="middle", kind="d", bold=True)
        yield group([line, words], f"v-{mark.verdict}")


def _levels(drawn: Frame, chart: TrendChart) -> Iterator[str]:
    half = drawn.letters * _RADIUS * 2
    for level in chart.levels:
        ends = (drawn.x.at(level.x_first) - half, drawn.x.at(level.x_last) + half)
        line = f"M{length(ends[0])} {length(drawn.y.at(level.y))}H{length(ends[1])}"
        yield group([path(line, "l", width=drawn.letters * _LEVEL_WIDTH)], series_class(level.group))


def _dots(drawn: Frame, chart: TrendChart) -> Iterator[str]:
    linked, dense = len(chart.dots) <= LINKED_MAX, len(chart.dots) > _DENSE
    for index in range(len(chart.groups)):
        dots = [dot for dot in chart.dots if dot.group == index]
        intervals = "" if dense else path("".join(_interval(drawn, dot) for dot in dots), "l", width=1.2)
        radius = drawn.letters * (_DENSE_RADIUS if dense else _RADIUS)
        points = (_linked(drawn, dot, radius) for dot in dots) if linked else (_marker(drawn, dots, radius),)
        yield group([intervals, *points], series_class(index))


def _interval(drawn: Frame, dot: TrendDot) -> str:
    """The data of a path: a line with caps at both ends."""
    if dot.low is None or dot.high is None:
        return ""
    x, cap = drawn.x.at(dot.x), drawn.letters * _CAP
    low, high = drawn.y.at(dot.low), drawn.y.at(dot.high)
    caps = "".join(f"M{length(x - cap)} {length(y)}h{length(2 * cap)}" for y in (low, high))
    return f"M{length(x)} {length(low)}V{length(high)}{caps}"


def _marker(drawn: Frame, dots: Sequence[TrendDot], radius: float) -> str:
    points = [(drawn.x.at(dot.x), drawn.y.at(dot.y)) for dot in dots]
    return path(markers(points, dots[0].group if dots else 0, radius), "m")


def _linked(drawn: Frame, dot: TrendDot, radius: float) -> str:
    """A dot that leads to its run. A keyboard reaches the same link in the table of the page."""
    title = f"<title>{escape(dot.title)}</title>"
    return f'<a href={quoteattr(dot.address)} tabindex="-1">{title}{_marker(drawn, [dot], radius)}</a>'
