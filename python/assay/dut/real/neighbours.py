"""Other block devices that share something with a drive on its way to the host, and what the kernel counts of them.

What is shared is told by sysfs: the folder of a device lies in those of its target, controller and PCIe ports. Links
inside a chipset or processor appear in none of them.
"""

from __future__ import annotations

import os
import re
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from assay.dut.real.condition import slot_link
from assay.dut.real.identity import sysfs_directory
from assay.dut.real.loop import loops
from assay.dut.real.queue import device_counters
from assay.dut.real.sysfs import SYSFS, Disk, disk_of, whole_disks
from assay.engine.records import NeighbourRecord, NeighboursRecord
from assay.spec.units import link_bytes_per_s

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from assay.dut.real.loop import Backing
    from assay.engine.records import DriveIdentity, Shared

_FUNCTION = re.compile(r"[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]")
_BRIDGE = re.compile(r"pci[0-9a-f]{4,}:[0-9a-f]{2}")
_SUBSYSTEM, _TARGET, _HOST = re.compile(r"nvme(-subsys)?\d+"), re.compile(r"target\d+:\d+:\d+"), re.compile(r"host\d+")
_PATH = re.compile(r"(nvme\d+)c\d+(n\d+)")
_NEAREST: tuple[Shared, ...] = ("subsystem", "target", "disk", "controller", "uplink")


class Neighbour(NamedTuple):
    """A device that shares something with the target: what, the name of that, and the PCIe link that both use."""

    name: str
    shared: Shared
    by: str
    link: str | None = None


class Counts(NamedTuple):
    """Reads and writes that a device has completed, and their bytes."""

    read_count: int
    read_bytes: int
    write_count: int
    write_bytes: int


def neighbours(
    identity: DriveIdentity,
    *,
    sysfs: Path = SYSFS,
    backings: Callable[[], Iterable[tuple[str, Backing]]] = loops,
) -> tuple[Neighbour, ...]:
    """Devices that share something with a block drive, each by the nearest thing; empty for a file.

    A drive that lies on others, such as a loop device, shares what these share, and with what else lies on them. What
    it lies on is no neighbour: the drive's own I/O is counted there, too.
    backings : loop devices by name, and what each lies on.
    Worked: nvme0n2 beside nvme0n1 -> ``("nvme0n2", "subsystem", "nvme0")``; sdb at another port of the AHCI controller
    of sda -> ``("sdb", "controller", "0000:00:17.0")``.
    """
    if identity.kind != "block":
        return ()
    disks, host = whole_disks(sysfs), _Disks(sysfs, dict(backings()))
    target = sysfs_directory(identity, sysfs=sysfs).resolve()
    stack = host.standing(Disk(target.name, target))
    near = {disk.name: closest for disk in disks if disk.name not in stack and (closest := _nearest(host, stack, disk))}
    # The paths of a namespace are hidden, an empty slot has no sectors, and what lies on a neighbour is counted there.
    return tuple(
        near[disk.name]
        for disk in disks
        if disk.name in near and disk.number("hidden") != 1 and disk.number("size")
        if not near.keys() & {lower.name for lower in host.below(disk)}
    )


@dataclass(frozen=True)
class _Disks:
    """The disks of the host, and what they lie on."""

    sysfs: Path
    backings: Mapping[str, Backing]

    def below(self, disk: Disk) -> list[Disk]:
        """What a disk lies on directly, as whole disks; a file system on several devices names none."""
        lower, backing = [disk.whole() for disk in disk.slaves()], self.backings.get(disk.name)
        backed = disk_of(backing.block or backing.device, self.sysfs) if backing else None
        return [*lower, backed.whole()] if backed else lower

    def standing(self, disk: Disk) -> dict[str, Disk]:
        """A disk and everything that it lies on, by name, itself first."""
        result = {disk.name: disk}
        for lower in self.below(disk):
            if lower.name not in result:
                result |= self.standing(lower)
        return result


def _nearest(host: _Disks, stack: Mapping[str, Disk], disk: Disk) -> Neighbour | None:
    both = [name for name in host.standing(disk) if name in stack]
    shared = [Neighbour(disk.name, "disk", both[0])] if both else []
    for mine in stack.values():
        shared += [near for a in _ways(mine) for b in _ways(disk) if (near := _shared(disk.name, a, b))]
    return min(shared, key=lambda near: _NEAREST.index(near.shared), default=None)


def _ways(disk: Disk) -> list[Path]:
    """Folders of a disk: its own, and of a namespace with several paths those of its controllers."""
    if not disk.name.startswith("nvme"):
        return [disk.folder]
    controllers = (path.resolve() for path in disk.folder.parent.glob("nvme*") if (path / "transport").exists())
    return [disk.folder, *sorted(controllers)]


def _shared(name: str, mine: Path, other: Path) -> Neighbour | None:
    """What two folders have in common, nearest first."""
    common = Path(os.path.commonpath((mine, other)))
    if subsystem := _last(common, _SUBSYSTEM):
        return Neighbour(name, "subsystem", subsystem.name)
    if target := _last(common, _TARGET):
        return Neighbour(name, "target", target.name)
    if functions := _functions(common):
        ends = _functions(mine)[-1] == functions[-1] == _functions(other)[-1]
        return Neighbour(name, "controller" if ends else "uplink", functions[-1].name, _link(functions[-1]))
    adapter = _last(common, _HOST)
    return Neighbour(name, "controller", adapter.name) if adapter else None


def _functions(folder: Path) -> list[Path]:
    """PCI functions above a folder and below the last host bridge, the port at the root first.

    Behind a bridge inside another (Intel VMD), drives share no link with those of its own ports.
    """
    result: list[Path] = []
    for path in reversed((folder, *folder.parents)):
        if _BRIDGE.fullmatch(path.name):
            result = []
        elif _FUNCTION.fullmatch(path.name):
            result.append(path)
    return result


def _last(folder: Path, pattern: re.Pattern[str]) -> Path | None:
    return next((path for path in (folder, *folder.parents) if pattern.fullmatch(path.name)), None)


def _link(function: Path) -> str | None:
    link = slot_link(function)
    return link if link and link_bytes_per_s(link) else None


def read_counts(disks: Iterable[Disk]) -> dict[str, Counts]:
    """What each of some whole disks has completed since it appeared, by name; without those that do not count.

    Older kernels count the I/O of an NVMe namespace with several paths at its paths only.
    Source: Linux ``Documentation/block/stat.rst``, ``queue/iostats``.
    """
    result: dict[str, Counts] = {}
    paths: dict[str, list[Counts]] = {}
    for disk in disks:
        counts = _counts(disk)
        if counts and (path := _PATH.fullmatch(disk.name)):
            paths.setdefault(path[1] + path[2], []).append(counts)
        elif counts:
            result[disk.name] = counts
    for name, each in paths.items():
        summed = Counts(*map(sum, zip(*each, strict=True)))
        result[name] = Counts(*map(max, zip(result.get(name, summed), summed, strict=True)))
    return result


def _counts(disk: Disk) -> Counts | None:
    if disk.number("queue/iostats") == 0:
        return None
    try:
        counters = device_counters(disk)
    except (OSError, ValueError, IndexError):
        return None
    return Counts(counters.read_count, counters.read_bytes, counters.write_count, counters.write_bytes)


@dataclass
class NeighbourWatch:
    """Counts the I/O of a drive's neighbours, sequence by sequence. clock : ns, monotonic."""

    identity: DriveIdentity
    sysfs: Path = SYSFS
    clock: Callable[[], int] = time.monotonic_ns
    _near: tuple[Neighbour, ...] = field(default=(), repr=False)
    _before: dict[str, Counts] = field(default_factory=dict, repr=False)
    _present: frozenset[str] = field(default=frozenset(), repr=False)
    _began_ns: int = 0

    def begin(self) -> None:
        """A sequence begins."""
        self._near = neighbours(self.identity, sysfs=self.sysfs)
        disks = whole_disks(self.sysfs)
        self._present = frozenset(disk.name for disk in disks)
        self._before, self._began_ns = read_counts(disks), self.clock()

    def finished(self) -> NeighboursRecord:
        """What every neighbour did since the sequence began, also of one that came or went meanwhile."""
        span_ns, now = max(self.clock() - self._began_ns, 0), read_counts(whole_disks(self.sysfs))
        near = {known.name: known for known in (*self._near, *neighbours(self.identity, sysfs=self.sysfs))}
        grown = {name: self._grown(name, now) for name in near}
        return NeighboursRecord(
            span_ns=span_ns,
            watched_count=sum(counts is not None for counts in grown.values()),
            moved=tuple(_records(near, grown)),
            uncounted=tuple(sorted(name for name, counts in grown.items() if counts is None)),
        )

    def _grown(self, name: str, now: Mapping[str, Counts]) -> Counts | None:
        after, before = now.get(name), self._before.get(name)
        if after is None or (before is None and name in self._present):
            return None
        # A device that was taken out and put back counts from zero.
        if before is None or any(new < old for new, old in zip(after, before, strict=True)):
            return after
        return Counts(*(new - old for new, old in zip(after, before, strict=True)))


def _records(near: Mapping[str, Neighbour], grown: Mapping[str, Counts | None]) -> Iterator[NeighbourRecord]:
    for name, counts in sorted(grown.items()):
        if counts and any(counts):
            yield NeighbourRecord(**near[name]._asdict(), **counts._asdict())
