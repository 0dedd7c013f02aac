"""What the kernel counts of the host and of this process."""

from __future__ import annotations

import os
import resource
from dataclasses import dataclass
from pathlib import Path

from assay.spec.units import SECOND_NS

_PROC = Path("/proc")
# "cpu" and then user, nice, system, idle, iowait, irq, softirq, steal.
_STEAL_FIELD = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class HostCounters:
    """Cumulative times of the host and of this process; those that the kernel does not count are None.

    steal_ns : taken by the hypervisor from all processors. threads : CPU time and waiting time of each thread of this
    process in ns, by its id. switches_involuntary : of all its threads.
    """

    steal_ns: int | None
    threads: dict[int, tuple[int, int]]
    switches_involuntary: int


def read_host_counters(*, proc: Path = _PROC) -> HostCounters:
    """Read the counters of now.

    Source: Linux ``proc_stat(5)``; ``Documentation/scheduler/sched-stats.rst`` for ``schedstat``.
    Worked: with 100 ticks a second, a steal field of 3 is ``steal_ns`` 30000000.
    """
    threads = {int(task.name): times for task in (proc / "self/task").glob("*") if (times := _thread(task))}
    return HostCounters(
        steal_ns=_steal_ns(proc),
        threads=threads,
        switches_involuntary=resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw,
    )


def thread_deltas(before: HostCounters, after: HostCounters) -> tuple[int, int] | None:
    """CPU time and waiting time in ns that the threads of this process had in between; None where it is not counted.

    A thread that ended in between is left out. Worked: {1: (10, 5)} and then {1: (30, 6), 2: (4, 4)} -> (24, 5).
    """
    if not after.threads:
        return None
    pairs = [(times, before.threads.get(thread, (0, 0))) for thread, times in after.threads.items()]
    return sum(now[0] - then[0] for now, then in pairs), sum(now[1] - then[1] for now, then in pairs)


def _thread(task: Path) -> tuple[int, int] | None:
    try:
        run, wait, *_ = (task / "schedstat").read_text("ascii").split()
        return int(run), int(wait)
    except (OSError, ValueError):
        return None


def _steal_ns(proc: Path) -> int | None:
    try:
        with (proc / "stat").open("rb") as file:
            fields = file.readline().split()
        return int(fields[_STEAL_FIELD]) * SECOND_NS // os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return None
