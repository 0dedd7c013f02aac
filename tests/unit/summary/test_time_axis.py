"""Seconds instead of a quarter of a minute, on axes of every kind of figure."""

from __future__ import annotations

from assay.summary.pages.figures import MINUTES, SECONDS, readable_time
from assay.summary.pages.model import Figure, Heat, Series


def lines(last: float, title: str = MINUTES) -> Figure:
    series = Series(label="", x=(0.1, last), y=(1.0, 2.0), colour=0)
    alt = f"IOPS over {title.lower()}"
    return Figure(name="f", kind="lines", alt=alt, x_title=title, y_title="IOPS", series=(series,))


def test_less_than_three_minutes_are_drawn_in_seconds() -> None:
    short = readable_time(lines(0.25))
    assert short.x_title == SECONDS
    assert short.alt == "IOPS over time (seconds)"
    assert short.series[0].x == (6.0, 15.0)
    assert readable_time(lines(3.0)) == lines(3.0)


def test_other_axes_are_left_as_they_are() -> None:
    assert readable_time(lines(0.25, "Total Gigabytes Written (GB)")) == lines(0.25, "Total Gigabytes Written (GB)")


def test_the_columns_of_a_map_move_with_its_axis() -> None:
    heat = Heat(x_edges=(0.0, 0.5, 1.0), y_edges=(1.0, 10.0), rows=((1.0, 2.0),), colour_title="I/Os")
    title = f"{MINUTES}, a Column is 30 s"
    found = readable_time(Figure(name="f", kind="heat", alt="", x_title=title, y_title="", series=(), heat=heat))
    assert found.x_title == f"{SECONDS}, a Column is 30 s"
    assert found.heat is not None
    assert found.heat.x_edges == (0.0, 30.0, 60.0)
