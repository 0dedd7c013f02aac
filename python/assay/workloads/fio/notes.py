"""What a job file says and a workload leaves out, a line each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.workloads.fio.access import access_of
from assay.workloads.fio.keys import IGNORED, SYNC_ENGINES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.workloads.fio.job import Job


def notes_of(job: Job) -> list[str]:
    """The keys that are left out with their lines, and where fio does otherwise."""
    name = job.section.name
    settings = job.section.settings
    left = [f"line {settings[key].line} [{name}] {key}: {why}" for key, why in IGNORED.items() if key in settings]
    return left + [f"line {line} [{name}] {text}" for line, text in _departures(job)]


def _departures(job: Job) -> Iterator[tuple[int, str]]:
    settings, head = job.section.settings, job.section.line
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
