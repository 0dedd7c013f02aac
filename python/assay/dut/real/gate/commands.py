"""The character device of a held drive, which takes NVMe commands past the block layer."""

from __future__ import annotations

import fcntl
import os
import stat
from contextlib import contextmanager
from typing import TYPE_CHECKING

from assay.dut.real.gate.claim import open_error
from assay.dut.real.sysfs import number_label
from assay.dut.real.transport import check_passthrough_transfer, passthrough_node
from assay.errors import IdentityError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.dut.real.gate.entry import OpenDrive

# _IO('N', 0x40): the number of an NVMe namespace at its controller.
_NVME_IOCTL_ID = 0x4E40


@contextmanager
def open_passthrough(drive: OpenDrive, *, transfer_bytes_max: int) -> Iterator[int]:
    """Open the character device that takes NVMe commands for a held drive; the descriptor lives as long as the block.

    drive : held by ``open_drive``, and for longer than this. transfer_bytes_max : the largest transfer of the run.
    Yields the descriptor of the same namespace of the same controller.
    Raises NotADriveError (no NVMe drive, or no such device), ValueRangeError (the transfer is too large for a command),
    IdentityError (another namespace answers), ReadOnlyError and DriveBusyError (it cannot be opened).
    """
    identity = drive.identity
    if drive.fd < 0:
        raise IdentityError(identity.path, "is not held any more", "open the drive first")
    drive.verify()
    path, number = passthrough_node(identity)
    check_passthrough_transfer(identity, transfer_bytes_max)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError as error:
        raise open_error(identity, error) from None
    try:
        status = os.fstat(descriptor)
        numbers = number_label(status.st_rdev) if stat.S_ISCHR(status.st_mode) else None
        if numbers != number or not _same_namespace(descriptor, drive.fd):
            raise IdentityError(identity.path, f"{path} is not its character device", "name the drive again")
        yield descriptor
    finally:
        os.close(descriptor)


def _same_namespace(one: int, other: int) -> bool:
    try:
        return fcntl.ioctl(one, _NVME_IOCTL_ID) == fcntl.ioctl(other, _NVME_IOCTL_ID)
    except OSError:
        return False
