"""Plots over the time of a test, one line or cloud of points per part of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.summary.pages.model import Figure, Series, Tick

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from assay.summary.pages.model import Mode, Scale

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
