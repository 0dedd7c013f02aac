"""What a workload shows: what was asked, what every stream of each stage did, and how late it was.

Tables, numbers and insights of a stream are those of a replay as well.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from assay.errors import UsageError
from assay.plan.fills import preparation_text, with_fill
from assay.procedures.custom import custom_facts
from assay.procedures.traits import pattern_subject, stalls, tails, waited
from assay.procedures.workload.result import averaged, iometer_csv, stage_results, stream_seconds
from assay.procedures.workload.run import WorkloadSettings
from assay.results.captured import POINT_SHARES
from assay.results.outcome import withheld_reason
from assay.results.seconds import completions_per_second
from assay.results.step import latency_count, rate_count
from assay.spec.units import SECOND_NS, duration_label
from assay.summary import table as of
from assay.summary.insights import insight
from assay.summary.measures import MEAN, percentile_key
from assay.summary.pages.figures import MINUTES, MainFigure, main_tail, time_figure
from assay.summary.pages.model import Table, Text
from assay.summary.pages.test_record import Shown, Source
from assay.summary.record import OWN_SLOTS, Measure, Tile
from assay.summary.table import Column, ResultTable, percentile_columns, printed_table, table_of
from assay.words.coded import coded
from assay.words.digits import nth
from assay.words.printed import NOT_APPLICABLE, NOT_STATED, percent, size_label
from assay.words.text import text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from assay.engine.records import AccessPattern, StepRecord, StepSpec, StoredTest
    from assay.procedures.workload.result import StreamResult, Times
    from assay.procedures.workload.run import WorkloadStage
    from assay.summary.insights import Insight
    from assay.summary.pages.model import Block, Figure
    from assay.summary.pages.test_record import PagePart
    from assay.summary.record import Key, Stat
    from assay.summary.table import Declared
    from assay.words.coded import Subject

    Number = tuple[str, str, float | None, Stat]
    """Key, unit and value of a number, and what it is of many."""

_NAMED_STAGES = 6
_ROWS_TOGETHER = 8
_TAILS_MAX = 8
"""More curves than this cannot be told apart."""
_MINUTE_SECONDS = _HOUR_MINUTES = 60
_TITLE = "Workload - Report Page (no test of the specification)"
_MEGABYTES = "{:,.2f}".format
# Files of earlier runs have these names, and verify holds a report against them.
_POINTS = tuple(percentile_key(share).replace(".", "") for share in POINT_SHARES)


class _Asked(NamedTuple):
    stage: WorkloadStage
    spec: StepSpec


_ASKED: Declared[_Asked] = (
    (Column("stage", "Stage"), attrgetter("stage.name")),
    (Column("label", "Stream"), attrgetter("spec.label")),
    (Column("accesses", "I/Os"), lambda asked: pattern_label(asked.spec.pattern)),
    (Column("demand", "Threads x depth"), lambda asked: _depth_text(asked.spec)),
    (Column("rate", "Rate (I/O/s)"), lambda asked: _rate_text(asked.spec)),
    (Column("range", "Range"), lambda asked: _range_text(asked.spec)),
    (Column("end", "Ends after"), lambda asked: ends_after(asked.stage)),
)
_DECLARED: Declared[StreamResult] = (
    (Column("stage", "Stage", role="key"), attrgetter("stage")),
    (Column("label", "Stream", role="key"), attrgetter("label")),
    (Column("thread_count", "Threads"), lambda stream: stream.spec.demand.thread_count if stream.spec else None),
    (Column("queue_depth", "Queue depth"), lambda stream: stream.spec.demand.queue_depth if stream.spec else None),
    (Column("demand", "Demand"), lambda stream: demand_text(stream.spec) if stream.spec else None),
    (Column("accesses", "Accesses"), lambda stream: pattern_label(stream.spec.pattern) if stream.spec else None),
    (Column("io_count", "I/Os"), lambda stream: sum(map(latency_count, stream.records))),
    (Column("span_ns", "Time", printer=duration_label), lambda stream: stream.records[0].span_ns),
    (Column("all_ios", "I/Os per second"), attrgetter("iops")),
    (Column("all_mb", "MB/s", printer=_MEGABYTES), attrgetter("mb_per_s")),
    (replace(of.IOPS, page_title="Reads and writes per second"), attrgetter("iops")),
    (replace(of.MB_PER_S, page_title="MB/s transferred", printer=_MEGABYTES), attrgetter("mb_per_s")),
    (Column("commands_per_s", "Trims and flushes per second"), attrgetter("commands_per_s")),
    (
        Column("trimmed_mb_per_s", "Trimmed", "MB/s", page_title="MB/s trimmed", printer=_MEGABYTES),
        attrgetter("trimmed_mb_per_s"),
    ),
    (replace(of.MEAN, page_title="Average (ms)"), attrgetter("service.mean")),
    *(
        (replace(column, key=key), lambda stream, share=share: stream.service.at(share))
        for key, share, column in zip(_POINTS, POINT_SHARES, percentile_columns(POINT_SHARES), strict=True)
    ),
    (replace(of.MAXIMUM, page_title="Maximum (ms)"), attrgetter("service.largest")),
    (Column("held", "Outstanding (mean)", printer="{:,.3g}".format), attrgetter("held")),
    (Column("errors", "Errors"), attrgetter("errors")),
    (Column("offered", "Offered", "I/O/s"), attrgetter("offered")),
    (Column("achieved", "Achieved", "I/O/s"), attrgetter("all_per_s")),
    (Column("late_ms_mean", "Issue delay, mean", "ms"), attrgetter("late.mean")),
    (Column("late_ms_p99", "Issue delay, 99 %", "ms"), lambda stream: stream.late.at(0.99)),
    (Column("late_ms_max", "Issue delay, largest", "ms"), attrgetter("late.largest")),
    (Column("due_ms_p99", "From due, 99 %", "ms"), lambda stream: stream.due.at(0.99)),
    (Column("due_ms_max", "From due, largest", "ms"), attrgetter("due.largest")),
)
"""Every column of a stream. The rates with ``all`` in their keys are of streams of which none trims or flushes."""
_COLUMNS = {column.key: (column, fill) for column, fill in _DECLARED}
_MOVED, _APART = ("all_ios", "all_mb"), ("iops", "mb_per_s", "commands_per_s", "trimmed_mb_per_s")
_LATE = ("late_ms_mean", "late_ms_p99", "late_ms_max", "due_ms_p99", "due_ms_max")
_STREAMS = (
    "stage", "label", "thread_count", "queue_depth", "demand", "accesses", *_APART, "latency_ms_mean", *_POINTS,
    "latency_ms_max", "errors", "offered", *_LATE,
)  # fmt: skip
_BRIEF = (
    "stage", "label", "demand", "accesses", "iops", "mb_per_s", "commands_per_s", "latency_ms_mean", "latency_ms_p99",
    "latency_ms_p999", "latency_ms_max", "errors",
)  # fmt: skip
_TIMES = (
    "latency_ms_mean", "latency_ms_p99", "latency_ms_p999", "latency_ms_p9999", "latency_ms_p999999", "latency_ms_max",
)  # fmt: skip
_SECONDS = (
    *(_COLUMNS[key][0] for key in ("stage", "label")),
    of.SECOND,
    Column("direction", "Direction", role="key"),
    of.IOPS,
    of.MB_PER_S,
)


def stream_table(
    key: str, title: str, keys: Iterable[str], streams: Iterable[StreamResult], **more: Any
) -> ResultTable:
    """A row for each stream. keys : of its columns. more : fields of the table."""
    return table_of(key, title, [_COLUMNS[one] for one in keys], streams, **more)


def rate_keys(streams: Iterable[StreamResult]) -> tuple[str, ...]:
    """The rates that a page prints: what is trimmed or flushed stands apart, where any stream does so."""
    return _APART if any(stream.commands for stream in streams) else _MOVED


def stream_numbers(stream: StreamResult, times: Mapping[str, Times], shares: Sequence[float]) -> Iterator[Number]:
    """Its rates and times. times : by how their keys begin, such as ``latency_ms``. shares : which percentiles."""
    moved = (("iops", "IOPS"), ("mb_per_s", "MB/s")) if stream.moves else ()
    commands = (("commands_per_s", "commands/s"), ("trimmed_mb_per_s", "MB/s")) if stream.commands else ()
    for key, unit in (*moved, *commands):
        yield key, unit, getattr(stream, key), "mean"
    for kind, each in times.items():
        yield f"{kind}_mean_of_ios", "ms", each.mean, "mean"
        for share in shares:
            yield f"{kind}_{nth(share)}", "ms", each.at(share), "percentile"
        yield f"{kind}_max", "ms", each.largest, "maximum"


def stream_insights(about: Subject, stream: StreamResult) -> Iterator[Insight]:
    """Its rate, where it has one, and how long its I/Os waited. stream : a single one."""
    yield from rate_missed(about, stream.records[0])
    if stream.spec and stream.service.histogram and stream.moves:
        yield from tails(about, stream.service.histogram)
        yield from stalls(about, [waited(stream.records, [stream.service.histogram], stream.spec.demand)])


def rate_missed(about: Subject, step: StepRecord) -> Iterator[Insight]:
    """How much of what was due was done. Worked: 402 of 490 I/Os per second -> 82 % kept."""
    if step.offered_io_count and step.span_ns:
        kept = min(rate_count(step) / step.offered_io_count, 1.0)
        rate = step.offered_io_count * SECOND_NS / step.span_ns
        yield insight("rate-missed", about, kept=kept, lost=1 - kept, rate=rate)


def rate_kept(streams: Sequence[StreamResult]) -> Iterator[Insight]:
    """That the streams of a stage kept their rates, and what the fastest without a rate reached beside them.

    Worked: 2,001 of 2,000 I/Os per second, and reads without a rate of 93,323 IOPS -> 1 stream kept its rate.
    """
    paced = [stream for stream in streams if stream.offered]
    unpaced = [stream for stream in streams if stream.offered is None and stream.moves]
    free = max(unpaced, key=lambda stream: stream.iops, default=None)
    if paced:
        yield insight(
            "rate-kept",
            count=len(paced),
            kept=min(one.all_per_s / (one.offered or 1) for one in paced),
            late_ms=max(one.late.largest or 0 for one in paced) or None,
            stream=free and free.label,
            rate=free and free.iops,
            p99_ms=free and free.service.at(0.99),
        )


def far_below(depths: Sequence[float]) -> Iterator[Insight]:
    """That the drive had next to nothing to do. depths : I/Os in flight on the mean, of each stage.

    Worked: 0.012 in flight at most -> busy for 1.2 % of the time at most, as where one is in flight it is busy.
    """
    if depths:
        yield insight("far-below", busy=min(max(depths), 1.0))


@dataclass(frozen=True, kw_only=True)
class WorkloadPages(Source):
    """What the pages of a workload are made of. stages : what they did; empty where the results are withheld."""

    stages: tuple[tuple[StreamResult, ...], ...]

    @property
    def settings(self) -> WorkloadSettings:
        """What it used."""
        return self.test.settings_as(WorkloadSettings)

    def parts(self) -> Iterator[PagePart]:
        """What was asked, then a page for every measured stage."""
        asked, done = self._asked(), self.stages
        if withheld := withheld_reason(self.test):
            yield "Workload", asked
            yield "Results", (Text(paragraphs=(text(coded("withheld", reason=withheld)),)),)
            return
        parts = [part for index in range(len(done)) for part in self._stage_parts(index)]
        rows = sum(len(block.rows) for block in asked if isinstance(block, Table))
        if len(done) == 1 and rows <= _ROWS_TOGETHER:
            # What was asked and what came of it stand on one page, each table with its caption.
            (name, blocks), *parts = parts
            titled = (replace(one, titled=True) if isinstance(one, Table) else one for one in (*asked, *blocks))
            yield f"Workload and {name}", tuple(titled)
        else:
            yield "Workload", asked
        yield from parts

    def figures(self) -> Iterator[MainFigure]:
        """The rate of each stream over time and its tail, stage by stage."""
        for index, stage in enumerate(self.stages):
            note = stage[0].stage if self.stages[1:] else ""
            if figure := self._over_time(index):
                rates = replace(figure, name=f"{self.prefix}-main-rate-{index + 1}")
                yield MainFigure(kind="curve", title="I/Os per second", note=note, figure=rates)
            tails = [(one.label, one.service.histogram) for one in stage if one.spec and one.service.histogram]
            yield from main_tail(f"{self.prefix}-main-tail-{index + 1}", tails[:_TAILS_MAX], note)

    def _asked(self) -> tuple[Block, ...]:
        """Every stream, and what the file of the workload says otherwise."""
        settings = self.settings
        streams = (_Asked(stage, spec) for stage in settings.stages for spec in stage.streams)
        table = table_of("streams", settings.title or "Streams", _ASKED, streams)
        notes = (f"Source: {settings.source}",) if settings.source else ()
        caption = "In the workload's file, and otherwise here"
        rows = tuple((line,) for line in settings.left_out)
        left_out = (Table(caption=caption, columns=(caption,), rows=rows),) if rows else ()
        return (*self.plan_box(), printed_table(table, notes=notes), *left_out)

    def _stage_parts(self, index: int) -> Iterator[PagePart]:
        """The numbers of a stage, and its rates over time."""
        stage = self.stages[index]
        done = ("label", *rate_keys(stage), *_TIMES, "errors")
        blocks = [printed_table(stream_table("done", "What each stream did", done, stage))]
        if rated := [stream for stream in stage if stream.offered is not None]:
            notes = ("Issue delay (tester, not drive): from when an I/O was due to when it was issued.",)
            rates = stream_table("rates", "Rates", ("label", "offered", "achieved", *_LATE), rated)
            blocks.append(printed_table(rates, notes=notes))
        yield f"Stage {stage[0].stage}", tuple(blocks)
        if figure := self._over_time(index):
            yield f"Stage {stage[0].stage}, over time", (figure,)

    def _over_time(self, index: int) -> Figure | None:
        """The rate of each stream of a stage in every second, one colour each."""
        sequence = [sequence for sequence in self.test.sequences if sequence.role == "measure"][index]
        each = [(spec.label, completions_per_second(sequence, place)) for place, _, spec in sequence.result_steps]
        rates = [(label, *averaged(counts)) for label, counts in each if counts]
        figure = time_figure(
            f"{self.prefix}-stage-{index + 1}",
            [
                (label, [second / _MINUTE_SECONDS for second in seconds], counts, colour)
                for colour, (label, seconds, counts) in enumerate(rates)
            ],
            alt=f"I/Os per second of every stream of {sequence.name} over time",
            y_title="I/Os per second",
            y_scale="log",
        )
        if figure is None:
            return None
        # Stages are short beside the tests that last hours.
        series = tuple(replace(one, x=tuple(hours * _HOUR_MINUTES for hours in one.x)) for one in figure.series)
        return replace(figure, x_title=MINUTES, series=series)


_READINGS = {
    "stage": "Does each stream keep its rate? I/Os completed in every second, a colour per stream; a slow stream is "
    "averaged over about ten I/Os."
}


def workload_shown(source: Source) -> Shown:
    """What a stored workload shows."""
    test, settings = source.test, source.test.settings_as(WorkloadSettings)
    stages = () if withheld_reason(test) else stage_results(test)
    pages, title, preparation = (
        WorkloadPages(**source.origin, stages=stages),
        settings.title or "Workload",
        preparation_text(settings),
    )
    count = max(len(stage.streams) for stage in settings.stages)
    several = (f"{count} streams, see the table", NOT_APPLICABLE) if count > 1 else None
    return Shown(
        **source.origin,
        facts=with_fill(replace(custom_facts(source, title), demands=several), settings),
        outline=_outline(settings),
        preparation=preparation,
        title=_TITLE,
        parts=pages.parts(),
        readings=_READINGS,
        drawn=pages.figures(),
        numbers=_numbers(stages),
        tiled=lambda _: _tiles(stages),
        seen=_insights(stages),
        demand=(("Total OIO - TC/QD", several[0]),) if several else (),
        settings=(
            ("Workload", settings.title or "not named"),
            ("Source of the workload", settings.source or NOT_STATED),
            ("Preparation", preparation),
            ("Stages", f"{len(settings.stages):,}"),
        ),
        tables=lambda: _tables(test, stages, source.suffix),
        files=lambda: _files(source),
    )


def _outline(settings: WorkloadSettings) -> str:
    """Stages and their lengths."""
    first, rest = settings.stages[:_NAMED_STAGES], settings.stages[_NAMED_STAGES:]
    stages = "; ".join(f"{stage.name}: {ends_after(stage)}" for stage in first)
    more = f"; and {len(rest)} more" if rest else ""
    return f"{settings.title or 'A workload'}, {stages}{more}."


def _insights(stages: Sequence[Sequence[StreamResult]]) -> Iterator[Insight]:
    """Rates missed, waits, and whether the drive was busy."""
    for stage in stages:
        yield from rate_kept([stream for stream in stage if stream.spec])
    for stage in stages:
        for stream, spec in ((stream, stream.spec) for stream in stage if stream.spec):
            about = replace(pattern_subject(spec.pattern), stream=spec.label if stage[1:] else None)
            yield from stream_insights(about, stream)
    yield from far_below([stage[-1].held for stage in stages if stage])


def _numbers(stages: Sequence[Sequence[StreamResult]]) -> Iterator[Measure]:
    """Every number of every stream; people quote rate, throughput and mean response time of each."""
    for stage in stages:
        for stream in (stage[-1], *stage[:-1]):
            yield from stream_measures(stream, is_whole=stream is stage[-1])


def _tiles(stages: Sequence[Sequence[StreamResult]]) -> Iterator[Tile]:
    """The rate of each stage with its 99 %; of many, of all together first."""
    streams = [stream for stage in stages for stream in (stage[-1], *stage[:-1]) if stream is stage[-1] or stream.spec]
    for slot, stream in zip(OWN_SLOTS, streams, strict=False):
        cell = stream_cell(stream)
        title = coded("tile-own", name=stream.label if stream.spec else "All streams")
        rate = "iops" if stream.moves else "commands_per_s"
        yield Tile(slot=slot, title=title, value=(cell, rate), then=(cell, percentile_key(0.99)))


def _tables(test: StoredTest, stages: Sequence[Sequence[StreamResult]], suffix: str) -> Iterator[ResultTable]:
    """A row for every stream of each measured stage, with what it was asked; and one for each second of each."""
    streams = (stream for stage in stages for stream in stage)
    yield stream_table(f"workload_streams{suffix}", "Streams", _STREAMS, streams, section="results", brief=_BRIEF)
    rows = tuple(stream_seconds(test)) if stages else ()
    yield ResultTable(key=f"workload_seconds{suffix}", title="Streams by second", columns=_SECONDS, rows=rows)


def _files(source: Source) -> Iterator[tuple[str, bytes]]:
    """The results as Iometer writes them, where it has words for the workload."""
    with suppress(UsageError):
        content = iometer_csv(source.run, source.test).encode("utf-8", "backslashreplace")
        yield f"iometer{source.suffix}.csv", content


def stream_cell(stream: StreamResult) -> Key:
    """The cell of a stream."""
    return (("stage", stream.stage), ("stream", stream.label))


def stream_measures(stream: StreamResult, *, is_whole: bool) -> Iterator[Measure]:
    """Every number of a stream. is_whole : it is the only one of its stage, or all of it together."""
    rates = ("iops", "mb_per_s") if stream.moves else ()
    commands = ("commands_per_s",) if stream.commands else ()
    # People quote each rate of all together, and of one beside others the rate of its kind.
    quoted = (*rates, *commands, MEAN) if is_whole else (*(rates or commands)[:1], MEAN) if stream.spec else ()
    for key, unit, value, stat in stream_numbers(stream, {"latency_ms": stream.service}, POINT_SHARES):
        name = f"{stream.item}, average" if key == MEAN and quoted and not is_whole else ""
        yield Measure(
            cell=stream_cell(stream), key=key, label=stream.item, unit=unit, value=value, stat=stat, name=name,
            quoted=key in quoted, basis=coded("stage", name=stream.stage),
        )  # fmt: skip


def pattern_label(pattern: AccessPattern) -> str:
    """What the I/Os of a stream look like.

    Worked: 4 KiB, 67 % reads, all random -> ``4KiB, 67 % read, 100 % random``; half of the accesses to the first
    twentieth -> ``50 % to 5 % / 50 % to 95 % of the range`` behind it.
    """
    if pattern.operation == "flush":
        return "flush"
    sizes = " / ".join(
        f"{size_label(size)} {share:.0%}" if share < 1 else size_label(size) for size, share in pattern.sizes
    )
    random, bursts, groups = f"{percent(pattern.random_share)} random", "", ""
    if any(line.delay_ns or line.burst_io_count > 1 for line in pattern.lines):
        texts = dict.fromkeys(f"{line.burst_io_count} behind {duration_label(line.delay_ns)}" for line in pattern.lines)
        bursts = f", in bursts of {' / '.join(texts)}"
    if pattern.operation == "trim":
        return f"trim of {sizes}, {random}{bursts}"
    if pattern.lba_groups:
        parts = " / ".join(f"{percent(access)} to {percent(part)}" for access, part in pattern.lba_groups)
        groups = f", {parts} of the range"
    return f"{sizes}, {percent(pattern.read_share)} read, {random}{groups}{bursts}"


def demand_text(spec: StepSpec) -> str:
    """Threads, depth and rate. Worked: ``1 x 8``; of 2,000 I/Os per second ``2,000/s poisson, at most 1 x 64``."""
    rate = spec.demand.arrivals_per_s
    first = "" if rate is None else f"{rate:,.6g}/s {spec.demand.arrival_process}, "
    return f"{first}{_depth_text(spec)}"


def _depth_text(spec: StepSpec) -> str:
    most = "" if spec.demand.arrivals_per_s is None else "at most "
    return f"{most}{spec.demand.thread_count} x {spec.demand.queue_depth}"


def _rate_text(spec: StepSpec) -> str:
    rate, factor = spec.demand.arrivals_per_s, spec.demand.arrival_end_factor
    if rate is None:
        return "as fast as it can"
    ramp = "" if factor == 1 else f" to {rate * factor:,.6g}"
    return f"{rate:,.6g}{ramp}, {spec.demand.arrival_process}"


def _range_text(spec: StepSpec) -> str:
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
