"""Purge by SCSI SANITIZE and FORMAT UNIT.

Source: SBC-4, SANITIZE (48h) and FORMAT UNIT (04h); progress by REQUEST SENSE.
"""

from __future__ import annotations

import struct
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from assay.dut.real.purge.nvme import OVERWRITE_DEVIATION
from assay.dut.real.purge.offer import CHECK_REMEDY, Offer, PurgeWatch, is_rehearsed, limit_seconds, watch_background
from assay.dut.real.scsi import geometry, parse_sense, request_sense, supports
from assay.dut.real.transport import ScsiCommand
from assay.errors import AssayError, DeviceFailureError, DriveBusyError

if TYPE_CHECKING:
    from assay.dut.real.scsi import Sense
    from assay.dut.real.transport import Transport
    from assay.engine.records import PurgeMethod

_SANITIZE, _FORMAT_UNIT = 0x48, 0x04
_OVERWRITE, _BLOCK_ERASE, _KEY_ERASE = 1, 2, 3
_IMMEDIATE = 0x80
_FORMAT_DATA = 0x10
_FORMAT_IMMEDIATE = 0x02
# Protection type -> field of FORMAT UNIT that keeps it, and protection field usage.
_PROTECTION = {0: (0, 0), 1: (2, 0), 2: (3, 0), 3: (3, 1)}
_NO_SENSE, _NOT_READY, _UNIT_ATTENTION = 0, 2, 6
_FORMATTING, _SANITIZING, _SANITIZE_FAILED, _FORMAT_FAILED = 0x0404, 0x041B, 0x3103, 0x3101
_WAY_OUT = (
    "if it stands, switch the drive off and on; if it has failed, repeat it (sg_sanitize, sg_format) or leave the "
    "failure mode (sg_sanitize --fail); else use the vendor's tool"
)
_METHODS: dict[int, tuple[PurgeMethod, str]] = {
    _BLOCK_ERASE: ("sanitize-block", "block erase"),
    _KEY_ERASE: ("sanitize-crypto", "cryptographic erase"),
    _OVERWRITE: ("sanitize-overwrite", "overwrite"),
}


def scsi_offers(path: str, transport: Transport) -> list[Offer]:
    """What a SCSI drive offers, strongest first."""
    actions = [action for action in _METHODS if supports(transport, _SANITIZE, action)]
    offers = [_sanitize_offer(path, transport, action) for action in actions]
    if supports(transport, _FORMAT_UNIT):
        run = partial(_format, path, transport)
        offers.append(
            Offer(method="format", label="SCSI FORMAT UNIT", run=run, rehearsed=is_rehearsed("scsi", "format"))
        )
    obstacle = _obstacle(path, request_sense(transport)) if offers else None
    return [replace(offer, obstacle=obstacle) for offer in offers]


def _obstacle(path: str, sense: Sense) -> AssayError | None:
    """Why a drive takes no purge now: it is at one, or one has failed."""
    if sense.code in (_FORMATTING, _SANITIZING):
        known = "" if sense.done is None else f" ({sense.done:.1%} done)"
        return DriveBusyError(path, f"it is formatting or sanitizing itself already{known}", f"wait; {_WAY_OUT}")
    if sense.code in (_SANITIZE_FAILED, _FORMAT_FAILED):
        return DriveBusyError(
            path, "its last sanitize or format failed, and until another succeeds it does no I/O", _WAY_OUT
        )
    return None


def _sanitize_offer(path: str, transport: Transport, action: int) -> Offer:
    method, what = _METHODS[action]
    return Offer(
        method=method,
        label=f"SCSI SANITIZE ({what})",
        run=partial(_sanitize, path, transport, action),
        deviation=OVERWRITE_DEVIATION if action == _OVERWRITE else None,
        rehearsed=is_rehearsed("scsi", method),
    )


def _sanitize(path: str, transport: Transport, action: int, watch: PurgeWatch) -> str:
    form = b""
    if action == _OVERWRITE:
        result = geometry(transport)
        block_bytes = result.block_bytes if result else 512
        form = struct.pack(">BBH", 1, 0, block_bytes) + bytes(block_bytes)
    cdb = struct.pack(">BB5xHB", _SANITIZE, _IMMEDIATE | action, len(form), 0)
    _begin(path, transport, ScsiCommand(cdb=cdb, data=form), "sanitize")
    _follow(path, transport, watch, _SANITIZING, "sanitize")
    return "REQUEST SENSE followed the sanitize to its end without an error"


def _format(path: str, transport: Transport, watch: PurgeWatch) -> str:
    before = geometry(transport)
    if before is None:
        raise DeviceFailureError(path, "the drive does not tell its capacity", CHECK_REMEDY)
    kept, usage = _PROTECTION.get(before.protection_type, (0, 0))
    cdb = bytes([_FORMAT_UNIT, kept << 6 | _FORMAT_DATA, 0, 0, 0, 0])
    form = bytes([usage, _FORMAT_IMMEDIATE, 0, 0])
    _begin(path, transport, ScsiCommand(cdb=cdb, data=form), "format")
    _follow(path, transport, watch, _FORMATTING, "format")
    if geometry(transport) != before:
        raise DeviceFailureError(path, "the drive came out of the format with another geometry", CHECK_REMEDY)
    return f"REQUEST SENSE followed the format to its end; {before.block_count} blocks of {before.block_bytes} bytes"


def _begin(path: str, transport: Transport, command: ScsiCommand, name: str) -> None:
    reply = transport.scsi(command)
    if reply.status or reply.transport_status:
        sense = parse_sense(reply.sense)
        if obstacle := _obstacle(path, sense):
            raise obstacle
        reason = f"the drive refused the {name} (sense key {sense.key:x}h, code {sense.code:04x}h)"
        raise DeviceFailureError(path, reason, CHECK_REMEDY)


def _follow(path: str, transport: Transport, watch: PurgeWatch, code: int, name: str) -> None:
    """Wait for the drive to be ready again. Raises DeviceFailureError where it ends with an error."""
    last = 0.0

    def look() -> float | None:
        nonlocal last
        sense = request_sense(transport)
        # A unit attention only says that something has changed; what the drive does comes with the next one.
        if sense.code == code or sense.key == _UNIT_ATTENTION:
            last = last if sense.done is None else sense.done
            return last
        if sense.key != _NO_SENSE:
            reason = f"the {name} failed (sense key {sense.key:x}h, code {sense.code:04x}h)"
            raise DeviceFailureError(path, reason, _WAY_OUT)
        return None

    watch_background(path, look, watch, limit_seconds(None), _WAY_OUT)
