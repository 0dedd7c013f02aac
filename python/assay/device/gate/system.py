"""What of the running system lies on a disk, however many layers above. No option overrides it."""

from __future__ import annotations

import os
import re
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from assay.device.gate import holders
from assay.device.gate.mounts import mount_of, swap_paths
from assay.device.identity import loop_backing
from assay.device.sysfs import Disk, disk_of

if TYPE_CHECKING:
    from collections.abc import Iterable

_TOOL = Path(__file__).parents[2]
PATHS = ("/", "/boot", "/boot/efi", "/efi", sys.executable, sys.prefix, sys.base_prefix, str(_TOOL))


def running_system(disk: Disk) -> list[str]:
    """The paths of the running system that need the disk, or a disk beneath it.

    Those are root, boot, ESP, swap, the interpreter with its packages and the tool itself. A loop device over a file is
    a disk of its own: what lies beside its file is not touched.
    """
    own = _below(disk)
    return [f"backs the running system ({path})" for path in _system_paths() if own & _beneath(Path(path))]


def run_folder(disk: Disk, kept: Iterable[Path]) -> list[str]:
    """The paths of the user that need the disk, such as the run folder.

    kept : what does not exist yet stands for the folder that it will be made in.
    """
    own = _below(disk)
    return [f"backs the run folder ({path})" for path in kept if own & _beneath(_existing(path))]


def is_of_system(path: Path) -> bool:
    """Whether a regular file belongs to the interpreter, its packages or the tool."""
    real = Path(os.path.realpath(path))
    return any(real.is_relative_to(os.path.realpath(place)) for place in (sys.executable, sys.prefix, _TOOL))


def _system_paths() -> tuple[str, ...]:
    return (*PATHS, *swap_paths())


def _existing(path: Path) -> Path:
    real = Path(os.path.realpath(path))
    return next(place for place in (real, *real.parents) if place.exists())


def _below(member: Disk) -> set[str]:
    """The device, the disk that it is a partition of, and what it is built on."""
    lower = [disk for number in _lower_numbers(member) if (disk := disk_of(number))]
    return {member.name}.union(*map(_below, lower))


def _lower_numbers(member: Disk) -> list[int]:
    folders = [path.resolve() for path in (member.folder / "slaves").glob("*")]
    if member.number("partition") is not None:
        folders.append(member.folder.parent)
    texts = [Disk(folder.name, folder).number_text or "0:0" for folder in folders]
    return [os.makedev(*map(int, text.split(":"))) for text in texts]


def _beneath(path: Path) -> set[str]:
    """Names of all devices under a path: partition to disk, mapped device to slaves, loop to its file's disk."""
    names: set[str] = set()
    for member in _devices(path):
        names |= _below(member)
    backings = [backing for name in names if (backing := _backing(name))]
    return names.union(*map(_beneath, backings))


def _backing(name: str) -> Path | None:
    return loop_backing(Disk(name, Path("/sys/block", name)))


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
