"""NVMe admin commands: what a controller and a namespace are, their write cache, and the log of the last sanitize.

Source: NVMe Base Specification 2.0 and NVM Command Set Specification 1.0; offsets are bytes of their figures.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.dut.real.transport import NvmeCommand

if TYPE_CHECKING:
    from assay.dut.real.transport import Transport

_GET_LOG_PAGE, _IDENTIFY, _SET_FEATURES, _GET_FEATURES = 0x02, 0x06, 0x09, 0x0A
_WRITE_CACHE = 0x06
_SANITIZE_LOG, _SANITIZE_LOG_BYTES = 0x81, 512
_PAGE_BYTES = 4096
_ALL_NAMESPACES = 0xFFFFFFFF
_NOT_REPORTED = 0xFFFFFFFF
_NAMESPACE, _CONTROLLER, _ACTIVE_LIST, _ALLOCATED_LIST, _CONTROLLERS_OF_NAMESPACE = 0x00, 0x01, 0x02, 0x10, 0x12


@dataclass(frozen=True, slots=True, kw_only=True)
class Controller:
    """Identify Controller as far as purge and write cache need it."""

    formats: bool
    manages_namespaces: bool
    format_is_for_all: bool
    erase_is_for_all: bool
    erases_by_key: bool
    sanitizes_by_key: bool
    sanitizes_blocks: bool
    sanitizes_by_overwrite: bool
    has_write_cache: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Namespace:
    """Identify Namespace as far as a format must keep it: number of the LBA format in use and its options."""

    lba_format: int
    metadata_extends_data: bool
    protection_type: int
    protection_first: bool
    format_left: float | None

    def format_word(self, erase: int) -> int:
        """Command dword 10 of a Format NVM that keeps all this. erase : secure erase setting, 0 to 2.

        Worked: LBA format 1 without metadata or protection, user-data erase (1) -> 0x201.
        """
        options = self.metadata_extends_data << 4 | self.protection_type << 5 | self.protection_first << 8
        return self.lba_format & 0x0F | options | erase << 9 | self.lba_format >> 4 << 12


@dataclass(frozen=True, slots=True, kw_only=True)
class SanitizeLog:
    """The Sanitize Status log page.

    status : 0 never sanitized, 1 done, 2 under way, 3 failed, 4 done without deallocation. done : fraction of 1.
    command : dword 10 of the last sanitize. estimates_s : by action (2 block erase, 3 overwrite, 4 crypto erase).
    """

    status: int
    done: float
    command: int
    estimates_s: dict[int, int]


def controller(transport: Transport) -> Controller | None:
    """Identify the controller; None where it does not answer."""
    data = _identify(transport, 0, _CONTROLLER)
    if data is None:
        return None
    commands, (sanitizes,) = struct.unpack_from("<H", data, 256)[0], struct.unpack_from("<I", data, 328)
    format_options = data[524]
    return Controller(
        formats=bool(commands & 1 << 1),
        manages_namespaces=bool(commands & 1 << 3),
        format_is_for_all=bool(format_options & 1),
        erase_is_for_all=bool(format_options & 2),
        erases_by_key=bool(format_options & 4),
        sanitizes_by_key=bool(sanitizes & 1),
        sanitizes_blocks=bool(sanitizes & 2),
        sanitizes_by_overwrite=bool(sanitizes & 4),
        has_write_cache=bool(data[525] & 1),
    )


def namespace(transport: Transport, number: int) -> Namespace | None:
    """Identify a namespace; None where it does not answer."""
    data = _identify(transport, number, _NAMESPACE)
    if data is None:
        return None
    in_use, protection, progress = data[26], data[29], data[32]
    return Namespace(
        lba_format=in_use & 0x0F | (in_use >> 5 & 0x03) << 4,
        metadata_extends_data=bool(in_use & 1 << 4),
        protection_type=protection & 0x07,
        protection_first=bool(protection & 1 << 3),
        format_left=(progress & 0x7F) / 100 if progress & 0x80 else None,
    )


def namespaces(transport: Transport, own: Controller) -> tuple[int, ...]:
    """Numbers of all namespaces that the controller knows of, attached to it or not."""
    kinds = (_ALLOCATED_LIST, _ACTIVE_LIST) if own.manages_namespaces else (_ACTIVE_LIST,)
    lists = [_identify(transport, 0, kind) or b"" for kind in kinds]
    return tuple(sorted({number for data in lists for (number,) in struct.iter_unpack("<I", data) if number}))


def controller_count(transport: Transport, number: int) -> int | None:
    """How many controllers have a namespace attached; None where the drive does not tell."""
    data = _identify(transport, number, _CONTROLLERS_OF_NAMESPACE)
    return struct.unpack_from("<H", data)[0] if data else None


def sanitize_log(transport: Transport) -> SanitizeLog | None:
    """The state of the last sanitize; None where the drive keeps no such log."""
    words = (_SANITIZE_LOG | (_SANITIZE_LOG_BYTES // 4 - 1) << 16,)
    reply = transport.nvme_admin(
        NvmeCommand(opcode=_GET_LOG_PAGE, namespace=_ALL_NAMESPACES, words=words, data_bytes=_SANITIZE_LOG_BYTES)
    )
    if reply.status:
        return None
    progress, status, command, overwrite_s, block_s, key_s = struct.unpack_from("<HHIIII", reply.data)
    estimates = {3: overwrite_s, 2: block_s, 4: key_s}
    return SanitizeLog(
        status=status & 0x07,
        done=progress / 65536,
        command=command,
        estimates_s={action: span_s for action, span_s in estimates.items() if span_s != _NOT_REPORTED},
    )


def write_cache(transport: Transport) -> bool | None:
    """Whether the volatile write cache is on, as the controller says; None where it does not."""
    reply = transport.nvme_admin(NvmeCommand(opcode=_GET_FEATURES, words=(_WRITE_CACHE,)))
    return None if reply.status else bool(reply.result & 1)


def set_write_cache(transport: Transport, *, enabled: bool) -> None:
    """Ask for the volatile write cache to be on or off until the next reset; read it back to see."""
    transport.nvme_admin(NvmeCommand(opcode=_SET_FEATURES, words=(_WRITE_CACHE, int(enabled))))


def _identify(transport: Transport, number: int, structure: int) -> bytes | None:
    command = NvmeCommand(opcode=_IDENTIFY, namespace=number, words=(structure,), data_bytes=_PAGE_BYTES)
    reply = transport.nvme_admin(command)
    return None if reply.status else reply.data
