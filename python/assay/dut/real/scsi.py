"""SCSI commands that purge and write cache need.

Source: SPC-5 (REPORT SUPPORTED OPERATION CODES, REQUEST SENSE, MODE SENSE) and SBC-4 (SANITIZE, FORMAT UNIT).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.dut.real.transport import ScsiCommand

if TYPE_CHECKING:
    from assay.dut.real.transport import Transport

_REQUEST_SENSE, _MODE_SENSE_6 = 0x03, 0x1A
_MAINTENANCE_IN, _REPORT_OPERATION_CODES = 0xA3, 0x0C
_SERVICE_ACTION_IN, _READ_CAPACITY_16 = 0x9E, 0x10
_CODE_ONLY, _CODE_AND_ACTION = 1, 2
_SUPPORTED = (3, 5)
_CACHING_PAGE = 0x08
_REPLY_BYTES = 32
_SENSE_BYTES = 252
_CAPACITY_BYTES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Sense:
    """Sense key, additional sense code with qualifier in its low byte, and the progress that came along."""

    key: int
    code: int
    done: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Geometry:
    """READ CAPACITY(16). protection_type : 0 for none, else 1 to 3."""

    block_count: int
    block_bytes: int
    protection_type: int


def supports(transport: Transport, opcode: int, action: int | None = None) -> bool:
    """Whether a drive says that it supports a command, by its opcode and service action.

    Worked: SANITIZE, block erase, is asked by ``a3 0c 02 48 00 02 00 00 00 20 00 00``.
    """
    option = _CODE_ONLY if action is None else _CODE_AND_ACTION
    cdb = struct.pack(
        ">BBBBHIBB", _MAINTENANCE_IN, _REPORT_OPERATION_CODES, option, opcode, action or 0, _REPLY_BYTES, 0, 0
    )
    reply = transport.scsi(ScsiCommand(cdb=cdb, data_bytes=_REPLY_BYTES))
    return not reply.status and not reply.transport_status and reply.data[1] & 0x07 in _SUPPORTED


def request_sense(transport: Transport) -> Sense:
    """What the drive is doing: key 0 for nothing, key 2 with a progress for an operation in the background."""
    cdb = bytes([_REQUEST_SENSE, 0, 0, 0, _SENSE_BYTES, 0])
    return parse_sense(transport.scsi(ScsiCommand(cdb=cdb, data_bytes=_SENSE_BYTES)).data)


def parse_sense(data: bytes) -> Sense:
    """Sense data in its fixed form. Worked: key 2, code 041Bh, progress 8000h -> half done."""
    data = data.ljust(18, b"\0")
    key = data[2] & 0x0F
    done = struct.unpack_from(">H", data, 16)[0] / 65536 if data[15] & 0x80 and key in (0, 2) else None
    return Sense(key=key, code=data[12] << 8 | data[13], done=done)


def geometry(transport: Transport) -> Geometry | None:
    """Number and size of the blocks; None where the drive does not answer."""
    cdb = struct.pack(">BBQIBB", _SERVICE_ACTION_IN, _READ_CAPACITY_16, 0, _CAPACITY_BYTES, 0, 0)
    reply = transport.scsi(ScsiCommand(cdb=cdb, data_bytes=_CAPACITY_BYTES))
    if reply.status or reply.transport_status:
        return None
    last, block_bytes, protection = struct.unpack_from(">QIB", reply.data)
    kind = (protection >> 1 & 0x07) + 1 if protection & 1 else 0
    return Geometry(block_count=last + 1, block_bytes=block_bytes, protection_type=kind)


def write_cache(transport: Transport) -> bool | None:
    """Whether the write cache is on, by the caching mode page; None where the drive has none."""
    cdb = bytes([_MODE_SENSE_6, 0x08, _CACHING_PAGE, 0, _REPLY_BYTES, 0])
    reply = transport.scsi(ScsiCommand(cdb=cdb, data_bytes=_REPLY_BYTES))
    page = reply.data[4 + reply.data[3] :] if len(reply.data) > 4 else b""  # noqa: PLR2004 -- length of the header
    if reply.status or reply.transport_status or len(page) < 3 or page[0] & 0x3F != _CACHING_PAGE:  # noqa: PLR2004
        return None
    return bool(page[2] & 1 << 2)
