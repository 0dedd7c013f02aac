"""What a process outside a run sees of the host: the CPU time of every task that is not the run's, and stolen time."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_STEAL = 8
_CHILDREN_FIELDS = slice(13, 15)
"""Of ``/proc/PID/stat`` behind the name: CPU time in user and in system mode of children that ended."""
_TICK_NS = 10**9 // os.sysconf("SC_CLK_TCK")
OTHER_MAX = 0.01


@dataclass(frozen=True)
class Sight:
    """CPU time in ns by task, and of the ended children of each process; stolen ticks, and when."""

    tasks: dict[int, int]
    ended: dict[int, int]
    steal: int
    at_ns: int


def sight(left_out: set[int]) -> Sight:
    """Now, without the tasks of some processes."""
    tasks, ended = {}, {}
    for process in _PROC.glob("[0-9]*"):
        if int(process.name) in left_out:
            continue
        try:
            ended[int(process.name)] = _ended_ns((process / "stat").read_text())
            tasks |= {int(task.name): _ran_ns(task) for task in (process / "task").iterdir()}
        except (OSError, ValueError, IndexError):
            continue
    steal = int((_PROC / "stat").read_text().split("\n", 1)[0].split()[_STEAL])
    return Sight(tasks, ended, steal, time.monotonic_ns())


def _ran_ns(task: Path) -> int:
    """0 of a task that has just ended."""
    try:
        return int((task / "schedstat").read_text().split()[0])
    except OSError:
        return 0


def _ended_ns(stat: str) -> int:
    return sum(map(int, stat.rpartition(")")[2].split()[_CHILDREN_FIELDS])) * _TICK_NS


def other_share(before: Sight, after: Sight) -> float:
    """Of all processors' time. A process that ended counts with all its life: an error towards a host that is busy.

    Worked: of 1 s of two processors a task used 10 ms, and a program of 10 ms ended -> 0.01.
    """
    used = _grown(before.tasks, after.tasks) + _grown(before.ended, after.ended)
    return used / ((after.at_ns - before.at_ns) * (os.cpu_count() or 1))


def _grown(before: dict[int, int], after: dict[int, int]) -> int:
    return sum(max(now - before.get(number, 0), 0) for number, now in after.items())


def was_quiet(before: Sight, after: Sight) -> bool:
    """Whether other tasks used below 1 % of the processors and nothing was stolen."""
    return other_share(before, after) < OTHER_MAX and after.steal == before.steal
