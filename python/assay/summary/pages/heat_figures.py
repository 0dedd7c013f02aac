"""Heat maps as data: response times over the time of a test, and a matrix with its values in the fields."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from assay.results import merged
from assay.spec.units import MINUTE_NS, duration_label
from assay.summary.pages.axes import MINUTES, labelled_ticks, readable_time
from assay.summary.pages.histogram_figures import TIME_MS
from assay.summary.pages.model import Figure, Heat, Tick

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.results import ResponseTimes

COLUMNS_MAX = 150
ROWS_MAX = 60
_BINS_PER_DECADE = 10
_SAMPLES_MIN = 2


def time_heat(name: str, minutes: Sequence[float], times: Sequence[ResponseTimes], what: str = "") -> Figure | None:
    """Plot how many I/Os took how long over the minutes of a test; None without histograms or with one sample.

    minutes : at the end of each sample. times : the counts of each. what : is shown of several. A column is the sum of
    as many samples as keep the columns at 150 or fewer, never an average; the bins reach from the fastest I/O to the
    slowest.
    Worked: 1,440 samples of a minute -> 144 columns of ten.
    """
    if len(times) < _SAMPLES_MIN or len(times) != len(minutes) or not any(time.io_count for time in times):
        return None
    count = math.ceil(len(times) / COLUMNS_MAX)
    columns = [_counted(times[first : first + count]) for first in range(0, len(times), count)]
    bins = [number for column in columns for number in column]
    places = range(min(bins), max(bins) + 1)
    # Twice as coarse as often as it takes.
    width = 2 ** max(math.ceil(math.log2(len(places) / ROWS_MAX)), 0)
    first, last = places[0] // width, places[-1] // width
    ends = (*minutes[count - 1 :: count], *(minutes[-1:] if len(times) % count else ()))
    spans = duration_label(round(minutes[count - 1] * MINUTE_NS)) if len(columns) > 1 else "all samples"
    figure = Figure(
        name=name,
        kind="heat",
        alt="Number of I/Os by response time over the time of the test",
        x_title=f"{MINUTES}, a Column is {spans}{f'; {what}' if what else ''}",
        y_title=TIME_MS,
        y_scale="log",
        y_ticks=labelled_ticks(*(10 ** (edge * width / _BINS_PER_DECADE) for edge in (first, last + 1))),
        series=(),
        heat=Heat(
            x_edges=(0.0, *ends),
            y_edges=tuple(10 ** (number * width / _BINS_PER_DECADE) for number in range(first, last + 2)),
            rows=tuple(
                tuple(_within(column, number * width, width) for column in columns) for number in range(first, last + 1)
            ),
            colour_title="I/Os",
        ),
        aspect=1.85,
    )
    return readable_time(figure)


def spread_heat(name: str, labels: Sequence[str], times: Sequence[ResponseTimes]) -> Figure | None:
    """Plot which share of its I/Os each of several parts has in each tenth of a decade of response time, a row a part.

    labels, times : of each part, the first on top. None without an I/O. The rows of one figure are so compared in
    place and width, as the ridges of a ridgeline are, and a share of a thousandth still has a colour.
    Worked: of 1,000 I/Os 999 at 0.12 ms and one at 5 ms -> 99.9 % and 0.1 % in two fields of a row.
    """
    counted = [
        (label, _counted([time]), time.io_count) for label, time in zip(labels, times, strict=True) if time.io_count
    ]
    if not counted:
        return None
    counted.reverse()
    bins = [number for _, result, _ in counted for number in result]
    first, last = min(bins), max(bins)
    return Figure(
        name=name,
        kind="heat",
        alt="Share of the I/Os of each row by response time, as colours",
        x_title=TIME_MS,
        y_title="",
        x_scale="log",
        ticks=labelled_ticks(*(10 ** (edge / _BINS_PER_DECADE) for edge in (first, last + 1))),
        y_ticks=tuple(Tick(at=index + 0.5, label=label) for index, (label, _, _) in enumerate(counted)),
        series=(),
        heat=Heat(
            x_edges=tuple(10 ** (number / _BINS_PER_DECADE) for number in range(first, last + 2)),
            y_edges=tuple(map(float, range(len(counted) + 1))),
            rows=tuple(
                tuple(result[number] / count * 100 if number in result else None for number in range(first, last + 1))
                for _, result, count in counted
            ),
            colour_title="I/Os of the Row (%)",
        ),
        aspect=1.85,
    )


def matrix_heat(
    name: str,
    values: Sequence[Sequence[float | None]],
    texts: Sequence[Sequence[str]],
    *,
    columns: Sequence[str],
    rows: Sequence[str],
    titles: tuple[str, str, str],
) -> Figure | None:
    """Plot a matrix with its values in its fields; None without a value.

    values, texts : per row, lowest first. titles : of the columns' axis, of the rows' axis and of the values.
    """
    if not any(value for row in values for value in row):
        return None
    return Figure(
        name=name,
        kind="heat",
        alt=f"{titles[2]} by {titles[0]} and {titles[1]} as colours, with the numbers",
        x_title=titles[0],
        y_title=titles[1],
        ticks=tuple(Tick(at=index + 0.5, label=label) for index, label in enumerate(columns)),
        y_ticks=tuple(Tick(at=index + 0.5, label=label) for index, label in enumerate(rows)),
        series=(),
        heat=Heat(
            x_edges=tuple(map(float, range(len(columns) + 1))),
            y_edges=tuple(map(float, range(len(rows) + 1))),
            # A logarithmic scale has no colour for zero.
            rows=tuple(tuple(value or None for value in row) for row in values),
            texts=tuple(map(tuple, texts)),
            colour_title=titles[2],
        ),
    )


def _counted(parts: Sequence[ResponseTimes]) -> dict[int, int]:
    """How many I/Os fell into each bin of a tenth of a decade, by its number; 0 begins at 1 ms."""
    times = merged(parts)
    numbers = np.floor(np.log10(np.maximum(times.middles_ms, 1e-6)) * _BINS_PER_DECADE).astype(int)
    if not len(numbers):
        return {}
    begins = np.flatnonzero(np.diff(numbers, prepend=numbers[0] - 1))
    return dict(zip(numbers[begins].tolist(), np.add.reduceat(times.counts, begins).tolist(), strict=True))


def _within(column: dict[int, int], first: int, width: int) -> float | None:
    return float(sum(column.get(number, 0) for number in range(first, first + width))) or None
