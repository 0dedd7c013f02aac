"""What the kernel counts of the host, of this process and of the threads that serve its target."""

from __future__ import annotations

import os
import resource
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.dut.real.host_limits import throttled_ns
from assay.dut.real.sysfs import read_lines
from assay.spec.units import MICROSECOND_NS, SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

PROC = Path("/proc")
Times = dict[int, tuple[int, int]]
"""CPU time and waiting time of threads in ns, by their id."""
# Behind "cpu": user, nice, system, idle, iowait, irq, softirq, steal.
_BUSY, _STEAL = slice(0, 3), 7


@dataclass(frozen=True, slots=True, kw_only=True)
class HostCounters:
    """Cumulative times of the host and of this process; those that the kernel does not count are None.

    busy_ns : of all processors, user and system. own_ns : of this process. steal_ns : taken by the hypervisor from all
    processors; stimulus_steal_ns : from those of the stimulus. threads : of this process. servers : of the threads that
    serve the target, None where it has none. switches_involuntary : of all threads of this process.
    throttled_ns : see ``control_groups``. pressure_ns : in which some task waited for a processor.
    """

    busy_ns: int | None
    own_ns: int
    steal_ns: int | None
    stimulus_steal_ns: int | None
    threads: Times
    servers: Times | None
    switches_involuntary: int
    throttled_ns: int | None
    pressure_ns: int | None


def read_host_counters(
    *, cpus: Collection[int] = (), servers: Callable[[], Iterable[Path]] | None = None, proc: Path = PROC
) -> HostCounters:
    """Read the counters of now.

    cpus : of the stimulus, none where it is not kept on any. servers : folders in proc of the threads that serve the
    target. Source: Linux ``proc_stat(5)``, ``Documentation/scheduler/sched-stats.rst``, ``accounting/psi.rst``.
    Worked: with 100 ticks a second, a steal field of 3 is ``steal_ns`` 30000000.
    """
    ticks = _ticks(proc)
    return HostCounters(
        busy_ns=_sum_ns(ticks.get("cpu", [])[_BUSY]),
        own_ns=time.process_time_ns(),
        steal_ns=_steal_ns(ticks, ["cpu"]),
        stimulus_steal_ns=_steal_ns(ticks, [f"cpu{cpu}" for cpu in set(cpus)] or ["cpu"]),
        threads=_times((proc / "self/task").glob("*")),
        servers=None if servers is None else _times(servers()),
        switches_involuntary=resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw,
        throttled_ns=throttled_ns(proc=proc),
        pressure_ns=_pressure_ns(proc),
    )


def thread_deltas(before: Times | None, after: Times | None) -> tuple[int, int] | None:
    """CPU time and waiting time in ns that threads had in between; None where it is not counted.

    A thread that ended in between is left out. Worked: {1: (10, 5)} and then {1: (30, 6), 2: (4, 4)} -> (24, 5).
    """
    if not after:
        return None
    pairs = [(times, (before or {}).get(thread, (0, 0))) for thread, times in after.items()]
    return sum(now[0] - then[0] for now, then in pairs), sum(now[1] - then[1] for now, then in pairs)


def _times(tasks: Iterable[Path]) -> Times:
    return {int(task.name): times for task in tasks if (times := _thread(task))}


def _thread(task: Path) -> tuple[int, int] | None:
    try:
        run, wait, *_ = (task / "schedstat").read_text("ascii").split()
        return int(run), int(wait)
    except (OSError, ValueError):
        return None


def _ticks(proc: Path) -> dict[str, list[int]]:
    """The fields of every processor, and of all together; empty where they cannot be read."""
    lines = [line.split() for line in read_lines(proc / "stat") if line.startswith("cpu")]
    return {name: [int(field) for field in fields] for name, *fields in lines}


def _sum_ns(fields: Collection[int]) -> int | None:
    return sum(fields) * SECOND_NS // os.sysconf("SC_CLK_TCK") if fields else None


def _steal_ns(ticks: dict[str, list[int]], names: Iterable[str]) -> int | None:
    return _sum_ns([fields[_STEAL] for name in names if len(fields := ticks.get(name, [])) > _STEAL])


def _pressure_ns(proc: Path) -> int | None:
    """Source: ``some avg10=0.00 avg60=0.00 avg300=0.00 total=12`` in microseconds."""
    total = next(iter(read_lines(proc / "pressure/cpu")), "").rpartition("total=")[2]
    return int(total) * MICROSECOND_NS if total.isdecimal() else None
