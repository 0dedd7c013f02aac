"""Workloads written as job files of fio: a stream is a job, a stage begins with a stonewall."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import TYPE_CHECKING

from assay.errors import UsageError, ValueRangeError
from assay.workloads.fio.keys import ASYNC_ENGINES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from assay.spec.workload import Rate, Stage, Stream, Workload

_SECOND_US = 1_000_000
_RATE_MAX = (1 << 32) - 1
_SECTION_NAME = re.compile(r"[^A-Za-z0-9 ._+/=-]")
_FILENAME = re.compile(r"[^\s:;#$\\\"'][^;#$\\\n\r]*")
_ACROSS: tuple[str, ...] = ("direct=1", "thread", "norandommap", "randrepeat=0", "refill_buffers")
_ALL = Fraction(100)
_SHARE_TOLERANCE = Fraction(1, 10**6)

Shares = dict[int, Fraction]


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
    # Worked: /dev/disk/by-path/pci-0:1 -> /dev/disk/by-path/pci-0\:1.
    escaped = filename.replace(":", "\\:")
    lines = [*_head(workload), "[global]", f"filename={escaped}", f"ioengine={ioengine}", *_ACROSS]
    taken: set[str] = set()
    stages = [*_fills(workload), *(_stage(stage, capacity_bytes, taken) for stage in workload.stages)]
    for number, jobs in enumerate(stages):
        for index, job in enumerate(jobs):
            first, *rest = job
            lines += ["", first, *(["stonewall"] if number and not index else []), *rest]
    return "\n".join(lines) + "\n"


def _head(workload: Workload) -> list[str]:
    """Comments on what stands in the workload and in no job."""
    words = [workload.title and f"; {printable(workload.title)}"]
    words += ["; Purge the drive first, which fio does not."] if workload.purge else []
    words += [f"; Left out of the original: {printable(note)}" for note in workload.left_out]
    return [word for word in words if word]


def printable(text: str) -> str:
    """A text on one line, for comments."""
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


def _stage(stage: Stage, capacity_bytes: int | None, taken: set[str]) -> list[list[str]]:
    """The jobs of a stage, each with its section first."""
    if not stage.streams:
        raise UsageError(f"stage {stage.name}", "only waits", "fio has no job without I/Os; remove the stage")
    return [[f"[{_section(stream.name, taken)}]", *job_keys(stage, stream, capacity_bytes)] for stream in stage.streams]


def job_keys(stage: Stage, stream: Stream, capacity_bytes: int | None = None) -> list[str]:
    """The keys of the job that a stream of a stage is. Raises UsageError for what fio cannot do."""
    thing = f"stage {stage.name}, stream {stream.name}"
    if stream.operation == "flush":
        raise UsageError(thing, "flushes", "fio has no job of flushes alone; leave the stream out")
    return [
        *_access_keys(_paused(stream, thing, capacity_bytes), thing),
        f"iodepth={stream.queue_depth}",
        f"numjobs={stream.thread_count}",
        *_place(stream, thing),
        *_rate(stream, thing, capacity_bytes),
        *_content(stream, thing),
        *_end(stage, stream, thing, capacity_bytes),
    ]


def _paused(stream: Stream, thing: str, capacity_bytes: int | None) -> Stream:
    """The stream with its pauses on the drive, in the nearest microseconds where these depend on its capacity."""
    if not any(line.delay_ms_at_1_tb for line in stream.lines):
        return stream
    if capacity_bytes is None:
        raise UsageError(thing, "has pauses that depend on the drive's capacity", "say how large the drive is")
    lines = (line.at_capacity(capacity_bytes) for line in stream.lines)
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


def _rate(stream: Stream, thing: str, capacity_bytes: int | None) -> Iterable[str]:
    rate = stream.rate
    if rate is None:
        return
    if rate.end_factor != 1:
        raise UsageError(thing, "has a rate that changes", "fio keeps a rate; write stages of fixed rates")
    if 0 < sum(line.percent * line.read_percent for line in stream.lines) < 100 * 100 and stream.operation != "trim":
        raise UsageError(thing, "reads and writes at a joint rate", "fio has a rate per direction; split the stream")
    value, key = _rate_value(rate, thing, capacity_bytes)
    each = _whole(value / stream.thread_count, f"{thing}: {key}", "per thread")
    if not 1 <= each <= (_RATE_MAX if key == "rate_iops" else 10**18):
        raise UsageError(f"{thing}: {key}", f"is {each}", "write a rate that fio can count")
    yield f"{key}={each}"
    if rate.arrivals == "poisson":
        yield "rate_process=poisson"


def _rate_value(rate: Rate, thing: str, capacity_bytes: int | None) -> tuple[Fraction, str]:
    """The rate of all threads, and fio's key for it."""
    key = "rate_iops" if rate.ios_per_s or rate.ios_per_s_per_tb else "rate"
    if (value := rate.ios_per_s or rate.bytes_per_s) is not None:
        return Fraction(value), key
    per_tb = rate.ios_per_s_per_tb or rate.bytes_per_s_per_tb or 0
    if capacity_bytes is None:
        raise UsageError(thing, "has a rate per TB of the drive", "say how large the drive is")
    # Of a rate per capacity, fio's whole numbers are the nearest.
    return Fraction(round(Fraction(per_tb) * capacity_bytes / 10**12)), key


def _content(stream: Stream, thing: str) -> Iterable[str]:
    data = stream.data
    if data is None or data.kind == "random":
        return
    if data.kind != "compressible" or data.stored_percent is None:
        raise UsageError(thing, f"writes {data.kind} data", "fio makes random or compressible data; choose either")
    yield f"buffer_compress_percentage={_percent(100 - data.stored_percent, 'stored_percent', thing)}"


def _end(stage: Stage, stream: Stream, thing: str, capacity_bytes: int | None) -> Iterable[str]:
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
    yield f"io_size={_amount(stage, stream, thing, capacity_bytes)}"


def _amount(stage: Stage, stream: Stream, thing: str, capacity_bytes: int | None) -> str:
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
    if capacity_bytes is None:
        raise UsageError(thing, "writes an amount in capacities of the drive", "say how large the drive is")
    return str(int(fills * capacity_bytes))


def _time(seconds: float, thing: str) -> str:
    """A time with its unit. Of a number without one fio drops the fraction. Worked: 60 -> ``60s``; 0.5 -> ``500ms``."""
    us = round(Fraction(seconds) * _SECOND_US)
    if us < 1:
        raise UsageError(thing, f"is {seconds:g} s", "write a microsecond at least")
    for factor, unit in ((_SECOND_US, "s"), (1000, "ms")):
        if us % factor == 0:
            return f"{us // factor}{unit}"
    return f"{us}us"


@dataclass(frozen=True, slots=True)
class _Mix:
    """Per cent of reads, and the sizes of reads and writes with their shares."""

    read_percent: int
    reads: Shares
    writes: Shares


def _access_keys(stream: Stream, thing: str) -> list[str]:
    """The keys ``rw``, ``bs`` or ``bssplit``, and those of the mix, the grid and the pause.

    thing : what errors name. Raises UsageError for what fio cannot do: shares that are no whole per cent, lines that
    differ in more than size and direction, a place that threads share.
    Worked: one line of 4,096 bytes, all random, 70 % reads -> ``rw=randrw``, ``rwmixread=70``, ``bs=4096``.
    """
    mix = _mix(stream, thing)
    random = _common([line.random_percent for line in stream.lines], "random_percent", thing)
    random_percent = _whole_percent(Fraction(random), f"{thing}: random_percent")
    mixed = stream.operation == "transfer" and 0 < mix.read_percent < _ALL
    _check_places(stream, thing)
    keys = [f"rw={_word(stream, mix, random=random_percent > 0)}"]
    keys += [f"rwmixread={mix.read_percent}"] if mixed else []
    keys += [f"percentage_random={random_percent}"] if 0 < random_percent < _ALL else []
    return [
        *keys,
        *_sizes(mix, mixed=mixed),
        *_zones(stream, thing),
        *_grid(stream, thing, random_percent),
        *_pause(stream, thing),
    ]


def _mix(stream: Stream, thing: str) -> _Mix:
    """Reads and writes of all lines by size."""
    reads: Shares = {}
    writes: Shares = {}
    for line in stream.lines:
        share, read = Fraction(line.percent), Fraction(line.read_percent) / 100
        # A trim says nothing of reading.
        read = Fraction(0) if stream.operation == "trim" else read
        for side, part in ((reads, share * read), (writes, share * (1 - read))):
            if part:
                side[line.size_bytes] = side.get(line.size_bytes, Fraction(0)) + part
    total = sum(reads.values(), Fraction(0))
    return _Mix(_whole_percent(total, f"{thing}: the share of reads"), _shares(reads, thing), _shares(writes, thing))


def _shares(side: Mapping[int, Fraction], thing: str) -> Shares:
    """The sizes of one direction in whole per cent of it."""
    total = sum(side.values(), Fraction(0))
    return {
        size: Fraction(_whole_percent(part * 100 / total, f"{thing}: a size's share")) for size, part in side.items()
    }


def _whole_percent(value: Fraction, thing: str) -> int:
    """Per cent as fio takes them, whole; a float's own error is none."""
    if abs(value - round(value)) > _SHARE_TOLERANCE:
        raise UsageError(thing, f"is {float(value):g} per cent", "fio draws by whole per cent; round it")
    return round(value)


def _common(values: Iterable[float], name: str, thing: str) -> float:
    result = set(values)
    if len(result) > 1:
        raise UsageError(thing, f"has lines that differ in {name}", "fio draws sizes only; write streams for the lines")
    return result.pop()


def _check_places(stream: Stream, thing: str) -> None:
    """A job of fio has a place of its own for each direction, and begins at the start of its range."""
    if not stream.goes_on_as("fio"):
        reason = f"has sequential I/Os that go on by the rule {stream.cursor!r}"
        raise UsageError(thing, reason, 'write cursor = "fio", which keeps a position per thread and direction')
    start, grid = stream.start_bytes or 0, stream.grid_bytes
    if stream.grid_from == "drive" and start % grid:
        reason = f"has a grid of {grid} bytes that its start at {start:,} is off"
        raise UsageError(thing, reason, "fio counts it from the start; write a start on the grid")


def _word(stream: Stream, mix: _Mix, *, random: bool) -> str:
    if stream.operation == "trim":
        return "randtrim" if random else "trim"
    if not 0 < mix.read_percent < _ALL:
        return ("rand" if random else "") + ("read" if mix.read_percent else "write")
    return "randrw" if random else "rw"


def _sizes(mix: _Mix, *, mixed: bool) -> list[str]:
    sides = [mix.reads, mix.writes] if mixed and mix.reads != mix.writes else [mix.reads or mix.writes]
    if all(len(side) == 1 for side in sides):
        return ["bs=" + ",".join(str(next(iter(side))) for side in sides)]
    shown = [":".join(f"{size}/{share}" for size, share in side.items()) for side in sides]
    return ["bssplit=" + ",".join(shown)]


def _zones(stream: Stream, thing: str) -> list[str]:
    """Groups of LBAs as zones. Worked: 50 % in the first 5 %, the rest in 95 % -> ``zoned:50/5:50/95``."""
    shares = [
        (
            _whole_percent(Fraction(lba_group.access_percent), f"{thing}: access_percent"),
            _whole_percent(Fraction(lba_group.range_percent), thing),
        )
        for lba_group in stream.lba_groups
    ]
    zones = ":".join(f"{access}/{size}" for access, size in shares)
    return [f"random_distribution=zoned:{zones}"] if zones else []


def _grid(stream: Stream, thing: str, random_percent: int) -> list[str]:
    """The grid of random starts; sequential ones are on every grid that their sizes are."""
    grids = {line.align_bytes or line.size_bytes for line in stream.lines}
    sizes = {line.size_bytes for line in stream.lines}
    one_grid = random_percent or len(grids) == 1
    grid = int(_common(grids, "align_bytes", thing)) if one_grid else gcd(*grids)
    if random_percent < _ALL and (gcd(*sizes) % grid or not one_grid):
        reason = f"has sequential I/Os of sizes that leave the grid of {grid} bytes"
        raise UsageError(thing, reason, "fio leaves no holes; write sizes that are multiples of it")
    return [f"blockalign={grid}"] if random_percent and sizes != {grid} else []


def _pause(stream: Stream, thing: str) -> list[str]:
    bursts = [(line.burst_io_count, line.delay_ms) for line in stream.lines]
    if not any(delay for _, delay in bursts):
        if len(bursts) > 1 and any(count > 1 for count, _ in bursts):
            # Bursts without a pause matter only where a line is drawn per burst.
            raise UsageError(thing, "draws a line once per burst", "fio draws a size per I/O; write burst_io_count = 1")
        return []
    if len(set(bursts)) > 1 or (len(bursts) > 1 and bursts[0][0] > 1):
        raise UsageError(thing, "has lines that differ in bursts or pauses", "fio has both per job; write streams")
    if stream.queue_depth > 1:
        reason = "pauses with several I/Os outstanding"
        raise UsageError(thing, reason, "fio waits for all of them first; write queue_depth = 1, or a rate")
    delay = Fraction(str(bursts[0][1])) * 1000
    if delay.denominator != 1:
        raise UsageError(f"{thing}: delay_ms", f"is {bursts[0][1]:g}", "fio counts microseconds; write whole ones")
    return [f"thinktime={delay}", f"thinktime_blocks={bursts[0][0]}"]
