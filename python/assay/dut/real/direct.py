"""Direct I/O through the held descriptor: writes, trims and blocks read back."""

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os
import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from assay.engine.records import ReadBack, WrongBlock
from assay.errors import DeviceFailureError
from assay.spec.units import SECOND_NS

if TYPE_CHECKING:
    from pathlib import Path

    from assay.dut.real.gate import OpenDrive
    from assay.dut.real.sectors import AddressedData
    from assay.engine.records import DriveIdentity, Returned
    from assay.engine.stimulus import Stimulus


_FIEMAP = 0xC020660B
_FIEMAP_SYNC = 1
_COLLAPSE = 8
_EXTENTS_MAX = 2048
_HEAD, _EXTENT = struct.Struct("=QQLLLL"), struct.Struct("=QQQQQLLLL")
# Unknown place, delayed, encoded, encrypted, not aligned, inline, tail-packed.
_PLACELESS = 0x2 | 0x4 | 0x8 | 0x80 | 0x100 | 0x200 | 0x400


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """A piece of a file that lies in one piece on the device. file_bytes, device_bytes : where it starts in each."""

    file_bytes: int
    device_bytes: int
    length_bytes: int


def create_file(path: Path) -> int:
    """Make a file that did not exist and open it, through the page cache. Raises OSError."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)


def set_direct(fd: int, *, direct: bool) -> None:
    """Let an open file or device bypass the page cache, or not. Raises OSError where its file system cannot."""
    flags = fcntl.fcntl(fd, fcntl.F_GETFL)
    fcntl.fcntl(fd, fcntl.F_SETFL, flags | os.O_DIRECT if direct else flags & ~os.O_DIRECT)


def cut_out(fd: int, offset_bytes: int, length_bytes: int) -> None:
    """Take a piece out of a file, so that what is behind it joins what is before; both stay where they are.

    Both a multiple of the file system's block, and not reaching the file's end. Raises OSError where the file system
    cannot. Source: ``fallocate(2)``, FALLOC_FL_COLLAPSE_RANGE (ext4, XFS).
    """
    library = ctypes.CDLL(None, use_errno=True)
    if library.fallocate(fd, _COLLAPSE, ctypes.c_int64(offset_bytes), ctypes.c_int64(length_bytes)) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def drop_cache(fd: int) -> None:
    """Write out what is dirty and forget the cached pages of a file or device."""
    os.fsync(fd)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)


def aligned_buffer(length_bytes: int) -> mmap.mmap:
    """Memory that starts on a page, as direct I/O wants it."""
    return mmap.mmap(-1, length_bytes)


def extents(fd: int) -> tuple[Extent, ...] | None:
    """Where a file lies, in order of the file; None where its file system does not say.

    Source: Linux ``Documentation/filesystems/fiemap.rst``.
    """
    request = bytearray(_HEAD.size + _EXTENTS_MAX * _EXTENT.size)
    _HEAD.pack_into(request, 0, 0, (1 << 64) - 1, _FIEMAP_SYNC, 0, _EXTENTS_MAX, 0)
    try:
        fcntl.ioctl(fd, _FIEMAP, request)
    except OSError:
        return None
    count = _HEAD.unpack_from(request)[3]
    result = [_EXTENT.unpack_from(request, _HEAD.size + nth * _EXTENT.size) for nth in range(count)]
    if any(flags & _PLACELESS for *_, flags, _, _, _ in result):
        return None
    return tuple(Extent(file_bytes=one[0], device_bytes=one[1], length_bytes=one[2]) for one in result)


_BLKDISCARD = 0x1277


def trim_range(drive: OpenDrive, from_bytes: int, to_bytes: int) -> None:
    """Tell a block device that what lies between two places, multiples of its logical block, is no longer needed.

    Raises IdentityError (the drive was replaced), DeviceFailureError where the drive refuses.
    Source: Linux ``BLKDISCARD``.
    """
    drive.verify()
    try:
        fcntl.ioctl(drive.fd, _BLKDISCARD, struct.pack("QQ", from_bytes, to_bytes - from_bytes))
    except OSError as error:
        reason = f"discard of {to_bytes - from_bytes} bytes failed ({error.strerror})"
        raise DeviceFailureError(drive.identity.path, reason, "leave out the trim study") from error


WRONG_REMEDY = "do not trust this drive with data; test it on another host to rule out cables and memory"
BETWEEN_COUNT = 64
BETWEEN_LIMIT_NS = SECOND_NS // 4
"""Between two sequences no read is begun after that: a gap of more than a second is a finding."""
END_LIMIT_NS = 30 * SECOND_NS
"""At the end of a test, where all known blocks are read."""


@dataclass(slots=True)
class WrittenData:
    """What a run wrote to a drive. sectors : of addressed data. turn : checks so far; each takes other blocks."""

    drive: DriveIdentity
    stimulus: Stimulus
    sectors: AddressedData
    turn: int = field(default=0, init=False)

    def between(self, after: str) -> ReadBack | None:
        """Read 64 known blocks behind a sequence of this name."""
        return self._checked(after, BETWEEN_COUNT, BETWEEN_LIMIT_NS)

    def end(self) -> ReadBack | None:
        """Read all known blocks."""
        return self._checked("", None, END_LIMIT_NS)

    def forget(self, from_bytes: int = 0, to_bytes: int | None = None) -> None:
        """Something else than the stimulus changed what lies between two places, or all."""
        self.stimulus.forget_written(from_bytes, self.drive.capacity_bytes if to_bytes is None else to_bytes)

    def _checked(self, after: str, count: int | None, limit_ns: int) -> ReadBack | None:
        result = self.stimulus.read_back(count, self.turn, limit_ns)
        self.turn += 1
        if result is None:
            return None
        block = self.drive.logical_block_bytes
        return ReadBack(
            after=after,
            checked_count=result.checked_count,
            known_count=result.known_count,
            given_count=result.given_count,
            unknown_count=result.unknown_count,
            wrong_count=result.wrong_count,
            span_ns=result.span_ns,
            limit_ns=limit_ns,
            wrong=tuple(
                WrongBlock(lba=offset // block, returned=cast("Returned", kind)) for offset, kind in result.wrong
            ),
            unread_lba=result.failed[0] // block if result.failed else None,
        )
