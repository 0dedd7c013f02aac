"""On which CPUs the stimulus threads of a real drive run: near the drive, each on one of its own."""

from __future__ import annotations

import os
import re
from itertools import groupby
from typing import TYPE_CHECKING

from assay.dut.real.identity import sysfs_directory
from assay.dut.real.sysfs import SYSFS, read_text
from assay.engine.records import Placement
from assay.errors import ValueRangeError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from pathlib import Path

    from assay.engine.records import DriveIdentity

_OPTION = "--pin"
_REMEDY = "give auto, none, or CPUs such as 0,2,4-7"


def place_threads(
    identity: DriveIdentity,
    thread_count: int,
    pin: str = "auto",
    *,
    sysfs: Path = SYSFS,
    allowed: Collection[int] | None = None,
) -> Placement:
    """Choose the CPUs of the stimulus threads.

    thread_count : at least 1. pin : ``auto`` gives every thread a CPU of its own, those of the drive's NUMA node first
    and a core before its second thread, or leaves all of them free where there are more threads than CPUs, which the
    scheduler shares better; ``none`` leaves them free; a list of CPUs is used in its order, again and again.
    allowed : CPUs that this process may use, None asks the kernel.
    Raises ValueRangeError for a list that is none, or names a CPU that this process may not use.
    Worked: one thread for a drive at node 1, whose CPUs are 2-3 -> CPU 2, "pinned to CPU 2 of NUMA node 1".
    """
    usable = sorted(os.sched_getaffinity(0) if allowed is None else allowed)
    if pin == "none":
        return Placement(cpus=(), text="not pinned: left to the scheduler")
    if pin != "auto":
        return _pinned(_asked(pin, usable), sysfs)
    if thread_count > len(usable):
        return Placement(cpus=(), text=f"not pinned: {thread_count} threads on {_counted(len(usable))}")
    nodes, near = _nodes(sysfs), drive_node(identity, sysfs=sysfs)
    usable.sort(key=lambda cpu: (near is not None and nodes.get(cpu) != near, _rank(sysfs, cpu), cpu))
    return _pinned(usable[:thread_count], sysfs)


def drive_node(identity: DriveIdentity, *, sysfs: Path = SYSFS) -> int | None:
    """The NUMA node that a drive is attached to; None for a file, and where the kernel does not know.

    Worked: ``numa_node`` of the PCI device above ``/dev/nvme0n1`` is 1 -> 1; -1 -> None.
    """
    if identity.kind != "block":
        return None
    folder = sysfs_directory(identity, sysfs=sysfs).resolve()
    # A namespace with several paths lies in a subsystem, which links to its controllers.
    controllers = sorted(path.resolve() for path in folder.parent.glob("nvme*") if (path / "transport").exists())
    for start in (folder, *controllers):
        for parent in (start, *start.parents):
            node = read_text(parent / "numa_node")
            if node and node.isdecimal():
                return int(node)
    return None


def parse_cpus(text: str) -> list[int]:
    """CPUs of a list as the kernel writes it. Raises ValueError.

    >>> parse_cpus("0,2,4-7")
    [0, 2, 4, 5, 6, 7]
    """
    cpus: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"(\d{1,5})(?:-(\d{1,5}))?", part.strip(), re.ASCII)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if first > last:
            raise ValueError(f"{part!r} is no CPU and no range of CPUs")
        cpus += range(first, last + 1)
    return cpus


def _asked(pin: str, usable: Collection[int]) -> list[int]:
    try:
        cpus = parse_cpus(pin)
    except ValueError as error:
        raise ValueRangeError(_OPTION, str(error), _REMEDY) from None
    if strange := sorted(set(cpus) - set(usable)):
        reason = f"CPU {strange[0]} is not among those that this process may use ({_listed(usable)})"
        raise ValueRangeError(_OPTION, reason, "name others, or give the process more")
    return cpus


def _pinned(cpus: Iterable[int], sysfs: Path) -> Placement:
    chosen = tuple(cpus)
    nodes = _nodes(sysfs)

    def node(cpu: int) -> int:
        return nodes.get(cpu, -1)

    parts = [
        _named(members) + (f" of NUMA node {number}" if number >= 0 else "")
        for number, group in groupby(sorted(set(chosen), key=lambda cpu: (node(cpu), cpu)), key=node)
        if (members := list(group))
    ]
    return Placement(cpus=chosen, text=f"pinned to {' and '.join(parts)}")


def _nodes(sysfs: Path) -> dict[int, int]:
    """The NUMA node of every CPU; empty where the kernel knows no nodes."""
    nodes = {}
    for folder in (sysfs / "devices/system/node").glob("node[0-9]*"):
        # A node of memory alone has no CPUs.
        for cpu in parse_cpus(listed) if (listed := read_text(folder / "cpulist")) else ():
            nodes[cpu] = int(folder.name.removeprefix("node"))
    return nodes


def _rank(sysfs: Path, cpu: int) -> int:
    """Which thread of its core a CPU is, the first being 0."""
    siblings = read_text(sysfs / f"devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
    return sorted(parse_cpus(siblings)).index(cpu) if siblings else 0


def _named(cpus: Collection[int]) -> str:
    return f"{'CPU' if len(cpus) == 1 else 'CPUs'} {_listed(cpus)}"


def _counted(count: int) -> str:
    return "1 CPU" if count == 1 else f"{count} CPUs"


def _listed(cpus: Iterable[int]) -> str:
    """The shortest list. Worked: 0, 1, 2, 5 -> ``0-2,5``."""
    runs = groupby(enumerate(sorted(set(cpus))), key=lambda pair: pair[1] - pair[0])
    ends = [[cpu for _, cpu in run] for _, run in runs]
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in ends)
