"""The two ways that need no command of the drive's own: discard, and writing all of it once.

Neither is the sanitize or format command that the specification means, so both are deviations.
"""

from __future__ import annotations

import fcntl
import os
import struct
from typing import TYPE_CHECKING

from assay.dut.real.purge.offer import Offer, PurgeWatch, Shown, watch_command
from assay.dut.real.sysfs import disk_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.dut.real.gate import OpenDrive

_BLKDISCARD = 0x1277
DISCARD_DEVIATION = "purge by discard, not by a sanitize or format command"
_OVERWRITE_DEVIATION = "no purge available: the drive was overwritten once"
_OVERWRITE_CHOSEN = "purge by overwriting the drive once, not by a sanitize or format command"


def supports_discard(drive: OpenDrive) -> bool:
    """Whether the drive reports that it takes discards."""
    if drive.identity.kind != "block":
        return False
    disk = disk_of(os.fstat(drive.fd).st_rdev)
    return bool(disk and disk.number("queue/discard_max_bytes"))


def discard_offer(drive: OpenDrive) -> Offer:
    """Discard the whole range in one command."""
    argument = struct.pack("QQ", 0, drive.identity.capacity_bytes)

    def run(watch: PurgeWatch) -> str:
        watch_command(lambda: fcntl.ioctl(drive.fd, _BLKDISCARD, argument), watch)
        return ""

    return Offer(method="discard", label="discard", run=run, deviation=DISCARD_DEVIATION)


def overwrite_offer(overwrite: Callable[[Shown], int], *, chosen: bool) -> Offer:
    """Write the whole drive once. chosen : by the user, and not for want of anything better."""

    def run(watch: PurgeWatch) -> str:
        overwrite(watch.show)
        return "the flash is not as new"

    deviation = _OVERWRITE_CHOSEN if chosen else _OVERWRITE_DEVIATION
    return Offer(method="overwrite", label="overwrite", run=run, deviation=deviation)
