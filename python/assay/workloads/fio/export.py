"""Workloads written as job files of fio: a stream is a job, a stage begins with a stonewall."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from assay.errors import UsageError, ValueRangeError
from assay.workloads.fio.exported_access import access_keys
from assay.workloads.fio.keys import ASYNC_ENGINES
from assay.workloads.fio.target import escaped

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.spec.workload import Rate, Stage, Stream, Workload

_SECOND_US = 1_000_000
_RATE_MAX = (1 << 32) - 1
_SECTION_NAME = re.compile(r"[^A-Za-z0-9 ._+/=-]")
_FILENAME = re.compile(r"[^\s:;#$\\\"'][^;#$\\\n\r]*")
_ACROSS: tuple[str, ...] = ("direct=1", "thread", "norandommap", "randrepeat=0", "refill_buffers")


@dataclass(frozen=True, slots=True)
class _Target:
    """What the jobs are for. capacity_bytes : of the drive, for rates per TB and parts of fills."""

    capacity_bytes: int | None


def job_text(
    workload: Workload, *, filename: str, capacity_bytes: int | None = None, ioengine: str = "io_uring"
) -> str:
    """Write a workload as a job file.

    filename : the drive as fio is to open it. capacity_bytes : of that drive; rates per TB and parts of fills need it.
    ioengine : one that keeps several I/Os outstanding. Units are fio's with its default ``kb_base``; all sizes are
    written as plain bytes.
    Raises UsageError with stage and stream for what fio cannot do.
    Worked: a stage of two streams -> two sections with the same ``runtime``.
    """
    if not _FILENAME.fullmatch(filename):
        raise ValueRangeError(f"filename {filename!r}", "cannot stand in a job file", "name the drive by another path")
    if ioengine not in ASYNC_ENGINES:
        raise ValueRangeError(f"ioengine {ioengine}", "is unknown", f"choose from {', '.join(sorted(ASYNC_ENGINES))}")
    target = _Target(capacity_bytes)
    lines = [*_head(workload), "[global]", f"filename={escaped(filename)}", f"ioengine={ioengine}", *_ACROSS]
    taken: set[str] = set()
    stages = [*_fills(workload), *(_stage(stage, target, taken) for stage in workload.stages)]
    for number, jobs in enumerate(stages):
        for index, job in enumerate(jobs):
            first, *rest = job
            lines += ["", first, *(["stonewall"] if number and not index else []), *rest]
    return "\n".join(lines) + "\n"


def _head(workload: Workload) -> list[str]:
    """Comments on what stands in the workload and in no job."""
    words = [workload.title and f"; {_printable(workload.title)}"]
    words += ["; Purge the drive first, which fio does not."] if workload.purge else []
    words += [f"; Left out of the original: {_printable(note)}" for note in workload.left_out]
    return [word for word in words if word]


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _fills(workload: Workload) -> list[list[list[str]]]:
    """The sequential writes before the first stage, as a stage of one job."""
    fills = Fraction(workload.prepare_fills)
    if not fills:
        return []
    if fills.denominator != 1:
        raise UsageError("prepare_fills", f"is {workload.prepare_fills:g}", "fio repeats whole fills only; write those")
    keys = ["rw=write", "bs=131072", "iodepth=32", "numjobs=1", f"loops={fills.numerator}"]
    return [[["[assay-prepare]", *keys]]]


def _stage(stage: Stage, target: _Target, taken: set[str]) -> list[list[str]]:
    """The jobs of a stage, each with its section first."""
    if not stage.streams:
        raise UsageError(f"stage {stage.name}", "only waits", "fio has no job without I/Os; remove the stage")
    return [_job(stage, stream, target, taken) for stream in stage.streams]


def _job(stage: Stage, stream: Stream, target: _Target, taken: set[str]) -> list[str]:
    thing = f"stage {stage.name}, stream {stream.name}"
    if stream.operation == "flush":
        raise UsageError(thing, "flushes", "fio has no job of flushes alone; leave the stream out")
    demand = [f"iodepth={stream.queue_depth}", f"numjobs={stream.thread_count}"]
    return [
        f"[{_section(stream.name, taken)}]",
        *access_keys(_paused(stream, thing, target), thing),
        *demand,
        *_place(stream, thing),
        *_rate(stream, thing, target),
        *_content(stream, thing),
        *_end(stage, stream, thing, target),
    ]


def _paused(stream: Stream, thing: str, target: _Target) -> Stream:
    """The stream with its pauses on the drive, in the nearest microseconds where these depend on its capacity."""
    if not any(line.delay_ms_at_1_tb for line in stream.lines):
        return stream
    if target.capacity_bytes is None:
        raise UsageError(thing, "has pauses that depend on the drive's capacity", "say how large the drive is")
    lines = (line.at_capacity(target.capacity_bytes) for line in stream.lines)
    nearest = tuple(line.model_copy(update={"delay_ms": round(line.delay_ms * 1000) / 1000}) for line in lines)
    return stream.model_copy(update={"lines": nearest})


def _section(name: str, taken: set[str]) -> str:
    """A name that fio takes for a job's and that is not taken."""
    plain = _SECTION_NAME.sub("_", name).strip() or "job"
    plain = f"job-{plain}" if plain.startswith(("global", "assay-prepare")) else plain
    number, free = 1, plain
    while free in taken:
        number += 1
        free = f"{plain}-{number}"
    taken.add(free)
    return free


def _place(stream: Stream, thing: str) -> Iterable[str]:
    """Where the range begins, and how large it is."""
    if stream.start_bytes:
        yield f"offset={stream.start_bytes}"
    if stream.start_percent:
        yield f"offset={_percent(stream.start_percent, 'start_percent', thing)}%"
    if stream.size_bytes:
        yield f"size={stream.size_bytes}"
    if stream.size_percent:
        yield f"size={_percent(stream.size_percent, 'size_percent', thing)}%"


def _percent(value: float, name: str, thing: str) -> int:
    return _whole(Fraction(value), f"{thing}: {name}", "per cent")


def _whole(value: Fraction, thing: str, of: str) -> int:
    """The value as a whole number, as fio takes it."""
    if value.denominator != 1:
        raise UsageError(thing, f"is {float(value):g} {of}", "fio takes whole numbers there; round it")
    return value.numerator


def _rate(stream: Stream, thing: str, target: _Target) -> Iterable[str]:
    rate = stream.rate
    if rate is None:
        return
    if rate.end_factor != 1:
        raise UsageError(thing, "has a rate that changes", "fio keeps a rate; write stages of fixed rates")
    if 0 < sum(line.percent * line.read_percent for line in stream.lines) < 100 * 100 and stream.operation != "trim":
        raise UsageError(thing, "reads and writes at a joint rate", "fio has a rate per direction; split the stream")
    value, key = _rate_value(rate, thing, target)
    each = _whole(value / stream.thread_count, f"{thing}: {key}", "per thread")
    if not 1 <= each <= (_RATE_MAX if key == "rate_iops" else 10**18):
        raise UsageError(f"{thing}: {key}", f"is {each}", "write a rate that fio can count")
    yield f"{key}={each}"
    if rate.arrivals == "poisson":
        yield "rate_process=poisson"


def _rate_value(rate: Rate, thing: str, target: _Target) -> tuple[Fraction, str]:
    """The rate of all threads, and fio's key for it."""
    key = "rate_iops" if rate.ios_per_s or rate.ios_per_s_per_tb else "rate"
    if (value := rate.ios_per_s or rate.bytes_per_s) is not None:
        return Fraction(value), key
    per_tb = rate.ios_per_s_per_tb or rate.bytes_per_s_per_tb or 0
    if target.capacity_bytes is None:
        raise UsageError(thing, "has a rate per TB of the drive", "say how large the drive is")
    # Of a rate per capacity, fio's whole numbers are the nearest.
    return Fraction(round(Fraction(per_tb) * target.capacity_bytes / 10**12)), key


def _content(stream: Stream, thing: str) -> Iterable[str]:
    data = stream.data
    if data is None or data.kind == "random":
        return
    if data.kind != "compressible" or data.stored_percent is None:
        raise UsageError(thing, f"writes {data.kind} data", "fio makes random or compressible data; choose either")
    yield f"buffer_compress_percentage={_percent(100 - data.stored_percent, 'stored_percent', thing)}"


def _end(stage: Stage, stream: Stream, thing: str, target: _Target) -> Iterable[str]:
    """When the job ends, the same for all of a stage."""
    if stage.ramp_up_s:
        yield f"ramp_time={_time(stage.ramp_up_s, f'{thing}: ramp_up_s')}"
    if stage.time_s is not None:
        yield "time_based"
        yield f"runtime={_time(stage.time_s, f'{thing}: time_s')}"
        return
    if len(stage.streams) > 1 or stream.thread_count > 1:
        reason = "ends when all streams together have done an amount"
        raise UsageError(f"stage {stage.name}", reason, "in fio each job ends by itself; write time_s")
    yield f"io_size={_amount(stage, stream, thing, target)}"


def _amount(stage: Stage, stream: Stream, thing: str, target: _Target) -> str:
    if stage.amount_bytes is not None:
        return str(stage.amount_bytes)
    if stage.io_count is not None:
        sizes = {line.size_bytes for line in stream.lines}
        if len(sizes) > 1:
            raise UsageError(thing, "counts I/Os of several sizes", "fio ends by bytes; write amount_bytes")
        return str(stage.io_count * sizes.pop())
    fills = Fraction(str(stage.amount_fills))
    if fills <= 1 and (fills * 100).denominator == 1:
        return f"{fills * 100}%"
    if target.capacity_bytes is None:
        raise UsageError(thing, "writes an amount in capacities of the drive", "say how large the drive is")
    return str(int(fills * target.capacity_bytes))


def _time(seconds: float, thing: str) -> str:
    """A time with its unit. Of a number without one fio drops the fraction. Worked: 60 -> ``60s``; 0.5 -> ``500ms``."""
    us = round(Fraction(seconds) * _SECOND_US)
    if us < 1:
        raise UsageError(thing, f"is {seconds:g} s", "write a microsecond at least")
    for factor, unit in ((_SECOND_US, "s"), (1000, "ms")):
        if us % factor == 0:
            return f"{us // factor}{unit}"
    return f"{us}us"
