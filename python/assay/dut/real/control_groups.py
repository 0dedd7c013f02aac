"""How long the control groups above this process held it back by their CPU quota."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from assay.dut.real.sysfs import read_lines
from assay.spec.units import MICROSECOND_NS

if TYPE_CHECKING:
    from collections.abc import Iterator

_PROC, _ROOT = Path("/proc"), Path("/sys/fs/cgroup")
_UNITS_NS = {"throttled_usec": MICROSECOND_NS, "throttled_time": 1}
"""Names of the time in ``cpu.stat``: of the second version and of the first."""


def throttled_ns(*, proc: Path = _PROC, root: Path = _ROOT) -> int | None:
    """Time that groups above this process were held back, the largest of them; None where none can be read.

    A group without a quota counts 0 and is never held back.
    Source: Linux ``Documentation/admin-guide/cgroup-v2.rst``, ``scheduler/sched-bwc.rst``.
    Worked: ``throttled_usec 1500`` in the group, 0 in the one above -> 1500000.
    """
    times = [time for folder in _groups(proc, root) if (time := _throttled(folder / "cpu.stat")) is not None]
    return max(times, default=None)


def _groups(proc: Path, root: Path) -> Iterator[Path]:
    """The group of this process and all above it, in both versions."""
    for line in read_lines(proc / "self/cgroup"):
        _, controllers, path = line.split(":", 2)
        if not controllers or "cpu" in controllers.split(","):
            for mount in (root, root / "unified") if not controllers else (root / controllers, root / "cpu"):
                group = mount / path.lstrip("/")
                yield from (folder for folder in (group, *group.parents) if folder.is_relative_to(mount))


def _throttled(path: Path) -> int | None:
    for line in read_lines(path):
        name, _, value = line.partition(" ")
        if name in _UNITS_NS and value.strip().isdecimal():
            return int(value) * _UNITS_NS[name]
    return None
