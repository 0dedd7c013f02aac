"""The results of a workload as Iometer writes them: what a reader of its result files knows how to read."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from assay.errors import UsageError
from assay.results import withheld_reason
from assay.results.step import window_count
from assay.results.workload import asked_stage
from assay.spec.units import SECOND_NS
from assay.words.text import text
from assay.workloads.iometer import access_spec, results_csv, without_cycling
from assay.workloads.iometer.results_write import CpuFigures, Direction, StageFigures, WorkerFigures

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engine.records import (
        DirectionRecord,
        DriveIdentity,
        StepRecord,
        StepSpec,
        StoredRun,
        StoredSequence,
        StoredTest,
    )
    from assay.spec.workload import Stage
    from assay.workloads.iometer.model import AccessSpec

_MANAGER = "Assay"
_CLOCK_HZ = SECOND_NS
"""Of the clock whose ticks the raw times are: nanoseconds."""


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
    return results_csv([_figures(run.identity, sequence) for sequence in measured], description=title)


def _figures(drive: DriveIdentity, sequence: StoredSequence) -> StageFigures:
    stage = asked_stage(sequence)
    stage = stage.model_copy(update={"name": without_cycling(stage.name)})
    specs = _specs(stage)
    workers = tuple(
        _worker(drive, spec, asked, record)
        for spec, (_, record, asked) in zip(specs, sequence.result_steps, strict=False)
    )
    first = sequence.steps[sequence.ramp_up_steps]
    count = sequence.host.cpu_count if sequence.host else 1
    return StageFigures(
        specs=tuple(dict.fromkeys(specs)),
        begun=_time(first.start_wall_ns),
        ended=_time(first.start_wall_ns + first.span_ns),
        workers=workers,
        manager=_MANAGER,
        cpus=(CpuFigures(),) * count,
        cpu_hz=_CLOCK_HZ,
    )


def _specs(stage: Stage) -> Sequence[AccessSpec]:
    """The specification of each stream, under the name of the stage where all have the same."""
    alone = len({stream.lines for stream in stage.streams}) == 1
    return [access_spec(stage, stream, None if alone else stream.name) for stream in stage.streams]


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


def _time(wall_ns: int) -> str:
    """Worked: 0 -> ``1970-01-01 00:00:00:000``."""
    moment = datetime.fromtimestamp(wall_ns // SECOND_NS, UTC)
    return f"{moment:%Y-%m-%d %H:%M:%S}:{wall_ns % SECOND_NS // 1_000_000:03}"
