"""Figures of studies: samples or seconds over time, and settled values over what was varied; a curve per variant."""

from __future__ import annotations

import math
from itertools import zip_longest
from typing import TYPE_CHECKING

from assay.summary.pages.axes import MINUTES, SECONDS
from assay.summary.pages.model import Figure, Series, Tick

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from assay.procedures.studies.result import StageResult, StudyResult, VariantResult
    from assay.procedures.studies.settings import StudyPlot
    from assay.summary.pages.model import Scale

ASPECT = 1.25
TICKS_MAX = 10
_LABEL_SHARE = 0.06
"""Labels on a linear axis stand apart by more than this share of it."""
Y_TITLES = {
    "iops": "IOPS",
    "throughput": "Throughput (MB/s)",
    "response": "Average Response Time (ms)",
    "largest": "Maximum Response Time (ms)",
    "relative": "IOPS (% of their Median)",
}
SERIES = {"iops": "iops", "throughput": "throughput", "response": "latency_ms_mean", "largest": "latency_ms_max"}
"""The series of samples that each variable of a plot is."""
_SETTLED = {"iops": "iops", "throughput": "mb_per_s", "response": "latency_ms_mean", "largest": "latency_ms_max"}
_PER_SECOND = {"largest": "latency_ms_max_second", "relative": "second_relative"}
Point = tuple[float, float | None]


def study_figure(name: str, plot: StudyPlot, result: StudyResult) -> Figure | None:
    """Draw one figure of a study; None where nothing was measured."""
    scale: Scale = "linear" if plot.variable in {"iops", "throughput", "relative"} else "log"
    curves = _over_places(plot, result) if plot.kind == "places" else _over_time(plot, result)
    series = tuple(_series(label, points, index, scale, plot) for index, (label, points) in enumerate(curves))
    if not any(one.x for one in series):
        return None
    places = sorted({x for one in series for x in one.x}) if plot.kind == "places" else []
    shown = f" of {plot.only}" if plot.only else ""
    titles = {"time": MINUTES, "seconds": SECONDS, "places": plot.x_title}
    return Figure(
        name=name,
        kind="lines",
        alt=f"{Y_TITLES[plot.variable]}{shown}, a curve per variant",
        x_title=titles[plot.kind],
        y_title=f"{Y_TITLES[plot.variable]}{shown}",
        x_scale=plot.x_scale,
        y_scale=scale,
        series=series,
        ticks=tuple(_ticks(places[:: len(places) // TICKS_MAX + 1], plot.x_scale)),
        aspect=ASPECT,
        beside=True,
    )


def _ticks(places: Sequence[float], scale: Scale) -> Iterator[Tick]:
    """Ticks with labels; without one what lies too near the next on a linear axis. Worked: 5, 10, 100 -> 10, 100."""
    apart = (places[-1] - places[0]) * _LABEL_SHARE if places and scale == "linear" else 0.0
    for place, behind in zip_longest(places, places[1:], fillvalue=math.inf):
        yield Tick(at=place, label=f"{place:.4g}" if behind - place > apart else "")


def _over_time(plot: StudyPlot, result: StudyResult) -> list[tuple[str, list[Point]]]:
    return [_curve(plot, variant) for variant in result.variants]


def _curve(plot: StudyPlot, variant: VariantResult) -> tuple[str, list[Point]]:
    """The curve of a variant; of seconds with too few I/Os to be judged the legend alone."""
    judged = [one.score is not None for one in variant.stability if one]
    if plot.kind == "seconds" and plot.variable == "relative" and judged and not any(judged):
        return f"{variant.label}, too few I/Os:", []
    return variant.label, list(_timed(plot, variant))


def _timed(plot: StudyPlot, variant: VariantResult) -> Iterable[Point]:
    """The points of a variant; a single stage begins at zero."""
    begun = 0.0
    for stage in variant.stages:
        if plot.kind == "seconds":
            ends, values = stage.seconds, getattr(stage, _PER_SECOND[plot.variable])
        else:
            ends, values = stage.samples.minutes, getattr(stage.samples, SERIES[plot.variable])
        if not plot.only:
            yield from zip(ends, values, strict=True)
        elif stage.label == plot.only:
            yield from ((end - begun, value) for end, value in zip(ends, values, strict=True))
        begun = ends[-1] if ends else begun


def _over_places(plot: StudyPlot, result: StudyResult) -> list[tuple[str, list[Point]]]:
    """Curves by the series of steps, by variant, or, where the variants have the places, by stage."""
    curves: dict[str, list[Point]] = {}
    for variant in result.variants:
        for stage in variant.stages:
            if plot.only and plot.only not in {variant.label, stage.label}:
                continue
            place = variant.place if stage.place is None else stage.place
            label = stage.label if stage.place is None else stage.series or variant.label
            if place is not None:
                curves.setdefault(label, []).append((place, _settled(stage, plot.variable)))
    return [(label, sorted(points, key=lambda point: point[0])) for label, points in curves.items()]


def _settled(stage: StageResult, variable: str) -> float | None:
    return None if stage.settled is None else getattr(stage.settled, _SETTLED[variable])


def _series(label: str, points: list[Point], index: int, scale: Scale, plot: StudyPlot) -> Series:
    drawn = [(x, y) for x, y in points if y is not None and (y > 0 or scale == "linear")]
    return Series.through(drawn, label, index, "lines+markers" if plot.kind == "places" else "lines")
