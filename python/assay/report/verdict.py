"""A five-point verdict as a plot and as a box of determination data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.report.page import Box, Figure, Series
from assay.report.printed import NOT_AVAILABLE, fit_formula

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.records import SteadyVerdict
    from assay.report.page import Dash

# Average, the band around it and the fitted line.
WINDOW_COLOURS = (8, 1, 2)
# Width over height of a figure that has a box beside it.
NARROW_ASPECT = 1.3


def verdict_figure(name: str, label: str, verdict: SteadyVerdict, y_title: str) -> Figure:
    """Plot the five values of a verdict with average, band and fit."""
    rounds = tuple(float(index) for index in verdict.rounds)
    values = Series(label=label, x=rounds, y=verdict.values, colour=0, mode="markers")
    return Figure(
        name=name,
        kind="lines",
        alt=f"{label} in the rounds of the measurement window, with average, band and fit",
        x_title="Round",
        rounds=True,
        y_title=y_title,
        series=(values, *window_lines(verdict, colours=WINDOW_COLOURS)),
        aspect=NARROW_ASPECT,
        narrow=True,
    )


def verdict_box(noun: str, label: str, verdict: SteadyVerdict | None, text: Callable[[float], str], rounds: str) -> Box:
    """Lay out the Steady State Determination Data; n/a where there is no verdict.

    noun, label : what is tracked. text : prints a value. rounds : of the window, or why there is none.
    """
    figures = (
        (f"Average {noun}", verdict and text(verdict.average)),
        ("Allowed Maximum Data Excursion", verdict and text(verdict.excursion_allowed)),
        ("Measured Maximum Data Excursion", verdict and text(verdict.excursion_measured)),
        ("Allowed Maximum Slope Excursion", verdict and text(verdict.slope_allowed)),
        ("Measured Maximum Slope Excursion", verdict and text(verdict.slope_measured)),
        ("Least Squares Linear Fit Formula", verdict and fit_formula(verdict)),
    )
    entries = (
        ("Tracking Variable", f"{noun}, {label}"),
        ("Measurement Window", rounds),
        *((name, figure or NOT_AVAILABLE) for name, figure in figures),
        ("Steady", ("YES" if verdict.steady else "NO") if verdict else NOT_AVAILABLE),
    )
    return Box(title="Steady State Determination Data", entries=entries)


def window_lines(verdict: SteadyVerdict, *, colours: tuple[int, int, int]) -> list[Series]:
    """Average, the band of 10 % around it and the least squares fit over a measurement window."""
    ends = (float(verdict.rounds[0]), float(verdict.rounds[-1]))
    average, band, fit = colours
    fitted = tuple(verdict.slope * end + verdict.intercept for end in ends)
    return [
        _line("110 % * Average", ends, (verdict.average * 1.1,) * 2, band, "dot"),
        _line("Average", ends, (verdict.average,) * 2, average, "solid"),
        _line("90 % * Average", ends, (verdict.average * 0.9,) * 2, band, "dot"),
        _line("Least Squares Fit", ends, fitted, fit, "dash"),
    ]


def _line(label: str, x: tuple[float, ...], y: tuple[float, ...], colour: int, dash: Dash) -> Series:
    return Series(label=label, x=x, y=y, colour=colour, mode="lines", dash=dash)
