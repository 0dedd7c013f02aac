"""What a replay shows: the trace before and after it was put on this drive, what came of it, and how late it was."""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING

from assay.plan.fills import preparation_text, with_fill
from assay.procedures.custom import custom_facts
from assay.procedures.replay.result import GRADES, replayed
from assay.procedures.replay.run import ReplaySettings
from assay.procedures.workload.record import far_below, rate_keys, stream_insights, stream_numbers, stream_table
from assay.results.outcome import withheld_reason
from assay.spec.units import GB, MB, MILLISECOND_NS, SECOND_NS, duration_label
from assay.summary.measures import MEAN
from assay.summary.pages.figures import MainFigure
from assay.summary.pages.model import Figure, Series, Table, Text
from assay.summary.pages.test_record import Shown, Source
from assay.summary.record import Measure
from assay.summary.table import (
    IO_COUNT,
    SECOND,
    UNIT,
    Column,
    Lines,
    percentile_columns,
    printed_table,
    table_of,
    table_of_columns,
)
from assay.words.coded import ALL_IOS, coded
from assay.words.printed import NOT_AVAILABLE, milliseconds_or_na, percent, rate_or_na, size_label
from assay.words.text import text_or_none
from assay.workloads.traces import OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.procedures.replay.result import Replayed
    from assay.procedures.workload.record import Number
    from assay.procedures.workload.result import Times
    from assay.summary.insights import Insight
    from assay.summary.pages.model import Block
    from assay.summary.pages.test_record import PagePart
    from assay.summary.table import Declared, ResultTable
    from assay.words.coded import Coded
    from assay.workloads.traces import StreamMap
    from assay.workloads.traces.stream_map import SizeShare

_TITLE = "Replay - Report Page (no test of the specification)"
_SHARES = (0.5, 0.99, 0.999)
_SIZES_SHOWN = 16
_VALUES: Declared[Number] = (
    (Column("value", "Number", role="key"), itemgetter(0)),
    (Column("measured", "Measured"), itemgetter(2)),
    (UNIT, itemgetter(1)),
)
_SIZES: Declared[SizeShare] = (
    (Column("operation", "Operation", role="key"), attrgetter("operation")),
    (Column("length_bytes", "Size", "B", role="key"), attrgetter("length_bytes")),
    (IO_COUNT, attrgetter("io_count")),
    (Column("share", "Share"), attrgetter("share")),
)
_PAGE_SIZES: Declared[tuple[SizeShare, float | None]] = (
    (Column(""), lambda row: _size_label(row[0])),
    (Column("io_count", "I/Os of the trace"), lambda row: row[0].io_count),
    (Column("share", "Share", printer="{:.2%}".format), lambda row: row[0].share),
    (Column("share_issued", "Share as issued", printer="{:.2%}".format), itemgetter(1)),
)
_TIMES: Declared[tuple[str, Times]] = (
    (Column(""), itemgetter(0)),
    (Column("mean", "Mean", "ms"), lambda row: row[1].mean),
    *(
        (column, lambda row, share=share: row[1].at(share))
        for share, column in zip(_SHARES, percentile_columns(_SHARES), strict=True)
    ),
    (Column("max", "Maximum", "ms"), lambda row: row[1].largest),
)
_GRADE_NOTE = (
    f"Grade by the p99 of the lateness: exact 0, good up to {GRADES[1][1]:g} ms, fair up to "
    f"{GRADES[2][1]:g} ms, else poor. Lateness includes tester delay and the wait for a free slot."
)


@dataclass(frozen=True, kw_only=True)
class ReplayPages(Source):
    """What the pages of a replay are made of. done : None where the results are withheld."""

    done: Replayed | None

    @property
    def settings(self) -> ReplaySettings:
        """What it used."""
        return self.test.settings_as(ReplaySettings)

    def parts(self) -> Iterator[PagePart]:
        """The stream map, and what came of the replay."""
        done, trace, rounded = self.done, self.settings.facts.map, self.settings.rounded.sentence
        issued = done.issued if done else None
        form = "; ".join((self.settings.facts.form, *self.settings.facts.told))
        notes = (f"Trace: {form}.", self.settings.mapping.sentence, *([f"{rounded}."] if rounded else []))
        if done:
            yield "Results", (*self.plan_box(), *self._results(done))
        yield "Stream Map", (*self.plan_box(), map_table(trace, issued, notes))
        yield "Operations and Sizes", (*self.plan_box(), size_table(trace, issued))
        for figure in self._intensity():
            yield "Intensity", (*self.plan_box(), figure)
        if done is None:
            reason = text_or_none(withheld_reason(self.test)) or "the replay did not begin"
            yield "Results", (Text(paragraphs=(f"n/a: {reason}",)),)

    def figures(self) -> Iterator[MainFigure]:
        """I/Os as they were due and completed, and the load of the trace."""
        drawn = self._rate(self.done) if self.done else ()
        titles = (("Load, due and completed", drawn), ("Load of the trace", self._intensity()))
        for title, figure in ((title, figure) for title, figures in titles for figure in figures):
            yield MainFigure(kind="curve", title=title, figure=replace(figure, name=f"{figure.name}-main"))

    def _results(self, done: Replayed) -> tuple[Block, ...]:
        totals = ("io_count", "span_ns", *rate_keys([done.stream]), "held", "errors")
        kinds = [("From issue", done.stream.service)]
        if done.timed:
            kinds += [("From due", done.stream.due), ("Issued late by", done.stream.late)]
        notes = () if done.grade is None else (f"Fidelity: {done.grade}.", _GRADE_NOTE)
        return (
            printed_table(stream_table("totals", "What came of it", totals, [done.stream])),
            printed_table(table_of("times", "Response times and lateness", _TIMES, kinds), notes=notes),
            *self._rate(done),
        )

    def _rate(self, done: Replayed) -> tuple[Figure, ...]:
        """Completions in every second, and what was due."""
        if len(done.per_s) < 2:  # noqa: PLR2004 - a line needs two points
            return ()
        done_at = tuple((second + 0.5, value) for second, value in enumerate(done.per_s))
        series = [Series.through(done_at, "completed", 0, "lines")]
        if self.settings.speed is not None:
            series.append(Series.through(intensity(done.issued), "due", 1, "lines"))
        return (_figure(f"{self.prefix}-rate", "I/Os per second, due and completed", *series),)

    def _intensity(self) -> tuple[Figure, ...]:
        trace = self.settings.facts.map
        points = intensity(trace)
        if len(points) < 2 or not trace.span_ns:  # noqa: PLR2004 - a line needs two points
            return ()
        line = Series.through(points, "trace", 0, "lines")
        return (_figure(f"{self.prefix}-trace", "I/Os per second of the trace", line),)


_READINGS = {
    "rate": "Does the drive keep up? Where the lines lie on each other, I/Os are completed as they are due.",
    "trace": "How even is the load? The I/O rate of the host in the trace.",
}


def replay_shown(source: Source) -> Shown:
    """What a stored replay shows."""
    test, settings = source.test, source.test.settings_as(ReplaySettings)
    done = None if withheld_reason(test) else replayed(test)
    pages, facts, speed = ReplayPages(**source.origin, done=done), settings.facts, _speed(settings)
    preparation = preparation_text(settings)
    return Shown(
        **source.origin,
        facts=with_fill(custom_facts(source, "Replay"), settings),
        outline=f"{facts.issued_count:,} I/Os of a trace ({facts.form}), {speed}.",
        preparation=preparation,
        title=_TITLE,
        parts=pages.parts(),
        readings=_READINGS,
        drawn=pages.figures(),
        numbers=_measures(done),
        seen=_insights(done),
        remarks=_remarks(settings, done),
        settings=(
            ("Trace", settings.source.path),
            ("SHA-256 of the trace", facts.sha256),
            ("Form of the trace", "; ".join((facts.form, *facts.told))),
            ("Places on this drive", settings.mapping.sentence),
            ("Rounded to whole blocks", settings.rounded.sentence or "no I/O"),
            ("I/Os", f"{facts.issued_count:,}, {speed}"),
            ("Preparation", preparation),
        ),
        tables=lambda: _tables(settings, done, source.suffix),
    )


def _speed(settings: ReplaySettings) -> str:
    speed, slots = settings.speed, f"at most {settings.step.demand.queue_depth} outstanding"
    if speed is None:
        return f"in order, as fast as possible, {slots}"
    word = "when they are due" if speed == 1 else f"at {speed:g} times the speed of the trace"
    return f"{word}, {slots}"


def _remarks(settings: ReplaySettings, done: Replayed | None) -> tuple[Coded, ...]:
    """How many I/Os were rounded, and that the times of the trace were not kept, where they were not."""
    rounded = settings.rounded.sentence
    reasons = [rounded] if rounded else []
    if done and done.grade in {"fair", "poor"}:
        p99, stream = done.stream.late.at(0.99), done.stream
        late = f"1 % of the I/Os were issued more than {milliseconds_or_na(p99)} ms late"
        if p99 is None:
            late = f"I/Os were issued up to {milliseconds_or_na(stream.late.largest)} ms late"
        slots = f"{stream.held:,.3g} of {settings.step.demand.queue_depth} slots were taken on the mean"
        reasons.append(f"the times of the trace were not kept (fidelity {done.grade}): {late}; {slots}")
    return tuple(coded("reason", reason=reason) for reason in reasons)


def _insights(done: Replayed | None) -> Iterator[Insight]:
    """Whether the drive kept up, waits, and whether it was busy."""
    if done:
        yield from stream_insights(ALL_IOS, done.stream)
        yield from far_below([done.stream.held])


def _measures(done: Replayed | None) -> Iterator[Measure]:
    """Every number of the replay; people quote its rate, its throughput and its mean response time."""
    start, mean = ("due", "due_ms_mean_of_ios") if done and done.timed else ("issue", MEAN)
    names = {"iops": "Rate", "mb_per_s": "Throughput", mean: f"Response time from {start}, mean"}
    for key, unit, value, stat in _numbers(done):
        yield Measure(
            cell=(("item", "replay"),), key=key, label="replay", unit=unit, value=value, stat=stat,
            name=names.get(key, ""), quoted=key in names, basis=coded("replay"),
        )  # fmt: skip


def _tables(settings: ReplaySettings, done: Replayed | None, suffix: str) -> Iterator[ResultTable]:
    """The numbers of the replay, its sizes, and its rate in every second."""
    yield table_of(f"replay_values{suffix}", "What came of it", _VALUES, _numbers(done), section="results")
    yield table_of(f"replay_sizes{suffix}", "Operations and sizes", _SIZES, settings.facts.map.sizes)
    rates = done.per_s if done else ()
    seconds = ((SECOND, range(len(rates))), (Column("completed_io_count", "I/Os completed"), rates))
    lines = (Lines(SECOND.key, "completed_io_count"),)
    yield table_of_columns(f"replay_seconds{suffix}", "Seconds", seconds, lines=lines)


def _numbers(done: Replayed | None) -> Iterator[Number]:
    """Every number; without a replay those that any replay has."""
    if done is None:
        yield from (("iops", "IOPS", None, "mean"), ("mb_per_s", "MB/s", None, "mean"), (MEAN, "ms", None, "mean"))
        return
    stream = done.stream
    timed = {"due_ms": stream.due, "late_ms": stream.late} if done.timed else {}
    yield from stream_numbers(stream, {"latency_ms": stream.service, **timed}, _SHARES)


def map_table(trace: StreamMap, issued: StreamMap | None, notes: tuple[str, ...]) -> Table:
    """Both maps side by side. issued : on this drive; None where nothing was issued."""
    kinds = [kind for kind in OPERATIONS if trace.io_count[kind]]
    after = _map_texts(issued, kinds) if issued else {}
    rows = tuple((name, text, after.get(name, NOT_AVAILABLE)) for name, text in _map_texts(trace, kinds).items())
    return Table(caption="Stream map", columns=("", "Trace", "As issued on this drive"), rows=rows, notes=notes)


def _map_texts(found: StreamMap, kinds: list[str]) -> dict[str, str]:
    """What a trace is like, by name. kinds : of its I/Os."""
    rate, texts = found.ios_per_s, {"I/Os": f"{found.total_count:,}"}
    for kind in kinds:
        count = found.io_count[kind]
        share = count / max(found.total_count, 1)
        texts[f"{kind.capitalize()} I/Os"] = f"{count:,} ({share:.1%}), {_amount(found.io_bytes[kind])}"
    for kind in (kind for kind in kinds if kind != "flush"):
        share = found.sequential_count[kind] / max(found.io_count[kind], 1)
        texts[f"{kind.capitalize()} in order"] = f"{share:.1%}"
    texts["Length"] = duration_label(found.span_ns)
    texts["I/Os per second, mean"] = rate_or_na(rate)
    peak = max(found.intensity, default=0) * SECOND_NS / found.interval_ns
    shown = f"{peak:,.1f} (in {duration_label(found.interval_ns)})" if found.span_ns else NOT_AVAILABLE
    texts["I/Os per second, peak"] = shown
    for share in (0.5, 0.99):
        gap = f"{found.gap_ns[share] / MILLISECOND_NS:,.4g} ms" if share in found.gap_ns else NOT_AVAILABLE
        texts[f"Time between I/Os, {percent(share)}"] = gap
    return {**texts, "Bytes touched": _amount(found.footprint_bytes), "Last byte": _amount(found.end_bytes)}


def _amount(amount_bytes: int) -> str:
    """Worked: 52,000,000 bytes -> ``52.0 MB``, 3.2e12 -> ``3,200.0 GB``."""
    return f"{amount_bytes / GB:,.1f} GB" if amount_bytes >= 10 * GB else f"{amount_bytes / MB:,.1f} MB"


def size_table(trace: StreamMap, issued: StreamMap | None) -> Table:
    """The most frequent sizes of the trace, and their shares as issued, which whole blocks may have changed."""
    after = {(size.operation, size.length_bytes): size.share for size in issued.sizes} if issued else {}
    missing = 0.0 if issued else None
    rows = [(size, after.get((size.operation, size.length_bytes), missing)) for size in trace.sizes[:_SIZES_SHOWN]]
    more = len(trace.sizes) - _SIZES_SHOWN
    notes = (f"{more} further sizes are in the table of numbers.",) if more > 0 else ()
    return printed_table(table_of("sizes", "Operations and sizes", _PAGE_SIZES, rows), notes=notes)


def _size_label(size: SizeShare) -> str:
    if size.length_bytes is None:
        return f"{size.operation} of other sizes"
    return f"{size.operation} {size_label(size.length_bytes) if size.length_bytes else 'no bytes'}"


def intensity(stream_map: StreamMap) -> tuple[tuple[float, float], ...]:
    """Middle in s and I/Os per second of each interval, of which the last may be cut short and is left out.

    Worked: 5 and 7 I/Os in two intervals of 0.5 s -> one point, at 0.25 s and 10 a second.
    """
    seconds = stream_map.interval_ns / SECOND_NS
    return tuple(((index + 0.5) * seconds, count / seconds) for index, count in enumerate(stream_map.intensity[:-1]))


def _figure(name: str, alt: str, *series: Series) -> Figure:
    return Figure(
        name=name,
        kind="lines",
        alt=alt,
        x_title="Time (s)",
        y_title="I/Os per second",
        y_scale="linear",
        series=series,
    )
