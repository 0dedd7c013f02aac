"""The pages of a replay: the trace before and after it was put on this drive, what came of it, and how late it was."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.plan.fills import preparation_text, with_fill
from assay.procedures.custom import CustomReport, CustomResult, Value
from assay.procedures.replay.insights import replay_insights
from assay.procedures.replay.result import GRADES, replayed
from assay.procedures.replay.settings import ReplaySettings
from assay.procedures.replay.stream_map import intensity, map_table, size_table
from assay.results import withheld_reason
from assay.spec.units import duration_label
from assay.summary.columns import IO_COUNT, SECOND, UNIT
from assay.summary.measures import MEAN
from assay.summary.pages.main_figure import MainFigure
from assay.summary.pages.model import Figure, Series, Table, Text
from assay.summary.record import Measure, Stat
from assay.summary.table import Column, Lines, table_of, table_of_columns
from assay.words.coded import Coded, coded
from assay.words.printed import NOT_AVAILABLE, milliseconds_or_na
from assay.words.text import text_or_none

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import StoredRun, StoredTest
    from assay.procedures.replay.result import Replayed, Times
    from assay.spec.edition import Edition
    from assay.summary.insight import Insight
    from assay.summary.pages.facts import TestFacts
    from assay.summary.pages.model import Block, Entry, Page
    from assay.summary.table import Declared, ResultTable
    from assay.workloads.traces.stream_map import SizeShare

    _Number = tuple[str, str, float | None, Stat]

_TITLE = "Replay - Report Page (no test of the specification)"
_TIMES = ("", "Mean (ms)", "50 % (ms)", "99 % (ms)", "99.9 % (ms)", "Maximum (ms)")
_VALUES: Declared[_Number] = (
    (Column("value", "Number", role="key"), lambda number: number[0]),
    (Column("measured", "Measured"), lambda number: number[2]),
    (UNIT, lambda number: number[1]),
)
_SIZES: Declared[SizeShare] = (
    (Column("operation", "Operation", role="key"), lambda size_share: size_share.operation),
    (Column("length_bytes", "Size", "B", role="key"), lambda size_share: size_share.length_bytes),
    (IO_COUNT, lambda size_share: size_share.io_count),
    (Column("share", "Share"), lambda size_share: size_share.share),
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
        speed, depth = self.settings.speed, self.settings.step.demand.queue_depth
        slots = f"at most {depth} outstanding"
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
        done = self.result.replayed
        issued = None if done is None else done.issued
        pages = self.settings.facts.map
        asked: list[tuple[str, tuple[Block, ...]]] = [
            ("Stream Map", (*self.strip(), map_table(pages, issued, self._reading()))),
            ("Operations and Sizes", (*self.strip(), size_table(pages, issued))),
        ]
        asked += [("Intensity", (*self.strip(), figure)) for figure in self._intensity()]
        if done is None:
            reason = text_or_none(self.result.withheld) or "the replay did not begin"
            return self.pages(_TITLE, (*asked, ("Results", (Text(paragraphs=(f"n/a: {reason}",)),))))
        return self.pages(_TITLE, (("Results", (*self.strip(), *self._results(done))), *asked))

    def _reading(self) -> tuple[str, ...]:
        facts, mapping = self.settings.facts, self.settings.mapping
        told = "; ".join((facts.form, *facts.told))
        rounded = self.settings.rounded.sentence
        return (f"Trace: {told}.", mapping.sentence, *([f"{rounded}."] if rounded else []))

    def _results(self, done: Replayed) -> tuple[Block, ...]:
        counts = self.settings.facts.map.io_count
        beside = bool(counts["trim"] or counts["flush"])
        moved = ("Reads and writes per second", "MB/s transferred") if beside else ("I/Os per second", "MB/s")
        commands = ("Trims and flushes per second", "MB/s trimmed") if beside else ()
        rates = Table(
            caption="What came of it",
            columns=("I/Os", "Time", *moved, *commands, "Outstanding (mean)", "Errors"),
            rows=(
                (
                    f"{done.io_count:,}",
                    duration_label(round(done.span_s * 1e9)),
                    f"{done.iops:,.1f}",
                    f"{done.mb_per_s:,.1f}",
                    *((f"{done.commands_per_s:,.1f}", f"{done.trimmed_mb_per_s:,.1f}") if beside else ()),
                    f"{done.held:,.3g}",
                    f"{done.errors:,}",
                ),
            ),
        )
        kinds = (("From issue", done.service), ("From due", done.due), ("Issued late by", done.late))
        rows = tuple(_times_row(name, times) for name, times in kinds if times is not None)
        notes = () if done.grade is None else (f"Fidelity: {done.grade}.", _GRADE_NOTE)
        return (
            rates,
            Table(caption="Response times and lateness", columns=_TIMES, rows=rows, notes=notes),
            *self._rate(done),
        )

    def _rate(self, done: Replayed) -> tuple[Block, ...]:
        """Completions in every second, and what was due."""
        if len(done.per_s) < 2:  # noqa: PLR2004 - a line needs two points
            return ()
        done_at = tuple((second + 0.5, value) for second, value in enumerate(done.per_s))
        series = [Series.through(done_at, "completed", 0, "lines")]
        if self.settings.speed is not None:
            series.append(Series.through(intensity(done.issued), "due", 1, "lines"))
        return (_figure(f"{self.prefix}-rate", "I/Os per second, due and completed", series),)

    def _intensity(self) -> tuple[Block, ...]:
        result = self.settings.facts.map
        points = intensity(result)
        if len(points) < 2 or not result.span_ns:  # noqa: PLR2004 - a line needs two points
            return ()
        series = [Series.through(points, "trace", 0, "lines")]
        return (_figure(f"{self.prefix}-trace", "I/Os per second of the trace", series),)

    @property
    def readings(self) -> dict[str, str]:
        """Sentences below the figures."""
        return {
            "rate": "Does the drive keep up? Where the lines lie on each other, I/Os are completed as they are due.",
            "trace": "How even is the load? The I/O rate of the host in the trace.",
        }

    def remarks(self) -> tuple[Coded, ...]:
        """How many I/Os were rounded, and that the times of the trace were not kept, where they were not."""
        rounded = self.settings.rounded.sentence
        return tuple(coded("reason", reason=line) for line in (*([rounded] if rounded else []), *self._lateness()))

    def _lateness(self) -> tuple[str, ...]:
        done = self.result.replayed
        if done is None or done.late is None or done.grade not in {"fair", "poor"}:
            return ()
        late = f"1 % of the I/Os were issued more than {milliseconds_or_na(done.late.p99)} ms late"
        if done.late.p99 is None:
            late = f"I/Os were issued up to {milliseconds_or_na(done.late.largest)} ms late"
        slots = f"{done.held:,.3g} of {self.settings.step.demand.queue_depth} slots were taken on the mean"
        return (f"the times of the trace were not kept (fidelity {done.grade}): {late}; {slots}",)

    def insights(self) -> Iterator[Insight]:
        """Whether the drive kept up, waits, and whether it was busy."""
        return replay_insights(self.test) if self.result.replayed else iter(())

    def numbers(self) -> Iterator[Measure]:
        """Every number of the replay; people quote its rate, its throughput and its mean response time."""
        done = self.result.replayed
        quoted = {"iops": "Rate", "mb_per_s": "Throughput"}
        if done is None or done.due is None:
            quoted[MEAN] = "Response time from issue, mean"
        else:
            quoted["due_ms_mean_of_ios"] = "Response time from due, mean"
        for key, unit, value, stat in _numbers(done):
            name = quoted.get(key, "")
            yield Measure(
                cell=(("item", "replay"),), key=key, label="replay", unit=unit, value=value, stat=stat, name=name,
                quoted=bool(name), basis=coded("replay"),
            )  # fmt: skip

    def main_figures(self) -> Iterator[MainFigure]:
        """I/Os as they were due and completed, and the load of the trace."""
        done = self.result.replayed
        drawn = [("Load, due and completed", one) for one in self._rate(done)] if done else []
        for title, one in (*drawn, *(("Load of the trace", one) for one in self._intensity())):
            if isinstance(one, Figure):
                yield MainFigure(kind="curve", title=title, figure=replace(one, name=f"{one.name}-main"))

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
        done = self.result.replayed
        numbers = list(_numbers(done))
        yield table_of(f"replay_values{suffix}", "What came of it", _VALUES, numbers, section="results")
        yield table_of(f"replay_sizes{suffix}", "Operations and sizes", _SIZES, self.settings.facts.map.sizes)
        rates = done.per_s if done else ()
        seconds = ((SECOND, range(len(rates))), (Column("completed_io_count", "I/Os completed"), rates))
        lines = (Lines(SECOND.key, "completed_io_count"),)
        yield table_of_columns(f"replay_seconds{suffix}", "Seconds", seconds, lines=lines)


def replay_report(run: StoredRun, test: StoredTest, edition: Edition, prefix: str) -> ReplayReport:
    """The report of a stored replay."""
    withheld = withheld_reason(test)
    done = None if withheld else replayed(test)
    values = tuple(Value(item=item, unit=unit, value=value) for item, unit, value in _quoted(done))
    result = ReplayResult(values=values, withheld=withheld, replayed=done)
    return ReplayReport(run=run, test=test, edition=edition, prefix=prefix, result=result, title="Replay")


def _numbers(done: Replayed | None) -> Iterator[_Number]:
    """Key, unit and value of every number, and what it is of many; without a replay those that any replay has."""
    yield "iops", "IOPS", None if done is None else done.iops, "mean"
    yield "mb_per_s", "MB/s", None if done is None else done.mb_per_s, "mean"
    if done is None:
        yield MEAN, "ms", None, "mean"
        return
    if done.commands_per_s:
        yield "commands_per_s", "commands/s", done.commands_per_s, "mean"
        yield "trimmed_mb_per_s", "MB/s", done.trimmed_mb_per_s, "mean"
    for kind, times in (("latency_ms", done.service), ("due_ms", done.due), ("late_ms", done.late)):
        if times is not None:
            yield f"{kind}_mean_of_ios", "ms", times.mean, "mean"
            yield f"{kind}_p50", "ms", times.p50, "percentile"
            yield f"{kind}_p99", "ms", times.p99, "percentile"
            yield f"{kind}_p99.9", "ms", times.p999, "percentile"
            yield f"{kind}_max", "ms", times.largest, "maximum"


def _quoted(done: Replayed | None) -> Iterator[tuple[str, str, float | None]]:
    """What people quote of a replay."""
    times = None if done is None else done.due or done.service
    start = "issue" if done is None or done.due is None else "due"
    yield "Rate", "IOPS", None if done is None else done.iops
    yield "Throughput", "MB/s", None if done is None else done.mb_per_s
    yield f"Response time from {start}, mean", "ms", None if times is None else times.mean
    yield f"Response time from {start}, 99 %", "ms", None if times is None else times.p99
    yield f"Response time from {start}, maximum", "ms", None if times is None else times.largest
    if done is not None and done.late is not None:
        yield "Issued late by, 99 %", "ms", done.late.p99


def _times_row(name: str, times: Times) -> tuple[str, ...]:
    values = (times.mean, times.p50, times.p99, times.p999, times.largest)
    return (name, *(NOT_AVAILABLE if value is None else milliseconds_or_na(value) for value in values))


def _figure(name: str, alt: str, series: list[Series]) -> Figure:
    return Figure(
        name=name,
        kind="lines",
        alt=alt,
        x_title="Time (s)",
        y_title="I/Os per second",
        y_scale="linear",
        series=tuple(series),
    )
