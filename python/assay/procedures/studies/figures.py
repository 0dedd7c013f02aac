"""Figures of studies: samples or seconds over time, and settled values over what was varied; a curve per variant."""

from __future__ import annotations

import math
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from assay.procedures.studies.result import SAME_SHARE
from assay.summary.pages.figures import MINUTES, SECONDS
from assay.summary.pages.model import Figure, Series, Tick
from assay.words.printed import percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.procedures.studies.result import StudyResult, VariantResult
    from assay.procedures.studies.run import StudyPlot, StudyVariable
    from assay.summary.pages.model import Scale

ASPECT = 1.25
TICKS_MAX = 10
_LABEL_SHARE = 0.06
"""Labels on a linear axis stand apart by more than this share of it."""
Point = tuple[float, float | None]


class Variable(NamedTuple):
    """What a figure of a study draws. field : of samples, seconds and settled values. title : over a figure."""

    field: str
    title: str
    y_title: str
    scale: Scale = "log"


VARIABLES: dict[StudyVariable, Variable] = {
    "iops": Variable("iops", "IOPS", "IOPS", "linear"),
    "throughput": Variable("throughput", "Throughput", "Throughput (MB/s)", "linear"),
    "response": Variable("latency_ms_mean", "Mean response time", "Average Response Time (ms)"),
    "largest": Variable("latency_ms_max", "Slowest I/O", "Maximum Response Time (ms)"),
    "relative": Variable("relative", "IOPS against their median", "IOPS (% of their Median)", "linear"),
}


def study_figures(prefix: str, plots: Sequence[StudyPlot], result: StudyResult) -> tuple[Figure, ...]:
    """The figures of a study, numbered from 1, of which something was measured."""
    drawn = (study_figure(f"{prefix}-{number}", plot, result) for number, plot in enumerate(plots, 1))
    return tuple(figure for figure in drawn if figure)


def study_figure(name: str, plot: StudyPlot, result: StudyResult) -> Figure | None:
    """Draw one figure of a study; None where nothing was measured."""
    drawn, places = VARIABLES[plot.variable], plot.kind == "places"
    curves = _over_places(plot, result) if places else [_over_time(plot, variant) for variant in result.variants]
    series = tuple(
        Series.through(
            [(x, y) for x, y in points if y is not None and (y > 0 or drawn.scale == "linear")],
            label,
            index,
            "lines+markers" if places else "lines",
        )
        for index, (label, points) in enumerate(curves)
    )
    if not any(one.x for one in series):
        return None
    at = sorted({x for one in series for x in one.x}) if places else []
    title = f"{drawn.y_title} of {plot.only}" if plot.only else drawn.y_title
    return Figure(
        name=name,
        kind="lines",
        alt=f"{title}, a curve per variant",
        x_title={"time": MINUTES, "seconds": SECONDS, "places": plot.x_title}[plot.kind],
        y_title=title,
        x_scale=plot.x_scale,
        y_scale=drawn.scale,
        series=series,
        ticks=tuple(_ticks(at[:: len(at) // TICKS_MAX + 1], plot.x_scale)),
        aspect=ASPECT,
        room="figure",
    )


def _ticks(places: Sequence[float], scale: Scale) -> Iterator[Tick]:
    """Ticks with labels; without one what lies too near the next on a linear axis. Worked: 5, 10, 100 -> 10, 100."""
    apart = (places[-1] - places[0]) * _LABEL_SHARE if places and scale == "linear" else 0.0
    for place, behind in zip_longest(places, places[1:], fillvalue=math.inf):
        yield Tick(at=place, label=f"{place:.4g}" if behind - place > apart else "")


def _over_time(plot: StudyPlot, variant: VariantResult) -> tuple[str, list[Point]]:
    """The curve of a variant; of seconds with too few I/Os to be judged the legend alone."""
    judged = [one.score is not None for one in variant.stability if one]
    if plot.kind == "seconds" and plot.variable == "relative" and judged and not any(judged):
        return f"{variant.label}, too few I/Os:", []
    points: list[Point] = []
    begun, field = 0.0, VARIABLES[plot.variable].field
    for stage in variant.stages:
        if plot.kind == "seconds":
            row: list[Point] = [(second.second, getattr(second, field)) for second in stage.seconds]
        else:
            row = [(sample.minute, getattr(sample, field)) for sample in stage.samples.each()]
        if not plot.only:
            points += row
        elif stage.label == plot.only:
            # A single stage begins at zero.
            points += [(end - begun, value) for end, value in row]
        begun = row[-1][0] if row else begun
    return variant.label, points


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
                value = getattr(stage.settled, VARIABLES[plot.variable].field, None)
                curves.setdefault(label, []).append((place, value))
    return [(label, sorted(points, key=lambda point: point[0])) for label, points in curves.items()]


def same_lines(result: StudyResult) -> tuple[str, ...]:
    """Which variants settle at values so close that their curves lie on one another: within 1 % of the higher.

    Worked: 56,678.6 IOPS of AR 10 % and of AR 5 % -> ``"AR 10 %, AR 5 %: settled within 1 % ..."``.
    """
    lines = [
        (variant.label, variant.stages[0].settled.iops)
        for variant in result.variants
        if len(variant.stages) == 1 and variant.stages[0].settled
    ]
    groups: list[list[tuple[str, float]]] = []
    for line in sorted(lines, key=lambda pair: -pair[1]):
        if groups and line[1] >= (1 - SAME_SHARE) * groups[-1][0][1]:
            groups[-1].append(line)
        else:
            groups.append([line])
    order = [label for label, _ in lines]
    names = [sorted((label for label, _ in group), key=order.index) for group in groups if len(group) > 1]
    return tuple(
        f"{', '.join(group)}: settled within {percent(SAME_SHARE)} of each other; their curves overlap there."
        for group in names
    )
