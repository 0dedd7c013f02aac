"""What streams of I/Os did: each of a stage, those of one kind, and all of them together.

Also every second of theirs, and what they did in the form of Iometer's results.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil
from typing import TYPE_CHECKING

from assay.engine.records import DIRECTIONS
from assay.errors import UsageError
from assay.results.captured import POINT_SHARES
from assay.results.histogram import intended_times, lateness_times, merged, percentiles, step_times
from assay.results.outcome import withheld_reason
from assay.results.step import (
    commands_per_s,
    effective_queue_depth,
    error_count,
    latency_count,
    throughput,
    transfers_per_s,
    trimmed_mb_per_s,
    window_count,
)
from assay.results.workload import asked_stage
from assay.spec.units import MB, MILLISECOND_NS, SECOND_NS
from assay.words.text import text
from assay.workloads.iometer import access_spec, results_csv, without_cycling
from assay.workloads.iometer.results_write import CpuFigures, Direction, StageFigures, WorkerFigures

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from fractions import Fraction

    from assay.engine.records import (
        AccessPattern,
        DirectionRecord,
        DriveIdentity,
        StepRecord,
        StepSpec,
        StoredRun,
        StoredSequence,
        StoredTest,
    )
    from assay.results.histogram import ResponseTimes
    from assay.workloads.iometer.model import AccessSpec

_LEAST_IOS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Times of I/Os in ms; None where there are none.

    points : percentiles by share, those of ``POINT_SHARES``; None with fewer than ten I/Os beyond.
    histogram : None where it was not read, or is of I/Os of several kinds.
    """

    mean: float | None
    largest: float | None
    points: dict[float, float | None]
    histogram: ResponseTimes | None

    @classmethod
    def of(cls, records: Sequence[StepRecord], name: str, histograms: Sequence[ResponseTimes]) -> Times:
        """The times of steps. name : under which a record sums them up, such as ``latency_ns``."""
        count, sides = sum(map(latency_count, records)), [side for record in records for side in record.sides]
        sums, ends = ([getattr(side, f"{name}_{part}") for side in sides] for part in ("sum", "max"))
        known, largest = [value for value in sums if value is not None], [value for value in ends if value is not None]
        histogram = merged(histograms) if histograms else None
        return cls(
            mean=sum(known) / count / MILLISECOND_NS if count and known else None,
            largest=max(largest) / MILLISECOND_NS if largest else None,
            points=percentiles(histogram, POINT_SHARES) if histogram else {},
            histogram=histogram,
        )

    def at(self, share: float) -> float | None:
        """A percentile."""
        return self.points.get(share)


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamResult:
    """One stream of a measured stage, or several: ``all reads``, ``all writes``, ``all trims``, ``all streams``.

    records : of its steps. spec : None of several. operations : what is done: ``transfer``, ``trim``, ``flush``, of
    several each that any does.
    iops, mb_per_s : reads and writes that completed in the window, and what they transferred. commands_per_s,
    trimmed_mb_per_s : trims and flushes that did, and what was trimmed. held : I/Os outstanding on the mean.
    offered : I/Os per second that were due, where a rate is stated.
    service : response times of I/Os issued in the window. due, late : from when they were due to their completion, and
    how much later than due they were issued; without a value where no rate is stated, and of several.
    """

    stage: str
    label: str
    records: tuple[StepRecord, ...]
    spec: StepSpec | None
    operations: tuple[str, ...]
    iops: float
    mb_per_s: float
    commands_per_s: float
    trimmed_mb_per_s: float
    held: float
    errors: int
    offered: float | None
    service: Times
    due: Times
    late: Times

    @property
    def moves(self) -> bool:
        """Whether it reads or writes."""
        return "transfer" in self.operations

    @property
    def commands(self) -> bool:
        """Whether it trims or flushes."""
        return self.operations != ("transfer",)

    @property
    def all_per_s(self) -> float:
        """I/Os of every kind per second."""
        return self.iops + self.commands_per_s

    @property
    def item(self) -> str:
        """Stage and stream as printed. Worked: ``corner tests, writes``."""
        return f"{self.stage}, {self.label}"


def stage_results(test: StoredTest) -> tuple[tuple[StreamResult, ...], ...]:
    """The streams of every measured stage that ran; behind several of them those of a kind, and all together.

    Worked: two streams of writes beside one of reads -> the three, ``all writes`` and ``all streams``.
    """
    return tuple(tuple(stream_results(sequence)) for sequence in test.sequences if sequence.role == "measure")


def stream_results(sequence: StoredSequence) -> Iterator[StreamResult]:
    """The streams of one stage, as ``stage_results``."""
    service, due, late = step_times(sequence), intended_times(sequence), lateness_times(sequence)
    for place, _, spec in sequence.result_steps:
        alone = [times[place : place + 1] for times in (service, due, late)]
        yield _result(sequence, [place], spec.label, alone)
    kinds = {place: _kind(spec.pattern) for place, _, spec in sequence.result_steps}
    labels = {spec.label for spec in sequence.asked}
    for kind in ("reads", "writes", "trims"):
        places = [place for place, one in kinds.items() if one == kind]
        if 1 < len(places) < len(kinds) and f"all {kind}" not in labels:
            yield _result(sequence, places, f"all {kind}", [[service[place] for place in places if service]])
    if len(kinds) > 1:
        # Percentiles of unlike I/Os would be those of none of them.
        alike = len(set(kinds.values())) == 1
        yield _result(sequence, list(kinds), "all streams", [[service[place] for place in kinds if service and alike]])


def _kind(pattern: AccessPattern) -> str:
    if pattern.operation != "transfer":
        return f"{pattern.operation}s"
    return {1.0: "reads", 0.0: "writes"}.get(pattern.read_share, "mixed")


def _result(
    sequence: StoredSequence, places: Sequence[int], label: str, histograms: Sequence[Sequence[ResponseTimes]]
) -> StreamResult:
    """One stream or several. histograms : of the response times; of a single one from due and of lateness as well."""
    records, specs = [sequence.steps[place] for place in places], [sequence.asked[place] for place in places]
    service, due, late = (*histograms, (), ())[:3]
    alone, record = len(places) == 1, records[0]
    timed = records if alone else ()
    offered = record.offered_io_count if alone and record.span_ns else None
    return StreamResult(
        stage=sequence.name,
        label=label,
        records=tuple(records),
        spec=specs[0] if alone else None,
        operations=tuple(dict.fromkeys(spec.pattern.operation for spec in specs)),
        iops=_rate(records, transfers_per_s),
        mb_per_s=_rate(records, throughput),
        commands_per_s=_rate(records, commands_per_s),
        trimmed_mb_per_s=_rate(records, trimmed_mb_per_s),
        held=sum(map(effective_queue_depth, records)),
        errors=sum(map(error_count, records)),
        offered=None if offered is None else offered * SECOND_NS / record.span_ns,
        service=Times.of(records, "latency_ns", service),
        due=Times.of(timed, "intended_ns", due),
        late=Times.of(timed, "late_ns", late),
    )


def _rate(records: Sequence[StepRecord], rate: Callable[[StepRecord], Fraction]) -> float:
    """A rate of several streams together; one that ended before its window opened has none."""
    return sum((float(rate(record)) for record in records if record.span_ns), 0.0)


def averaged(counts: tuple[float, ...]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Ends in s and I/Os per second of intervals that hold ten I/Os in the mean, of a second at least.

    What is left at the end is no whole interval. Worked: ten seconds of one I/O in every other -> no interval of 20 s,
    so one of the ten seconds, with 0.5 I/Os per second.
    """
    total = sum(counts)
    length = min(ceil(_LEAST_IOS * len(counts) / total) if total else len(counts), len(counts))
    starts = range(0, len(counts) - length + 1, length)
    ends = tuple(float(start + length) for start in starts)
    return ends, tuple(sum(counts[start : start + length]) / length for start in starts)


def stream_seconds(test: StoredTest) -> Iterator[tuple[str, str, int, str, int, float]]:
    """The whole seconds of every stream of each measured stage, as the run folder has them.

    Each is its stage, stream, second of the window from 0, direction, I/Os and MB/s.
    Worked: a window of 2.5 s of reads -> two seconds.
    """
    for sequence in test.sequences:
        table = sequence.series if sequence.role == "measure" else None
        if table is None or table.second is None or table.direction is None or table.byte_count is None:
            continue
        steps = {place: (spec.label, record.span_ns // SECOND_NS) for place, record, spec in sequence.result_steps}
        columns = (table.step, table.second, table.direction, table.io_count, table.byte_count)
        for step, second, direction, ios, moved in zip(*(column.tolist() for column in columns), strict=True):
            label, whole = steps.get(step, ("", 0))
            if second < whole:
                yield sequence.name, label, second, DIRECTIONS[direction], ios, moved / MB


def iometer_csv(run: StoredRun, test: StoredTest) -> str:
    """The text of a result file: every measured stage that ran is a run of Iometer, every stream a worker.

    I/Os, bytes and rates are those of the window, response times those of the I/Os issued in it, and the run time is
    the window. Times stand in the file as UTC. What nobody measured is an empty cell: the use of CPUs, interrupts,
    packets. There is a row for each processor of the host, or for one where the time was virtual.
    Raises UsageError for what Iometer has no words for: rates, trims, flushes, shares in parts of a per cent; and where
    the results are withheld.
    Worked: 128 KiB reads of one worker at depth 32 -> rows ALL, MANAGER, PROCESSOR, WORKER, DISK.
    """
    if reason := withheld_reason(test):
        raise UsageError(f"run {run.run_id}", f"its results are withheld: {text(reason)}", "run it again")
    measured = [
        sequence
        for sequence in test.sequences
        if sequence.role == "measure" and any(record.span_ns for _, record, _ in sequence.result_steps)
    ]
    if not measured:
        raise UsageError(f"run {run.run_id}", "measured no stage of its workload", "run it again")
    title = getattr(test.settings, "title", "")
    return results_csv([_stage_figures(run.identity, sequence) for sequence in measured], description=title)


def _stage_figures(drive: DriveIdentity, sequence: StoredSequence) -> StageFigures:
    stage = asked_stage(sequence)
    stage = stage.model_copy(update={"name": without_cycling(stage.name)})
    # Where all streams have the same specification, it has the name of the stage.
    alike = len({stream.lines for stream in stage.streams}) == 1
    specs = [access_spec(stage, stream, None if alike else stream.name) for stream in stage.streams]
    workers = tuple(
        _worker(drive, spec, asked, record)
        for spec, (_, record, asked) in zip(specs, sequence.result_steps, strict=False)
    )
    first = sequence.steps[sequence.ramp_up_steps]
    count = sequence.host.cpu_count if sequence.host else 1
    return StageFigures(
        specs=tuple(dict.fromkeys(specs)),
        begun=_utc(first.start_wall_ns),
        ended=_utc(first.start_wall_ns + first.span_ns),
        workers=workers,
        manager="Assay",
        cpus=(CpuFigures(),) * count,
        # The raw times are nanoseconds.
        cpu_hz=SECOND_NS,
    )


def _worker(drive: DriveIdentity, spec: AccessSpec, asked: StepSpec, record: StepRecord) -> WorkerFigures:
    block, active = drive.logical_block_bytes, asked.active_range
    start = active.segment_starts[0]
    # 0 is to the end of the drive, wherever the range begins.
    to_end = (start + active.segment_bytes) // block == drive.capacity_bytes // block
    return WorkerFigures(
        name=asked.label,
        target=drive.path,
        spec=spec.name,
        read=_direction(record.read),
        write=_direction(record.write),
        run_time_ns=record.span_ns,
        queue_depth=asked.demand.thread_count * asked.demand.queue_depth,
        start_sector=start // block,
        maximum_sectors=0 if to_end else active.segment_bytes // block,
    )


def _direction(side: DirectionRecord) -> Direction:
    """Counts of the window; the sum of times is scaled to them, so that the mean is that of the I/Os issued in it."""
    count = window_count(side)
    total = side.latency_ns_sum * count // side.latency_io_count if side.latency_io_count else 0
    return Direction(
        io_count=count,
        byte_count=side.window_bytes + side.carried_in_bytes,
        latency_ns_sum=total,
        latency_ns_max=side.latency_ns_max or 0,
        error_count=sum(side.errors.values()),
    )


def _utc(wall_ns: int) -> str:
    """Worked: 0 -> ``1970-01-01 00:00:00:000``."""
    moment = datetime.fromtimestamp(wall_ns // SECOND_NS, UTC)
    return f"{moment:%Y-%m-%d %H:%M:%S}:{wall_ns % SECOND_NS // 1_000_000:03}"
