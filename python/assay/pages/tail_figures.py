"""The tail of response times as data: percentiles from the median to the slowest I/O, upwards."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from assay.pages.histogram_figures import TIME_MS
from assay.pages.main_figure import MainFigure
from assay.pages.model import Figure, Series, Tick
from assay.results import percentiles
from assay.summary.digits import nth

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.pages.distribution import Part
    from assay.results import ResponseTimes

SHARES = (0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999)
"""Percentiles of a tail; behind them stands the slowest I/O."""
_LARGEST = "max"


class Tail(NamedTuple):
    """One curve. times : in ms by share; None where fewer than ten I/Os lie beyond. largest : of all I/Os."""

    label: str
    times: Mapping[float, float | None]
    largest: float | None


def tail_of(label: str, times: ResponseTimes | None, largest: float | None) -> Tail:
    """The curve of counted response times."""
    return Tail(label, percentiles(times, SHARES) if times else {}, largest)


def tail_of_part(label: str, part: Part) -> Tail:
    """The curve of a cell, sample or stage."""
    return tail_of(label, part.times, part.latency_ms_max)


def tail_figure(name: str, tails: Sequence[Tail]) -> Figure | None:
    """Plot p50 to p99.999 and the slowest I/O of each curve, times logarithmic; None without one that has any.

    A percentile that no curve has is left out; the slowest I/O never is.
    Worked: 1,000 I/Os have p50, p90, p99 and the slowest, four points.
    """
    drawn = [(one.label, found) for one in tails if (found := _points(one))]
    names = [one for one in (*map(nth, SHARES), _LARGEST) if any(one in found for _, found in drawn)]
    if not drawn:
        return None
    return Figure(
        name=name,
        kind="lines",
        alt="Response time by percentile, from the median to the slowest I/O, on a logarithmic axis",
        x_title="Percentile of the I/Os",
        y_title=TIME_MS,
        y_scale="log",
        ticks=tuple(Tick(at=float(place), label=one) for place, one in enumerate(names)),
        series=tuple(_series(label, found, names, place) for place, (label, found) in enumerate(drawn)),
    )


def main_tail(name: str, tails: Sequence[Tail], note: str, title: str = "Response times") -> tuple[MainFigure, ...]:
    """The same as a figure of a test's page; none without a curve. note : what they are of."""
    figure = tail_figure(name, tails)
    return (MainFigure(kind="tail", title=title, note=note, figure=figure),) if figure else ()


def _series(label: str, found: Mapping[str, float], names: Sequence[str], place: int) -> Series:
    points = [(float(names.index(one)), value) for one, value in found.items()]
    return Series.through(points, label, place)


def _points(one: Tail) -> dict[str, float]:
    """Times above zero by the name of their percentile."""
    values = {**{nth(share): one.times.get(share) for share in SHARES}, _LARGEST: one.largest}
    return {name: value for name, value in values.items() if value}
