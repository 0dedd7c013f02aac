"""The figures of a write saturation as data, and their captions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.procedures.families.loop.record import HISTOGRAM_READINGS
from assay.procedures.families.saturation.result import LEVEL_BAND, verdict_sample
from assay.results.histogram import NINES
from assay.spec.units import duration_label
from assay.summary.pages.figures import MINUTES, TIME_MS, MainFigure, main_tail
from assay.summary.pages.model import Figure, Series
from assay.words.printed import depth_label

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.procedures.families.saturation.result import Mark, SaturationResult, SaturationSettings
    from assay.summary.pages.histograms import Distribution, Part
    from assay.summary.pages.model import Scale


WRITTEN, FILLS = "Total Gigabytes Written (GB)", "Drive Fills (normalised capacity)"
MANY_FILLS = 6
"""From so many on an axis of drive fills is logarithmic, as the fall comes in the first ones."""
MARK_COLOURS = {"Peak": 1, "Peak drop": 3, "Level reached": 2}


def iops_figure(
    name: str, result: SaturationResult, x_title: str, y_scale: Scale, settings: SaturationSettings | None = None
) -> Figure | None:
    """Plot IOPS over minutes, gigabytes written or drive fills, with the marks; None without a sample.

    x_title : one of ``MINUTES``, ``WRITTEN`` and ``FILLS``. settings : where the samples that got steady are shaded.
    """
    if not result.samples.iops:
        return None
    curve = _line("IOPS, one sample each", _places(result, x_title), result.samples.iops, 0, y_scale)
    results = {"Peak": result.peak, "Peak drop": result.peak_drop, "Level reached": result.steady}
    marks = [
        _mark(label, mark, x_title) for label, mark in results.items() if mark and (mark.iops or y_scale == "linear")
    ]
    return Figure(
        name=name,
        kind="lines",
        alt=f"IOPS of each sample over {x_title.lower()} with peak, peak drop and where the level is reached",
        x_title=x_title,
        y_title="IOPS",
        y_scale=y_scale,
        log_named=y_scale == "log",
        series=(curve, *marks),
        span=_judged(result, settings, x_title) if settings else None,
    )


def _judged(result: SaturationResult, settings: SaturationSettings, x_title: str) -> tuple[float, float] | None:
    """From the first to the last sample of a verdict that is steady; None without one."""
    if result.window is None or result.steady_iops is None:
        return None
    numbers = result.window.verdicts[settings.label].rounds
    places = _places(result, x_title)
    first, last = (verdict_sample(number, settings) - 1 for number in (numbers[0], numbers[-1]))
    return (places[first], places[last])


def response_figure(name: str, result: SaturationResult, x_title: str) -> Figure | None:
    """Plot average, 99.999 % and maximum response time of each sample."""
    five_nines = result.percentiles.get(NINES[-1], ())
    drawn: tuple[tuple[str, Sequence[float | None]], ...] = (
        ("ART", result.samples.latency_ms_mean),
        ("99.999 %", five_nines),
        ("MRT", result.samples.latency_ms_max),
    )
    places = _places(result, x_title)
    series = tuple(
        _line(_counted(label, values), places, values, index, "log")
        for index, (label, values) in enumerate(drawn)
        if values
    )
    if not any(one.x for one in series):
        return None
    return Figure(
        name=name,
        kind="lines",
        alt=f"Average, 99.999 % and maximum response time of each sample over {x_title.lower()}",
        x_title=x_title,
        y_title=TIME_MS,
        y_scale="log",
        # What could not be given for any sample says so in the legend.
        series=tuple(one if one.x else replace(one, label=f"{one.label} n/a") for one in series),
    )


def _counted(label: str, values: Sequence[float | None]) -> str:
    """The legend of a line that lacks the points of some samples. Worked: ``"99.999 % (1 of 8 samples)"``."""
    known = sum(value is not None for value in values)
    return f"{label} ({known:,} of {len(values):,} samples)" if 0 < known < len(values) else label


def _places(result: SaturationResult, x_title: str) -> tuple[float, ...]:
    return {MINUTES: result.samples.minutes, WRITTEN: result.written_gb, FILLS: result.fills}[x_title]


def _line(label: str, places: Sequence[float], values: Sequence[float | None], colour: int, scale: Scale) -> Series:
    # A log axis has no place for zero.
    points = [(x, y) for x, y in zip(places, values, strict=True) if y is not None and (y > 0 or scale == "linear")]
    return Series(
        label=label, x=tuple(x for x, _ in points), y=tuple(y for _, y in points), colour=colour, mode="lines"
    )


def _mark(label: str, mark: Mark, x_title: str) -> Series:
    at = {MINUTES: mark.minutes, WRITTEN: mark.written_gb, FILLS: mark.fills}[x_title]
    return Series(label=label, x=(at,), y=(mark.iops,), colour=MARK_COLOURS[label], mode="markers")


_AXIS = "Drive Fills"
_PHASES = {"first": "first sample", "window": "settled", "last": "last sample"}


def saturation_main_figures(
    settings: SaturationSettings, result: SaturationResult, distribution: Distribution, prefix: str
) -> Iterator[MainFigure]:
    """The curve over drive fills first."""
    note = f"{settings.label}, {depth_label(settings.demand)}"
    if curve := iops_figure(f"{prefix}-main-curve", result, FILLS, "linear", settings):
        yield MainFigure(kind="saturation", title="Writes from fresh", note=note, figure=_by_fills(curve, result))
    tails = [(_PHASES[str(one.key[0])], one.times) for one in _drawn(distribution)]
    yield from main_tail(f"{prefix}-main-tail", tails, note, "Response times, fresh and after")
    if times := response_figure(f"{prefix}-main-times", result, FILLS):
        title = "Response times over data written"
        yield MainFigure(kind="curve", title=title, note=note, figure=_by_fills(times, result))


def _by_fills(figure: Figure, result: SaturationResult) -> Figure:
    return replace(figure, x_title=_AXIS, x_scale="log" if result.fills[-1] > MANY_FILLS else "linear")


def _drawn(distribution: Distribution) -> list[Part]:
    """The first sample, and the window or else the last sample."""
    phases = {str(part.key[0]): part for part in distribution.parts}
    last = phases.get("window") or phases.get("last")
    return [one for one in (phases.get("first"), last) if one]


def saturation_readings(
    settings: SaturationSettings, judged: str, level: str, *, reached: bool | None, change: float = 0
) -> dict[str, str]:
    """The sentences by the beginning of a figure's name.

    reached : whether steady state was; None where that is not known. judged : the same as the summaries print it.
    level : what the mark says where the level is reached. change : of IOPS over the last drive fill, a share.
    """
    asked = (
        f"How far do the writes of a purged drive slow down as it fills? {settings.label} without a gap, a point per "
        f"{duration_label(settings.sample_ns)}"
    )
    over = {
        "iops-minutes": "time",
        "iops-written": "gigabytes written",
        "iops-fills": "amount written, in drive capacities",
    }
    ends = _ends(judged, level, change, reached=reached)
    curves = {name: f"{asked}, over {axis}; {ends}." for name, axis in over.items()}
    response = (
        f"{asked}: average, 99.999 % (known where a sample has a million I/Os) and longest response time; lines that "
        "rise mean longer waits."
    )
    return {**curves, "response": response, **HISTOGRAM_READINGS}


def _ends(judged: str, level: str, change: float, *, reached: bool | None) -> str:
    """What is seen on the right. Worked: steady state was reached -> its level."""
    if reached:
        return f"the level on the right is the steady state, what is left once clean space is used up; {level}"
    if reached is False:
        return "the right end is no level: steady state was not reached"
    if change < -LEVEL_BAND:
        return f"the right end is no level: over the last drive fill IOPS changed by {change * 100:+.1f} % ({judged})"
    return f"whether the right end is a level is not known ({judged})"
