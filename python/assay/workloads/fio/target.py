"""Which drive or file the jobs of a file are for. Assay asks one drive at a time.

Source: fio 3.42 ``init.c``, ``add_job``: without a filename a job is for the drive that its section is named by, else
for a file that fio makes for each of its clones.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.workloads.fio.job import Job

_SEPARATOR = re.compile(r"(?<!\\):")
_DRIVE = re.compile(r"/dev/.|\\\\\.\\.")
_REMEDY = "write filename=DRIVE in [global]; any name will do, because the drive is an argument of Assay"


def check_targets(jobs: Iterable[Job]) -> None:
    """Refuse jobs that are not all for one drive. Raises PlanError with the first job that is for another."""
    first: tuple[Job, str] | None = None
    for job in jobs:
        name = _target(job)
        if first is not None and first[1] != name:
            _refuse(job, name, *first)
        first = first or (job, name)


def escaped(path: str) -> str:
    r"""A path as a job file has it. Worked: ``/dev/disk/by-path/pci-0:1`` -> ``/dev/disk/by-path/pci-0\:1``."""
    return path.replace(":", "\\:")


def _target(job: Job) -> str:
    """The drive or file of a job, by a name that no other has."""
    if job.has("filename"):
        names = [part.replace("\\:", ":") for part in _SEPARATOR.split(job.text("filename", ""))]
        if len(names) > 1:
            raise job.fault("filename", "is a list", "write a single drive")
        return names[0]
    name = job.section.name
    if _DRIVE.match(name):
        return name
    if (clones := job.whole("numjobs", 1, 1, 1 << 20)) > 1:
        raise job.fault("filename", f"is missing, so fio makes {clones} files, a file per clone", _REMEDY)
    return f"[{name}] at line {job.section.line}"


def _refuse(job: Job, name: str, first: Job, other: str) -> None:
    if not job.has("filename") and not _DRIVE.match(job.section.name):
        raise job.fault("filename", f"is missing, so fio makes a file in addition to {other}", _REMEDY)
    reason = f"is {name[:200]}, and [{first.section.name}] is for {other[:200]}"
    raise job.fault("filename", reason, "write a job file per drive")
