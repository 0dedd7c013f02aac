"""The Steady State Determination Data: every number of a five-point verdict as printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.report.page import Box
from assay.report.printed import NOT_AVAILABLE, fit_formula

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.records import SteadyVerdict


def determination_box(
    noun: str, label: str, rounds: str, verdict: SteadyVerdict | None, text: Callable[[float], str]
) -> Box:
    """Lay out the box; n/a where no number may be printed.

    noun : of the variable. label : what is tracked. rounds : the window, or why there is none. text : prints a value.
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
