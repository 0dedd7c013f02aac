"""What a loop device lies on: by its path in words, by device and inode for comparisons.

The path is the one under which the backing was opened. It may have been deleted, covered by a mount, or belong to
another mount namespace since; device and inode tell a file from every other one, whatever leads to it.
"""

from __future__ import annotations

import fcntl
import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.dut.real.sysfs import SYSFS, Disk, number_label

if TYPE_CHECKING:
    from collections.abc import Callable

# Linux ``LOOP_GET_STATUS64``: ``struct loop_info64`` begins with lo_device, lo_inode, lo_rdevice, lo_offset,
# lo_sizelimit, lo_number, two fields of encryption, and lo_flags.
_STATUS, _STATUS_BYTES = 0x4C05, 232
_DELETED = " (deleted)"


@dataclass(frozen=True, slots=True)
class Backing:
    """What a loop device lies on.

    path : as the kernel names it. device, inode : of the file or node, as ``stat`` gives them; inode 0 where they
    cannot be told. block : device number of a block device, 0 for a file. is_part : only a part of it is used.
    extent : offset and size limit in bytes, and flags, as the driver has them; None where it was not asked.
    """

    path: Path
    device: int
    inode: int
    block: int
    is_part: bool = False
    extent: tuple[int, int, int] | None = None


def loop_backing(disk: Disk) -> Path | None:
    """The backing file of a loop device as the kernel names it; None for other disks and where none is set up."""
    try:
        raw = (disk.folder / "loop/backing_file").read_bytes()
    except OSError:
        return None
    return Path(os.fsdecode(raw.removesuffix(b"\n"))) if raw.strip() else None


def loop_status(disk: Disk) -> Backing | None:
    """What a loop device lies on; None for other disks and where none is set up.

    Without the right to open the loop device, device and inode are those of what its path leads to now.
    """
    return _status(disk, _found)


def loops() -> list[tuple[str, Backing]]:
    """Every loop device that is set up, by name, and what it lies on; inode 0 where it could not be asked.

    No path is looked at: one may lead to a file system that hangs.
    """
    disks = [Disk(path.name, path) for path in sorted((SYSFS / "block").glob("loop*"))]
    return [(disk.name, backing) for disk in disks if (backing := _status(disk, lambda _: None))]


def _status(disk: Disk, by_path: Callable[[Path], tuple[int, int, int] | None]) -> Backing | None:
    path = loop_backing(disk)
    if path is None:
        return None
    asked, extent = _asked(disk) or (by_path(path) or (0, 0, 0), None)
    is_part = any(disk.number(f"loop/{limit}") for limit in ("offset", "sizelimit"))
    return Backing(Path(str(path).removesuffix(_DELETED)), *asked, is_part, extent)


def _asked(disk: Disk) -> tuple[tuple[int, int, int], tuple[int, int, int]] | None:
    """What the driver says: device, inode and number of the backing; offset, size limit and flags."""
    try:
        descriptor = os.open(disk.node, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        number = os.fstat(descriptor).st_rdev
        if number_label(number) != disk.number_text:
            return None
        status = fcntl.ioctl(descriptor, _STATUS, bytes(_STATUS_BYTES))
    except OSError:
        return None
    finally:
        os.close(descriptor)
    device, inode, block, offset, size_limit, _number, _cipher, _key, flags = struct.unpack_from("5Q4I", status)
    return (device, inode, block), (offset, size_limit, flags)


def _found(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_rdev
