"""A history as a page and the API show it: grouped, judged, with the difference of each run from the baseline."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Literal, get_args

from assay.compare.trend import Change, TrendPoint, change_text, mean_interval, share_text, trend_of
from assay.spec.units import count_label
from assay.words.printed import significant
from assay.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from assay.archive.index.history import HistoryPoint, Metric
    from assay.compare.trend import Trend
    from assay.summary.record import Level

Grouping = Literal["time", "firmware", "host", "tag"]
"""``time``, ``firmware`` : all runs are a series, in order of time, or of firmware and then of time.

``host``, ``tag`` : the runs of each are a series."""
GROUPINGS: tuple[Grouping, ...] = get_args(Grouping)
GROUPS_MAX = 9
"""As many as have a colour and a marker of their own."""
_NONE = {"firmware": "no firmware reported", "host": "unknown host", "tag": "no tag"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A change in words. verdict : whether the drive is better or worse after it."""

    change: Change
    number: int
    text: str
    verdict: Level
    outcome: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendSeries:
    """Runs that are judged together. name : of the group, empty where all runs are one series."""

    name: str
    points: tuple[HistoryPoint, ...]
    trend: Trend
    changes: tuple[Judged, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendView:
    """What is shown. baseline : the run that others are held against; None without any run.

    labels : of the dots, in the order of their colours. left_out : groups beyond those that can be told apart.
    """

    metric: Metric
    grouping: Grouping
    series: tuple[TrendSeries, ...]
    baseline: HistoryPoint | None
    labels: tuple[str, ...]
    left_out: tuple[str, ...] = ()

    @property
    def run_count(self) -> int:
        """Different runs of all series."""
        return len({point.address for series in self.series for point in series.points})

    def from_baseline(self, point: HistoryPoint) -> float | None:
        """The difference of a run from the baseline, as a share; None where the baseline is zero or below.

        Worked: 90 against 100 -> -0.1.
        """
        base = self.baseline
        return point.value / base.value - 1 if base and base.value > 0 else None


def view_of(metric: Metric, points: Sequence[HistoryPoint], grouping: Grouping, baseline: str = "") -> TrendView:
    """Group and judge a history. points : the oldest first. baseline : address of a run; else the first run.

    Worked: 8 runs of two firmwares grouped by ``host`` of one host -> a series of 8 runs.
    """
    groups = _groups(points, grouping)
    joined = grouping in {"time", "firmware"}
    shown = groups if joined else _largest(groups)
    parts = {"": [point for name in groups for point in groups[name]]} if joined else shown
    numbers = count(1)
    series = tuple(_judged(name, part, metric, len(parts), numbers) for name, part in parts.items())
    first = series[0].points[0] if series and series[0].points else None
    return TrendView(
        metric=metric,
        grouping=grouping,
        series=series,
        baseline=next((point for point in points if point.address == baseline), first),
        labels=tuple(shown),
        left_out=tuple(name for name in groups if name not in shown),
    )


def verdict_of(size: float, better: str) -> tuple[Level, str]:
    """Whether a change is for the better, as a level and a word. Worked: -0.1 of a rate -> ``("bad", "worse")``."""
    if better not in {"higher", "lower"}:
        return "unknown", ""
    return ("good", "better") if (size > 0) == (better == "higher") else ("bad", "worse")


def summary_text(series: TrendSeries) -> str:
    """What a series shows, in a sentence. Worked: 12 runs without a change -> ``"No significant change"``."""
    if series.trend.reason:
        return f"Not judged: {series.trend.reason}."
    if not series.changes:
        return f"No significant change in {len(series.points)} runs."
    return f"{count_label(len(series.changes), 'change')} in {len(series.points)} runs."


def interval_of(point: HistoryPoint) -> tuple[float, float] | None:
    """The 95 % interval of the mean over the rounds of a run, None with fewer than two."""
    return mean_interval(point.rounds)


def value_text(value: float) -> str:
    """A value with four digits at least. Worked: 32912.81 -> ``"32,913"``, 12.3456 -> ``"12.35"``."""
    return significant(value, decimals=0)


def difference_text(share: float | None) -> str:
    """A difference from the baseline. Worked: -0.1 -> ``"-10.0 %"``; None -> ``""``."""
    return "" if share is None else share_text(share)


def group_names(point: HistoryPoint, grouping: Grouping) -> tuple[str, ...]:
    """The groups of a run, safe to show; a run with several tags is in several.

    Worked: by ``time`` -> ``("Runs",)``; by ``firmware`` without a firmware -> ``("no firmware reported",)``.
    """
    return tuple(dict.fromkeys(map(visible, _NAMES[grouping](point))))


def _groups(points: Iterable[HistoryPoint], grouping: Grouping) -> dict[str, list[HistoryPoint]]:
    """The runs of each group, groups in the order of their first run."""
    groups: dict[str, list[HistoryPoint]] = {}
    for point in points:
        for name in group_names(point, grouping):
            groups.setdefault(name, []).append(point)
    return groups


_NAMES: dict[Grouping, Callable[[HistoryPoint], Iterable[str]]] = {
    "time": lambda _: ("Runs",),
    "firmware": lambda point: (point.firmware or _NONE["firmware"],),
    "host": lambda point: (point.host or _NONE["host"],),
    "tag": lambda point: point.tags or (_NONE["tag"],),
}


def _largest(groups: dict[str, list[HistoryPoint]]) -> dict[str, list[HistoryPoint]]:
    """The groups with the most runs, in their order."""
    kept = sorted(groups, key=lambda name: -len(groups[name]))[:GROUPS_MAX]
    return {name: points for name, points in groups.items() if name in kept}


def _judged(
    name: str, points: Sequence[HistoryPoint], metric: Metric, series_count: int, numbers: Iterator[int]
) -> TrendSeries:
    trend = trend_of(
        [TrendPoint(time_ns=point.time_ns, value=point.value, label=visible(point.firmware)) for point in points],
        series_count=series_count,
    )
    changes = tuple(_in_words(change, next(numbers), metric) for change in trend.changes)
    return TrendSeries(name=name, points=tuple(points), trend=trend, changes=changes)


def _in_words(change: Change, number: int, metric: Metric) -> Judged:
    level, outcome = verdict_of(change.size, metric.better)
    return Judged(change=change, number=number, text=change_text(change, "firmware"), verdict=level, outcome=outcome)
