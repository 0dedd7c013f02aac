"""A five-point verdict as a plot and as a box of determination data."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.summary.pages.axes import MINUTES
from assay.summary.pages.model import Box, Figure, Series, Tick
from assay.words.printed import NOT_AVAILABLE, fit_formula, rounds_label, significant

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from assay.engine.records import SteadyVerdict
    from assay.summary.pages.model import Dash

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
        narrow=True,
    )


def minutes_window(verdict: SteadyVerdict, minutes: Sequence[float]) -> str:
    """The window of samples over time. Worked: samples 2 to 6 of the rule -> ``"31-151 min, R = 2-6"``."""
    return f"{minutes[0]:.4g}-{minutes[-1]:.4g} min, R = {rounds_label(verdict.rounds)}"


def time_box(label: str, verdict: SteadyVerdict | None, rounds: str) -> Box:
    """The same of a response time, in ms or, below a tenth of one, in us; five digits from the first that is not zero.

    Worked: an average of 0.002104873 ms -> ``"Average Latency (us)"``, ``"2.1049"``, and of it 20 % ``"0.42097"``.
    """
    if verdict is None:
        return verdict_box("Latency (ms)", label, None, _time_text, rounds)
    # One digit more in the slope: four times it is the slope excursion, to the last digit.
    in_us = is_in_us(verdict)
    shown = _scaled(verdict, 1000) if in_us else verdict
    return verdict_box(f"Latency ({'us' if in_us else 'ms'})", label, shown, _time_text, rounds, fit=_fit_text)


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
    return Box(title="Steady State Determination Data", entries=entries)


def _time_text(value: float) -> str:
    return significant(value, digits=5)


def _fit_text(value: float) -> str:
    return significant(value, digits=6)


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
