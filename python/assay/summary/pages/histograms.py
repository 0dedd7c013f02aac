"""How the response times of a test are spread: its histogram, and percentiles per cell or part.

Counts of histograms are added before a percentile is read from them; no percentile is ever averaged.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from assay.results.histogram import NINES, all_step_times, merged, percentiles
from assay.results.measured import kept_histograms
from assay.results.outcome import withheld_reason
from assay.results.step import latency_count, max_latency_ns, mean_and_max_ms, response_time
from assay.spec.lazy import LazyModule
from assay.spec.units import MILLISECOND_NS, duration_label
from assay.summary.measures import SHARES, percentile_key, stat_of
from assay.summary.pages.figures import TIME_MS, tail_figure
from assay.summary.pages.model import Figure, Page, Series, Table, Text, Tick
from assay.summary.record import Measure
from assay.summary.table import (
    IO_COUNT,
    LATENCY,
    MAXIMUM,
    MEAN_OF_IOS,
    Lines,
    ResultTable,
    named,
    percentile_columns,
    table_of_columns,
)
from assay.words.printed import NOT_AVAILABLE, milliseconds_text, percent
from assay.words.text import text_or_none

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import numpy as np

    from assay.engine.records import StepRecord, StoredTest
    from assay.results.histogram import ResponseTimes
    from assay.summary.pages.model import Block
    from assay.summary.record import Key
    from assay.words.coded import Coded
else:
    np = LazyModule("numpy")


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
    values = ((percent(share), percentiles_ms.get(share)) for share in MARKED_SHARES)
    marked = [("ART", latency_ms_mean), *((name, value) for name, value in values if value is not None)]
    marks = [(_mark(name, value), value) for name, value in marked]
    highest = max(y for corners in islands for _, y in corners)
    return Figure(
        name=name,
        kind="lines",
        alt="Number of I/Os by response time on logarithmic axes, with the average and the shares that were faster",
        x_title=TIME_MS,
        y_title="I/Os",
        x_scale="log",
        y_scale="log",
        y_ticks=tuple(Tick(at=10.0**power, label=f"{10**power:,}") for power in range(len(str(times.io_count)) + 1)),
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
                for colour, (label, at) in enumerate(marks, 1)
            ),
        ),
    )


def _mark(name: str, value_ms: float) -> str:
    return f"{name} {milliseconds_text(value_ms)} ms"


def confidence_figure(name: str, times: ResponseTimes, latency_ms_mean: float) -> Figure | None:
    """Plot the share of I/Os no slower than a response time, with three, four and five nines and the average.

    The share is drawn by its nines, so that 99 %, 99.9 % and 99.99 % are equally far apart. It ends where fewer than
    ten I/Os lie beyond.
    """
    if not times.io_count:
        return None
    shares = [step / 100 for step in range(1, 100)] + [1 - 10 ** -(tenth / 10) for tenth in range(20, 61)]
    points = [(value, share) for share in shares if (value := times.percentile(round(share, 7))) is not None]
    labels = zip(NINES, ("99.9 %", "99.99 %", "99.999 %"), strict=True)
    marks = [(value, share, label) for share, label in labels if (value := times.percentile(share)) is not None]
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


def histogram_parts(test: StoredTest, prefix: str) -> tuple[tuple[str, tuple[Block, ...]], ...]:
    """The response-time histogram and the Confidence Level Plot of a test; none if it measured none.

    prefix : begins the names of the figures.
    """
    steps = [step for sequence in kept_histograms(test) for step in sequence.steps]
    times = histogram_times(test)
    if not steps:
        return ()
    step = steps[0]
    if (withheld := withheld_reason(test)) or not times.io_count:
        reason = f"n/a: {text_or_none(withheld) or 'no I/O completed'}"
        return (("Response Time Histogram", (Text(paragraphs=(reason,)),)),)
    latency_ms_max = (max_latency_ns(step) or 0) / MILLISECOND_NS
    what = f"{step.label.removeprefix('histogram ')}, {duration_label(step.span_ns)}"
    mean_ms = float(response_time(step))
    drawn = histogram_figure(f"{prefix}-histogram", times, mean_ms, percentiles(times, MARKED_SHARES))
    plot = confidence_figure(f"{prefix}-confidence", times, mean_ms)
    empty = Text(paragraphs=("n/a: no I/O completed",))
    return (
        (f"Response Time Histogram - {what}, MRT = {milliseconds_text(latency_ms_max)} ms", (drawn or empty,)),
        (f"Response Time Histogram - Confidence Level Plot - {what}", (plot or empty,)),
    )


def histogram_times(test: StoredTest) -> ResponseTimes:
    """All response times of the histogram step behind a test; empty where it had none, or none that is not void."""
    return merged(all_step_times(kept_histograms(test)))


def histogram_tables(test: StoredTest, suffix: str) -> Iterator[ResultTable]:
    """The table of the histogram behind a test, where it has one that may be printed."""
    if kept_histograms(test) and not withheld_reason(test):
        yield histogram_table(histogram_times(test), f"{test.settings.test.replace('-', '_')}_histogram{suffix}")


def histogram_table(times: ResponseTimes, key: str) -> ResultTable:
    """How many I/Os took how long."""
    columns = ((LATENCY, times.middles_ms.tolist()), (IO_COUNT, times.counts.tolist()))
    lines = Lines(LATENCY.key, IO_COUNT.key, log="x")
    return table_of_columns(key, "Histogram of response times", columns, lines=(lines,))


CURVES_MAX = 8
"""More curves than this cannot be told apart in one figure."""

_FEW = 12
"""So many parts stand among the results of their test; more are in the sheet alone."""

_COLUMNS = (IO_COUNT, MEAN_OF_IOS, *percentile_columns(SHARES), MAXIMUM)
_KEYS = (MEAN_OF_IOS.key, *map(percentile_key, SHARES), MAXIMUM.key)
_NOTES = (
    "Histograms are added, percentiles never averaged. Percentiles are within 0.1 %, mean and maximum are exact.",
    "n/a: fewer than ten I/Os lie beyond the percentile.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The response times of a cell, sample or stage. key : what tells it apart, a value per column of its table.

    times : its counts, empty where histograms were not read. latency_ms_mean, latency_ms_max : exact, from
    the counters; None where no I/O completed.
    """

    key: tuple[Any, ...]
    label: str
    io_count: int
    times: ResponseTimes
    latency_ms_mean: float | None
    latency_ms_max: float | None

    @property
    def times_ms(self) -> tuple[float | None, ...]:
        """Mean, percentiles of ``SHARES`` and maximum."""
        values = percentiles(self.times, SHARES)
        return (self.latency_ms_mean, *(values[share] for share in SHARES), self.latency_ms_max)


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """The response times of a test by parts.

    name : of its tables. title : of the test. over : what the parts were measured over. columns : of the keys.
    withheld : why there are no parts, None where they may be printed.
    curves : places of the parts that are drawn, at most ``CURVES_MAX``.
    rule : how these are chosen, as printed. prefix : begins the names of figures.
    maps : further figures, each behind a sentence, for the screen; that of the name ``printed`` for paper too, on a
        page whose title ends with ``printed_title``.
    """

    name: str
    title: str
    over: str
    prefix: str
    columns: tuple[str, ...]
    parts: tuple[Part, ...]
    withheld: Coded | None = None
    curves: tuple[int, ...] = ()
    rule: str = ""
    maps: tuple[tuple[str, Figure], ...] = ()
    printed: str = ""
    printed_title: str = "over Time"

    @property
    def drawn(self) -> tuple[Part, ...]:
        """The parts that are curves of the figures."""
        return tuple(self.parts[curve] for curve in self.curves)


def part(key: tuple[Any, ...], label: str, steps: Sequence[StepRecord], times: Sequence[ResponseTimes]) -> Part:
    """The response times of several steps. times : the counts of each step; empty if they were not read.

    Worked: four steps of 1,000 I/Os at 1 ms and one of 1,000 at 2 ms -> mean 1.2 ms.
    """
    mean_ms, max_ms = mean_and_max_ms(steps)
    return Part(
        key=key,
        label=label,
        io_count=sum(map(latency_count, steps)),
        times=merged(times),
        latency_ms_mean=mean_ms,
        latency_ms_max=max_ms,
    )


def percentile_data(distribution: Distribution, suffix: str = "") -> ResultTable:
    """The percentiles of all parts, without a row where they are withheld."""
    keys = (replace(one, role="key") for one in named(distribution.columns))
    return ResultTable(
        key=f"{distribution.name}_percentiles{suffix}",
        title=f"Response times over {distribution.over}",
        columns=(*keys, *_COLUMNS),
        rows=tuple((*part.key, part.io_count, *part.times_ms) for part in distribution.parts),
        section="results" if len(distribution.parts) <= _FEW else "data",
    )


def percentile_table(distribution: Distribution, parts: Sequence[Part], *notes: str) -> Table:
    """The percentiles of some parts as printed."""
    return Table(
        caption=f"{distribution.title}: response times over {distribution.over} (ms)",
        columns=("", "I/Os", "Mean", *(f"{share * 100:g} %" for share in SHARES), "Maximum"),
        rows=tuple(
            (
                part.label,
                f"{part.io_count:,}",
                *(NOT_AVAILABLE if time is None else milliseconds_text(time) for time in part.times_ms),
            )
            for part in parts
        ),
        notes=(*_NOTES, *notes),
    )


def screen_blocks(distribution: Distribution) -> tuple[Block, ...]:
    """Everything of it for the on-screen appendix; why there is nothing, where there is nothing."""
    if not distribution.parts:
        why = text_or_none(distribution.withheld) or "nothing was measured"
        return (Text(paragraphs=(f"{distribution.title}: response times n/a: {why}.",)),)
    rule = f" {distribution.rule}" if distribution.rule and len(distribution.curves) < len(distribution.parts) else ""
    reading = f"percentiles from the median to where ten I/Os are slower, then the maximum.{rule}"
    figures = [*((reading, figure) for figure in distribution_figures(distribution)), *distribution.maps]
    blocks = (
        block for text, figure in figures for block in (Text(paragraphs=(f"{distribution.title}: {text}",)), figure)
    )
    return (percentile_table(distribution, distribution.parts), *blocks)


def distribution_pages(distribution: Distribution, banner: str | None) -> Iterator[Page]:
    """The printed pages of a distribution: table and curves, then its printed map; none without histograms.

    banner : of the test. The first page has the parts that are drawn; all of them are in the other formats.
    """
    if not (curves := distribution_figures(distribution)):
        return
    left_out = len(distribution.parts) - len(distribution.curves)
    rest = f"{left_out} more are in the HTML report, the workbook, the CSV tables and results.json."
    notes = tuple(filter(None, (distribution.rule, rest))) if left_out else ()
    head = f"{distribution.title} - Response Times (ms)"
    page = Page(title="Response Times", subtitle="", header=None, banner=banner, blocks=())
    blocks: tuple[Block, ...] = (percentile_table(distribution, distribution.drawn, *notes), *curves)
    yield replace(page, subtitle=f"{head} over {distribution.over}", blocks=blocks)
    for text, figure in distribution.maps:
        if figure.name == distribution.printed:
            shown = replace(figure, reading=f"{text[:1].upper()}{text[1:]}")
            yield replace(page, subtitle=f"{head} {distribution.printed_title}", blocks=(shown,))


def distribution_figures(distribution: Distribution) -> tuple[Figure, ...]:
    """The curves of the drawn parts; none without histograms."""
    curves = [(one.label, one.times) for one in distribution.drawn]
    figure = tail_figure(f"{distribution.prefix}-tail", curves)
    return (figure,) if figure else ()


def distribution_measures(distribution: Distribution) -> Iterator[Measure]:
    """Mean, percentiles and maximum of the response times of every part, each over all its I/Os."""
    for part in distribution.parts:
        cell: Key = tuple(zip(distribution.columns, part.key, strict=True))
        for key, value in zip(_KEYS, part.times_ms, strict=True):
            yield Measure(cell=cell, key=key, label=part.label, unit="ms", value=value, stat=stat_of(key))
