"""Giving part of a real drive back, through the held descriptor."""

from __future__ import annotations

import fcntl
import struct
from typing import TYPE_CHECKING

from assay.errors import DeviceFailureError

if TYPE_CHECKING:
    from assay.dut.real.gate import OpenDrive

_BLKDISCARD = 0x1277


def trim_range(drive: OpenDrive, from_bytes: int, to_bytes: int) -> None:
    """Tell a block device that what lies between two places, multiples of its logical block, is no longer needed.

    Raises IdentityError (the drive was replaced), DeviceFailureError where the drive refuses.
    Source: Linux ``BLKDISCARD``.
    """
    drive.verify()
    try:
        fcntl.ioctl(drive.fd, _BLKDISCARD, struct.pack("QQ", from_bytes, to_bytes - from_bytes))
    except OSError as error:
        reason = f"discard of {to_bytes - from_bytes} bytes failed ({error.strerror})"
        raise DeviceFailureError(drive.identity.path, reason, "leave out the trim study") from error
