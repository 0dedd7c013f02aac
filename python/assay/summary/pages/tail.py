"""The tail of response times as data: percentiles from the median on, and behind them the maximum."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from assay.summary.pages.histogram_figures import TIME_MS
from assay.summary.pages.model import Figure, Series, Tick
from assay.words.digits import nth

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.results import ResponseTimes

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
    result = [
        _curve(label, [*points, *_end(most, last)], index, last) for index, (label, points, most) in enumerate(drawn)
    ]
    return Figure(
        name=name,
        kind="lines",
        alt="Response times over percentiles, on logarithmic axes, from the median to the maximum",
        x_title="Percentile",
        y_title=TIME_MS,
        y_scale="log",
        ticks=(*(Tick(at=nines(share), label=nth(share)) for share in _named(last)), _maximum(last)),
        series=tuple(series for pair in result for series in pair),
    )


def nines(share: float) -> float:
    """Where a percentile stands. Worked: 0.999 -> 3, the median -> 0.301."""
    return round(-math.log10(1 - share), 9)


def _named(last: int) -> list[float]:
    """The percentiles that are labelled: the median, and every nine before the maximum."""
    return [MEDIAN, *(round(1 - 10.0**-count, count) for count in range(1, last))]


def _maximum(last: int) -> Tick:
    return Tick(at=float(last), label="max")


def _points(times: ResponseTimes) -> list[Point]:
    """Nines and response time, in equal steps to where ten I/Os are slower."""
    end = nines(max(1 - 10 / times.io_count, MEDIAN))
    steps = max(math.ceil((end - nines(MEDIAN)) * _POINTS_PER_NINE), 1)
    places = (round(nines(MEDIAN) + (end - nines(MEDIAN)) * step / steps, 9) for step in range(steps + 1))
    points = ((place, times.percentile(_share(place))) for place in places)
    # A log axis has no place for zero.
    return [(place, max(time, _SMALLEST_MS)) for place, time in points if time is not None]


def _share(place: float) -> float:
    """The percentile of a place, rounded down, so that ten I/Os are still beyond it. Worked: 3 -> 0.999."""
    return math.floor((1 - 10**-place) * 1e9 + 1e-3) / 1e9


def _end(most: float | None, last: int) -> list[Point]:
    return [] if most is None else [(float(last), max(most, _SMALLEST_MS))]


def _curve(label: str, points: list[Point], index: int, last: int) -> tuple[Series, Series]:
    """A curve, and its maximum as a point."""
    line = Series.through(points, label, index, "lines")
    return line, Series.through([point for point in points if point[0] == last], "", index, "markers")
