"""When jobs end, and what that makes of the stage that they share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.workloads.fio.values import BYTES_MAX, Extent, extent, time_us

if TYPE_CHECKING:
    from assay.workloads.fio.job import Job

_SECOND_US = 1_000_000


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a job, or of a stage: one of time, bytes and fills of the drive, after a ramp."""

    ramp_up_s: float = 0.0
    time_s: float | None = None
    amount_bytes: int | None = None
    amount_fills: float | None = None


def ending_of(job: Job) -> Ending:
    """When a job ends by its own keys: after its time, or once it has done its size.

    With ``runtime`` and without ``time_based`` fio takes the earlier of both; this takes the time, and a note says so.
    """
    if job.get("startdelay", lambda text: time_us(text, _SECOND_US), 0):
        raise job.fault("startdelay", "makes jobs begin at different times", "remove it, or write a stonewall")
    ramp_s = job.get("ramp_time", lambda text: time_us(text, _SECOND_US), 0) / _SECOND_US
    runtime_us = job.get("runtime", lambda text: time_us(text, _SECOND_US), 0)
    if runtime_us:
        return Ending(ramp_up_s=ramp_s, time_s=runtime_us / _SECOND_US)
    loops = job.whole("loops", 1, 1, 1 << 20)
    size = job.get("size", lambda text: extent(text, job.kb_base), Extent(percent=100))
    amount = job.get("io_size", lambda text: extent(text, job.kb_base), size)
    if amount.size_bytes is None:
        return Ending(ramp_up_s=ramp_s, amount_fills=(amount.percent or 0) * loops / 100)
    total = amount.size_bytes * loops
    if not 0 < total <= BYTES_MAX:
        raise job.fault("io_size" if job.has("io_size") else "size", f"asks for {total} bytes", "write runtime instead")
    return Ending(ramp_up_s=ramp_s, amount_bytes=total)


def stage_ending(jobs: list[Job], endings: list[Ending], thread_count: int) -> Ending:
    """The end that all jobs of a stage have. Raises PlanError where they end at times of their own."""
    first = endings[0]
    for job, ending in zip(jobs, endings, strict=True):
        if (ending.time_s, ending.ramp_up_s) != (first.time_s, first.ramp_up_s):
            key = "runtime" if ending.time_s != first.time_s else "ramp_time"
            reason = f"differs from that of [{jobs[0].section.name}], which runs at the same time"
            raise job.fault(key, reason, "write the same, or a stonewall")
    if first.time_s is None and (len(jobs) > 1 or thread_count > 1):
        reason = "is missing, so parallel jobs end at different times"
        raise jobs[-1].fault("runtime", reason, "write runtime and time_based")
    return first
