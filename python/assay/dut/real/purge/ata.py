"""Purge by ATA SECURITY ERASE UNIT and SANITIZE DEVICE.

Source: ACS-4, SECURITY feature set (F1h to F6h) and SANITIZE DEVICE (B4h).
"""

from __future__ import annotations

import struct
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from assay.dut.real.ata import command, device, registers
from assay.dut.real.purge.nvme import OVERWRITE_DEVIATION
from assay.dut.real.purge.offer import (
    CHECK_REMEDY,
    Offer,
    PurgeWatch,
    is_rehearsed,
    limit_seconds,
    watch_background,
    watch_command,
)
from assay.errors import AssayError, DeviceFailureError, DriveBusyError, GateRefusedError

if TYPE_CHECKING:
    from assay.dut.real.ata import Device, Registers, Security
    from assay.dut.real.transport import Transport
    from assay.engine.records import PurgeMethod

PASSWORD = "assay"  # noqa: S105 -- published, so that anybody can free the drive
"""The user password that stands while an erase runs; padded with zeros, as hdparm pads it."""

_SET_PASSWORD, _ERASE_PREPARE, _ERASE_UNIT, _DISABLE_PASSWORD = 0xF1, 0xF3, 0xF4, 0xF6
_ENHANCED = 1 << 1
_PASSWORD_BYTES = 32
_SECURITY_FORM = struct.Struct(f"<H{_PASSWORD_BYTES}s{512 - 2 - _PASSWORD_BYTES}x")

_SANITIZE_DEVICE = 0xB4
_STATUS, _CRYPTO_SCRAMBLE, _BLOCK_ERASE, _OVERWRITE = 0x00, 0x11, 0x12, 0x14
# Each operation must carry its key; that of the overwrite is followed by the pattern, here zero.
_KEYS = {_CRYPTO_SCRAMBLE: 0x43727970, _BLOCK_ERASE: 0x426B4572, _OVERWRITE: 0x4F57 << 32}
_SUCCEEDED, _UNDER_WAY, _FROZEN = 1 << 15, 1 << 14, 1 << 13
_ERROR = 1
_FAILED_BEFORE = 1
_WAY_OUT = (
    "if it stands, switch the drive off and on; if it has failed, repeat it (hdparm --sanitize-block-erase); else use "
    "the vendor's tool"
)


def ata_offers(path: str, transport: Transport) -> list[Offer]:
    """What an ATA drive offers, strongest first."""
    result = device(transport)
    if result is None:
        return []
    features = _features(result)
    busy = _sanitize_obstacle(path, transport) if features else None
    offers = [replace(_sanitize_offer(path, transport, feature), obstacle=busy) for feature in features]
    if result.security.supported:
        obstacle = _security_obstacle(path, result.security)
        kinds = (True, False) if result.security.enhanced else (False,)
        offers += [replace(_erase_offer(path, transport, enhanced=kind), obstacle=obstacle) for kind in kinds]
    return offers


def recovery_advice(path: str) -> str:
    """What frees a drive that a broken erase left locked. Worked: it names ``hdparm`` and the password."""
    lead = "hdparm --user-master u --security"
    return (
        f"{path}: the ATA password {PASSWORD!r} is set while the drive erases itself. If the erase is cut short, the "
        f"drive stays locked; free it with: {lead}-unlock {PASSWORD} {path} && {lead}-disable {PASSWORD} {path}"
    )


def _security_obstacle(path: str, security: Security) -> AssayError | None:
    """Rule G10: nothing is done to a drive that is frozen or that somebody else has locked."""
    if security.frozen:
        return GateRefusedError(path, "its security is frozen", "suspend and resume the host, or replug the drive")
    if security.locked or security.enabled:
        state = "is locked by a password" if security.locked else "has a password set"
        remedy = "remove it with hdparm --security-disable; of a broken erase by Assay it is " + repr(PASSWORD)
        return GateRefusedError(path, state, remedy)
    if security.expired:
        return GateRefusedError(path, "has used up its password attempts", "switch the drive off and on")
    return None


def _erase_offer(path: str, transport: Transport, *, enhanced: bool) -> Offer:
    method: PurgeMethod = "erase-enhanced" if enhanced else "erase"
    return Offer(
        method=method,
        label=f"ATA SECURITY ERASE UNIT ({'enhanced' if enhanced else 'normal'})",
        run=partial(_erase, path, transport, enhanced),
        rehearsed=is_rehearsed("ata", method),
    )


def _erase(path: str, transport: Transport, enhanced: bool, watch: PurgeWatch) -> str:
    """Set the password, erase, and see by IDENTIFY DEVICE that the drive has taken it away again."""
    security = _security(path, transport)
    if obstacle := _security_obstacle(path, security):
        raise obstacle
    watch.keep(recovery_advice(path))
    transport.scsi(command(_SET_PASSWORD, data=_security_form(0)))
    if not _security(path, transport).enabled:
        raise DeviceFailureError(path, "the drive took no password, so it was not erased", "choose another --purge")
    limit_s = limit_seconds(security.enhanced_s if enhanced else security.erase_s)
    erase = command(_ERASE_UNIT, data=_security_form(_ENHANCED if enhanced else 0), limit_s=limit_s)
    try:
        transport.scsi(command(_ERASE_PREPARE))
        watch_command(lambda: transport.scsi(erase), watch)
    finally:
        _free(path, transport)
    return "IDENTIFY DEVICE says that the erase took the password away"


def _free(path: str, transport: Transport) -> None:
    """Raise where the password outlived the erase, having tried to take it away."""
    if not _security(path, transport).enabled:
        return
    transport.scsi(command(_DISABLE_PASSWORD, data=_security_form(0)))
    if _security(path, transport).enabled:
        raise DeviceFailureError(path, "the drive was not erased and is locked", recovery_advice(path))
    raise DeviceFailureError(path, "the drive did not erase itself; its password was removed again", CHECK_REMEDY)


def _security(path: str, transport: Transport) -> Security:
    result = device(transport)
    if result is None:
        raise DeviceFailureError(path, "the drive does not identify itself", recovery_advice(path))
    return result.security


def _security_form(options: int) -> bytes:
    return _SECURITY_FORM.pack(options, PASSWORD.encode())


def _features(found: Device) -> list[int]:
    offered = {
        _BLOCK_ERASE: found.sanitizes_blocks,
        _CRYPTO_SCRAMBLE: found.sanitizes_by_key,
        _OVERWRITE: found.sanitizes_by_overwrite,
    }
    return [feature for feature, is_offered in offered.items() if is_offered]


def _sanitize_offer(path: str, transport: Transport, feature: int) -> Offer:
    methods: dict[int, tuple[PurgeMethod, str]] = {
        _BLOCK_ERASE: ("sanitize-block", "block erase"),
        _CRYPTO_SCRAMBLE: ("sanitize-crypto", "crypto scramble"),
        _OVERWRITE: ("sanitize-overwrite", "overwrite"),
    }
    method, what = methods[feature]
    return Offer(
        method=method,
        label=f"ATA SANITIZE DEVICE ({what})",
        run=partial(_sanitize, path, transport, feature),
        deviation=OVERWRITE_DEVIATION if feature == _OVERWRITE else None,
        rehearsed=is_rehearsed("ata", method),
    )


def _sanitize(path: str, transport: Transport, feature: int, watch: PurgeWatch) -> str:
    """Sanitize the drive; its status, asked until the end, says whether it succeeded."""
    if obstacle := _sanitize_obstacle(path, transport):
        raise obstacle
    passes = 1 if feature == _OVERWRITE else 0
    transport.scsi(command(_SANITIZE_DEVICE, features=feature, count=passes, lba=_KEYS[feature], extended=True))
    started = _sanitize_status(path, transport)
    if not started.count & (_UNDER_WAY | _SUCCEEDED):
        raise DeviceFailureError(path, "the drive did not begin to sanitize itself", CHECK_REMEDY)

    def look() -> float | None:
        state = _sanitize_status(path, transport)
        return (state.lba & 0xFFFF) / 65536 if state.count & _UNDER_WAY else None

    watch_background(path, look, watch, limit_seconds(None), _WAY_OUT)
    if not _sanitize_status(path, transport).count & _SUCCEEDED:
        raise DeviceFailureError(path, "the sanitize failed", _WAY_OUT)
    return "the drive's sanitize status says that it succeeded"


def _sanitize_obstacle(path: str, transport: Transport) -> AssayError | None:
    try:
        state = _sanitize_status(path, transport)
    except (DeviceFailureError, DriveBusyError) as error:
        return error
    if state.count & _FROZEN:
        return GateRefusedError(path, "its sanitize commands are frozen", "switch the drive off and on")
    if state.count & _UNDER_WAY:
        reason = f"it is sanitizing itself already ({(state.lba & 0xFFFF) / 65536:.1%} done)"
        return DriveBusyError(path, reason, f"wait; {_WAY_OUT}")
    return None


def _sanitize_status(path: str, transport: Transport) -> Registers:
    state = registers(transport.scsi(command(_SANITIZE_DEVICE, features=_STATUS, extended=True)))
    if state is not None and state.status & _ERROR and state.lba & 0xFF == _FAILED_BEFORE:
        raise DriveBusyError(path, "its last sanitize failed, and until another succeeds it does no I/O", _WAY_OUT)
    if state is None or state.status & _ERROR:
        raise DeviceFailureError(path, "its sanitize status cannot be read", CHECK_REMEDY)
    return state
