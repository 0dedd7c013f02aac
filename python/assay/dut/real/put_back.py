"""Puts back at once what a run that was killed has left changed on a drive; else the next run on it does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.dut.real.gate import open_drive
from assay.dut.real.notes import NOTES
from assay.dut.real.queue import put_queue_back
from assay.dut.real.sysfs import SYSFS
from assay.dut.real.transport import HeldDrive, command_set
from assay.dut.real.write_cache import WriteCache, is_cache_noted, put_cache_back

if TYPE_CHECKING:
    from pathlib import Path

    from assay.engine.records import DriveIdentity


def put_back(identity: DriveIdentity, *, sysfs: Path = SYSFS, notes: Path = NOTES) -> list[str]:
    """Put back the settings of the request queue and the write cache, as far as notes tell of them.

    The drive is opened, for reading only, where its write cache is to be told. Returns what was put back, a line each.
    Raises GateRefusedError and its kinds where somebody uses the drive then, SystemRefusedError where a setting cannot
    be written, DeviceFailureError where the drive does not take it.
    """
    if identity.kind != "block":
        return []
    lines = put_queue_back(identity, sysfs=sysfs, notes=notes)
    if not is_cache_noted(identity, notes=notes):
        return lines
    with open_drive(
        identity, confirmation=None, acknowledged_signatures=frozenset(), needed_bytes=0, read_only=True
    ) as held:
        cache = WriteCache(held.identity, HeldDrive(held.fd), command_set(held.identity), sysfs=sysfs)
        return [*lines, *put_cache_back(held.identity, cache, notes=notes)]
