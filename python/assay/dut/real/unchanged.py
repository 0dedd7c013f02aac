"""Whether a drive is still the one, and of the size, that a run began with; looked at around every sequence."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from assay.dut.real.sysfs import disk_at
from assay.errors import AssayError, DriveChangedError, DriveNotFoundError

if TYPE_CHECKING:
    from assay.dut.real.gate import OpenDrive
    from assay.engine.records import DriveIdentity

_SECTOR_BYTES = 512
_REMEDY = "find out who changed it; what was measured before is kept"


def check_unchanged(held: OpenDrive) -> None:
    """Look at the held drive: a few reads of sysfs and of its descriptor, no word to its flash.

    Raises DriveChangedError where it was resized, with both sizes, replaced, or changed otherwise.
    Worked: a loop device that grew -> ``"its size changed from 268,435,456 to 536,870,912 bytes"``.
    """
    try:
        held.verify()
    except AssayError as change:
        before, after = held.identity.capacity_bytes, _size_bytes(held.identity, held.fd)
        resized = after is not None and after != before
        reason = f"its size changed from {before:,} to {after:,} bytes" if resized else change.reason
        raise DriveChangedError(held.identity.path, f"{reason} while it was tested", _REMEDY) from change


def check_present(identity: DriveIdentity, present_bytes: int | None) -> None:
    """Look at a simulated drive with faults in the same way.

    present_bytes : what is left of it, None where it is gone.
    Raises DriveChangedError where that is not all of it.
    Worked: half of 32 GB is left -> ``"its size changed from 32,000,000,000 to 16,000,000,000 bytes while it was
    tested"``.
    """
    before = identity.capacity_bytes
    if present_bytes == before:
        return
    reason = "it is gone" if present_bytes is None else f"its size changed from {before:,} to {present_bytes:,} bytes"
    change = DriveNotFoundError(identity.path, f"{reason} while it was tested", _REMEDY)
    raise DriveChangedError(identity.path, change.reason, _REMEDY) from change


def _size_bytes(identity: DriveIdentity, descriptor: int) -> int | None:
    if identity.kind == "file":
        return os.fstat(descriptor).st_size // identity.logical_block_bytes * identity.logical_block_bytes
    disk = disk_at(identity.path)
    sectors = disk.number("size") if disk else None
    return None if sectors is None else sectors * _SECTOR_BYTES
