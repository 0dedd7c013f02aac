"""Purging a real drive through the held descriptor, and proving what was done.

Today: discard where the drive supports it, proved by markers; else one overwrite, honestly named. Neither is the
sanitize or format command that the specification means, so both are deviations.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import secrets
import struct
import time
from typing import TYPE_CHECKING

from assay.device.sysfs import disk_of
from assay.errors import DeviceFailureError
from assay.records import PurgeRecord

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.device.gate import OpenDrive

_BLKDISCARD = 0x1277
# A multiple of the logical block; the map that carries it is aligned to the page.
_MARKER_BYTES = 4096
_MARKER_COUNT = 64
_DISCARD_DEVIATION = "purge by discard, not by a sanitize or format command"
_OVERWRITE_DEVIATION = "no purge available: the drive was overwritten once"


def purge_drive(drive: OpenDrive, overwrite: Callable[[], int]) -> PurgeRecord:
    """Purge a drive as well as it can be, and say how well that is.

    overwrite : writes the whole drive once and returns the span in ns; used where discard is missing or unproved.
    Returns method, proof and deviation as the report prints them; ``span_ns`` is that of the purge without its proof.
    Raises IdentityError (the drive was replaced), DeviceFailureError (I/O error, or markers outlive the overwrite).
    """
    drive.verify()
    markers = {place: secrets.token_bytes(_MARKER_BYTES) for place in _places(drive.identity.capacity_bytes)}
    try:
        return _discarded(drive, markers) or _overwritten(drive, markers, overwrite)
    except OSError as error:
        reason = f"purge failed ({error.strerror or 'short transfer'})"
        raise DeviceFailureError(drive.identity.path, reason, "check the drive and its cabling") from error


def supports_discard(drive: OpenDrive) -> bool:
    """Whether the drive reports that it takes discards."""
    if drive.identity.kind != "block":
        return False
    disk = disk_of(os.fstat(drive.fd).st_rdev)
    return bool(disk and disk.number("queue/discard_max_bytes"))


def _discarded(drive: OpenDrive, markers: dict[int, bytes]) -> PurgeRecord | None:
    """Discard the whole range in one command; None where the drive cannot, or where a marker outlives it."""
    if not supports_discard(drive):
        return None
    _mark(drive.fd, markers)
    begun_ns = time.monotonic_ns()
    try:
        fcntl.ioctl(drive.fd, _BLKDISCARD, struct.pack("QQ", 0, drive.identity.capacity_bytes))
    except OSError:
        return None
    span_ns = time.monotonic_ns() - begun_ns
    surviving, zero = _survivors(drive.fd, markers)
    proof = f"{len(markers)} marked blocks were read after the discard: {zero} as zeros, none as written"
    record = PurgeRecord(method="discard", proof=proof, deviation=_DISCARD_DEVIATION, span_ns=span_ns)
    return None if surviving else record


def _overwritten(drive: OpenDrive, markers: dict[int, bytes], overwrite: Callable[[], int]) -> PurgeRecord:
    """Overwrite the drive once; the markers show that it reached all places."""
    _mark(drive.fd, markers)
    span_ns = overwrite()
    surviving, _ = _survivors(drive.fd, markers)
    if surviving:
        reason = f"{surviving} of {len(markers)} marked blocks outlived the overwrite"
        raise DeviceFailureError(drive.identity.path, reason, "check the drive: it does not keep what is written")
    proof = f"{len(markers)} marked blocks were read after the overwrite: none as marked; the flash is not as new"
    return PurgeRecord(method="overwrite", proof=proof, deviation=_OVERWRITE_DEVIATION, span_ns=span_ns)


def _places(capacity_bytes: int) -> list[int]:
    """The first and the very last block, and others at equal distances between them, none overlapping."""
    last = max(0, capacity_bytes - _MARKER_BYTES)
    grid = {last * index // (_MARKER_COUNT - 1) // _MARKER_BYTES * _MARKER_BYTES for index in range(_MARKER_COUNT - 1)}
    return [*sorted(place for place in grid if place + _MARKER_BYTES <= last), last]


def _mark(descriptor: int, markers: dict[int, bytes]) -> None:
    for place, marker in markers.items():
        with mmap.mmap(-1, _MARKER_BYTES) as page:
            page[:] = marker
            if os.pwritev(descriptor, [page], place) != _MARKER_BYTES:
                raise OSError
    # A marker still in the drive's write cache would prove nothing about its flash.
    os.fdatasync(descriptor)


def _survivors(descriptor: int, markers: dict[int, bytes]) -> tuple[int, int]:
    """How many blocks still carry their marker, and how many read as zeros."""
    found = [_read(descriptor, place) for place in markers]
    surviving = sum(content == marker for content, marker in zip(found, markers.values(), strict=True))
    return surviving, sum(not any(content) for content in found)


def _read(descriptor: int, place: int) -> bytes:
    with mmap.mmap(-1, _MARKER_BYTES) as page:
        if os.preadv(descriptor, [page], place) != _MARKER_BYTES:
            raise OSError
        return page[:]
