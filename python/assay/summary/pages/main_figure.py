"""The figures of a test's own page, and those that several tests draw: tails and times."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

from assay.summary.pages.histogram_figures import TIME_MS
from assay.summary.pages.model import Figure, Series, Tick
from assay.words.digits import nth

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from assay.results import ResponseTimes
    from assay.summary.pages.model import Mode, Scale


MEDIAN = 0.5
_POINTS_PER_NINE = 10
_SMALLEST_MS = 1e-6
Point = tuple[float, float]


def tail_figure(name: str, curves: Sequence[tuple[str, ResponseTimes]]) -> Figure | None:
    """Plot response time over percentile, from the median to where ten I/Os are slower, then to the maximum.

    Across are nines: p90 stands at 1, p99.9 at 3. The maximum stands one nine behind the last of all curves, in the
    same place for all. None without an I/O. Worked: of 100,000 I/Os the percentiles end with p99.99, the curve with the
    slowest I/O.
    """
    drawn = [(label, _points(times), times.latency_ms_max) for label, times in curves if times.io_count]
    if not drawn:
        return None
    last = math.ceil(max((nines for _, points, _ in drawn for nines, _ in points), default=1.0)) + 1
    result = [
        _curve(label, [*points, *_end(most, last)], index, last) for index, (label, points, most) in enumerate(drawn)
    ]
    return Figure(
        name=name,
        kind="lines",
        alt="Response times over percentiles, on logarithmic axes, from the median to the maximum",
        x_title="Percentile",
        y_title=TIME_MS,
        y_scale="log",
        ticks=(*(Tick(at=nines(share), label=nth(share)) for share in _named(last)), _maximum(last)),
        series=tuple(series for pair in result for series in pair),
    )


def nines(share: float) -> float:
    """Where a percentile stands. Worked: 0.999 -> 3, the median -> 0.301."""
    return round(-math.log10(1 - share), 9)


def _named(last: int) -> list[float]:
    """The percentiles that are labelled: the median, and every nine before the maximum."""
    return [MEDIAN, *(round(1 - 10.0**-count, count) for count in range(1, last))]


def _maximum(last: int) -> Tick:
    return Tick(at=float(last), label="max")


def _points(times: ResponseTimes) -> list[Point]:
    """Nines and response time, in equal steps to where ten I/Os are slower."""
    end = nines(max(1 - 10 / times.io_count, MEDIAN))
    steps = max(math.ceil((end - nines(MEDIAN)) * _POINTS_PER_NINE), 1)
    places = (round(nines(MEDIAN) + (end - nines(MEDIAN)) * step / steps, 9) for step in range(steps + 1))
    points = ((place, times.percentile(_share(place))) for place in places)
    # A log axis has no place for zero.
    return [(place, max(time, _SMALLEST_MS)) for place, time in points if time is not None]


def _share(place: float) -> float:
    """The percentile of a place, rounded down, so that ten I/Os are still beyond it. Worked: 3 -> 0.999."""
    return math.floor((1 - 10**-place) * 1e9 + 1e-3) / 1e9


def _end(most: float | None, last: int) -> list[Point]:
    return [] if most is None else [(float(last), max(most, _SMALLEST_MS))]


def _curve(label: str, points: list[Point], index: int, last: int) -> tuple[Series, Series]:
    """A curve, and its maximum as a point."""
    line = Series.through(points, label, index, "lines")
    return line, Series.through([point for point in points if point[0] == last], "", index, "markers")


FigureKind = Literal["saturation", "matrix", "tail", "demand", "recovery", "curve"]
FIGURE_KINDS: tuple[FigureKind, ...] = get_args(FigureKind)
"""In the order in which a summary prefers them."""

FLAT_RATIO = 1.25
"""A figure whose highest value is below this times its lowest has little to show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MainFigure:
    """One of the few figures of a test's page.

    kind : what it shows; two of one kind are not shown together on a summary. title : a noun phrase.
    note : what it is of, such as demand and unit, in small type. figure : as data.
    """

    kind: FigureKind
    title: str
    figure: Figure
    note: str = ""

    @property
    def varies(self) -> bool:
        """Whether its highest value is clearly above its lowest. Worked: 24.6k and 3.95k IOPS -> yes; 667k -> no."""
        return _ratio(self._values()) >= FLAT_RATIO

    def _values(self) -> list[float]:
        heat = self.figure.heat
        return [one for row in heat.rows for one in row if one] if heat else self.figure.y_values


def main_figures(
    prefix: str, drawn: Iterable[tuple[FigureKind, str, Figure | None]], note: str = ""
) -> Iterator[MainFigure]:
    """Figures of the pages of a test as those of its summary. drawn : kind, title and figure; None is left out.

    Worked: ``hir`` and three figures, the second of which is None -> ``hir-main-0`` and ``hir-main-2``.
    """
    for index, (kind, title, figure) in enumerate(drawn):
        if figure:
            named = replace(figure, name=f"{prefix}-main-{index}", reading="")
            yield MainFigure(kind=kind, title=title, note=note, figure=named)


def main_tail(
    name: str, curves: Sequence[tuple[str, ResponseTimes]], note: str, title: str = "Response times"
) -> tuple[MainFigure, ...]:
    """The tail of response times up to the slowest I/O; none without an I/O. note : what the curves are of."""
    figure = tail_figure(name, curves)
    return (MainFigure(kind="tail", title=title, note=note, figure=figure),) if figure else ()


def _ratio(values: Iterable[float]) -> float:
    """The highest of all positive values over the lowest. Worked: 2, 0 and 6 -> 3; nothing -> 1."""
    result = [value for value in values if value > 0]
    return max(result) / min(result) if result else 1.0


def preferred(main_figures: Iterable[MainFigure]) -> list[MainFigure]:
    """Those that vary first, then by kind; of one kind in the order in which they came.

    Worked: a flat saturation curve and a tail that rises -> the tail, then the curve.
    """
    return sorted(main_figures, key=lambda main_figure: (not main_figure.varies, FIGURE_KINDS.index(main_figure.kind)))


def chosen(main_figures: Iterable[MainFigure], count: int = 2) -> tuple[MainFigure, ...]:
    """The figures of a summary: the preferred ones, each of another kind as long as there are other kinds.

    Worked: two matrices and a tail -> the first matrix and the tail.
    """
    ordered = preferred(main_figures)
    first = {one.kind: one for one in reversed(ordered)}
    unlike = [one for one in ordered if first[one.kind] is one]
    same = [one for one in ordered if first[one.kind] is not one]
    return tuple([*unlike, *same][:count])


HOURS = "Time (Hours)"
Part = tuple[str, "Sequence[float]", "Sequence[float | None]", int]


def time_figure(
    name: str,
    parts: Iterable[Part],
    *,
    alt: str,
    y_title: str,
    y_scale: Scale = "linear",
    mode: Mode = "lines",
    borders: Sequence[float] = (),
) -> Figure | None:
    """Plot parts of a test over its hours; None where nothing was measured.

    parts : label, minutes since the beginning, values, colour. A value of None is left out, and zero on a log axis.
    borders : hours at which the parts begin and end, which are labelled; none leaves the axis to the renderer.
    """
    series = tuple(_series(part, y_scale, mode) for part in parts)
    if not any(one.x for one in series):
        return None
    return Figure(
        name=name,
        kind="lines",
        alt=alt,
        x_title=HOURS,
        y_title=y_title,
        y_scale=y_scale,
        series=series,
        ticks=tuple(Tick(at=hour, label=f"{hour:.4g}") for hour in borders),
        x_range=(min(borders), max(borders)) if borders else None,
    )


def enlarged(figure: Figure, name: str, middle: float, reach: float) -> Figure:
    """The same figure for some time around a moment, in minutes before and behind it.

    middle, reach : hours. A part that has no point there leaves the figure.
    """
    cut = [_within(one, middle - reach, middle + reach) for one in figure.series]
    series = tuple(replace(one, x=tuple((x - middle) * 60 for x in one.x)) for one in cut if one.x)
    return replace(
        figure,
        name=name,
        alt=f"{figure.alt}, around {middle:.4g} h",
        x_title=f"Minutes from {middle:.4g} h",
        series=series,
        ticks=(),
        x_range=(-reach * 60, reach * 60),
    )


def _within(series: Series, first: float, last: float) -> Series:
    points = [(x, y) for x, y in zip(series.x, series.y, strict=True) if first <= x <= last]
    return replace(series, x=tuple(x for x, _ in points), y=tuple(y for _, y in points))


def _series(part: Part, scale: Scale, mode: Mode) -> Series:
    label, minutes, values, colour = part
    points = [
        (minute / 60, value)
        for minute, value in zip(minutes, values, strict=True)
        if value is not None and (value > 0 or scale == "linear")
    ]
    return Series.through(points, label, colour, mode)
