"""Figures that several tests draw: tails, times, heat maps and verdicts, and which stand on the page of a test."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal, get_args

from assay.results.histogram import merged
from assay.spec.lazy import LazyModule
from assay.spec.units import MINUTE_NS, duration_label
from assay.summary.pages.model import Box, Figure, Heat, Series, Tick
from assay.words.digits import nth
from assay.words.printed import NOT_AVAILABLE, fit_formula, rounds_label, significant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import numpy as np

    from assay.engine.records import SteadyVerdict
    from assay.results.histogram import ResponseTimes
    from assay.summary.pages.model import Dash, Mode, Scale
    from assay.summary.record import Level
else:
    np = LazyModule("numpy")


TICKS_MIN, TICKS_MAX = 4, 9
_EDGE_SHARE, _EDGE_LEAST, _REACH_SHARE = 0.05, 0.02, 0.05
_DECADE = 10
_STEPS = (1.0, 2.0, 2.5, 5.0)


def log_range(values: Sequence[float]) -> tuple[float, float]:
    """The ends of an axis: what its values span and some more on either side.

    values : above zero. It reaches to the next labelled place where that is near, so that the largest lies below one.
    Worked: 10 and 1000 span two decades, so that the axis goes from 7.94 to 1259; 10 and 3200 from 7.49 to 5000.
    """
    low, high = math.log10(min(values)), math.log10(max(values))
    edge = max((high - low) * _EDGE_SHARE, _EDGE_LEAST)
    first, last = 10 ** (low - edge), 10 ** (high + edge)
    power = math.floor(math.log10(last))
    beyond = next(at for at in (float(f"{factor}e{power}") for factor in (1, 2, 5, 10)) if at > last)
    near = math.log10(beyond / last) <= _REACH_SHARE * (high - low)
    return first, beyond if near and beyond in log_ticks(first, beyond) else last


def log_ticks(low: float, high: float, most: int = TICKS_MAX) -> tuple[float, ...]:
    """The labelled places of an axis: powers of ten, with others between them where these are few, else equal steps.

    most : so many if it can be, at least 3. Worked: 1 to 100 -> 1, 2, 5, 10 and so on; 0.02 to 60 -> 0.03, 0.1, 0.3 and
    so on; 240 to 4,000 -> 300, 500, 1,000, 2,000, 3,000; 10.8 to 12.4 -> 11, 11.5, 12.
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    # Equal steps would crowd at one end of more than a decade.
    dense = ((1, 2, 3, 5), (1, 1.5, 2, 3, 5, 7)) if high > _DECADE * low else ()
    for factors in ((1, 2, 5), (1, 3), (1,), *dense):
        result = tuple(float(f"{factor}e{power}") for power in powers for factor in factors)
        ticks = tuple(at for at in result if low <= at <= high)
        if min(TICKS_MIN, most - 2) <= len(ticks) <= most or (factors == (1,) and len(ticks) > most):
            return ticks
    return _equal_steps(low, high)


def labelled_ticks(low: float, high: float, *, most: int = TICKS_MAX) -> tuple[Tick, ...]:
    """The labelled places of an axis, in plain figures.

    Worked: 10 to 3000 -> 10, 20, 50 and so on to 2,000; 0.00001 is not written ``1e-05``.
    """
    labels = ((at, f"{at:,.12g}", f"{at:,.12f}".rstrip("0").rstrip(".")) for at in log_ticks(low, high, most))
    return tuple(Tick(at=at, label=long if "e" in short else short) for at, short, long in labels)


def _equal_steps(low: float, high: float) -> tuple[float, ...]:
    """The fewest multiples of a round step that are enough."""
    power = math.floor(math.log10(high - low))
    for place in (power, power - 1):
        for factor in reversed(_STEPS):
            step = factor * 10.0**place
            ticks = range(math.ceil(low / step), math.floor(high / step) + 1)
            if len(ticks) >= TICKS_MIN:
                return tuple(float(f"{at * step:.12g}") for at in ticks)
    return (low, high)


MINUTES = "Time (Minutes)"
SECONDS = "Time (Seconds)"
_SHORT_MINUTES = 3.0
_MINUTE_S = 60.0


def readable_time(figure: Figure) -> Figure:
    """A figure with its minutes as seconds if all of it lasts less than three minutes.

    Worked: samples up to 0.25 minutes -> an axis of seconds up to 15; any other axis is left as it is.
    """
    ends = [*(x for one in figure.series for x in one.x), *(figure.heat.x_edges if figure.heat else ())]
    if not figure.x_title.startswith(MINUTES) or not ends or max(ends) >= _SHORT_MINUTES:
        return figure
    heat = figure.heat
    return replace(
        figure,
        x_title=figure.x_title.replace(MINUTES, SECONDS),
        alt=figure.alt.replace(MINUTES.lower(), SECONDS.lower()),
        series=tuple(replace(one, x=tuple(x * _MINUTE_S for x in one.x)) for one in figure.series),
        span=(figure.span[0] * _MINUTE_S, figure.span[1] * _MINUTE_S) if figure.span else None,
        heat=replace(heat, x_edges=tuple(x * _MINUTE_S for x in heat.x_edges)) if heat else None,
    )


TIME_MS = "Response Time (ms)"
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
    series: list[Series] = []
    for index, (label, points, most) in enumerate(drawn):
        end = [] if most is None else [(float(last), max(most, _SMALLEST_MS))]
        series += Series.through([*points, *end], label, index, "lines"), Series.through(end, "", index, "markers")
    labelled = [MEDIAN, *(round(1 - 10.0**-count, count) for count in range(1, last))]
    return Figure(
        name=name,
        kind="lines",
        alt="Response times over percentiles, on logarithmic axes, from the median to the maximum",
        x_title="Percentile",
        y_title=TIME_MS,
        y_scale="log",
        ticks=(*(Tick(at=nines(share), label=nth(share)) for share in labelled), Tick(at=float(last), label="max")),
        series=tuple(series),
    )


def nines(share: float) -> float:
    """Where a percentile stands. Worked: 0.999 -> 3, the median -> 0.301."""
    return round(-math.log10(1 - share), 9)


def _points(times: ResponseTimes) -> list[Point]:
    """Nines and response time, in equal steps to where ten I/Os are slower."""
    end = nines(max(1 - 10 / times.io_count, MEDIAN))
    steps = max(math.ceil((end - nines(MEDIAN)) * _POINTS_PER_NINE), 1)
    places = (round(nines(MEDIAN) + (end - nines(MEDIAN)) * step / steps, 9) for step in range(steps + 1))
    # The percentile of a place is rounded down, so that ten I/Os are still beyond it.
    points = ((place, times.percentile(math.floor((1 - 10**-place) * 1e9 + 1e-3) / 1e9)) for place in places)
    # A log axis has no place for zero.
    return [(place, max(time, _SMALLEST_MS)) for place, time in points if time is not None]


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
        heat = self.figure.heat
        values = [value for row in heat.rows for value in row if value] if heat else self.figure.y_values
        positive = [value for value in values if value > 0]
        return bool(positive) and max(positive) / min(positive) >= FLAT_RATIO


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


def chosen(main_figures: Iterable[MainFigure], count: int = 2) -> tuple[MainFigure, ...]:
    """The figures of a summary: figures that vary first, then by kind, each of another kind while there are others.

    Worked: two matrices and a tail -> the first matrix and the tail; a flat curve and a rising tail -> tail, curve.
    """
    ordered = sorted(main_figures, key=lambda figure: (not figure.varies, FIGURE_KINDS.index(figure.kind)))
    first = {figure.kind: figure for figure in reversed(ordered)}
    return tuple(sorted(ordered, key=lambda figure: first[figure.kind] is not figure)[:count])


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
    series: list[Series] = []
    for label, minutes, values, colour in parts:
        points = [
            (minute / 60, value)
            for minute, value in zip(minutes, values, strict=True)
            if value is not None and (value > 0 or y_scale == "linear")
        ]
        series.append(Series.through(points, label, colour, mode))
    if not any(line.x for line in series):
        return None
    return Figure(
        name=name,
        kind="lines",
        alt=alt,
        x_title=HOURS,
        y_title=y_title,
        y_scale=y_scale,
        series=tuple(series),
        ticks=tuple(Tick(at=hour, label=f"{hour:.4g}") for hour in borders),
        x_range=(min(borders), max(borders)) if borders else None,
    )


def enlarged(figure: Figure, name: str, middle: float, reach: float) -> Figure:
    """Cut a figure to some time around a moment, in minutes before and after it.

    middle, reach : hours. A part that has no point there leaves the figure.
    """
    series = []
    for line in figure.series:
        points = [(x, y) for x, y in zip(line.x, line.y, strict=True) if middle - reach <= x <= middle + reach]
        if points:
            x = tuple((x - middle) * 60 for x, _ in points)
            series.append(replace(line, x=x, y=tuple(y for _, y in points)))
    return replace(
        figure,
        name=name,
        alt=f"{figure.alt}, around {middle:.4g} h",
        x_title=f"Minutes from {middle:.4g} h",
        series=tuple(series),
        ticks=(),
        x_range=(-reach * 60, reach * 60),
    )


COLUMNS_MAX = 150
ROWS_MAX = 60
_BINS_PER_DECADE = 10
_SAMPLES_MIN = 2


def time_heat(name: str, minutes: Sequence[float], times: Sequence[ResponseTimes], what: str = "") -> Figure | None:
    """Plot how many I/Os took how long over the minutes of a test; None without histograms or with one sample.

    minutes : at the end of each sample. times : the counts of each. what : is shown of several. A column is the sum of
    as many samples as keep the columns at 150 or fewer, never an average; the bins reach from the fastest I/O to the
    slowest.
    Worked: 1,440 samples of a minute -> 144 columns of ten.
    """
    if len(times) < _SAMPLES_MIN or len(times) != len(minutes) or not any(time.io_count for time in times):
        return None
    count = math.ceil(len(times) / COLUMNS_MAX)
    columns = [_counted(times[first : first + count]) for first in range(0, len(times), count)]
    bins = [number for column in columns for number in column]
    places = range(min(bins), max(bins) + 1)
    # Twice as coarse as often as it takes.
    width = 2 ** max(math.ceil(math.log2(len(places) / ROWS_MAX)), 0)
    first, last = places[0] // width, places[-1] // width
    ends = (*minutes[count - 1 :: count], *(minutes[-1:] if len(times) % count else ()))
    spans = duration_label(round(minutes[count - 1] * MINUTE_NS)) if len(columns) > 1 else "all samples"
    figure = Figure(
        name=name,
        kind="heat",
        alt="Number of I/Os by response time over the time of the test",
        x_title=f"{MINUTES}, a Column is {spans}{f'; {what}' if what else ''}",
        y_title=TIME_MS,
        y_scale="log",
        y_ticks=labelled_ticks(*(10 ** (edge * width / _BINS_PER_DECADE) for edge in (first, last + 1))),
        series=(),
        heat=Heat(
            x_edges=(0.0, *ends),
            y_edges=tuple(10 ** (number * width / _BINS_PER_DECADE) for number in range(first, last + 2)),
            rows=tuple(
                tuple(
                    float(sum(column.get(each, 0) for each in range(number * width, (number + 1) * width))) or None
                    for column in columns
                )
                for number in range(first, last + 1)
            ),
            colour_title="I/Os",
        ),
        aspect=1.85,
    )
    return readable_time(figure)


def spread_heat(name: str, labels: Sequence[str], times: Sequence[ResponseTimes]) -> Figure | None:
    """Plot which share of its I/Os each of several parts has in each tenth of a decade of response time, a row a part.

    labels, times : of each part, the first on top. None without an I/O. The rows of one figure are so compared in
    place and width, as the ridges of a ridgeline are, and a share of a thousandth still has a colour.
    Worked: of 1,000 I/Os 999 at 0.12 ms and one at 5 ms -> 99.9 % and 0.1 % in two fields of a row.
    """
    counted = [
        (label, _counted([time]), time.io_count) for label, time in zip(labels, times, strict=True) if time.io_count
    ]
    if not counted:
        return None
    counted.reverse()
    bins = [number for _, result, _ in counted for number in result]
    first, last = min(bins), max(bins)
    return Figure(
        name=name,
        kind="heat",
        alt="Share of the I/Os of each row by response time, as colours",
        x_title=TIME_MS,
        y_title="",
        x_scale="log",
        ticks=labelled_ticks(*(10 ** (edge / _BINS_PER_DECADE) for edge in (first, last + 1))),
        y_ticks=tuple(Tick(at=index + 0.5, label=label) for index, (label, _, _) in enumerate(counted)),
        series=(),
        heat=Heat(
            x_edges=tuple(10 ** (number / _BINS_PER_DECADE) for number in range(first, last + 2)),
            y_edges=tuple(map(float, range(len(counted) + 1))),
            rows=tuple(
                tuple(result[number] / count * 100 if number in result else None for number in range(first, last + 1))
                for _, result, count in counted
            ),
            colour_title="I/Os of the Row (%)",
        ),
        aspect=1.85,
    )


def matrix_heat(
    name: str,
    values: Sequence[Sequence[float | None]],
    texts: Sequence[Sequence[str]],
    *,
    columns: Sequence[str],
    rows: Sequence[str],
    titles: tuple[str, str, str],
) -> Figure | None:
    """Plot a matrix with its values in its fields; None without a value.

    values, texts : per row, lowest first. titles : of the columns' axis, of the rows' axis and of the values.
    """
    if not any(value for row in values for value in row):
        return None
    return Figure(
        name=name,
        kind="heat",
        alt=f"{titles[2]} by {titles[0]} and {titles[1]} as colours, with the numbers",
        x_title=titles[0],
        y_title=titles[1],
        ticks=tuple(Tick(at=index + 0.5, label=label) for index, label in enumerate(columns)),
        y_ticks=tuple(Tick(at=index + 0.5, label=label) for index, label in enumerate(rows)),
        series=(),
        heat=Heat(
            x_edges=tuple(map(float, range(len(columns) + 1))),
            y_edges=tuple(map(float, range(len(rows) + 1))),
            # A logarithmic scale has no colour for zero.
            rows=tuple(tuple(value or None for value in row) for row in values),
            texts=tuple(map(tuple, texts)),
            colour_title=titles[2],
        ),
    )


def _counted(parts: Sequence[ResponseTimes]) -> dict[int, int]:
    """How many I/Os fell into each bin of a tenth of a decade, by its number; 0 begins at 1 ms."""
    times = merged(parts)
    numbers = np.floor(np.log10(np.maximum(times.middles_ms, 1e-6)) * _BINS_PER_DECADE).astype(int)
    if not len(numbers):
        return {}
    begins = np.flatnonzero(np.diff(numbers, prepend=numbers[0] - 1))
    return dict(zip(numbers[begins].tolist(), np.add.reduceat(times.counts, begins).tolist(), strict=True))


# Average, the band around it and the fitted line.
WINDOW_COLOURS = (8, 1, 2)
# Width over height of a figure that has a box beside it.
NARROW_ASPECT = 1.3
US_BELOW_MS = 0.1
"""Below this average a box of response times is in microseconds."""


def verdict_figure(
    name: str, label: str, verdict: SteadyVerdict, y_title: str, minutes: Sequence[float] = ()
) -> Figure:
    """Plot the five values of a verdict with average, band and fit.

    minutes : when the values were taken, where these are samples over time and no rounds; the axis then names these.
    """
    rounds = tuple(float(index) for index in verdict.rounds)
    values = Series(label=label, x=rounds, y=verdict.values, colour=0, mode="markers")
    return Figure(
        name=name,
        kind="lines",
        alt=f"{label}: the five values that are judged, with average, band and fit",
        x_title=MINUTES if minutes else "Round",
        rounds=True,
        ticks=tuple(Tick(at=at, label=f"{minute:.4g}") for at, minute in zip(rounds, minutes, strict=bool(minutes))),
        y_title=y_title,
        series=(values, *window_lines(verdict, colours=WINDOW_COLOURS)),
        aspect=NARROW_ASPECT,
        room="box",
    )


def minutes_window(verdict: SteadyVerdict, minutes: Sequence[float]) -> str:
    """The window of samples over time. Worked: samples 2 to 6 of the rule -> ``"31-151 min, R = 2-6"``."""
    return f"{minutes[0]:.4g}-{minutes[-1]:.4g} min, R = {rounds_label(verdict.rounds)}"


def time_box(label: str, verdict: SteadyVerdict | None, rounds: str) -> Box:
    """A verdict on response times, in ms or, below a tenth of one, in us; five digits from the first that is not zero.

    Worked: an average of 0.002104873 ms -> ``"Average Latency (us)"``, ``"2.1049"``, and of it 20 % ``"0.42097"``.
    """
    if verdict is None:
        return verdict_box("Latency (ms)", label, None, str, rounds)
    # One digit more in the slope: four times it is the slope excursion, to the last digit.
    in_us = is_in_us(verdict)
    shown = _scaled(verdict, 1000) if in_us else verdict
    value, fit = partial(significant, digits=5), partial(significant, digits=6)
    return verdict_box(f"Latency ({'us' if in_us else 'ms'})", label, shown, value, rounds, fit=fit)


def is_in_us(verdict: SteadyVerdict) -> bool:
    """Whether a response time is told in us. Worked: an average of 0.096 ms is, one of 0.1 ms is not."""
    return 0 < verdict.average < US_BELOW_MS


def in_us(figure: Figure) -> Figure:
    """A figure of times in ms as one in us, beside a box in us. Worked: 0.096 -> 96, ``Time (ms)`` -> ``Time (us)``."""
    series = tuple(replace(one, y=tuple(1000 * y for y in one.y)) for one in figure.series)
    return replace(figure, y_title=figure.y_title.replace("(ms)", "(us)"), series=series)


def verdict_box(
    noun: str,
    label: str,
    verdict: SteadyVerdict | None,
    text: Callable[[float], str],
    rounds: str,
    *,
    fit: Callable[[float], str] = "{:z,.3f}".format,
) -> Box:
    """Lay out the Steady State Determination Data; n/a where there is no verdict.

    noun, label : what is tracked. text : prints a value. rounds : of the window, or why there is none. fit : prints the
    numbers of the fitted line.
    """
    figures = (
        (f"Average {noun}", verdict and text(verdict.average)),
        ("Allowed Maximum Data Excursion", verdict and text(verdict.excursion_allowed)),
        ("Measured Maximum Data Excursion", verdict and text(verdict.excursion_measured)),
        ("Allowed Maximum Slope Excursion", verdict and text(verdict.slope_allowed)),
        ("Measured Maximum Slope Excursion", verdict and text(verdict.slope_measured)),
        ("Least Squares Linear Fit Formula", verdict and fit_formula(verdict, fit)),
    )
    entries = (
        ("Tracking Variable", f"{noun}, {label}"),
        ("Measurement Window", rounds),
        *((name, figure or NOT_AVAILABLE) for name, figure in figures),
        ("Steady", ("YES" if verdict.steady else "NO") if verdict else NOT_AVAILABLE),
    )
    levels: tuple[tuple[str, Level], ...] = (("Steady", "good" if verdict and verdict.steady else "bad"),)
    return Box(title="Steady State Determination Data", entries=entries, levels=levels)


def _scaled(verdict: SteadyVerdict, factor: float) -> SteadyVerdict:
    return replace(
        verdict,
        average=verdict.average * factor,
        excursion_allowed=verdict.excursion_allowed * factor,
        excursion_measured=verdict.excursion_measured * factor,
        slope_allowed=verdict.slope_allowed * factor,
        slope_measured=verdict.slope_measured * factor,
        slope=verdict.slope * factor,
        intercept=verdict.intercept * factor,
    )


def window_lines(verdict: SteadyVerdict, *, colours: tuple[int, int, int]) -> list[Series]:
    """Average, the allowed band around it, the least squares fit and how steep it may be, over a measurement window.

    The steepest lines that are allowed cross the average in the middle of the window and end half the allowed slope
    excursion above and below it. A fit in the colour of the average is dashed. Worked: an average of 3147 and 10 % ->
    from 2989.65 to 3304.35, and back.
    """
    ends = (float(verdict.rounds[0]), float(verdict.rounds[-1]))
    average, band, fit = colours
    fitted = tuple(verdict.slope * end + verdict.intercept for end in ends)
    half = verdict.excursion_allowed / 2
    low, high = (verdict.average - verdict.slope_allowed / 2, verdict.average + verdict.slope_allowed / 2)
    share = 100 * half / verdict.average if verdict.average else 0.0
    return [
        _line(f"{100 + share:.4g} % * Average", ends, (verdict.average + half,) * 2, band, "dot"),
        _line("Average", ends, (verdict.average,) * 2, average, "solid"),
        _line(f"{100 - share:.4g} % * Average", ends, (verdict.average - half,) * 2, band, "dot"),
        _line("Least Squares Fit", ends, fitted, fit, "dashdot" if fit == average else "solid"),
        _line("Allowed Slope Excursion", ends, (low, high), average, "dash"),
        _line("", ends, (high, low), average, "dash"),
    ]


def _line(label: str, x: tuple[float, ...], y: tuple[float, ...], colour: int, dash: Dash) -> Series:
    return Series(label=label, x=x, y=y, colour=colour, mode="lines", dash=dash)
