"""A chosen history as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.web.forms import (
    TrendChange,
    TrendDrive,
    TrendFacts,
    TrendLevelFacts,
    TrendMetric,
    TrendRun,
    TrendSeriesFacts,
)
from assay.web.trend_choice import drive_word, metric_word
from assay.web.trend_view import interval_of
from assay.words.visible import unicode_name

if TYPE_CHECKING:
    from assay.archive.index.history import HistoryPoint
    from assay.web.trend_choice import TrendChoice
    from assay.web.trend_view import TrendSeries, TrendView


def trend_facts(choice: TrendChoice) -> TrendFacts:
    """Everything of a choice; numbers are unrounded."""
    view = choice.view
    return TrendFacts(
        drive=choice.words.drive,
        test=choice.words.test,
        metric=choice.words.metric,
        conditions=view.metric.held if view else {},
        by=choice.words.by,
        baseline=view.baseline.address if view and view.baseline else "",
        series=tuple(_series(view, series) for series in view.series) if view else (),
        drives=tuple(
            TrendDrive(
                drive=drive_word(model),
                model=model.model,
                capacity_bytes=model.capacity_bytes,
                run_count=model.run_count,
            )
            for model in choice.models
        ),
        tests=tuple(choice.tests),
        metrics=tuple(
            TrendMetric(
                metric=metric_word(metric),
                label=metric.text,
                unit=metric.unit,
                better=metric.better,
            )
            for metric in choice.metrics
        ),
        notices=choice.notices,
    )


def _series(view: TrendView, series: TrendSeries) -> TrendSeriesFacts:
    return TrendSeriesFacts(
        group=series.name,
        not_judged=series.trend.reason,
        runs=tuple(_run(view, point) for point in series.points),
        levels=tuple(
            TrendLevelFacts(first=level.first, last=level.last, value=level.value) for level in series.trend.levels
        ),
        changes=tuple(
            TrendChange(
                index=judged.change.index,
                size=judged.change.size,
                low=judged.change.low,
                high=judged.change.high,
                text=judged.text,
                outcome=judged.outcome,
            )
            for judged in series.changes
        ),
    )


def _run(view: TrendView, point: HistoryPoint) -> TrendRun:
    low, high = interval_of(point) or (None, None)
    return TrendRun(
        address=point.address,
        run=unicode_name(point.name),
        time_ns=point.time_ns,
        value=point.value,
        rounds=point.rounds,
        interval_low=low,
        interval_high=high,
        from_baseline=view.from_baseline(point),
        firmware=point.firmware,
        host=point.host,
        tags=point.tags,
        bound=point.bound,
        mark=point.mark,
    )
