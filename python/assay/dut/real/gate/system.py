"""What of the running system lies on a disk, however many layers above. No option overrides it."""

from __future__ import annotations

import os
import re
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from assay.dut.real.gate import holders
from assay.dut.real.gate.mounts import mount_of, swap_paths
from assay.dut.real.loop import Backing, loop_status
from assay.dut.real.sysfs import SYSFS, Disk, disk_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.dut.real.gate.levels import DiskLevel

_TOOL = Path(__file__).parents[2]
PATHS = ("/", "/boot", "/boot/efi", "/efi", sys.executable, sys.prefix, sys.base_prefix, str(_TOOL))


def running_system(level: DiskLevel) -> list[str]:
    """The paths of the running system that need the disk.

    Those are root, boot, ESP, swap, the interpreter with its packages and the tool itself. A loop device over a file is
    a disk of its own: what lies beside its file is not touched.
    """
    return [f"backs the running system ({path})" for path in _system_paths() if level.disk.name in _beneath(Path(path))]


def run_folder(level: DiskLevel) -> list[str]:
    """The paths of the user that need the disk, such as the run folder.

    What does not exist yet stands for the folder that it will be made in.
    """
    return [f"backs the run folder ({path})" for path in level.kept if level.disk.name in _beneath(_existing(path))]


def _system_paths() -> tuple[str, ...]:
    return (*PATHS, *swap_paths())


def _existing(path: Path) -> Path:
    real = Path(os.path.realpath(path))
    return next(parent for parent in (real, *real.parents) if parent.exists())


def _below(member: Disk) -> set[str]:
    """The device, the disk that it is a partition of, and what it is built on."""
    whole = member.whole()
    lower = [*member.slaves(), *([] if whole == member else [whole])]
    return {member.name}.union(*map(_below, lower))


def _beneath(path: Path) -> set[str]:
    """Names of all devices under a path: partition to disk, mapped device to slaves, loop to its file's disk."""
    return _under(_devices(path))


def _under(members: Iterable[Disk]) -> set[str]:
    names: set[str] = set().union(*map(_below, members))
    backings = [backing for name in names if (backing := loop_status(Disk(name, SYSFS / "block" / name)))]
    return names.union(*(_under(_devices_of_backing(backing)) for backing in backings))


def _devices_of_backing(backing: Backing) -> list[Disk]:
    """What a loop device lies on: by number, since its path may lead elsewhere by now."""
    number = backing.block or backing.device
    member = disk_of(number) if os.major(number) else None
    return [member] if member else _devices(backing.path)


def _devices(path: Path, passed: frozenset[str] = frozenset()) -> list[Disk]:
    """The block devices that a path, or its file system, lies on directly. passed : mount points on the way here."""
    try:
        status = path.stat()
    except OSError:
        # Not there, or hidden from us: then it cannot be opened for writing either.
        return []
    number = status.st_rdev if stat.S_ISBLK(status.st_mode) else status.st_dev
    if os.major(number):
        member = disk_of(number)
        return [member] if member else []
    return _devices_of_mount(path, passed)


def _devices_of_mount(path: Path, passed: frozenset[str]) -> list[Disk]:
    """Of a file system without a device number of its own: btrfs by its members, an overlay by its layers."""
    mount = mount_of(path)
    if mount is None or mount.point in passed:
        return []
    layers = [layer for text in re.findall(r"(?:lower|upper)dir=([^,]*)", mount.options) for layer in text.split(":")]
    source = [mount.source] if mount.source.startswith("/dev/") else []
    names = {os.path.realpath(place).removeprefix("/dev/") for place in source}
    pools = [folder for folder in holders.BTRFS.glob("*/devices") if names & {node.name for node in folder.iterdir()}]
    nodes = [Path("/dev", node.name) for folder in pools for node in folder.iterdir()]
    places = [*map(Path, (*source, *layers)), *nodes]
    return [disk for place in places for disk in _devices(place, passed | {mount.point})]
