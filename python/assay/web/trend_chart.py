"""The chart of a history."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.compare.trend import share_text
from assay.report.drawing.frame import days_since, time_ticks
from assay.report.drawing.trend import INK, TrendChart, TrendDot, TrendLevel, TrendMark
from assay.summary.pages.model import Tick
from assay.web.trend_view import group_names, interval_of, value_text
from assay.words.printed import utc
from assay.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.archive.index.history import HistoryPoint
    from assay.web.trend_view import TrendSeries, TrendView

TICKS_MAX = 8


def chart_of(view: TrendView, prefix: str) -> TrendChart:
    """A view as a chart. prefix : before the addresses of runs. The view has a run at least."""
    positions = _by_order(view) if view.grouping == "firmware" else _by_time(view)
    return TrendChart(
        x_title="Runs by firmware, then time" if view.grouping == "firmware" else "Time (UTC)",
        y_title=view.metric.unit,
        groups=view.labels,
        dots=tuple(dot for series in view.series for dot in _dots(view, series, positions, prefix)),
        levels=tuple(level for series in view.series for level in _levels(view, series, positions)),
        marks=tuple(mark for series in view.series for mark in _marks(series, positions)),
        ticks=_ticks(view, positions),
        baseline=view.baseline.value if view.baseline else None,
    )


def _by_time(view: TrendView) -> dict[str, float]:
    """Where each run is, in days since the first."""
    first_ns = min(point.time_ns for series in view.series for point in series.points)
    return {point.address: days_since(point.time_ns, first_ns) for series in view.series for point in series.points}


def _by_order(view: TrendView) -> dict[str, float]:
    return {point.address: float(number) for number, point in enumerate(view.series[0].points)}


def _ticks(view: TrendView, positions: dict[str, float]) -> tuple[Tick, ...]:
    """Dates; by firmware, each where its runs begin."""
    points = [point for series in view.series for point in series.points]
    if view.grouping != "firmware":
        times = [point.time_ns for point in points]
        return time_ticks(min(times), max(times), TICKS_MAX)
    starts: dict[str, float] = {}
    for point in points:
        starts.setdefault(_label(view, point), positions[point.address])
    return tuple(Tick(at=at, label=label) for label, at in starts.items())


def _label(view: TrendView, point: HistoryPoint) -> str:
    return group_names(point, view.grouping)[0]


def _group(view: TrendView, series: TrendSeries, point: HistoryPoint) -> int:
    """The index of the colour and marker of a dot."""
    return view.labels.index(series.name or _label(view, point))


def _dots(view: TrendView, series: TrendSeries, positions: dict[str, float], prefix: str) -> Iterator[TrendDot]:
    for point in series.points:
        low, high = interval_of(point) or (None, None)
        yield TrendDot(
            x=positions[point.address],
            y=point.value,
            low=low,
            high=high,
            group=_group(view, series, point),
            address=f"{prefix}/runs/{point.address}",
            title=f"{visible(point.name)}, {utc(point.time_ns)}: {value_text(point.value)} {view.metric.unit}",
        )


def _levels(view: TrendView, series: TrendSeries, positions: dict[str, float]) -> Iterator[TrendLevel]:
    for level in series.trend.levels:
        first, last = series.points[level.first], series.points[level.last]
        yield TrendLevel(
            x_first=positions[first.address],
            x_last=positions[last.address],
            y=level.value,
            group=_group(view, series, first) if series.name else INK,
        )


def _marks(series: TrendSeries, positions: dict[str, float]) -> Iterator[TrendMark]:
    for judged in series.changes:
        pair = series.points[judged.change.index - 1 : judged.change.index + 1]
        yield TrendMark(
            x=sum(positions[point.address] for point in pair) / len(pair),
            number=judged.number,
            label=f"{judged.number}: {share_text(judged.change.size)}",
            verdict=judged.verdict,
        )
