"""Commands of a drive's own through the kernel's pass-through."""

from __future__ import annotations

import ctypes
import fcntl
import mmap
import re
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, Self

from assay.dut.real.identity import sysfs_directory
from assay.dut.real.sysfs import SYSFS, read_text
from assay.errors import NotADriveError, ValueRangeError
from assay.spec.units import KIB

if TYPE_CHECKING:
    from pathlib import Path

    from assay.engine.records import DriveIdentity


CommandSet = Literal["nvme", "ata", "scsi"]

_NVME_IOCTL_ID = 0x4E40
_NVME_IOCTL_ADMIN_CMD = 0xC0484E41
_NVME_COMMAND = struct.Struct("=BBHIIIQQII6III")
_SG_IO = 0x2285
_SG_HEADER = struct.Struct("@iiBBHIPPPIIiPBBBBHHiII4x")
_SG_INTERFACE = ord("S")
_SG_NONE, _SG_TO_DRIVE, _SG_FROM_DRIVE = -1, -2, -3
_SENSE_BYTES = 64
_SECOND_MS = 1000
DEFAULT_SECONDS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class NvmeCommand:
    """An admin command. words : command dwords 10 to 15, missing ones being 0. data_bytes : length that it returns.

    Source: NVMe Base Specification, figure "Common Command Format".
    """

    opcode: int
    namespace: int = 0
    words: tuple[int, ...] = ()
    data_bytes: int = 0
    limit_s: float = DEFAULT_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class NvmeReply:
    """status : 0 for success, else status code type and status code. result : dword 0 of the completion."""

    status: int = 0
    result: int = 0
    data: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScsiCommand:
    """A command descriptor block with either ``data`` for the drive or ``data_bytes`` wanted from it."""

    cdb: bytes
    data: bytes = b""
    data_bytes: int = 0
    limit_s: float = DEFAULT_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class ScsiReply:
    """status : SCSI status, 2 where ``sense`` says more. transport_status : of host and driver, 0 where it arrived."""

    status: int = 0
    transport_status: int = 0
    sense: bytes = b""
    data: bytes = b""


class Transport(Protocol):
    """Carries commands to one drive. Raises OSError where the kernel, not the drive, refuses one."""

    def namespace(self) -> int:
        """Number of the NVMe namespace that is held."""
        ...

    def nvme_admin(self, command: NvmeCommand) -> NvmeReply:
        """Send an NVMe admin command and wait for its completion."""
        ...

    def scsi(self, command: ScsiCommand) -> ScsiReply:
        """Send a SCSI command, or an ATA command inside one, and wait for its completion."""
        ...


class HeldDrive:
    """A transport over the descriptor of a held drive, which it does not close."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def namespace(self) -> int:
        """Number of the NVMe namespace that is held."""
        return fcntl.ioctl(self._descriptor, _NVME_IOCTL_ID)

    def nvme_admin(self, command: NvmeCommand) -> NvmeReply:
        """Send an NVMe admin command. Source: Linux ``include/uapi/linux/nvme_ioctl.h``."""
        with _Buffer(b"", command.data_bytes) as buffer:
            words = (*command.words, *(0,) * (6 - len(command.words)))
            packed = bytearray(
                _NVME_COMMAND.pack(
                    *(command.opcode, 0, 0, command.namespace, 0, 0, 0, buffer.address),
                    *(0, command.data_bytes, *words, int(command.limit_s * _SECOND_MS), 0),
                )
            )
            status = fcntl.ioctl(self._descriptor, _NVME_IOCTL_ADMIN_CMD, packed)
            return NvmeReply(status=status, result=_NVME_COMMAND.unpack(packed)[-1], data=buffer.content())

    def scsi(self, command: ScsiCommand) -> ScsiReply:
        """Send a SCSI command. Source: Linux ``include/scsi/sg.h``, version 3 of the interface."""
        length = len(command.data) or command.data_bytes
        direction = _SG_TO_DRIVE if command.data else _SG_FROM_DRIVE if length else _SG_NONE
        cdb, sense = (ctypes.create_string_buffer(size) for size in (len(command.cdb), _SENSE_BYTES))
        cdb.raw = command.cdb
        with _Buffer(command.data, length) as buffer:
            packed = bytearray(
                _SG_HEADER.pack(
                    *(_SG_INTERFACE, direction, len(command.cdb), _SENSE_BYTES, 0, length),
                    *(buffer.address, ctypes.addressof(cdb), ctypes.addressof(sense)),
                    *(int(command.limit_s * _SECOND_MS), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
                )
            )
            fcntl.ioctl(self._descriptor, _SG_IO, packed)
            *_, status, _, _, sense_bytes, host, driver, _, _, _ = _SG_HEADER.unpack(packed)
            # The driver's status repeats that there is sense data.
            return ScsiReply(
                status=status,
                transport_status=host or driver & 0x07,
                sense=sense.raw[:sense_bytes],
                data=b"" if command.data else buffer.content(),
            )


def command_set(identity: DriveIdentity, *, sysfs: Path = SYSFS) -> CommandSet | None:
    """Which commands a drive understands; None for a file, a simulated drive, and devices that are no drives.

    Source: Linux sysfs; ``device/vpd_pg89`` is the ATA Information page of SAT.
    """
    if identity.kind != "block":
        return None
    folder = sysfs_directory(identity, sysfs=sysfs)
    if folder.name.startswith("nvme"):
        return "nvme"
    if not (folder / "device/scsi_disk").is_dir():
        return None
    is_ata = read_text(folder / "device/vendor") == "ATA" or (folder / "device/vpd_pg89").exists()
    return "ata" if is_ata else "scsi"


class _Buffer:
    """Memory aligned to the page whose address goes to the kernel; must be closed."""

    def __init__(self, data: bytes, length: int) -> None:
        self._length = length
        self._map = mmap.mmap(-1, max(1, length))
        self._map[: len(data)] = data
        self._view = (ctypes.c_char * max(1, length)).from_buffer(self._map)
        self.address = ctypes.addressof(self._view) if length else 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        # The map cannot close while something points into it.
        del self._view
        self._map.close()

    def content(self) -> bytes:
        return self._map[: self._length]


_REMEDY = "choose another I/O path"
# The count of blocks of a command has 16 bits.
_BLOCK_COUNT_MAX = 1 << 16
_PAGE_KIB = 4


def passthrough_node(identity: DriveIdentity, *, sysfs: Path = SYSFS) -> tuple[str, str]:
    """The namespace's generic character device: its path and its ``major:minor``.

    It lies beside the block device in sysfs, at the same controller or subsystem.
    Raises NotADriveError where the drive has none: it is no NVMe drive, or the kernel is older than 5.13.
    Worked: ``/dev/nvme0n1`` -> ``("/dev/ng0n1", "245:0")``.
    """
    match = re.fullmatch(r"/dev/nvme(\d+n\d+)", identity.path)
    if identity.kind != "block" or match is None:
        raise NotADriveError(identity.path, "takes no NVMe commands: it is no NVMe namespace", _REMEDY)
    name = f"ng{match[1]}"
    number = read_text(sysfs_directory(identity, sysfs=sysfs).resolve().parent / name / "dev")
    if number is None:
        raise NotADriveError(identity.path, f"has no character device {name}: Linux 5.13 has them", _REMEDY)
    return f"/dev/{name}", number


def check_passthrough_transfer(identity: DriveIdentity, transfer_bytes: int, *, sysfs: Path = SYSFS) -> None:
    """Check that a transfer fits into one command: nothing splits it on this path.

    transfer_bytes : the largest of the run. The limits are the drive's own (MDTS), which the kernel keeps in
    ``queue/max_hw_sectors_kb``, the 65,536 blocks of a command, and, without huge pages, a page per segment.
    Raises ValueRangeError. Worked: 1 MiB at ``max_hw_sectors_kb`` 512 is refused, 512 KiB is not.
    """
    limits = {"65,536 blocks of a command": _BLOCK_COUNT_MAX * identity.logical_block_bytes // KIB}
    queue = sysfs_directory(identity, sysfs=sysfs) / "queue"
    drive_kib, segments = (read_text(queue / name) or "" for name in ("max_hw_sectors_kb", "max_segments"))
    if drive_kib.isdecimal():
        limits["max_hw_sectors_kb"] = int(drive_kib)
    huge = read_text(sysfs / "kernel/mm/transparent_hugepage/enabled")
    if segments.isdecimal() and (huge is None or "[never]" in huge):
        limits["max_segments without huge pages"] = int(segments) * _PAGE_KIB
    name, limit_kib = min(limits.items(), key=lambda item: item[1])
    if transfer_bytes > limit_kib * KIB:
        reason = f"transfers of {transfer_bytes / KIB:g} KiB exceed the {limit_kib} KiB of a command ({name})"
        raise ValueRangeError(identity.path, reason, f"choose smaller transfers, or {_REMEDY.removeprefix('choose ')}")
