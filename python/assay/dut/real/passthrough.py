"""NVMe commands past the block layer: the character device that takes them, and how large they may be."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from assay.dut.real.identity import sysfs_directory
from assay.dut.real.sysfs import SYSFS, read_text
from assay.errors import NotADriveError, ValueRangeError
from assay.spec.units import KIB

if TYPE_CHECKING:
    from pathlib import Path

    from assay.engine.records import DriveIdentity

_REMEDY = "choose another I/O path"
# The count of blocks of a command has 16 bits.
_BLOCK_COUNT_MAX = 1 << 16
_PAGE_KIB = 4


def passthrough_node(identity: DriveIdentity, *, sysfs: Path = SYSFS) -> tuple[str, str]:
    """The namespace's generic character device: its path and its ``major:minor``.

    It lies beside the block device in sysfs, at the same controller or subsystem.
    Raises NotADriveError where the drive has none: it is no NVMe drive, or the kernel is older than 5.13.
    Worked: ``/dev/nvme0n1`` -> ``("/dev/ng0n1", "245:0")``.
    """
    match = re.fullmatch(r"/dev/nvme(\d+n\d+)", identity.path)
    if identity.kind != "block" or match is None:
        raise NotADriveError(identity.path, "takes no NVMe commands: it is no NVMe namespace", _REMEDY)
    name = f"ng{match[1]}"
    number = read_text(sysfs_directory(identity, sysfs=sysfs).resolve().parent / name / "dev")
    if number is None:
        raise NotADriveError(identity.path, f"has no character device {name}: Linux 5.13 has them", _REMEDY)
    return f"/dev/{name}", number


def check_passthrough_transfer(identity: DriveIdentity, transfer_bytes: int, *, sysfs: Path = SYSFS) -> None:
    """Check that a transfer fits into one command: nothing splits it on this path.

    transfer_bytes : the largest of the run. The limits are the drive's own (MDTS), which the kernel keeps in
    ``queue/max_hw_sectors_kb``, the 65,536 blocks of a command, and, without huge pages, a page per segment.
    Raises ValueRangeError. Worked: 1 MiB at ``max_hw_sectors_kb`` 512 is refused, 512 KiB is not.
    """
    limits = {"65,536 blocks of a command": _BLOCK_COUNT_MAX * identity.logical_block_bytes // KIB}
    queue = sysfs_directory(identity, sysfs=sysfs) / "queue"
    drive_kib, segments = (read_text(queue / name) or "" for name in ("max_hw_sectors_kb", "max_segments"))
    if drive_kib.isdecimal():
        limits["max_hw_sectors_kb"] = int(drive_kib)
    huge = read_text(sysfs / "kernel/mm/transparent_hugepage/enabled")
    if segments.isdecimal() and (huge is None or "[never]" in huge):
        limits["max_segments without huge pages"] = int(segments) * _PAGE_KIB
    name, limit_kib = min(limits.items(), key=lambda item: item[1])
    if transfer_bytes > limit_kib * KIB:
        reason = f"transfers of {transfer_bytes / KIB:g} KiB exceed the {limit_kib} KiB of a command ({name})"
        raise ValueRangeError(identity.path, reason, f"choose smaller transfers, or {_REMEDY.removeprefix('choose ')}")
