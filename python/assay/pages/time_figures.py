"""Plots over the time of a test, one line or cloud of points per part of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.pages.model import Figure, Series

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from assay.pages.model import Mode, Scale

HOURS = "Time (Hours)"
Part = tuple[str, "Sequence[float]", "Sequence[float | None]", int]


def time_figure(
    name: str, parts: Iterable[Part], *, alt: str, y_title: str, y_scale: Scale = "linear", mode: Mode = "lines"
) -> Figure | None:
    """Plot parts of a test over its hours; None where nothing was measured.

    parts : label, minutes since the beginning, values, colour. A value of None is left out, and zero on a log axis.
    """
    series = tuple(_series(part, y_scale, mode) for part in parts)
    if not any(one.x for one in series):
        return None
    return Figure(name=name, kind="lines", alt=alt, x_title=HOURS, y_title=y_title, y_scale=y_scale, series=series)


def _series(part: Part, scale: Scale, mode: Mode) -> Series:
    label, minutes, values, colour = part
    points = [
        (minute / 60, value)
        for minute, value in zip(minutes, values, strict=True)
        if value is not None and (value > 0 or scale == "linear")
    ]
    return Series(
        label=label if points else f"{label} n/a" if label else "",
        x=tuple(x for x, _ in points),
        y=tuple(y for _, y in points),
        colour=colour,
        mode=mode,
    )
