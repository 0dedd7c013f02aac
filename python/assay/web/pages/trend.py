"""A metric of a drive model over time: the chart with marked changes, and its table."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from markupsafe import Markup

from assay.archive.index.read import reading
from assay.report.drawing.trend import trend_pictures
from assay.spec.units import count_label
from assay.web.pages.shell import aside, shown
from assay.web.trend_chart import chart_of
from assay.web.trend_choice import drive_word, metric_word, trend_choice, trend_words
from assay.web.trend_conditions import condition_rows
from assay.web.trend_view import GROUPINGS, difference_text, interval_of, summary_text, value_text
from assay.words.digits import share
from assay.words.printed import capacity_label, utc
from assay.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.requests import Request
    from starlette.responses import Response

    from assay.archive.index.history import HistoryPoint
    from assay.web.site import Site
    from assay.web.trend_choice import TrendChoice, TrendWords
    from assay.web.trend_view import TrendView

_GROUPING_LABELS = {"time": "Time", "firmware": "Firmware", "host": "Host", "tag": "Tag"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """An entry of a list to choose from."""

    word: str
    label: str
    chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendRow:
    """A run in the table, as printed. link : the same page with this run as baseline; empty of the baseline."""

    address: str
    name: str
    start: str
    start_wall_ns: int
    group: str
    firmware: str
    host: str
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
        drives=_drives(choice),
        tests=_tests(choice),
        metrics=[
            Option(
                word=metric_word(metric),
                label=visible(metric.text),
                chosen=metric_word(metric) == choice.words.metric,
            )
            for metric in choice.metrics
        ],
        groupings=[
            Option(word=word, label=_GROUPING_LABELS[word], chosen=word == choice.words.by) for word in GROUPINGS
        ],
        view=view,
        kept_baseline=words.baseline and choice.words.baseline,
        pictures=Markup(trend_pictures(chart_of(view, site.prefix))) if view else "",  # noqa: S704 - escaped by the drawing
        series=[(part, summary_text(part), list(part.changes)) for part in view.series] if view else [],
        rows=list(_rows(view, choice.words, site.prefix)) if view else [],
        conditions=condition_rows(view.metric) if view else [],
    )


def chosen(site: Site, words: TrendWords) -> TrendChoice:
    """What the words of an address choose from the index of a site. Raises StoreError."""
    with reading(site.place) as reader:
        return trend_choice(reader, words)


def _drives(choice: TrendChoice) -> list[Option]:
    return [
        Option(
            word=drive_word(model),
            label=f"{visible(model.model)}, {capacity_label(model.capacity_bytes)} "
            f"({count_label(model.run_count, 'run')})",
            chosen=drive_word(model) == choice.words.drive,
        )
        for model in choice.models
    ]


def _tests(choice: TrendChoice) -> list[Option]:
    return [Option(word=word, label=label, chosen=word == choice.words.test) for word, label in choice.tests.items()]


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
        address=point.address,
        name=visible(point.name),
        start=utc(point.time_ns),
        start_wall_ns=point.time_ns,
        group=group,
        firmware=visible(point.firmware),
        host=visible(point.host),
        value=value_text(point.value),
        interval=" to ".join(map(value_text, interval)) if interval else "",
        difference="baseline" if is_baseline else difference_text(view.from_baseline(point)),
        note="; ".join(filter(None, (change, _host_note(point)))),
        link="" if is_baseline else link,
    )


def _host_note(point: HistoryPoint) -> str:
    """The host's part in a marked number. Worked: a bound of 0.02 -> ``"host's part up to 2 %"``."""
    return f"host's part up to {share(point.bound)}" if point.mark == "warn" and point.bound is not None else ""
