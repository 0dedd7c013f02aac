"""Who uses a disk, or anything built upon it: one function per way, each giving one line per user.

What the target itself stands on uses its own parts by right; such users are left out.
"""

from __future__ import annotations

import os
import re
import stat
from typing import TYPE_CHECKING

from assay.dut.real.gate import mounts
from assay.dut.real.gate.mounts import swap_paths
from assay.dut.real.sysfs import SYSFS, number_label

if TYPE_CHECKING:
    from assay.dut.real.gate.levels import DiskLevel
    from assay.dut.real.gate.mounts import Mount
    from assay.dut.real.loop import Backing
    from assay.dut.real.sysfs import Disk

BTRFS = SYSFS / "fs/btrfs"


def mounted(level: DiskLevel) -> list[str]:
    """Where the disk or a partition of it is mounted, in any namespace."""
    numbers, nodes, table = _numbers(level.disk), _nodes(level.disk), level.view.mounts

    def is_of(mount: Mount) -> bool:
        if mount.number in numbers or (mount.source.startswith("/dev/") and os.path.realpath(mount.source) in nodes):
            return True
        status = mounts.source_status(mount, table) if mount.is_anonymous else None
        return bool(status and stat.S_ISBLK(status.st_mode) and number_label(status.st_rdev) in numbers)

    return [mount.told for mount in table if is_of(mount)]


def swapped(level: DiskLevel) -> list[str]:
    """Which part of it is swapped to."""
    nodes = _nodes(level.disk)
    return [f"swap on {path}" for path in swap_paths() if os.path.realpath(path) in nodes]


def btrfs_members(level: DiskLevel) -> list[str]:
    """The mounted btrfs that it belongs to; only the first of its devices stands in the table of mounts."""
    names = _names(level.disk)
    members = [path for path in BTRFS.glob("*/devices/*") if path.name in names]
    return [f"member {path.name} of the btrfs {path.parents[1].name}" for path in members]


def md_arrays(level: DiskLevel) -> list[str]:
    """The MD arrays that it belongs to, inactive ones included. Source: Linux ``md(4)``, ``/proc/mdstat``."""
    try:
        lines = (mounts.PROC / "mdstat").read_text("utf-8", "replace").splitlines()
    except OSError:
        return []
    arrays = [match.groups() for line in lines if (match := re.match(r"(\S+) : (.*)", line))]
    names = _names(level.disk)
    return [f"member of {name}" for name, rest in arrays if name not in level.own and _members(rest) & names]


def held(level: DiskLevel) -> list[str]:
    """Devices built upon it: device mapper (LVM, encryption, multipath), MD, bcache."""
    result = (holder for member in level.disk.family() for holder in member.holders())
    return [f"held by {holder}" for holder in result if holder not in level.own]


def stacked_loops(level: DiskLevel) -> list[str]:
    """Loop devices upon the disk; an exclusive claim does not see them."""
    return [
        f"backs {name}" for name, backing in level.view.loops if name not in level.own and _is_of(backing, level.disk)
    ]


def _names(disk: Disk) -> set[str]:
    return {member.name for member in disk.family()}


def _nodes(disk: Disk) -> set[str]:
    return {member.node for member in disk.family()}


def _numbers(disk: Disk) -> set[str | None]:
    return {member.number_text for member in disk.family()}


def _members(text: str) -> set[str]:
    return set(re.findall(r"(\S+?)\[\d+\]", text))


def _is_of(backing: Backing, disk: Disk) -> bool:
    """Whether a loop device's backing is the disk or a partition of it, by whatever node."""
    if not backing.inode:
        return str(backing.path) in _nodes(disk)
    return backing.block != 0 and number_label(backing.block) in _numbers(disk)
