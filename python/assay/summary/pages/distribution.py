"""How the response times of a test are spread: percentiles per cell or part, as tables for every format.

Counts of histograms are added before a percentile is read from them; no percentile is ever averaged.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from assay.results import latency_count, mean_and_max_ms, merged, percentiles
from assay.summary.columns import IO_COUNT, MAXIMUM, MEAN_OF_IOS, named, percentile_columns
from assay.summary.pages.main_figure import tail_figure
from assay.summary.pages.model import Table, Text
from assay.summary.table import ResultTable
from assay.words.printed import NOT_AVAILABLE, milliseconds_text
from assay.words.text import text_or_none

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engine.records import StepRecord
    from assay.results import ResponseTimes
    from assay.summary.pages.model import Block, Figure
    from assay.words.coded import Coded

SHARES = (0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999)
"""Percentiles that are given of every part."""

CURVES_MAX = 8
"""More curves than this cannot be told apart in one figure."""

_FEW = 12
"""So many parts stand among the results of their test; more are in the sheet alone."""

_COLUMNS = (IO_COUNT, MEAN_OF_IOS, *percentile_columns(SHARES), MAXIMUM)
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
    """Add up what steps measured. times : the counts of each step; empty where they were not read.

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
        rows=tuple((*one.key, *_values(one)) for one in distribution.parts),
        section="results" if len(distribution.parts) <= _FEW else "data",
    )


def percentile_table(distribution: Distribution, parts: Sequence[Part], *notes: str) -> Table:
    """The percentiles of some parts as printed."""
    return Table(
        caption=f"{distribution.title}: response times over {distribution.over} (ms)",
        columns=("", "I/Os", "Mean", *(f"{share * 100:g} %" for share in SHARES), "Maximum"),
        rows=tuple(_row(one) for one in parts),
        notes=(*_NOTES, *notes),
    )


def screen_blocks(distribution: Distribution) -> tuple[Block, ...]:
    """Everything of it for the on-screen appendix; why there is nothing, where there is nothing."""
    if not distribution.parts:
        why = text_or_none(distribution.withheld) or "nothing was measured"
        return (Text(paragraphs=(f"{distribution.title}: response times n/a: {why}.",)),)
    figures = tuple(
        block for text, figure in distribution.maps for block in (_said(f"{distribution.title}: {text}"), figure)
    )
    return (percentile_table(distribution, distribution.parts), *_curves(distribution), *figures)


def printed_pages(distribution: Distribution) -> tuple[tuple[Block, ...], ...]:
    """What stands on its pages of paper: table and curves, then its printed map; nothing without histograms.

    The first page has the parts that are drawn; all of them are in the other formats.
    """
    if not (curves := distribution_figures(distribution)):
        return ()
    left_out = len(distribution.parts) - len(distribution.curves)
    rest = f"{left_out} more are in the HTML report, the workbook, the CSV tables and results.json."
    notes = tuple(filter(None, (distribution.rule, rest)))
    first: tuple[Block, ...] = (
        percentile_table(distribution, distribution.drawn, *(notes if left_out else ())),
        *curves,
    )
    shown = printed_map(distribution)
    return (first, (shown,)) if shown else (first,)


def printed_map(distribution: Distribution) -> Figure | None:
    """Its map for paper with the sentence that it stands behind; None without one."""
    maps = (replace(one, reading=f"{text[:1].upper()}{text[1:]}") for text, one in distribution.maps)
    return next((one for one in maps if one.name == distribution.printed), None)


def distribution_figures(distribution: Distribution) -> tuple[Figure, ...]:
    """The curves of the drawn parts; none without histograms."""
    curves = [(one.label, one.times) for one in distribution.drawn]
    figure = tail_figure(f"{distribution.prefix}-tail", curves)
    return (figure,) if figure else ()


def _curves(distribution: Distribution) -> tuple[Block, ...]:
    figures = distribution_figures(distribution)
    said = "percentiles from the median to where ten I/Os are slower, then the maximum."
    rule = f" {distribution.rule}" if distribution.rule and len(distribution.curves) < len(distribution.parts) else ""
    return (_said(f"{distribution.title}: {said}{rule}"), *figures) if figures else ()


def _said(text: str) -> Text:
    return Text(paragraphs=(text,))


def _values(one: Part) -> tuple[float | None, ...]:
    values = percentiles(one.times, SHARES)
    return (one.io_count, one.latency_ms_mean, *(values[share] for share in SHARES), one.latency_ms_max)


def _row(one: Part) -> tuple[str, ...]:
    _, *times = _values(one)
    printed = (NOT_AVAILABLE if time is None else milliseconds_text(time) for time in times)
    return (one.label, f"{one.io_count:,}", *printed)
