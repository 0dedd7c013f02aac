"""The outer form of a bundle: one frame of Zstandard and nothing before, behind or between.

Source: RFC 8878, sections 3.1.1.1 and 3.1.1.2. Decompressors skip frames that hold no data and allocate the window
that a frame asks for; both are looked at here, before one is started.
"""

from __future__ import annotations

import os
from typing import IO

MAGIC = b"\x28\xb5\x2f\xfd"
WINDOW_BYTES_MAX = 8 << 20
_BLOCK_BYTES_MAX = 128 << 10
_CHECKSUM_BYTES = 4
_RLE, _RESERVED = 1, 3
_SINGLE, _UNUSED, _CHECKSUM, _DICTIONARY = 0x20, 0x18, 0x04, 0x03
_CONTENT_SIZE_BYTES = (0, 2, 4, 8)


class FrameError(ValueError):
    """The file is not one whole frame of Zstandard."""


def check_frame(file: IO[bytes]) -> None:
    """Walk over the blocks of the frame that a file is, without decompressing any; the file is left at its start.

    Raises FrameError where it is another file, cut off, goes on behind the frame, or asks for too much memory.
    """
    size = os.fstat(file.fileno()).st_size
    file.seek(0)
    has_checksum = _check_head(file)
    while not _skip_block(file, size):
        pass
    if has_checksum:
        file.seek(_CHECKSUM_BYTES, os.SEEK_CUR)
    end = file.tell()
    if end > size:
        raise FrameError("is cut off")
    if end < size:
        raise FrameError(f"has {size - end:,} bytes after its end")
    file.seek(0)


def _check_head(file: IO[bytes]) -> bool:
    """Read the head of a frame; whether a checksum stands at its end."""
    if file.read(len(MAGIC)) != MAGIC:
        raise FrameError("is no bundle: it is not compressed with Zstandard")
    descriptor, window = (_number(file, 1) for _ in range(2))
    if descriptor & (_SINGLE | _UNUSED | _DICTIONARY):
        raise FrameError("is compressed in another way than assay export does")
    base = 1 << (10 + (window >> 3))
    if base + (base >> 3) * (window & 7) > WINDOW_BYTES_MAX:
        raise FrameError(f"asks for a window of more than {WINDOW_BYTES_MAX:,} bytes")
    file.seek(_CONTENT_SIZE_BYTES[descriptor >> 6], os.SEEK_CUR)
    return bool(descriptor & _CHECKSUM)


def _skip_block(file: IO[bytes], size: int) -> bool:
    """Go over one block; whether it is the last one."""
    head = _number(file, 3)
    kind, block_bytes = head >> 1 & 3, head >> 3
    if kind == _RESERVED or block_bytes > _BLOCK_BYTES_MAX:
        raise FrameError("is damaged: it holds a block of no known kind")
    if not block_bytes and not head & 1:
        # A sparse file has any number of them.
        raise FrameError("is damaged: it holds an empty block before its last")
    file.seek(1 if kind == _RLE else block_bytes, os.SEEK_CUR)
    if file.tell() > size:
        raise FrameError("is cut off")
    return bool(head & 1)


def _number(file: IO[bytes], count: int) -> int:
    result = file.read(count)
    if len(result) < count:
        raise FrameError("is cut off")
    return int.from_bytes(result, "little")
