"""The plots of response-time histograms as data: counts over time, and the share of I/Os that were faster."""

from __future__ import annotations

import math
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from assay.results import NINES
from assay.summary.pages.model import Figure, Series, Tick
from assay.words.printed import milliseconds_text, percent

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from assay.results import ResponseTimes

TIME_MS = "Response Time (ms)"
# Histogram bins per doubling of the response time.
BINS_PER_OCTAVE = 8
# An empty bin stands below one I/O on the logarithmic axis.
EMPTY = 0.5
_LEAST_MS = 1e-9
CONFIDENCE_TICKS = ((0.5, "50"), (0.9, "90"), (0.99, "99"), (0.999, "99.9"), (0.9999, "99.99"), (0.99999, "99.999"))
MARKED_SHARES = (0.99, NINES[0], NINES[1])
"""Percentiles that are marked in a histogram."""
CONFIDENCE_LAST = (0.999999, "99.9999")


def histogram_figure(
    name: str, times: ResponseTimes, latency_ms_mean: float, percentiles_ms: Mapping[float, float | None]
) -> Figure | None:
    """Plot how many I/Os took how long, eight bins to a doubling, both axes logarithmic; None without an I/O.

    latency_ms_mean, percentiles_ms : average, and percentiles by share, as they stand beside it; those of 99, 99.9 and
    99.99 % are marked as far as known.
    """
    if not times.io_count:
        return None
    islands = _outlines(times)
    highest = max(y for corners in islands for _, y in corners)
    return Figure(
        name=name,
        kind="lines",
        alt="Number of I/Os by response time on logarithmic axes, with the average and the shares that were faster",
        x_title=TIME_MS,
        y_title="I/Os",
        x_scale="log",
        y_scale="log",
        y_ticks=tuple(Tick(at=10.0**power, label=f"{10**power:,}") for power in range(_decades(times.io_count) + 1)),
        y_least=EMPTY,
        series=(
            *(
                Series(
                    label="",
                    x=tuple(x for x, _ in corners),
                    y=tuple(y for _, y in corners),
                    colour=0,
                    mode="lines",
                    filled=True,
                )
                for corners in islands
            ),
            *(
                Series(label=label, x=(at, at), y=(EMPTY, highest), colour=colour, mode="lines", dash="dash")
                for colour, (label, at) in enumerate(_marks(latency_ms_mean, percentiles_ms), 1)
            ),
        ),
    )


def _marks(latency_ms_mean: float, percentiles_ms: Mapping[float, float | None]) -> Iterable[tuple[str, float]]:
    """The average and the response times that 99, 99.9 and 99.99 % did not exceed, printed as everywhere."""
    yield _mark("ART", latency_ms_mean), latency_ms_mean
    for share in MARKED_SHARES:
        value = percentiles_ms.get(share)
        if value is not None:
            yield _mark(percent(share), value), value


def _mark(name: str, value_ms: float) -> str:
    return f"{name} {milliseconds_text(value_ms)} ms"


def confidence_figure(name: str, times: ResponseTimes, latency_ms_mean: float) -> Figure | None:
    """Plot the share of I/Os no slower than a response time, with three, four and five nines and the average.

    The share is drawn by its nines, so that 99 %, 99.9 % and 99.99 % are equally far apart. It ends where fewer than
    ten I/Os lie beyond.
    """
    if not times.io_count:
        return None
    shares = [step / 100 for step in range(1, 100)] + [1 - 10**-power for power in _tenths(2, 6)]
    points = [(value, share) for share in shares if (value := times.percentile(round(share, 7))) is not None]
    marks = [(value, share, label) for share, label in _nine_labels() if (value := times.percentile(share)) is not None]
    return Figure(
        name=name,
        kind="lines",
        alt="Share of I/Os by response time, with the average and three, four and five nines",
        x_title=TIME_MS,
        y_title="Confidence Level (%)",
        x_scale="log",
        y_ticks=tuple(Tick(at=_nines(share), label=label) for share, label in (*CONFIDENCE_TICKS, CONFIDENCE_LAST)),
        series=(
            Series(
                label="Confidence level",
                x=tuple(value for value, _ in points),
                y=tuple(_nines(share) for _, share in points),
                colour=0,
                mode="lines",
            ),
            *_average(points, latency_ms_mean),
            *(
                _point(_mark(label, value), value, _nines(share), 2 + index)
                for index, (value, share, label) in enumerate(marks)
            ),
        ),
    )


def _average(points: Sequence[tuple[float, float]], latency_ms_mean: float) -> Iterable[Series]:
    """The average as a point of the drawn curve; none without a curve.

    Worked: between (1 ms, 0.9) and (4 ms, 0.99) an average of 2 ms stands at 1.5 nines.
    """
    if points:
        times, nines = zip(*((math.log(max(value, _LEAST_MS)), _nines(share)) for value, share in points), strict=True)
        height = float(np.interp(math.log(max(latency_ms_mean, _LEAST_MS)), times, nines))
        yield _point(_mark("ART", latency_ms_mean), latency_ms_mean, height, 1)


def _point(label: str, value: float, nines: float, colour: int) -> Series:
    return Series(label=label, x=(value,), y=(nines,), colour=colour, mode="markers")


def _nines(share: float) -> float:
    """How many nines a share has. Worked: 0.9 -> 1, 0.999 -> 3."""
    return -math.log10(max(1 - share, 1e-12))


def _nine_labels() -> Iterable[tuple[float, str]]:
    return zip(NINES, ("99.9 %", "99.99 %", "99.999 %"), strict=True)


def _tenths(first: int, last: int) -> list[float]:
    return [tenth / 10 for tenth in range(first * 10, last * 10 + 1)]


def _outlines(times: ResponseTimes) -> list[list[tuple[float, float]]]:
    """The steps of the bins from left to right, an outline for each run of bins without an empty one between."""
    numbers = [math.floor(math.log2(max(middle, 1e-9)) * BINS_PER_OCTAVE) for middle in times.middles_ms]
    groups = groupby(zip(numbers, times.counts, strict=True), key=lambda pair: pair[0])
    counts = {number: float(sum(count for _, count in pairs)) for number, pairs in groups}
    filled = {number: count for number, count in counts.items() if count}
    outlines: list[list[tuple[float, float]]] = []
    for number, count in filled.items():
        left, right = (2 ** ((number + side) / BINS_PER_OCTAVE) for side in (0, 1))
        if number - 1 not in filled:
            outlines.append([(left, EMPTY)])
        outlines[-1] += [(left, count), (right, count)]
        if number + 1 not in filled:
            outlines[-1].append((right, EMPTY))
    return outlines


def _decades(count: int) -> int:
    return max(len(str(count)), 1)
