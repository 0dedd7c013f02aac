"""The one rule for axes: where they begin, what they span, and when they are logarithmic; on paper and screen alike."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from assay.report.formats.pdf import figure_svg
from assay.summary.pages.model import CUT_NOTE, Figure, Series, Tick, linear_range


def drawn(*values: float, **changes: Any) -> Figure:
    line = Series(label="line", x=tuple(float(place) for place in range(1, len(values) + 1)), y=values, colour=0)
    return Figure(
        **{"name": "f", "kind": "lines", "alt": "", "x_title": "x", "y_title": "IOPS", "series": (line,), **changes}
    )


@pytest.mark.parametrize(
    ("values", "begins", "ends"),
    [
        ((40.0, 100.0), 0.0, 106.0),
        ((98.0, 100.0), 93.4, 104.6),
        ((90.0, 100.0), 89.4, 100.6),
        ((100.0, 100.0), 0.0, 106.0),
        ((99.9, 100.0), 0.0, 106.0),
        ((99.5, 100.0), 94.15, 105.35),
    ],
)
def test_an_axis_begins_at_zero_or_is_cut_says_so_and_spans_a_tenth(
    values: tuple[float, ...], begins: float, ends: float
) -> None:
    figure = drawn(*values)
    assert figure.y_range == pytest.approx((begins, ends))
    assert (CUT_NOTE in figure.y_label) == (begins > 0)
    assert (CUT_NOTE.encode() in figure_svg(figure)) == (begins > 0)


def test_a_value_below_zero_is_inside_the_axis() -> None:
    assert linear_range([-5.0, 10.0], cut=False)[0] == -5.0


@pytest.mark.parametrize(
    ("values", "changes", "scale"),
    [
        ((9.0, 11.0, 16.0), {}, "linear"),
        ((1.0, 7.9), {}, "linear"),
        ((1.0, 8.0), {}, "log"),
        ((3.0, 5.0), {"log_named": True}, "log"),
        ((3.0, 5.0), {"y_ticks": (Tick(at=3.0, label="3"), Tick(at=5.0, label="5"))}, "log"),
    ],
)
def test_an_axis_is_logarithmic_from_nearly_a_decade_on(
    values: tuple[float, ...], changes: dict[str, Any], scale: str
) -> None:
    figure = drawn(*values, y_scale="log", **changes)
    assert figure.y_drawn_scale == scale


def test_a_cut_axis_of_rates_says_so_along_the_page_too() -> None:
    figure = drawn(1.0, 2.0, x_title="IOPS", x_range=(90.0, 110.0))
    assert figure.x_label == f"IOPS ({CUT_NOTE})"
    assert re.search(rb"IOPS \(axis does not begin at 0\)", figure_svg(figure))
    assert replace(figure, x_title="Time (Hours)").x_label == "Time (Hours)"
