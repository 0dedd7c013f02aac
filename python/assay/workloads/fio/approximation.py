"""The nearest workload that a job file of fio can say, and in words what of it is otherwise, and why."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from assay.errors import UsageError
from assay.spec.workload import Content, Line, Rate, Workload
from assay.workloads.fio.export import job_keys, job_text, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.spec.workload import Stage, Stream

_ALL = 100
_DEPTH_MAX = 4096
_UNWINDOWED = (
    "counts begin with the job: Assay opens a window once the last I/O of the step before is in, and counts from there"
)


def nearest_job_text(workload: Workload, *, filename: str, notes: Sequence[str] = ()) -> str:
    """Write a workload as a job file; what fio cannot say is said in comments at its head, each with its reason.

    filename : the drive as fio is to open it. notes : more that is otherwise than in the original.
    Unlike ``job_text`` it refuses only a workload of which fio can do nothing at all: it raises UsageError then.
    Worked: a flush stream beside reads -> the job of reads, and a comment that fio has no job of flushes alone.
    """
    result = [*notes, _UNWINDOWED]
    stages = [kept for stage in workload.stages if (kept := _stage(stage, result))]
    if not stages:
        raise UsageError(workload.title or "the workload", "; ".join(result[-3:]), "choose another step")
    near = workload.model_copy(update={"stages": tuple(stages)})
    head = [f"; {printable(text)}" for text in (workload.title, workload.source) if text]
    head += ["; Bring the drive into its state first: fio neither purges nor preconditions it."]
    head += [f"; Otherwise than there: {printable(note)}." for note in dict.fromkeys(result)]
    named = near.model_copy(update={"title": ""})
    return "\n".join([*head, job_text(named, filename=filename)])


def _stage(stage: Stage, notes: list[str]) -> Stage | None:
    """A stage that fio can do, without the streams that it cannot."""
    if not stage.streams:
        notes.append(f"{stage.name}: waits {stage.time_s or 0:g} s; left out, because fio has no job without I/Os")
        return None
    folded = [_folded(stage, stream, notes) for stream in stage.streams]
    near = [job for stream in folded for job in _near(stream, notes)]
    kept = [stream for stream in near if _is_sayable(stage, stream, notes)]
    return stage.model_copy(update={"streams": tuple(kept)}) if kept else None


def _is_sayable(stage: Stage, stream: Stream, notes: list[str]) -> bool:
    """Whether a stream can be written; if not, it is left out with the exporter's own reason."""
    try:
        job_keys(stage.model_copy(update={"streams": (stream,)}), stream)
    except UsageError as error:
        notes.append(f"{stream.name}: left out: it {error.reason}; {error.remedy}")
        return False
    return True


def _folded(stage: Stage, stream: Stream, notes: list[str]) -> Stream:
    """Threads that share one place, or an amount, as one job of their joint depth."""
    if stream.thread_count == 1:
        return stream
    shares = stream.cursor == "shared" and any(line.random_percent < _ALL for line in stream.lines)
    if not shares and stage.time_s is not None:
        return stream
    depth = stream.thread_count * stream.queue_depth
    why = "the threads share a position" if shares else "the amount is shared by all threads"
    notes.append(f"{stream.name}: {stream.thread_count} threads as a single job of depth {depth}, because {why}")
    return stream.model_copy(update={"thread_count": 1, "queue_depth": min(depth, _DEPTH_MAX)})


def _near(stream: Stream, notes: list[str]) -> Iterator[Stream]:
    near = _whole_shares(_one_grid(_plain_lines(stream, notes), notes), notes)
    near = _plain_data(_rule_of_fio(near, notes), notes)
    for split_direction in _split_directions(near, notes):
        for part in _split_threads(split_direction, notes):
            yield _whole_rate(part, notes)


def _plain_lines(stream: Stream, notes: list[str]) -> Stream:
    """Lines that differ in more than size, or pause with several I/Os outstanding, as their means."""
    first = stream.lines[0]
    if stream.differs_in_sizes_only or (len(stream.lines) == 1 and stream.queue_depth == 1 == stream.thread_count):
        return stream
    if any(line.delay_ms for line in stream.lines):
        notes.append(f"{stream.name}: pauses are left out, because fio waits for all outstanding I/Os before each")
    if any(line.burst_io_count > 1 for line in stream.lines):
        notes.append(f"{stream.name}: bursts are left out, because fio draws a size for every I/O")
    alike = {(line.read_percent, line.random_percent, line.align_bytes) for line in stream.lines}
    if len(alike) > 1:
        notes.append(f"{stream.name}: the mean mix for all sizes, because a fio job has a single mix")
    weights = [Fraction(line.percent) * line.burst_io_count for line in stream.lines]
    reads, randoms = (_mean(stream, weights, key) for key in ("read_percent", "random_percent"))
    sizes: dict[int, Fraction] = {}
    for line, weight in zip(stream.lines, weights, strict=True):
        sizes[line.size_bytes] = sizes.get(line.size_bytes, Fraction(0)) + weight * _ALL / sum(weights)
    align = first.align_bytes if len(stream.lines) == 1 else stream.grid_bytes
    lines = tuple(
        Line(percent=float(share), size_bytes=size, read_percent=reads, random_percent=randoms, align_bytes=align)
        for size, share in sizes.items()
    )
    return stream.model_copy(update={"lines": lines})


def _one_grid(stream: Stream, notes: list[str]) -> Stream:
    """Random I/Os of several sizes, each on a grid of its own, as fio has them on one."""
    grids = {line.align_bytes or line.size_bytes for line in stream.lines}
    if len(grids) == 1 or all(line.random_percent == 0 for line in stream.lines):
        return stream
    least = stream.grid_bytes
    notes.append(f"{stream.name}: all starts on a grid of {least} bytes, because a fio job has a single grid")
    lines = tuple(line.model_copy(update={"align_bytes": least}) for line in stream.lines)
    return stream.model_copy(update={"lines": lines})


def _mean(stream: Stream, weights: Sequence[Fraction], key: str) -> float:
    values = [Fraction(getattr(line, key)) for line in stream.lines]
    return float(sum(weight * value for weight, value in zip(weights, values, strict=True)) / sum(weights))


def _whole_shares(stream: Stream, notes: list[str]) -> Stream:
    """Shares in whole per cent, which fio takes; sizes of less than half a per cent go."""
    percents = _rounded([line.percent for line in stream.lines])
    lines = tuple(
        line.model_copy(
            update={
                "percent": float(percent),
                "read_percent": float(round(line.read_percent)),
                "random_percent": float(round(line.random_percent)),
            }
        )
        for line, percent in zip(stream.lines, percents, strict=True)
        if percent
    )
    if _shares(stream.lines) != _shares(lines):
        notes.append(f"{stream.name}: shares rounded, because fio draws by whole per cent")
    return stream.model_copy(update={"lines": lines})


def _shares(lines: Sequence[Line]) -> list[float]:
    """All per cents of some lines, without the last digits of a float."""
    return [round(share, 6) for line in lines for share in (line.percent, line.read_percent, line.random_percent)]


def _rounded(percents: Sequence[float]) -> list[int]:
    """Whole per cents with the sum 100, the largest remainders rounded up. Worked: 33.3, 33.3, 33.4 -> 33, 33, 34."""
    whole = [int(percent + 1e-6) for percent in percents]
    order = sorted(range(len(percents)), key=lambda place: whole[place] - percents[place])
    for place in order[: _ALL - sum(whole)]:
        whole[place] += 1
    return whole


def _rule_of_fio(stream: Stream, notes: list[str]) -> Stream:
    """Sequential I/Os that go on by fio's rule; threads that begin apart are split later."""
    apart = stream.cursor == "per_thread" and stream.thread_count > 1
    if stream.goes_on_as("fio") or apart:
        return stream
    notes.append(f"{stream.name}: sequential I/Os continue after the last of their direction, as in fio")
    return stream.model_copy(update={"cursor": "fio"})


def _plain_data(stream: Stream, notes: list[str]) -> Stream:
    data = stream.data
    if data is None or not any(line.read_percent < _ALL for line in stream.lines):
        return stream.model_copy(update={"data": None})
    if data.kind in ("stamped", "repeating", "addressed"):
        notes.append(f"{stream.name}: random data instead of {data.kind}, which fio does not make")
        return stream.model_copy(update={"data": None})
    if data.stored_percent is None:
        return stream
    stored = float(round(data.stored_percent))
    if stored != data.stored_percent:
        notes.append(f"{stream.name}: {stored:g} % of the data is stored, because fio takes whole per cent")
    return stream.model_copy(update={"data": Content(kind="compressible", stored_percent=stored)})


def _split_directions(stream: Stream, notes: list[str]) -> Iterator[Stream]:
    """Reads and writes at one rate as a job of each: in fio a rate is of one direction."""
    if stream.rate is None or not stream.is_mixed:
        yield stream
        return
    notes.append(f"{stream.name}: separate jobs for reads and writes, each with a part of the rate and the full depth")
    reads = Fraction(stream.lines[0].read_percent) / _ALL
    for word, percent, part in (("reads", 100.0, reads), ("writes", 0.0, 1 - reads)):
        rate = stream.rate.model_copy(update={"ios_per_s": float(Fraction(stream.rate.ios_per_s or 0) * part)})
        lines = tuple(line.model_copy(update={"read_percent": percent}) for line in stream.lines)
        yield stream.model_copy(
            update={"name": f"{stream.name} {word}", "lines": lines, "rate": rate, "cursor": "shared"}
        )


def _split_threads(stream: Stream, notes: list[str]) -> Iterator[Stream]:
    """Threads that each go on from a place of their own as jobs on equal parts of the range."""
    count, size = stream.thread_count, stream.size_bytes
    if stream.goes_on_as("fio") or size is None:
        yield stream
        return
    notes.append(f"{stream.name}: a job for each thread, which stays in its part of the range: fio begins again there")
    grid = max(line.size_bytes for line in stream.lines)
    each = size // count // grid * grid
    for thread in range(count):
        rate = stream.rate
        if rate is not None and rate.ios_per_s is not None:
            rate = rate.model_copy(update={"ios_per_s": rate.ios_per_s / count})
        place = {"start_bytes": (stream.start_bytes or 0) + thread * each, "size_bytes": each}
        yield stream.model_copy(
            update={"name": f"{stream.name} {thread + 1}", "thread_count": 1, "rate": rate, "cursor": "fio", **place}
        )


def _whole_rate(stream: Stream, notes: list[str]) -> Stream:
    """A rate as fio takes it: fixed over the stage, a whole number for each thread."""
    rate = stream.rate
    if rate is None or rate.ios_per_s is None:
        return stream
    ios_per_s = rate.ios_per_s
    if rate.end_factor != 1:
        ios_per_s *= (1 + rate.end_factor) / 2
        notes.append(f"{stream.name}: the mean of its changing rate, because a fio job has a fixed rate")
    count = stream.thread_count
    if round(ios_per_s / count) * count == ios_per_s:
        return stream.model_copy(update={"rate": Rate(ios_per_s=ios_per_s, arrivals=rate.arrivals)})
    mean_bytes = sum(line.size_bytes * line.percent for line in stream.lines) / _ALL
    bytes_per_s = float(max(round(ios_per_s * mean_bytes / count), 1) * count)
    notes.append(f"{stream.name}: {ios_per_s:g} I/Os per second as bytes per second, because fio counts whole I/Os")
    return stream.model_copy(update={"rate": Rate(bytes_per_s=bytes_per_s, arrivals=rate.arrivals)})
