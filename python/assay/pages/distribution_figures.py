"""Curves of response times as data: the share of I/Os that were slower, which is the distribution from its far end."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from assay.pages.histogram_figures import TIME_MS
from assay.pages.model import Figure, Series, Tick

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.results import ResponseTimes

_POINTS_PER_DECADE = 10
_FIRST_SHARES = (0.01, 0.1)
_SMALLEST_MS = 1e-6
Point = tuple[float, float]


def exceedance_figure(name: str, curves: Sequence[tuple[str, ResponseTimes]]) -> Figure | None:
    """Plot the share of I/Os that were slower over the response time, both logarithmic, down to ten I/Os.

    The axis names the percentile too: what 1 % of I/Os exceed, 99 % do not.
    None without an I/O. Worked: of 100,000 I/Os the curve ends at 0.01 %.
    """
    drawn = [(label, _points(times)) for label, times in curves if times.io_count]
    if not drawn:
        return None
    lowest = min((slower for _, points in drawn for _, slower in points), default=100.0)
    return Figure(
        name=name,
        kind="lines",
        alt="Percentage of I/Os that were slower than a response time, on logarithmic axes, down to ten I/Os",
        x_title=TIME_MS,
        y_title="I/Os That Were Slower: % (Percentile)",
        x_scale="log",
        y_scale="log",
        y_ticks=tuple(_slower_tick(power) for power in range(math.floor(2 - math.log10(lowest)) + 1)),
        series=tuple(Series.through(points, label, place, "lines") for place, (label, points) in enumerate(drawn)),
    )


def _points(times: ResponseTimes) -> list[Point]:
    """Response time and percentage of slower I/Os, in equal steps of a logarithm to where ten are slower."""
    decades = math.log10(max(times.io_count / 10, 1))
    steps = math.ceil(decades * _POINTS_PER_DECADE)
    falling = (round(1 - 10 ** (-decades * step / steps), 9) for step in range(1, steps + 1))
    found = ((times.percentile(share), share) for share in (*_FIRST_SHARES, *falling))
    # A log axis has no place for zero.
    return [(max(time, _SMALLEST_MS), (1 - share) * 100) for time, share in found if time is not None]


def _slower_tick(power: int) -> Tick:
    """The label of so many nines. Worked: 2 -> ``"1 (99)"``."""
    slower = 10.0 ** (2 - power)
    return Tick(at=slower, label=f"{_plain(slower)} ({100 - slower:.10g})" if power else "100")


def _plain(value: float) -> str:
    """Worked: 1e-05 -> ``0.00001``."""
    return f"{value:.10f}".rstrip("0").rstrip(".")
