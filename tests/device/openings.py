"""Who opened a device for writing, and when: the kernel's own notes.

Source: ``fanotify(7)``. The event of a closed file that was open for writing names its process; files are told apart by
their handle, since the kernel opens no device for a listener.
"""

from __future__ import annotations

import ctypes
import os
import struct
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

_CLOSE_WRITE, _OPEN = 0x8, 0x20
_REPORT_FID, _CLOEXEC, _NONBLOCK = 0x200, 0x1, 0x2
_ADD, _HERE = 1, -100
_EVENT = struct.Struct("=IBBHQii")
_LOOK_S = 0.02


@dataclass(frozen=True)
class Opening:
    """A process that had the device open for writing. command : as ``ps`` shows it, read when it opened it."""

    wall_ns: int
    pid: int
    command: str


class Openings:
    """The openings for writing so far, in the order in which they were closed."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._commands: dict[int, tuple[int, str]] = {}
        self._writing: list[Opening] = []
        self._lock = threading.Lock()

    def writing(self) -> list[Opening]:
        """Every opening for writing that has ended."""
        self.read()
        return list(self._writing)

    def read(self) -> None:
        """Take what the kernel noted since."""
        with self._lock, suppress(BlockingIOError):
            while content := os.read(self._descriptor, 1 << 16):
                while content:
                    length, _, _, _, mask, _, pid = _EVENT.unpack_from(content)
                    self._note(mask, pid)
                    content = content[length:]

    def _note(self, mask: int, pid: int) -> None:
        if mask & _OPEN:
            self._commands[pid] = time.time_ns(), _command(pid)
        if mask & _CLOSE_WRITE:
            self._writing.append(Opening(*(wall := self._commands.get(pid, (time.time_ns(), "")))[:1], pid, wall[1]))


def _command(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace").strip()
    return ""


@contextmanager
def openings(path: str) -> Iterator[Openings]:
    """What is opened of a device within the block; skips the test where the kernel has no fanotify."""
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = libc.fanotify_init(_REPORT_FID | _CLOEXEC | _NONBLOCK, os.O_RDONLY)
    mask = ctypes.c_uint64(_OPEN | _CLOSE_WRITE)
    if descriptor < 0 or libc.fanotify_mark(descriptor, _ADD, mask, _HERE, os.fsencode(path)) < 0:
        pytest.skip(f"SKIPPED: fanotify: {os.strerror(ctypes.get_errno())}")
    result, ended = Openings(descriptor), threading.Event()

    def look() -> None:
        while not ended.wait(_LOOK_S):
            result.read()

    # The command of a process is to be had only while it lives.
    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield result
    finally:
        ended.set()
        thread.join()
        os.close(descriptor)
