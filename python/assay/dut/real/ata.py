"""ATA commands inside SCSI ATA PASS-THROUGH(16), and what IDENTIFY DEVICE says of purge and write cache.

Source: SAT-4 (ATA PASS-THROUGH, ATA Status Return descriptor) and ACS-4; words are those of IDENTIFY DEVICE.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.dut.real.transport import DEFAULT_SECONDS, ScsiCommand

if TYPE_CHECKING:
    from assay.dut.real.transport import ScsiReply, Transport

_PASS_THROUGH_16 = 0x85
_NO_DATA, _PIO_IN, _PIO_OUT = 3, 4, 5
# Length in the count field, in blocks of 512 bytes; from the drive or to it.
_TRANSFER_IN, _TRANSFER_OUT = 0x0E, 0x06
_CHECK_CONDITION = 0x20
_STATUS_DESCRIPTOR, _DESCRIPTOR_SENSE = 0x09, 0x72
_IDENTIFY_DEVICE, _SET_FEATURES = 0xEC, 0xEF
_CACHE_ON, _CACHE_OFF = 0x02, 0x82
_BLOCK_BYTES = 512
_LONG_TIME = 1 << 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Security:
    """Word 128 and the times of words 89 and 90, in seconds; None where the drive names none."""

    supported: bool
    enabled: bool
    locked: bool
    frozen: bool
    expired: bool
    enhanced: bool
    erase_s: int | None
    enhanced_s: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """IDENTIFY DEVICE as far as purge and write cache need it."""

    security: Security
    sanitizes_by_key: bool
    sanitizes_blocks: bool
    sanitizes_by_overwrite: bool
    has_write_cache: bool
    write_cache_on: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Registers:
    """What the drive left in its registers."""

    status: int
    error: int
    count: int
    lba: int


def device(transport: Transport) -> Device | None:
    """Identify the drive; None where it does not answer as an ATA drive."""
    data = transport.scsi(command(_IDENTIFY_DEVICE, data_bytes=_BLOCK_BYTES)).data
    if not any(data):
        return None
    words = struct.unpack("<256H", data)
    state, sanitize = words[128], words[59]
    sanitizes = bool(sanitize & 1 << 12)
    security = Security(
        supported=bool(state & 1),
        enabled=bool(state & 2),
        locked=bool(state & 4),
        frozen=bool(state & 8),
        expired=bool(state & 16),
        enhanced=bool(state & 32),
        erase_s=erase_seconds(words[89]),
        enhanced_s=erase_seconds(words[90]),
    )
    return Device(
        security=security,
        sanitizes_by_key=sanitizes and bool(sanitize & 1 << 13),
        sanitizes_by_overwrite=sanitizes and bool(sanitize & 1 << 14),
        sanitizes_blocks=sanitizes and bool(sanitize & 1 << 15),
        has_write_cache=bool(words[82] & 1 << 5),
        write_cache_on=bool(words[85] & 1 << 5),
    )


def set_write_cache(transport: Transport, *, enabled: bool) -> None:
    """Ask for the volatile write cache to be on or off until power is lost; identify the drive again to see."""
    transport.scsi(command(_SET_FEATURES, features=_CACHE_ON if enabled else _CACHE_OFF))


def command(
    opcode: int,
    *,
    features: int = 0,
    count: int = 0,
    lba: int = 0,
    data: bytes = b"",
    data_bytes: int = 0,
    extended: bool = False,
    limit_s: float = DEFAULT_SECONDS,
) -> ScsiCommand:
    """An ATA command as a SCSI one. Without data its registers come back; ``data`` and ``data_bytes`` are 512 or 0.

    Worked: IDENTIFY DEVICE is ``85 08 0e 00 00 00 01 00 00 00 00 00 00 00 ec 00``.
    """
    protocol, flags = (_PIO_OUT, _TRANSFER_OUT) if data else (_PIO_IN, _TRANSFER_IN)
    if not data and not data_bytes:
        protocol, flags = _NO_DATA, _CHECK_CONDITION
    else:
        count = 1
    low, high = lba.to_bytes(6, "little")[:3], lba.to_bytes(6, "little")[3:]
    cdb = bytearray([_PASS_THROUGH_16, protocol << 1 | extended, flags, *features.to_bytes(2), *count.to_bytes(2)])
    for upper, lower in zip(high, low, strict=True):
        cdb += bytes([upper, lower])
    return ScsiCommand(cdb=bytes([*cdb, 0, opcode, 0]), data=data, data_bytes=data_bytes, limit_s=limit_s)


def registers(reply: ScsiReply) -> Registers | None:
    """What a command without data left in the registers; None where the reply does not carry them."""
    sense = reply.sense
    place = 8
    while sense and sense[0] & 0x7F == _DESCRIPTOR_SENSE and place + 14 <= len(sense):
        if sense[place] == _STATUS_DESCRIPTOR:
            result = sense[place : place + 14]
            lba = bytes([result[7], result[9], result[11], result[6], result[8], result[10]])
            return Registers(
                status=result[13],
                error=result[3],
                count=int.from_bytes(result[4:6]),
                lba=int.from_bytes(lba, "little"),
            )
        place += 2 + sense[place + 1]
    return None


def erase_seconds(word: int) -> int | None:
    """The time of words 89 and 90 in seconds; None where unspecified.

    Units are two minutes; the highest value means longer than that. Source: ACS-4, words 89 and 90.
    Worked: 10 -> 1200; 32818 (bit 15 and 50) -> 6000; 0 -> None.
    """
    units = word & 0x7FFF if word & _LONG_TIME else word & 0xFF
    return units * 120 or None
