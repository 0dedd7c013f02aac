"""What a process outside a run sees of the host: the CPU time of every task that is not the run's, and stolen time."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_STEAL = 8
OTHER_MAX = 0.01


@dataclass(frozen=True)
class Sight:
    """CPU time by task, stolen ticks, and when."""

    tasks: dict[int, int]
    steal: int
    at_ns: int


def sight(left_out: set[int]) -> Sight:
    """Now, without the tasks of some processes."""
    tasks = {}
    for process in _PROC.glob("[0-9]*"):
        if int(process.name) not in left_out:
            for task in (process / "task").glob("*"):
                try:
                    tasks[int(task.name)] = int((task / "schedstat").read_text().split()[0])
                except (OSError, ValueError, IndexError):
                    continue
    steal = int((_PROC / "stat").read_text().split("\n", 1)[0].split()[_STEAL])
    return Sight(tasks, steal, time.monotonic_ns())


def other_share(before: Sight, after: Sight) -> float:
    """Of all processors' time."""
    used = sum(max(ran - before.tasks.get(task, 0), 0) for task, ran in after.tasks.items())
    return used / ((after.at_ns - before.at_ns) * (os.cpu_count() or 1))


def was_quiet(before: Sight, after: Sight) -> bool:
    """Whether other tasks used below 1 % of the processors and nothing was stolen."""
    return other_share(before, after) < OTHER_MAX and after.steal == before.steal
