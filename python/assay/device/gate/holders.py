"""Who uses a disk, or anything built upon it: one function per way, each giving one line per user."""

from __future__ import annotations

import os
import re
import stat
from typing import TYPE_CHECKING

from assay.device.gate import mounts
from assay.device.gate.mounts import swap_paths
from assay.device.identity import loop_backing
from assay.device.sysfs import SYSFS, Disk, whole_disks

if TYPE_CHECKING:
    from pathlib import Path

BTRFS = SYSFS / "fs/btrfs"


def mounted(disk: Disk) -> list[str]:
    """Where the disk or a partition of it is mounted, in any namespace."""
    numbers, nodes = _numbers(disk), _nodes(disk)
    return [
        f"mounted on {mount.point}" + ("" if mount.own else " in another mount namespace")
        for mount in mounts.mounts()
        if mount.number in numbers or (mount.source.startswith("/dev/") and os.path.realpath(mount.source) in nodes)
    ]


def swapped(disk: Disk) -> list[str]:
    """Which part of it is swapped to."""
    return [f"swap on {path}" for path in swap_paths() if os.path.realpath(path) in _nodes(disk)]


def btrfs_members(disk: Disk) -> list[str]:
    """The mounted btrfs that it belongs to; only the first of its devices stands in the table of mounts."""
    members = [path for path in BTRFS.glob("*/devices/*") if path.name in _names(disk)]
    return [f"member {path.name} of the btrfs {path.parents[1].name}" for path in members]


def md_arrays(disk: Disk) -> list[str]:
    """The MD arrays that it belongs to, inactive ones included. Source: Linux ``md(4)``, ``/proc/mdstat``."""
    try:
        lines = (mounts.PROC / "mdstat").read_text("utf-8", "replace").splitlines()
    except OSError:
        return []
    arrays = [match for line in lines if (match := re.match(r"(\S+) : (.*)", line))]
    return [f"member of {name}" for name, rest in (match.groups() for match in arrays) if _members(rest) & _names(disk)]


def held(disk: Disk) -> list[str]:
    """Devices built upon it: device mapper (LVM, encryption, multipath), MD, bcache."""
    return [f"held by {holder}" for member in _family(disk) for holder in member.holders()]


def stacked_loops(disk: Disk) -> list[str]:
    """Loop devices upon the disk, or upon the file beneath it; an exclusive claim does not see them."""
    own = loop_backing(disk)
    others = [(other.name, backing) for other in whole_disks() if (backing := loop_backing(other))]
    others = [(name, backing) for name, backing in others if name != disk.name]
    stacked = [f"backs {name}" for name, backing in others if _is_of(backing, disk)]
    shared = [name for name, backing in others if own and same_file(own, backing)]
    return stacked + [f"shares its file with {name}" for name in shared]


def same_file(one: Path, other: Path) -> bool:
    """Whether two paths lead to one file; no where either cannot be reached."""
    try:
        return one.samefile(other)
    except OSError:
        return False


def _family(disk: Disk) -> list[Disk]:
    return [disk, *disk.partitions()]


def _names(disk: Disk) -> set[str]:
    return {member.name for member in _family(disk)}


def _nodes(disk: Disk) -> set[str]:
    return {"/dev/" + member.name.replace("!", "/") for member in _family(disk)}


def _numbers(disk: Disk) -> set[str | None]:
    return {member.number_text for member in _family(disk)}


def _members(text: str) -> set[str]:
    return set(re.findall(r"(\S+?)\[\d+\]", text))


def _is_of(backing: Path, disk: Disk) -> bool:
    """Whether a loop device's backing is the disk or a partition of it, by whatever node."""
    try:
        status = backing.stat()
    except OSError:
        return str(backing) in _nodes(disk)
    number = f"{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}"
    return stat.S_ISBLK(status.st_mode) and number in _numbers(disk)
