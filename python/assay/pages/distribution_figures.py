"""Curves of response times as data: the share of I/Os that were no slower, and the share that were slower."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from assay.pages.histogram_figures import TIME_MS
from assay.pages.model import Figure, Series, Tick

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from assay.results import ResponseTimes

ASPECT = 1.25
_POINTS_PER_DECADE = 8
_DECADES_MAX = 2
_SMALLEST_MS = 1e-6
Curve = tuple[str, "ResponseTimes"]


def cumulative_figure(name: str, curves: Sequence[Curve]) -> Figure:
    """Plot the percentage of I/Os that were no slower over the response time, by whole percents to 99 %."""
    shares = [step / 100 for step in range(1, 100)]
    drawn = [(label, _points(times, shares)) for label, times in curves]
    return Figure(
        name=name,
        kind="lines",
        alt="Percentage of I/Os that were no slower than a response time, one curve per row of the table",
        x_title=TIME_MS,
        y_title="I/Os no Slower (%)",
        x_scale="log",
        ticks=_time_ticks(drawn),
        series=tuple(
            _series(label, place, [(time, share * 100) for time, share in points])
            for place, (label, points) in enumerate(drawn)
        ),
        aspect=ASPECT,
        beside=True,
    )


def exceedance_figure(name: str, curves: Sequence[Curve]) -> Figure:
    """Plot the share of I/Os that were slower over the response time, both logarithmic, down to ten I/Os.

    Worked: of 100,000 I/Os the curve ends at 0.01 %.
    """
    drawn = [(label, _points(times, _falling(times.io_count))) for label, times in curves]
    lowest = min((1 - share for _, points in drawn for _, share in points), default=1.0)
    last = math.ceil(-math.log10(lowest))
    return Figure(
        name=name,
        kind="lines",
        alt="Percentage of I/Os that were slower than a response time, on logarithmic axes, one curve per row of the "
        "table, down to ten I/Os",
        x_title=TIME_MS,
        y_title="I/Os Slower (%)",
        x_scale="log",
        y_scale="log",
        ticks=_time_ticks(drawn),
        y_ticks=tuple(Tick(at=10.0 ** (2 - power), label=f"{10.0 ** (2 - power):g}") for power in range(last + 1)),
        series=tuple(
            _series(label, place, [(time, (1 - share) * 100) for time, share in points])
            for place, (label, points) in enumerate(drawn)
        ),
        aspect=ASPECT,
        beside=True,
    )


def _falling(io_count: int) -> list[float]:
    """Shares of which ever fewer I/Os are slower, in equal steps of a logarithm, to where ten are."""
    decades = math.log10(max(io_count / 10, 1))
    steps = max(math.ceil(decades * _POINTS_PER_DECADE), 1)
    return [round(1 - 10 ** (-decades * step / steps), 9) for step in range(1, steps + 1)]


def _points(times: ResponseTimes, shares: Iterable[float]) -> list[tuple[float, float]]:
    found = ((times.percentile(share), share) for share in shares)
    # A log axis has no place for zero.
    return [(max(time, _SMALLEST_MS), share) for time, share in found if time is not None]


def _series(label: str, place: int, points: Sequence[tuple[float, float]]) -> Series:
    return Series(
        label=label if points else f"{label} n/a",
        x=tuple(x for x, _ in points),
        y=tuple(y for _, y in points),
        colour=place,
        mode="lines",
    )


def _time_ticks(drawn: Sequence[tuple[str, Sequence[tuple[float, float]]]]) -> tuple[Tick, ...]:
    """Labels at whole decades where a finer step would put them over each other; else left to the renderer."""
    found = [time for _, points in drawn for time, _ in points]
    if not found:
        return ()
    first, last = math.floor(math.log10(min(found))), math.ceil(math.log10(max(found)))
    if last - first <= _DECADES_MAX:
        return ()
    return tuple(Tick(at=10.0**power, label=f"{10.0**power:g}") for power in range(first, last + 1))
