"""Which history is to be shown: drive model, test and metric by the words of an address, with what else there is."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from assay.archive.index.history import drive_models, excluded, history, metrics_of
from assay.web.trend_conditions import test_labels, test_word
from assay.web.trend_view import GROUPINGS, view_of
from assay.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from assay.archive.index.driver import Connection
    from assay.archive.index.history import DriveModel, Metric
    from assay.web.trend_view import Grouping, TrendView

    T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendWords:
    """What an address names. Empty: the first drive model, its first test, the first metric of that.

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
    """What was chosen of what there is.

    tests : their labels by their words. view : None where no run counts. notices : what the index does not have.
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
    """Choose by the words of an address; what the index does not have is replaced by the first there is, and noted."""
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
    """With the history of a metric. metrics : of the model, at least one."""
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
    """A test with its conditions, where an address names none: those of the newest run."""
    tests = list(tests)
    if named in tests or not named:
        return named
    return next((test for test in tests if test.startswith(f"{named}@")), named)


def _chosen(offered: Sequence[T], word: Callable[[T], str], named: str, kind: str, notices: list[str]) -> T:
    """What a word names; the first where it is empty, or names nothing, which is noted."""
    for candidate in offered:
        if word(candidate) == named:
            return candidate
    if named:
        notices.append(f"No {kind} {visible(named)} has results that count; {word(offered[0])} is shown instead.")
    return offered[0]
