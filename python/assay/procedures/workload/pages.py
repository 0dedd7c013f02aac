"""The pages of a workload: what was asked, and what every stream of each stage did."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING

from assay.errors import UsageError
from assay.plan.fills import preparation_text, with_fill
from assay.procedures.custom import CustomReport, CustomResult, Value
from assay.procedures.workload.insights import workload_insights
from assay.procedures.workload.iometer_csv import iometer_csv
from assay.procedures.workload.result import (
    PERCENTILE_FIELDS,
    iops_over_time,
    stage_results,
)
from assay.procedures.workload.seconds import seconds_table
from assay.procedures.workload.settings import WorkloadSettings
from assay.procedures.workload.tails import stream_tails
from assay.results import POINT_SHARES, withheld_reason
from assay.spec.units import duration_label
from assay.summary import columns as of
from assay.summary.columns import percentile_columns
from assay.summary.measures import MEAN, percentile_key, stat_of
from assay.summary.pages.main_figure import MainFigure, main_tail
from assay.summary.pages.model import Table, Text
from assay.summary.pages.time_axis import MINUTES
from assay.summary.pages.time_figures import time_figure
from assay.summary.record import OWN_SLOTS, Key, Measure, Tile
from assay.summary.table import Column, table_of
from assay.words.coded import coded
from assay.words.printed import (
    NOT_APPLICABLE,
    milliseconds_or_na,
    size_label,
)
from assay.words.text import text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import AccessPattern, StepSpec, StoredRun, StoredTest
    from assay.procedures.workload.result import StreamResult
    from assay.procedures.workload.settings import WorkloadStage
    from assay.spec.edition import Edition
    from assay.summary.insight import Insight
    from assay.summary.pages.facts import TestFacts
    from assay.summary.pages.model import Block, Entry, Figure, Page
    from assay.summary.pages.test_report import PagePart
    from assay.summary.table import Declared, ResultTable

_PERCENTILES = tuple(map(percentile_key, POINT_SHARES))
_NAMED_STAGES = 6
_ROWS_TOGETHER = 8
_HOUR_MINUTES = 60
_TITLE = "Workload - Report Page (no test of the specification)"
_ASKED = ("Stage", "Stream", "I/Os", "Threads x depth", "Rate (I/O/s)", "Range", "Ends after")
_MOVED = ("I/Os per second", "MB/s")
_MOVED_BESIDE = ("Reads and writes per second", "MB/s transferred", "Trims and flushes per second", "MB/s trimmed")
_TIMES = (
    "Average (ms)",
    "99 % (ms)",
    "99.9 % (ms)",
    "99.99 % (ms)",
    "99.9999 % (ms)",
    "Maximum (ms)",
    "Errors",
)
_RATES = (
    "Stream",
    "Offered (I/O/s)",
    "Achieved (I/O/s)",
    "Late by, mean (ms)",
    "Late by, 99 % (ms)",
    "Late by, maximum (ms)",
    "From due, 99 % (ms)",
    "From due, maximum (ms)",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadResult(CustomResult):
    """What the stages did; empty where the results are withheld."""

    stages: tuple[tuple[StreamResult, ...], ...] = ()


@dataclass(frozen=True, kw_only=True)
class WorkloadReport(CustomReport):
    """One workload on its way to pages."""

    result: WorkloadResult

    @property
    def settings(self) -> WorkloadSettings:
        """What it used."""
        return self.test.settings_as(WorkloadSettings)

    @property
    def facts(self) -> TestFacts:
        """The test in the words of headers and summaries, with its fills and the number of its streams."""
        count = max(len(stage.streams) for stage in self.settings.stages)
        several = (f"{count} streams, see the table", NOT_APPLICABLE) if count > 1 else None
        return with_fill(replace(super().facts, demands=several), self.settings)

    @property
    def outline(self) -> str:
        """Stages and their lengths."""
        first, rest = self.settings.stages[:_NAMED_STAGES], self.settings.stages[_NAMED_STAGES:]
        stages = "; ".join(f"{stage.name}: {ends_after(stage)}" for stage in first)
        more = f"; and {len(rest)} more" if rest else ""
        return f"{self.settings.title or 'A workload'}, {stages}{more}."

    @property
    def preparation(self) -> str:
        """Purge and fills as they were asked for."""
        return preparation_text(self.settings)

    def report_pages(self) -> tuple[Page, ...]:
        """What was asked, then a page for every measured stage."""
        asked = [("Workload", (*self.strip(), self._asked(), *self._left_out()))]
        if self.result.withheld:
            reason = text(coded("withheld", reason=self.result.withheld))
            return self.pages(_TITLE, (*asked, ("Results", (Text(paragraphs=(reason,)),))))
        parts = [part for stage in self.result.stages for part in self._stage_parts(stage)]
        if len(self.result.stages) == 1 and len(self._asked().rows) + len(self.settings.left_out) <= _ROWS_TOGETHER:
            # What was asked and what came of it stand on one page.
            asked, parts = [_together(asked[0], parts[0])], parts[1:]
        return self.pages(_TITLE, (*asked, *parts))

    def _asked(self) -> Table:
        rows = [
            (
                stage.name,
                spec.label,
                pattern_label(spec.pattern),
                *_demand_texts(spec),
                _range_label(spec),
                ends_after(stage),
            )
            for stage in self.settings.stages
            for spec in stage.streams
        ]
        source = self.settings.source
        return Table(
            caption=self.settings.title or "Streams",
            columns=_ASKED,
            rows=tuple(rows),
            notes=(f"Source: {source}",) if source else (),
        )

    def _left_out(self) -> tuple[Block, ...]:
        if not self.settings.left_out:
            return ()
        rows = tuple((line,) for line in self.settings.left_out)
        caption = "In the workload's file, and otherwise here"
        return (Table(caption=caption, columns=(caption,), rows=rows),)

    def _stage_parts(self, stage: tuple[StreamResult, ...]) -> Iterator[tuple[str, tuple[Block, ...]]]:
        """The numbers of a stage, and its rates over time."""
        yield f"Stage {stage[0].stage}", self._done(stage)
        if figure := self._over_time(stage[0].stage):
            yield f"Stage {stage[0].stage}, over time", (figure,)

    def _done(self, stage: tuple[StreamResult, ...]) -> tuple[Block, ...]:
        done = _done_table("What each stream did", stage)
        rated = [one for one in stage if one.offered is not None]
        if not rated:
            return (done,)
        notes = ("Lateness (tester, not drive): from when an I/O was due to when it was issued.",)
        return (
            done,
            Table(caption="Rates", columns=_RATES, rows=tuple(_rate_row(one) for one in rated), notes=notes),
        )

    def _over_time(self, stage: str) -> Figure | None:
        """The rate of each stream in every second, one colour each."""
        place = [stage[0].stage for stage in self.result.stages].index(stage) + 1
        streams = iops_over_time(self.test).get(stage, ())
        figure = time_figure(
            f"{self.prefix}-stage-{place}",
            [(label, minutes, counts, colour) for colour, (label, minutes, counts) in enumerate(streams)],
            alt=f"I/Os per second of every stream of {stage} over time",
            y_title="I/Os per second",
            y_scale="log",
        )
        if figure is None:
            return None
        # Stages are short beside the tests that last hours.
        series = tuple(replace(one, x=tuple(hours * _HOUR_MINUTES for hours in one.x)) for one in figure.series)
        return replace(figure, x_title=MINUTES, series=series)

    @property
    def readings(self) -> dict[str, str]:
        """Sentences below the figures."""
        return {
            "stage": "Does each stream keep its rate? I/Os completed in every second, a colour per stream; "
            "a slow stream is averaged over about ten I/Os."
        }

    def insights(self) -> Iterator[Insight]:
        """Rates missed, waits, and whether the drive was busy."""
        return workload_insights(self.test, self.result.stages) if self.result.stages else iter(())

    def numbers(self) -> Iterator[Measure]:
        """Every number of every stream; people quote rate, throughput and mean response time of each."""
        for stage in self.result.stages:
            for one in (stage[-1], *stage[:-1]):
                yield from stream_measures(one, is_whole=one is stage[-1])

    def tiles(self) -> Iterator[Tile]:
        """The rate of each stream with its 99 %; of many, of all together first."""
        streams = [(one, is_whole) for stage in self.result.stages for one, is_whole in _with_whole(stage)]
        for slot, (one, is_whole) in zip(OWN_SLOTS, streams, strict=False):
            cell = stream_cell(one)
            title = coded("tile-own", name="All streams" if is_whole and one.spec is None else one.label)
            then = (cell, percentile_key(0.99))
            yield Tile(slot=slot, title=title, value=(cell, "iops" if one.moves else "commands_per_s"), then=then)

    def main_figures(self) -> Iterator[MainFigure]:
        """The rate of each stream over time and its tail, stage by stage."""
        several = len(self.result.stages) > 1
        for index, stage in enumerate(self.result.stages, 1):
            name = stage[0].stage
            if figure := self._over_time(name):
                rates = replace(figure, name=f"{self.prefix}-main-rate-{index}")
                yield MainFigure(kind="curve", title="I/Os per second", note=name if several else "", figure=rates)
            tails = stream_tails(self.test, index - 1)
            yield from main_tail(f"{self.prefix}-main-tail-{index}", tails, name if several else "")

    def demand_entries(self) -> tuple[Entry, ...]:
        """Of a single stream; several have theirs in the table."""
        several = self.facts.demands
        return (("Total OIO - TC/QD", several[0]),) if several else CustomReport.demand_entries(self)

    def own_settings(self) -> tuple[Entry, ...]:
        """Title, source and how the drive was prepared."""
        settings = self.settings
        return (
            ("Workload", settings.title or "not named"),
            ("Source of the workload", settings.source or "not stated"),
            ("Preparation", self.preparation),
            ("Stages", f"{len(settings.stages):,}"),
        )

    def tables(self, suffix: str) -> Iterator[ResultTable]:
        """A row for every stream of each measured stage, with what it was asked; and one for each second of each."""
        streams = (one for stage in self.result.stages for one in stage)
        yield table_of(f"workload_streams{suffix}", "Streams", _STREAMS, streams, section="results", brief=_BRIEF)
        yield seconds_table(f"workload_seconds{suffix}", self.test if self.result.stages else None)

    def other_files(self, suffix: str) -> Iterator[tuple[str, bytes]]:
        """The results as Iometer writes them, where it has words for the workload."""
        with suppress(UsageError):
            yield f"iometer{suffix}.csv", iometer_csv(self.run, self.test).encode("utf-8", "backslashreplace")


_BRIEF = (
    "stage", "label", "demand", "accesses", "iops", "mb_per_s", "commands_per_s", "latency_ms_mean", "latency_ms_p99",
    "latency_ms_p999", "latency_ms_max", "errors",
)  # fmt: skip
_STREAMS: Declared[StreamResult] = (
    (Column("stage", "Stage", role="key"), lambda stream_result: stream_result.stage),
    (Column("label", "Stream", role="key"), lambda stream_result: stream_result.label),
    (
        Column("thread_count", "Threads"),
        lambda stream_result: stream_result.spec.demand.thread_count if stream_result.spec else None,
    ),
    (
        Column("queue_depth", "Queue depth"),
        lambda stream_result: stream_result.spec.demand.queue_depth if stream_result.spec else None,
    ),
    (Column("demand", "Demand"), lambda stream_result: demand_text(stream_result.spec) if stream_result.spec else None),
    (
        Column("accesses", "Accesses"),
        lambda stream_result: pattern_label(stream_result.spec.pattern) if stream_result.spec else None,
    ),
    (of.IOPS, lambda stream_result: stream_result.iops),
    (of.MB_PER_S, lambda stream_result: stream_result.mb_per_s),
    (Column("commands_per_s", "Trims and flushes per second"), lambda stream_result: stream_result.commands_per_s),
    (Column("trimmed_mb_per_s", "Trimmed", "MB/s"), lambda stream_result: stream_result.trimmed_mb_per_s),
    (of.MEAN, lambda stream_result: stream_result.latency_ms_mean),
    *(
        (Column(field, column.title, column.unit), attrgetter(field))
        for field, column in zip(PERCENTILE_FIELDS, percentile_columns(POINT_SHARES), strict=True)
    ),
    (of.MAXIMUM, lambda stream_result: stream_result.latency_ms_max),
    (Column("errors", "Errors"), lambda stream_result: stream_result.errors),
    (Column("offered", "Offered", "I/O/s"), lambda stream_result: stream_result.offered),
    (Column("late_ms_mean", "Issue delay, mean", "ms"), lambda stream_result: stream_result.late_ms_mean),
    (Column("late_ms_p99", "Issue delay, 99 %", "ms"), lambda stream_result: stream_result.late_ms_p99),
    (Column("late_ms_max", "Issue delay, largest", "ms"), lambda stream_result: stream_result.late_ms_max),
    (Column("due_ms_p99", "From due, 99 %", "ms"), lambda stream_result: stream_result.due_ms_p99),
    (Column("due_ms_max", "From due, largest", "ms"), lambda stream_result: stream_result.due_ms_max),
)


def _together(asked: PagePart, done: PagePart) -> PagePart:
    """The page of a workload of one stage: its tables one above the other, each with its caption."""
    titled = (replace(block, titled=True) if isinstance(block, Table) else block for block in (*asked[1], *done[1]))
    return f"{asked[0]} and {done[0]}", tuple(titled)


def workload_report(run: StoredRun, test: StoredTest, edition: Edition, prefix: str) -> WorkloadReport:
    """The report of a stored workload."""
    withheld = withheld_reason(test)
    stages = () if withheld else stage_results(test)
    values = tuple(
        Value(item=one.item, unit=_rate_unit(one), value=one.all_per_s)
        for stage in stages
        for one in stage
        if one.spec is not None
    )
    result = WorkloadResult(values=values, withheld=withheld, stages=stages)
    title = test.settings_as(WorkloadSettings).title or "Workload"
    return WorkloadReport(run=run, test=test, edition=edition, prefix=prefix, result=result, title=title)


def pattern_label(pattern: AccessPattern) -> str:
    """What the I/Os of a stream look like.

    Worked: 4 KiB, 67 % reads, all random -> ``4KiB, 67 % read, 100 % random``.
    """
    sizes = " / ".join(
        f"{size_label(size)} {share:.0%}" if share < 1 else size_label(size) for size, share in pattern.sizes
    )
    if pattern.operation == "flush":
        return "flush"
    if pattern.operation == "trim":
        return f"trim of {sizes}, {_percent(pattern.random_share)} random{_bursts(pattern)}"
    mix = f"{_percent(pattern.read_share)} read, {_percent(pattern.random_share)} random"
    return f"{sizes}, {mix}{_groups(pattern)}{_bursts(pattern)}"


def _groups(pattern: AccessPattern) -> str:
    """Worked: half of the accesses to the first twentieth -> ``, 50 % to 5 % / 50 % to 95 % of the range``."""
    parts = " / ".join(f"{_percent(access)} to {_percent(part)}" for access, part in pattern.lba_groups)
    return f", {parts} of the range" if parts else ""


def _bursts(pattern: AccessPattern) -> str:
    if not any(line.delay_ns or line.burst_io_count > 1 for line in pattern.lines):
        return ""
    texts = dict.fromkeys(f"{line.burst_io_count} behind {duration_label(line.delay_ns)}" for line in pattern.lines)
    return f", in bursts of {' / '.join(texts)}"


def _percent(share: float) -> str:
    return f"{share * 100:.6g} %"


def _demand_texts(spec: StepSpec) -> tuple[str, str]:
    demand = spec.demand
    if demand.arrivals_per_s is None:
        return f"{demand.thread_count} x {demand.queue_depth}", "as fast as it can"
    ramp = "" if demand.arrival_end_factor == 1 else f" to {demand.arrivals_per_s * demand.arrival_end_factor:,.6g}"
    return (
        f"at most {demand.thread_count} x {demand.queue_depth}",
        f"{demand.arrivals_per_s:,.6g}{ramp}, {demand.arrival_process}",
    )


def demand_text(spec: StepSpec) -> str:
    """Threads, depth and rate. Worked: ``1 x 8``; of 2,000 I/Os per second ``2,000/s poisson, at most 1 x 64``."""
    demand = spec.demand
    rate = demand.arrivals_per_s
    return ", ".join(
        ([f"{rate:,.6g}/s {demand.arrival_process}"] if rate is not None else []) + [_demand_texts(spec)[0]]
    )


def _range_label(spec: StepSpec) -> str:
    (start,), length = spec.active_range.segment_starts, spec.active_range.segment_bytes
    return f"{length / 1e9:,.6g} GB" + (f" from {start / 1e9:,.6g} GB" if start else "")


def ends_after(stage: WorkloadStage) -> str:
    """What ends a stage. Worked: 60 s behind a ramp-up of 10 s -> ``1 min behind 10 s of ramp-up``."""
    stop = stage.streams[0].stop
    if stop.time_ns is not None:
        text = duration_label(stop.time_ns)
    elif stop.amount_bytes is not None:
        text = f"{stop.amount_bytes / 1e9:,.6g} GB"
    else:
        text = f"{stop.io_count:,} I/Os"
    return text + (f" behind {duration_label(stage.ramp_up_ns)} of ramp-up" if stage.ramp_up_ns else "")


def _quoted_keys(stream_result: StreamResult, *, is_whole: bool) -> tuple[str, ...]:
    """What people quote of a stream: of all together each rate, of one beside others the rate of its kind."""
    rates = ("iops", "mb_per_s") if stream_result.moves else ()
    commands = ("commands_per_s",) if stream_result.commands else ()
    if is_whole:
        return (*rates, *commands, MEAN)
    return (*(rates or commands)[:1], MEAN) if stream_result.spec else ()


def stream_cell(stream_result: StreamResult) -> Key:
    """The cell of a stream."""
    return (("stage", stream_result.stage), ("stream", stream_result.label))


def _with_whole(stage: tuple[StreamResult, ...]) -> Iterator[tuple[StreamResult, bool]]:
    """All streams together, then those that are one."""
    yield stage[-1], True
    yield from ((one, False) for one in stage[:-1] if one.spec is not None)


def stream_measures(stream_result: StreamResult, *, is_whole: bool) -> Iterator[Measure]:
    """Every number of a stream. is_whole : it is the only one of its stage, or all of it together."""
    cell = stream_cell(stream_result)
    quoted = _quoted_keys(stream_result, is_whole=is_whole)
    average = f"{stream_result.item}, average" if MEAN in quoted and not is_whole else ""
    for key, unit, value in _numbers(stream_result):
        yield Measure(
            cell=cell, key=key, label=stream_result.item, unit=unit, value=value, stat=stat_of(key),
            quoted=key in quoted, name=average if key == MEAN else "", basis=coded("stage", name=stream_result.stage),
        )  # fmt: skip


def _rate_unit(stream_result: StreamResult) -> str:
    """In which unit the rate of a stream of one kind is quoted."""
    return "IOPS" if stream_result.moves else "commands/s"


def _numbers(stream_result: StreamResult) -> tuple[tuple[str, str, float | None], ...]:
    return (
        *(
            (("iops", "IOPS", stream_result.iops), ("mb_per_s", "MB/s", stream_result.mb_per_s))
            if stream_result.moves
            else ()
        ),
        *(
            (
                ("commands_per_s", "commands/s", stream_result.commands_per_s),
                ("trimmed_mb_per_s", "MB/s", stream_result.trimmed_mb_per_s),
            )
            if stream_result.commands
            else ()
        ),
        ("latency_ms_mean_of_ios", "ms", stream_result.latency_ms_mean),
        *(
            (name, "ms", getattr(stream_result, field))
            for name, field in zip(_PERCENTILES, PERCENTILE_FIELDS, strict=True)
        ),
        ("latency_ms_max", "ms", stream_result.latency_ms_max),
    )


def _done_table(caption: str, stage: tuple[StreamResult, ...]) -> Table:
    """What each stream did. What is trimmed or flushed stands apart, where any stream does so."""
    beside = any(one.commands for one in stage)
    columns = ("Stream", *(_MOVED_BESIDE if beside else _MOVED), *_TIMES)
    return Table(caption=caption, columns=columns, rows=tuple(_done_row(one, beside=beside) for one in stage))


def _done_row(stream_result: StreamResult, *, beside: bool) -> tuple[str, ...]:
    nines = (
        stream_result.latency_ms_p99,
        stream_result.latency_ms_p999,
        stream_result.latency_ms_p9999,
        stream_result.latency_ms_p999999,
    )
    times = (stream_result.latency_ms_mean, *nines, stream_result.latency_ms_max)
    moved = (f"{stream_result.iops:,.1f}", f"{stream_result.mb_per_s:,.2f}")
    commands = (f"{stream_result.commands_per_s:,.1f}", f"{stream_result.trimmed_mb_per_s:,.2f}") if beside else ()
    return (stream_result.label, *moved, *commands, *map(milliseconds_or_na, times), f"{stream_result.errors:,}")


def _rate_row(stream_result: StreamResult) -> tuple[str, ...]:
    times = (
        stream_result.late_ms_mean,
        stream_result.late_ms_p99,
        stream_result.late_ms_max,
        stream_result.due_ms_p99,
        stream_result.due_ms_max,
    )
    return (
        stream_result.label,
        f"{stream_result.offered or 0:,.1f}",
        f"{stream_result.all_per_s:,.1f}",
        *map(milliseconds_or_na, times),
    )
