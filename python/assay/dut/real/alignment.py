"""The alignment that direct I/O on a file takes: what the kernel states, or what the file system is seen to grant."""

from __future__ import annotations

import ctypes
import mmap
import os
import struct

from assay.dut.real.sysfs import disk_of

_EMPTY_PATH, _DIOALIGN = 0x1000, 0x2000
_STATX_BYTES, _ALIGNMENTS = 256, struct.Struct("=LL")
# Where ``stx_dio_mem_align`` and ``stx_dio_offset_align`` lie in ``struct statx``.
_ALIGNMENTS_AT = 152
_BLOCKS_BYTES = (512, 1024, 2048, 4096)


def direct_block_bytes(fd: int) -> int | None:
    """The block that offsets and lengths of direct I/O on a file are multiples of; None where it takes no direct I/O.

    fd : of a regular file, open for direct reads. Reads of a file that was only allocated may be granted at any
    alignment, since none reaches the disk: a probe counts only together with the block of the disk below.
    Source: Linux ``statx(2)``, STATX_DIOALIGN (6.1 and newer).
    Worked: ext4 on a disk with sectors of 4096 bytes -> 4096.
    """
    stated = _stated_bytes(fd)
    if stated is not None:
        return stated or None
    granted = next((size for size in _BLOCKS_BYTES if _reads_directly(fd, size)), None)
    return None if granted is None else max(granted, _disk_block_bytes(fd))


def _stated_bytes(fd: int) -> int | None:
    """What the kernel states: 0 where it takes no direct I/O, None where it does not say."""
    result = ctypes.create_string_buffer(_STATX_BYTES)
    statx = getattr(ctypes.CDLL(None), "statx", None)
    if statx is None or statx(fd, b"", _EMPTY_PATH, _DIOALIGN, result) != 0:
        return None
    (mask,) = struct.unpack_from("=L", result)
    return int(_ALIGNMENTS.unpack_from(result, _ALIGNMENTS_AT)[1]) if mask & _DIOALIGN else None


def _reads_directly(fd: int, size_bytes: int) -> bool:
    # An anonymous map is page-aligned, so only the length and the offset are on trial.
    with mmap.mmap(-1, size_bytes) as buffer:
        try:
            os.preadv(fd, [buffer], size_bytes)
        except OSError:
            return False
        return True


def _disk_block_bytes(fd: int) -> int:
    """The logical block of the disk that a file lies on; 0 where it lies on none."""
    disk = disk_of(os.fstat(fd).st_dev)
    return (disk.whole().number("queue/logical_block_size") or 0) if disk else 0
