"""What a replay shows: the trace before and after it was put on this drive, what came of it, and how late it was."""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING

from assay.plan.fills import preparation_text, with_fill
from assay.procedures.custom import CustomReport, CustomResult
from assay.procedures.replay.result import GRADES, replayed
from assay.procedures.replay.run import ReplaySettings
from assay.procedures.workload.record import far_below, rate_keys, stream_insights, stream_numbers, stream_table
from assay.results import withheld_reason
from assay.spec.units import GB, MB, MILLISECOND_NS, SECOND_NS, duration_label
from assay.summary.columns import IO_COUNT, SECOND, UNIT, percentile_columns
from assay.summary.measures import MEAN
from assay.summary.pages.data_tables import printed_table
from assay.summary.pages.main_figure import MainFigure
from assay.summary.pages.model import Figure, Series, Table, Text
from assay.summary.record import Measure
from assay.summary.table import Column, Lines, table_of, table_of_columns
from assay.words.coded import coded
from assay.words.printed import NOT_AVAILABLE, milliseconds_or_na, percent, rate_or_na, size_label
from assay.words.subject import ALL_IOS
from assay.words.text import text_or_none
from assay.workloads.traces import OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import StoredRun, StoredTest
    from assay.procedures.replay.result import Replayed
    from assay.procedures.workload.record import Number
    from assay.procedures.workload.result import Times
    from assay.spec.edition import Edition
    from assay.summary.insight import Insight
    from assay.summary.pages.facts import TestFacts
    from assay.summary.pages.model import Block, Entry, Page
    from assay.summary.pages.test_report import PagePart
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayResult(CustomResult):
    """What the replay did; None where the results are withheld."""

    replayed: Replayed | None = None


@dataclass(frozen=True, kw_only=True)
class ReplayReport(CustomReport):
    """One replay on its way to pages."""

    result: ReplayResult

    @property
    def settings(self) -> ReplaySettings:
        """What it used."""
        return self.test.settings_as(ReplaySettings)

    @property
    def facts(self) -> TestFacts:
        """The test in the words of headers and summaries, with its fills."""
        return with_fill(super().facts, self.settings)

    @property
    def outline(self) -> str:
        """The trace and how it was issued."""
        facts = self.settings.facts
        return f"{facts.issued_count:,} I/Os of a trace ({facts.form}), {self._speed}."

    @property
    def _speed(self) -> str:
        speed, slots = self.settings.speed, f"at most {self.settings.step.demand.queue_depth} outstanding"
        if speed is None:
            return f"in order, as fast as possible, {slots}"
        word = "when they are due" if speed == 1 else f"at {speed:g} times the speed of the trace"
        return f"{word}, {slots}"

    @property
    def preparation(self) -> str:
        """Purge and fills as they were asked for."""
        return preparation_text(self.settings)

    def report_pages(self) -> tuple[Page, ...]:
        """The stream map, and what came of the replay."""
        done, trace, rounded = self.result.replayed, self.settings.facts.map, self.settings.rounded.sentence
        issued = done.issued if done else None
        told = "; ".join((self.settings.facts.form, *self.settings.facts.told))
        notes = (f"Trace: {told}.", self.settings.mapping.sentence, *([f"{rounded}."] if rounded else []))
        asked: list[PagePart] = [
            ("Stream Map", (*self.strip(), map_table(trace, issued, notes))),
            ("Operations and Sizes", (*self.strip(), size_table(trace, issued))),
        ]
        asked += [("Intensity", (*self.strip(), figure)) for figure in self._intensity()]
        if done is None:
            reason = text_or_none(self.result.withheld) or "the replay did not begin"
            return self.pages(_TITLE, (*asked, ("Results", (Text(paragraphs=(f"n/a: {reason}",)),))))
        return self.pages(_TITLE, (("Results", (*self.strip(), *self._results(done))), *asked))

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

    @property
    def readings(self) -> dict[str, str]:
        """Sentences below the figures."""
        return {
            "rate": "Does the drive keep up? Where the lines lie on each other, I/Os are completed as they are due.",
            "trace": "How even is the load? The I/O rate of the host in the trace.",
        }

    def remarks(self) -> tuple[Coded, ...]:
        """How many I/Os were rounded, and that the times of the trace were not kept, where they were not."""
        done, rounded = self.result.replayed, self.settings.rounded.sentence
        reasons = [rounded] if rounded else []
        if done and done.grade in {"fair", "poor"}:
            p99, stream = done.stream.late.at(0.99), done.stream
            late = f"1 % of the I/Os were issued more than {milliseconds_or_na(p99)} ms late"
            if p99 is None:
                late = f"I/Os were issued up to {milliseconds_or_na(stream.late.largest)} ms late"
            slots = f"{stream.held:,.3g} of {self.settings.step.demand.queue_depth} slots were taken on the mean"
            reasons.append(f"the times of the trace were not kept (fidelity {done.grade}): {late}; {slots}")
        return tuple(coded("reason", reason=reason) for reason in reasons)

    def insights(self) -> Iterator[Insight]:
        """Whether the drive kept up, waits, and whether it was busy."""
        if done := self.result.replayed:
            yield from stream_insights(ALL_IOS, done.stream)
            yield from far_below([done.stream.held])

    def numbers(self) -> Iterator[Measure]:
        """Every number of the replay; people quote its rate, its throughput and its mean response time."""
        done = self.result.replayed
        start, mean = ("due", "due_ms_mean_of_ios") if done and done.timed else ("issue", MEAN)
        quoted = {"iops": "Rate", "mb_per_s": "Throughput", mean: f"Response time from {start}, mean"}
        for key, unit, value, stat in _numbers(done):
            yield Measure(
                cell=(("item", "replay"),), key=key, label="replay", unit=unit, value=value, stat=stat,
                name=quoted.get(key, ""), quoted=key in quoted, basis=coded("replay"),
            )  # fmt: skip

    def main_figures(self) -> Iterator[MainFigure]:
        """I/Os as they were due and completed, and the load of the trace."""
        drawn = self._rate(self.result.replayed) if self.result.replayed else ()
        titles = (("Load, due and completed", drawn), ("Load of the trace", self._intensity()))
        for title, figure in ((title, figure) for title, figures in titles for figure in figures):
            yield MainFigure(kind="curve", title=title, figure=replace(figure, name=f"{figure.name}-main"))

    def own_settings(self) -> tuple[Entry, ...]:
        """The trace, how it is read and issued, and how the drive was prepared."""
        settings = self.settings
        return (
            ("Trace", settings.source.path),
            ("SHA-256 of the trace", settings.facts.sha256),
            ("Form of the trace", "; ".join((settings.facts.form, *settings.facts.told))),
            ("Places on this drive", settings.mapping.sentence),
            ("Rounded to whole blocks", settings.rounded.sentence or "no I/O"),
            ("I/Os", f"{settings.facts.issued_count:,}, {self._speed}"),
            ("Preparation", self.preparation),
        )

    def tables(self, suffix: str) -> Iterator[ResultTable]:
        """The numbers of the replay, its sizes, and its rate in every second."""
        done, sizes = self.result.replayed, self.settings.facts.map.sizes
        yield table_of(f"replay_values{suffix}", "What came of it", _VALUES, _numbers(done), section="results")
        yield table_of(f"replay_sizes{suffix}", "Operations and sizes", _SIZES, sizes)
        rates = done.per_s if done else ()
        seconds = ((SECOND, range(len(rates))), (Column("completed_io_count", "I/Os completed"), rates))
        lines = (Lines(SECOND.key, "completed_io_count"),)
        yield table_of_columns(f"replay_seconds{suffix}", "Seconds", seconds, lines=lines)


def replay_report(run: StoredRun, test: StoredTest, edition: Edition, prefix: str) -> ReplayReport:
    """The report of a stored replay."""
    withheld = withheld_reason(test)
    done = None if withheld else replayed(test)
    result = ReplayResult(withheld=withheld, replayed=done)
    return ReplayReport(run=run, test=test, edition=edition, prefix=prefix, result=result, title="Replay")


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
