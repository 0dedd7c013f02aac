"""Job files of fio read as a workload: the jobs between two stonewalls are the streams of one stage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import ValidationError

from assay.errors import PlanError
from assay.spec.model_faults import first_fault
from assay.spec.text_file import named_text
from assay.spec.workload import STREAMS_MAX, Stage, Stream, Workload
from assay.workloads.fio.ending import Ending, ending_of, stage_ending
from assay.workloads.fio.job import Job
from assay.workloads.fio.notes import notes_of
from assay.workloads.fio.streams import streams_of
from assay.workloads.fio.syntax import NAME_LENGTH_MAX, Place, sections
from assay.workloads.fio.target import check_targets

if TYPE_CHECKING:
    from pathlib import Path

FILE_BYTES_MAX = 1 << 20
_NOTES_MAX = 1000


@dataclass(slots=True)
class _Group:
    """Jobs that run side by side, as streams, and when each ends."""

    jobs: list[Job]
    streams: list[Stream]
    endings: list[Ending]


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
    jobs = [Job(section, Place(path, section.name)) for section in sections(path, text)]
    check_targets(jobs)
    for job in jobs:
        if not groups or job.flag("stonewall"):
            groups.append(_Group([], [], []))
        _join(groups[-1], job)
        notes += notes_of(job)
    names: set[str] = set()
    try:
        stages = tuple(_stage(group, names) for group in groups)
        return Workload(title=path.name[:200], source="fio job file", left_out=_shown(notes), stages=stages)
    except ValidationError as error:
        raise PlanError(str(path), f"is no workload: {first_fault(error)[0]}", "correct the file") from None


def _join(group: _Group, job: Job) -> None:
    """Add a job to those it runs beside."""
    for stream in streams_of(job, STREAMS_MAX - len(group.streams)):
        taken = {stream.name for stream in group.streams}
        group.streams.append(stream.model_copy(update={"name": _free(stream.name, taken)}))
    group.jobs.append(job)
    group.endings.append(ending_of(job))


def _stage(group: _Group, names: set[str]) -> Stage:
    """The streams of a group with the end and the ramp that they share."""
    ending = stage_ending(group.jobs, group.endings, len(group.streams) * group.streams[0].thread_count)
    name = _free(group.jobs[0].section.name, names)
    names.add(name)
    try:
        return Stage(
            name=name,
            ramp_up_s=ending.ramp_up_s,
            time_s=ending.time_s,
            amount_bytes=ending.amount_bytes,
            amount_fills=ending.amount_fills,
            streams=tuple(group.streams),
        )
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


def _shown(notes: list[str]) -> tuple[str, ...]:
    left = len(notes) - _NOTES_MAX
    more = [f"{left + 1} further lines of the kind"] if left > 0 else []
    return tuple(note[:500] for note in [*notes[: _NOTES_MAX - len(more)], *more])
