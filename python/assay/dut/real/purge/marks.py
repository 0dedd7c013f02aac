"""Marks written before a purge and looked for after it."""

from __future__ import annotations

import mmap
import os
import secrets

# A multiple of the logical block; the map that carries it is aligned to the page.
MARK_BYTES = 4096
_MARK_COUNT = 64


def new_marks(capacity_bytes: int) -> dict[int, bytes]:
    """Random marks by place, for a drive of this capacity."""
    return {place: secrets.token_bytes(MARK_BYTES) for place in places(capacity_bytes)}


def places(capacity_bytes: int) -> list[int]:
    """The first and the very last block, and others at equal distances between them, none overlapping."""
    last = max(0, capacity_bytes - MARK_BYTES)
    grid = {last * index // (_MARK_COUNT - 1) // MARK_BYTES * MARK_BYTES for index in range(_MARK_COUNT - 1)}
    return [*sorted(place for place in grid if place + MARK_BYTES <= last), last]


def write_marks(descriptor: int, marks: dict[int, bytes]) -> None:
    """Write the marks and have the drive keep them. Raises OSError."""
    for place, mark in marks.items():
        with mmap.mmap(-1, MARK_BYTES) as page:
            page[:] = mark
            if os.pwritev(descriptor, [page], place) != MARK_BYTES:
                raise OSError
    # A mark still in the drive's write cache would prove nothing about its flash.
    os.fdatasync(descriptor)


def lost_marks(descriptor: int, marks: dict[int, bytes]) -> list[tuple[int, bool]]:
    """The offsets of blocks that do not carry their mark, and whether each reads as zeros. Raises OSError."""
    read = [(offset, _read(descriptor, offset), mark) for offset, mark in marks.items()]
    return [(offset, not any(content)) for offset, content, mark in read if content != mark]


def surviving_marks(descriptor: int, marks: dict[int, bytes]) -> tuple[int, int]:
    """How many blocks still carry their mark, and how many read as zeros. Raises OSError."""
    result = [_read(descriptor, mark) for mark in marks]
    surviving = sum(content == mark for content, mark in zip(result, marks.values(), strict=True))
    return surviving, sum(not any(content) for content in result)


def _read(descriptor: int, index: int) -> bytes:
    with mmap.mmap(-1, MARK_BYTES) as page:
        if os.preadv(descriptor, [page], index) != MARK_BYTES:
            raise OSError
        return page[:]
