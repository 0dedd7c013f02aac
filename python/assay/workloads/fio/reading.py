"""Job files of fio read as a workload: the jobs between two stonewalls are the streams of one stage."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from pydantic import ValidationError

from assay.errors import PlanError
from assay.spec.model_faults import first_fault
from assay.spec.toml_file import named_text
from assay.spec.workload import STREAMS_MAX, Stage, Stream, Workload
from assay.workloads.fio.job_file import BYTES_MAX, NAME_LENGTH_MAX, Extent, Job, extent, jobs_of, time_us
from assay.workloads.fio.keys import IGNORED, SYNC_ENGINES
from assay.workloads.fio.streams import access_of, streams_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

FILE_BYTES_MAX = 1 << 20
_NOTES_MAX = 1000
_SECOND_US = 1_000_000
_SEPARATOR = re.compile(r"(?<!\\):")
_DRIVE = re.compile(r"/dev/.|\\\\\.\\.")
_REMEDY = "write filename=DRIVE in [global]; any name will do, because the drive is an argument of Assay"


class _Ending(NamedTuple):
    """The end of a job, or of a stage: one of time, bytes and fills of the drive, after a ramp."""

    ramp_up_s: float = 0.0
    time_s: float | None = None
    amount_bytes: int | None = None
    amount_fills: float | None = None


@dataclass(slots=True)
class _Group:
    """Jobs that run side by side, as streams, and when each ends."""

    jobs: list[Job]
    streams: list[Stream]
    endings: list[_Ending]


def read_jobs(path: Path) -> Workload:
    """Read a job file of at most 1 MiB. Raises PlanError as ``parse_jobs``, and where it cannot be read."""
    remedy = "name a job file of fio that people write"
    return parse_jobs(path, named_text(path, bytes_max=FILE_BYTES_MAX, remedy=remedy))


def parse_jobs(path: Path, text: str) -> Workload:
    """Make a workload of a job file's text.

    path : named in faults. What fio is told and a block device is not asked for is listed in ``left_out``.
    Raises PlanError with line, section and key for what cannot be repeated.
    Worked: two jobs, the second with ``stonewall`` -> two stages of one stream each.
    """
    groups: list[_Group] = []
    notes: list[str] = []
    jobs = jobs_of(path, text)
    _check_targets(jobs)
    for job in jobs:
        if not groups or job.flag("stonewall"):
            groups.append(_Group([], [], []))
        _join(groups[-1], job)
        notes += _notes(job)
    names: set[str] = set()
    try:
        stages = tuple(_stage(group, names) for group in groups)
        return Workload(title=path.name[:200], source="fio job file", left_out=_bounded(notes), stages=stages)
    except ValidationError as error:
        raise PlanError(str(path), f"is no workload: {first_fault(error)[0]}", "correct the file") from None


def _join(group: _Group, job: Job) -> None:
    """Add a job to those it runs beside."""
    for stream in streams_of(job, STREAMS_MAX - len(group.streams)):
        taken = {stream.name for stream in group.streams}
        group.streams.append(stream.model_copy(update={"name": _free(stream.name, taken)}))
    group.jobs.append(job)
    group.endings.append(_ending(job))


def _stage(group: _Group, names: set[str]) -> Stage:
    """The streams of a group with the end and the ramp that they share."""
    ending = _stage_ending(group.jobs, group.endings, len(group.streams) * group.streams[0].thread_count)
    name = _free(group.jobs[0].name, names)
    names.add(name)
    try:
        return Stage(name=name, **ending._asdict(), streams=tuple(group.streams))
    except ValidationError as error:
        reason, remedy = first_fault(error)
        raise group.jobs[-1].fault("", f"cannot be run: {reason}", remedy or "correct the jobs of the stage") from None


def _free(name: str, taken: set[str]) -> str:
    """A name that is not taken: the same, or with a number behind it."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name[: NAME_LENGTH_MAX - 8]}-{number}"
    return free


def _bounded(notes: list[str]) -> tuple[str, ...]:
    """As many notes as a workload keeps, the last of which counts the others."""
    left = len(notes) - _NOTES_MAX
    more = [f"{left + 1} further lines of the kind"] if left > 0 else []
    return tuple(note[:500] for note in [*notes[: _NOTES_MAX - len(more)], *more])


def _check_targets(jobs: Iterable[Job]) -> None:
    """Refuse jobs that are not all for one drive. Raises PlanError with the first job that is for another."""
    first: tuple[Job, str] | None = None
    for job in jobs:
        name = _target(job)
        if first is not None and first[1] != name:
            raise _several_targets(job, name, *first)
        first = first or (job, name)


def _target(job: Job) -> str:
    """The drive or file of a job, by a name that no other has."""
    if job.has("filename"):
        names = [part.replace("\\:", ":") for part in _SEPARATOR.split(job.text("filename", ""))]
        if len(names) > 1:
            raise job.fault("filename", "is a list", "write a single drive")
        return names[0]
    name = job.name
    if _DRIVE.match(name):
        return name
    if (clones := job.whole("numjobs", 1, 1, 1 << 20)) > 1:
        raise job.fault("filename", f"is missing, so fio makes {clones} files, a file per clone", _REMEDY)
    return f"[{name}] at line {job.line}"


def _several_targets(job: Job, name: str, first: Job, other: str) -> PlanError:
    if not job.has("filename") and not _DRIVE.match(job.name):
        return job.fault("filename", f"is missing, so fio makes a file in addition to {other}", _REMEDY)
    reason = f"is {name[:200]}, and [{first.name}] is for {other[:200]}"
    return job.fault("filename", reason, "write a job file per drive")


def _ending(job: Job) -> _Ending:
    """When a job ends by its own keys: after its time, or once it has done its size.

    With ``runtime`` and without ``time_based`` fio takes the earlier of both; this takes the time, and a note says so.
    """
    if job.get("startdelay", lambda text: time_us(text, _SECOND_US), 0):
        raise job.fault("startdelay", "makes jobs begin at different times", "remove it, or write a stonewall")
    ramp_s = job.get("ramp_time", lambda text: time_us(text, _SECOND_US), 0) / _SECOND_US
    runtime_us = job.get("runtime", lambda text: time_us(text, _SECOND_US), 0)
    if runtime_us:
        return _Ending(ramp_up_s=ramp_s, time_s=runtime_us / _SECOND_US)
    loops = job.whole("loops", 1, 1, 1 << 20)
    size = job.get("size", lambda text: extent(text, job.kb_base), Extent(percent=100))
    amount = job.get("io_size", lambda text: extent(text, job.kb_base), size)
    if amount.size_bytes is None:
        return _Ending(ramp_up_s=ramp_s, amount_fills=(amount.percent or 0) * loops / 100)
    total = amount.size_bytes * loops
    if not 0 < total <= BYTES_MAX:
        raise job.fault("io_size" if job.has("io_size") else "size", f"asks for {total} bytes", "write runtime instead")
    return _Ending(ramp_up_s=ramp_s, amount_bytes=total)


def _stage_ending(jobs: list[Job], endings: list[_Ending], thread_count: int) -> _Ending:
    """The end that all jobs of a stage have. Raises PlanError where they end at times of their own."""
    first = endings[0]
    for job, ending in zip(jobs, endings, strict=True):
        if (ending.time_s, ending.ramp_up_s) != (first.time_s, first.ramp_up_s):
            key = "runtime" if ending.time_s != first.time_s else "ramp_time"
            reason = f"differs from that of [{jobs[0].name}], which runs at the same time"
            raise job.fault(key, reason, "write the same, or a stonewall")
    if first.time_s is None and (len(jobs) > 1 or thread_count > 1):
        reason = "is missing, so parallel jobs end at different times"
        raise jobs[-1].fault("runtime", reason, "write runtime and time_based")
    return first


def _notes(job: Job) -> list[str]:
    """The keys that are left out with their lines, and where fio does otherwise."""
    name = job.name
    settings = job.settings
    left = [f"line {settings[key].line} [{name}] {key}: {why}" for key, why in IGNORED.items() if key in settings]
    return left + [f"line {line} [{name}] {text}" for line, text in _departures(job)]


def _departures(job: Job) -> Iterator[tuple[int, str]]:
    settings, head = job.settings, job.line
    access = access_of(job)
    if access.random and not job.flag("norandommap"):
        yield head, "norandommap is missing: fio visits every block once per pass, here each address is random"
    if job.has("runtime") and not job.flag("time_based"):
        yield (
            settings["runtime"].line,
            "time_based is missing: fio ends earlier once it has done its size, here the time counts",
        )
    engine = job.text("ioengine", "psync")
    if engine in SYNC_ENGINES and job.whole("iodepth", 1, 1, 1 << 20) > 1:
        yield settings["iodepth"].line, f"iodepth: has no effect with ioengine {engine}, which keeps 1 I/O outstanding"
    for key in ("rwmixread", "rwmixwrite"):
        if job.has(key) and access.direction != "rw":
            yield settings[key].line, f"{key}: has no effect on a job that only {access.direction}s"
    if not access.random and job.has("percentage_random"):
        yield settings["percentage_random"].line, "percentage_random: has no effect on a sequential job"
    if job.has("rate") or job.has("rate_iops"):
        yield head, "rate: fio waits for outstanding I/Os before it pauses, here I/Os are due at their times"
