"""A history of a metric: chosen by the words of an address, grouped, judged, and compared with a baseline run."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

from assay.archive.index.history import drive_models, excluded, history, metrics_of
from assay.compare.subject import condition_words
from assay.compare.trend import Change, TrendPoint, change_text, mean_interval, share_text, trend_of
from assay.spec.units import count_label
from assay.words.printed import significant
from assay.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from assay.archive.index.driver import Connection
    from assay.archive.index.history import DriveModel, HistoryPoint, Metric
    from assay.compare.trend import Trend
    from assay.summary.record import Level
T = TypeVar("T")


Grouping = Literal["time", "firmware", "host", "tag"]
"""``time``, ``firmware`` : all runs are a series, in order of time, or of firmware and then of time.

``host``, ``tag`` : the runs of each are a series."""
GROUPINGS: tuple[Grouping, ...] = get_args(Grouping)
GROUPS_MAX = 9
"""The number of distinct colours and markers."""
_NONE = {"firmware": "no firmware reported", "host": "unknown host", "tag": "no tag"}
_NAMES: dict[Grouping, Callable[[HistoryPoint], Iterable[str]]] = {
    "time": lambda _: ("Runs",),
    "firmware": lambda point: (point.firmware or _NONE["firmware"],),
    "host": lambda point: (point.host or _NONE["host"],),
    "tag": lambda point: point.tags or (_NONE["tag"],),
}
_NAMED_MAX = 3
_UNKNOWN = "conditions unknown"


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
    """Runs that are judged together. name : of the group; empty if all runs are one series."""

    name: str
    points: tuple[HistoryPoint, ...]
    trend: Trend
    changes: tuple[Judged, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendView:
    """A history as it is shown. baseline : the run that others are compared with; None without runs.

    labels : of the dots, in the order of their colours. left_out : groups beyond the number of colours.
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
        """The difference of a run from the baseline, as a share; None if the baseline is zero or less.

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
    """A sentence on a series. Worked: 12 runs without a change -> ``"No significant change"``."""
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
    changes = []
    for change in trend.changes:
        level, outcome = verdict_of(change.size, metric.better)
        words = change_text(change, "firmware")
        changes.append(Judged(change=change, number=next(numbers), text=words, verdict=level, outcome=outcome))
    return TrendSeries(name=name, points=tuple(points), trend=trend, changes=tuple(changes))


def test_word(metric: Metric) -> str:
    """The test of a metric in an address. Worked: ``iops`` by edition 1.1 -> ``"iops@1.1@5c1f0a9e77d2"``.

    The last part is the digest of the conditions; a result of an index of an earlier version has none.
    """
    return visible("@".join(filter(None, (metric.test, metric.edition, metric.conditions_key))))


def test_labels(metrics: Iterable[Metric]) -> dict[str, str]:
    """The tests of metrics by their words, as a list names them.

    A label names up to three conditions that differ between results of a test and edition.
    Worked: ``iops`` by edition 1.1 with queue depths 16 and 32 -> ``"iops, edition 1.1 (demand, queue depth 16)"``.
    """
    kinds: dict[str, Metric] = {}
    for metric in metrics:
        kinds.setdefault(test_word(metric), metric)
    held: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for metric in kinds.values():
        held.setdefault((metric.test, metric.edition), []).append(metric.held)
    return {word: _label(metric, held[metric.test, metric.edition]) for word, metric in kinds.items()}


def condition_rows(metric: Metric) -> list[tuple[str, str]]:
    """The conditions of a metric that have a value, by name and value as printed."""
    words = (condition_words(key, value) for key, value in metric.held.items() if value is not None)
    return [(visible(name), visible(value)) for name, value in words]


def _label(metric: Metric, same: Sequence[dict[str, Any]]) -> str:
    """A test in words. same : the conditions of each result of the test and edition."""
    text = f"{metric.test}, edition {metric.edition}"
    if len(same) > 1:
        text += f" ({_differing(metric.held, same)})"
    return visible(text)


def _differing(held: dict[str, Any], same: Sequence[dict[str, Any]]) -> str:
    if not held:
        return _UNKNOWN
    known = [other for other in same if other]
    keys = [key for key, value in held.items() if any(other.get(key) != value for other in known)]
    words = [" ".join(condition_words(key, held[key])) for key in keys[:_NAMED_MAX]]
    more = len(keys) - len(words)
    return "; ".join([*words, *([f"{more} more"] if more else [])]) or "conditions known"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendWords:
    """The words of an address. Empty: the first drive model, its first test, the first metric of the test.

    drive : capacity in bytes and model. test : name, edition and digest of conditions; without the digest those of the
    newest run. metric : key and cell. baseline : address of a run.
    """

    drive: str = ""
    test: str = ""
    metric: str = ""
    by: Grouping = "time"
    baseline: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendChoice:
    """A chosen history, with the other choices.

    tests : their labels by their words. view : None if no run counts. notices : words that name nothing in the index.
    """

    words: TrendWords
    models: tuple[DriveModel, ...] = ()
    tests: Mapping[str, str] = field(default_factory=dict)
    metrics: tuple[Metric, ...] = ()
    view: TrendView | None = None
    notices: tuple[str, ...] = ()


def trend_words(parameters: Mapping[str, str]) -> TrendWords:
    """The words of an address; a grouping that there is not is ``time``.

    Worked: ``{"drive": "32000000000:M", "by": "host"}`` -> that drive, by host, the rest empty.
    """
    named = {name: parameters.get(name, "") for name in ("drive", "test", "metric", "baseline")}
    by = next((grouping for grouping in GROUPINGS if grouping == parameters.get("by")), GROUPINGS[0])
    return TrendWords(**named, by=by)


def drive_word(model: DriveModel) -> str:
    """A drive model in an address. Worked: model M of 32 GB -> ``"32000000000:M"``."""
    return visible(f"{model.capacity_bytes}:{model.model}")


def metric_word(metric: Metric) -> str:
    """A metric in an address. Worked: ``"iops:block_kib=4,read_pct=100"``."""
    return visible(metric.name)


def trend_choice(reader: Connection | None, words: TrendWords) -> TrendChoice:
    """Choose by the words of an address. The first choice replaces a word that names nothing, with a notice."""
    models = drive_models(reader) if reader else []
    if reader is None or not models:
        return TrendChoice(words=words)
    notices: list[str] = []
    model = _chosen(models, drive_word, words.drive, "drive model", notices)
    words = replace(words, drive=drive_word(model))
    metrics = metrics_of(reader, model)
    if words.metric and words.metric not in map(metric_word, metrics):
        # A saved link may name a number that the newest runs lack.
        metrics = metrics_of(reader, model, newest=None)
    choice = TrendChoice(words=words, models=tuple(models), tests=test_labels(metrics))
    return _with_view(reader, choice, model, metrics, notices) if metrics else choice


def _with_view(
    reader: Connection, choice: TrendChoice, model: DriveModel, metrics: Sequence[Metric], notices: list[str]
) -> TrendChoice:
    """A choice with the history of its metric. metrics : of the model, at least one."""
    words = choice.words
    test = _chosen(list(choice.tests), str, _whole_word(choice.tests, words.test), "test", notices)
    of_test = tuple(metric for metric in metrics if test_word(metric) == test)
    metric = _chosen(of_test, metric_word, words.metric, "metric", notices)
    points = history(reader, model, metric, without=excluded(reader))
    view = view_of(metric, points, words.by, words.baseline)
    baseline = view.baseline.address if view.baseline else ""
    if words.baseline not in {"", baseline}:
        notices.append(
            f"The baseline {visible(words.baseline)} is no run of this history; the first run is shown instead."
        )
    return replace(
        choice,
        words=replace(words, test=test, metric=metric_word(metric), baseline=baseline),
        metrics=of_test,
        view=view if points else None,
        notices=tuple(notices),
    )


def _whole_word(tests: Iterable[str], named: str) -> str:
    """The word of a test with its conditions; if an address names none, the conditions of the newest run."""
    tests = list(tests)
    if named in tests or not named:
        return named
    return next((test for test in tests if test.startswith(f"{named}@")), named)


def _chosen(offered: Sequence[T], word: Callable[[T], str], named: str, kind: str, notices: list[str]) -> T:
    """The choice that a word names; the first choice if it is empty, or if it names nothing, with a notice."""
    for candidate in offered:
        if word(candidate) == named:
            return candidate
    if named:
        notices.append(f"No {kind} {visible(named)} has results that count; {word(offered[0])} is shown instead.")
    return offered[0]
