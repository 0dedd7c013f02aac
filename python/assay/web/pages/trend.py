"""The page of a trend: the chart with marked changes, and the table of its runs."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from markupsafe import Markup

from assay.archive.index.read import reading
from assay.compare.trend import share_text
from assay.report.drawing.frame import days_since, time_ticks
from assay.report.drawing.trend import INK, TrendChart, TrendDot, TrendLevel, TrendMark, trend_pictures
from assay.spec.units import count_label
from assay.summary.pages.model import Tick
from assay.web.pages.shell import aside, shown
from assay.web.trend import (
    GROUPINGS,
    condition_rows,
    difference_text,
    drive_word,
    group_names,
    interval_of,
    metric_word,
    summary_text,
    trend_choice,
    trend_words,
    value_text,
)
from assay.words.digits import share
from assay.words.printed import capacity_label, utc
from assay.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.requests import Request
    from starlette.responses import Response

    from assay.archive.index.history import DriveModel, HistoryPoint
    from assay.web.site import Site
    from assay.web.trend import TrendChoice, TrendSeries, TrendView, TrendWords


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
    """The position of each run, in days since the first."""
    first_ns = min(point.time_ns for series in view.series for point in series.points)
    return {point.address: days_since(point.time_ns, first_ns) for series in view.series for point in series.points}


def _by_order(view: TrendView) -> dict[str, float]:
    return {point.address: float(number) for number, point in enumerate(view.series[0].points)}


def _ticks(view: TrendView, positions: dict[str, float]) -> tuple[Tick, ...]:
    """Dates; by firmware, a tick at the first run of each."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendRow:
    """A run in the table, with printed texts. link : this page with the run as baseline; empty for the baseline."""

    point: HistoryPoint
    start: str
    group: str
    value: str
    interval: str
    difference: str
    note: str
    link: str


async def trend_page(site: Site, request: Request) -> Response:
    """The history that the address names: ``drive``, ``test``, ``metric``, ``by`` and ``baseline``, all optional."""
    words = trend_words(request.query_params)
    choice = await aside(lambda: chosen(site, words))
    view = choice.view
    return shown(
        site,
        request,
        "trend",
        choice=choice,
        drives=[(drive_word(model), _drive_label(model)) for model in choice.models],
        metrics=[(metric_word(metric), metric.text) for metric in choice.metrics],
        groupings=[(grouping, grouping.capitalize()) for grouping in GROUPINGS],
        view=view,
        kept_baseline=words.baseline and choice.words.baseline,
        pictures=Markup(trend_pictures(chart_of(view, site.prefix))) if view else "",  # noqa: S704 - escaped by the drawing
        series=[(part, summary_text(part), list(part.changes)) for part in view.series] if view else [],
        rows=list(_rows(view, choice.words, site.prefix)) if view else [],
        conditions=condition_rows(view.metric) if view else [],
    )


def chosen(site: Site, words: TrendWords) -> TrendChoice:
    """The history that the words of an address choose from the index of a site. Raises StoreError."""
    with reading(site.place) as reader:
        return trend_choice(reader, words)


def _drive_label(model: DriveModel) -> str:
    return f"{model.model}, {capacity_label(model.capacity_bytes)} ({count_label(model.run_count, 'run')})"


def _rows(view: TrendView, words: TrendWords, prefix: str) -> Iterator[TrendRow]:
    """The runs of each series in its order."""

    def link(point: HistoryPoint) -> str:
        return f"{prefix}/trend?{urlencode(asdict(replace(words, baseline=point.address)))}"

    for series in view.series:
        notes = {judged.change.index: judged for judged in series.changes}
        for index, point in enumerate(series.points):
            judged = notes.get(index)
            change = f"Change {judged.number}: {judged.text} {judged.outcome}".strip() if judged else ""
            yield _row(view, point, series.name, change, link(point))


def _row(view: TrendView, point: HistoryPoint, group: str, change: str, link: str) -> TrendRow:
    interval = interval_of(point)
    is_baseline = view.baseline is not None and point.address == view.baseline.address
    return TrendRow(
        point=point,
        start=utc(point.time_ns),
        group=group,
        value=value_text(point.value),
        interval=" to ".join(map(value_text, interval)) if interval else "",
        difference="baseline" if is_baseline else difference_text(view.from_baseline(point)),
        note="; ".join(filter(None, (change, _host_note(point)))),
        link="" if is_baseline else link,
    )


def _host_note(point: HistoryPoint) -> str:
    """The host's part in a marked number. Worked: a bound of 0.02 -> ``"host's part up to 2 %"``."""
    return f"host's part up to {share(point.bound)}" if point.mark == "warn" and point.bound is not None else ""
