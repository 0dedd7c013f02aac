"""Processes that use a disk or file on command, each in a session and mount namespace of its own.

As a script it is such a process: it takes one act a line, as JSON, and answers with a number or with ``errno``. With a
second argument it is one of which only a thread writes.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import mmap
import os
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long)
LIBC.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
_READ_ONLY = 1
_CLONE_FILES = 0x400
_LONG_S = 3600
_FAILED = ctypes.c_void_p(-1).value


def checked(result: int, name: str) -> None:
    """Raise OSError where a call of the C library failed."""
    if result:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), name)


def mount(kind: str, source: str, place: str, is_read_only: bool = False) -> int:
    """Mount a file system."""
    flags = _READ_ONLY if is_read_only else 0
    checked(LIBC.mount(source.encode(), place.encode(), kind.encode(), flags, None), source)
    return 0


def unmount(place: str) -> int:
    """Unmount it."""
    checked(LIBC.umount2(place.encode(), 0), place)
    return 0


class UserProcess:
    """A process that uses what it is told to; must be closed. name : as the kernel has it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._child = subprocess.Popen(
            ["/usr/bin/unshare", "--mount", "--propagation", "private", sys.executable, "-SE", __file__, name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self._do("close", -1)

    @property
    def number(self) -> int:
        """Its process number."""
        return self._child.pid

    def open(self, path: str, flags: int, lock: str = "") -> Callable[[], object]:
        """Hold a path open; what lets go of it. lock : ``shared``, ``exclusive``, or ``range`` for one byte."""
        descriptor = self._do("open", path, flags, lock)
        return lambda: self._do("close", descriptor)

    def map(self, path: str) -> Callable[[], object]:
        """Keep a page of a path mapped, shared and writable, and no descriptor; what lets go of it."""
        address = self._do("map", path)
        return lambda: self._do("unmap", address)

    def mount(self, kind: str, source: str, place: str, *, is_read_only: bool = False) -> Callable[[], object]:
        """Mount where only this process sees it; what unmounts it."""
        self._do("mount", kind, source, place, is_read_only)
        return lambda: self._do("unmount", place)

    def close(self) -> None:
        """End it."""
        self._child.communicate()

    def _do(self, *act: object) -> int:
        assert self._child.stdin
        assert self._child.stdout
        self._child.stdin.write(json.dumps(act) + "\n")
        self._child.stdin.flush()
        answer = json.loads(self._child.stdout.readline())
        if "errno" in answer:
            raise OSError(answer["errno"], os.strerror(answer["errno"]), str(act))
        return int(answer["result"])


def thread_writes(path: str, way: str) -> Callable[[], object]:
    """A process of which only a thread has a path open for writing; what ends it.

    way : ``own-table`` where the thread has a table of descriptors of its own, ``outlived`` where the first has ended.
    """
    call = [sys.executable, "-SE", __file__, way, path]
    child = subprocess.Popen(call, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert child.stdout
    said = child.stdout.readline()

    def leave() -> None:
        child.kill()
        child.communicate()

    if said != "open\n":
        leave()
        raise OSError(errno.EIO, f"the thread did not open it: {said!r}", path)
    return leave


def _write_by_a_thread(way: str, path: str) -> None:
    first = threading.get_native_id()

    def hold() -> None:
        if way == "own-table":
            checked(LIBC.unshare(_CLONE_FILES), way)
        else:
            while ") Z " not in Path(f"/proc/{first}/stat").read_text("utf-8"):
                time.sleep(0.001)
        os.open(path, os.O_WRONLY)
        os.write(1, b"open\n")
        time.sleep(_LONG_S)

    thread = threading.Thread(target=hold)
    thread.start()
    if way == "outlived":
        LIBC.pthread_exit(None)
    thread.join()


def _open(path: str, flags: int, lock: str) -> int:
    descriptor = os.open(path, flags)
    try:
        if lock == "range":
            wish = struct.pack("hhqqi0q", fcntl.F_RDLCK, os.SEEK_SET, 100, 1, 0)
            fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, wish)
        elif lock:
            fcntl.flock(descriptor, fcntl.LOCK_NB | (fcntl.LOCK_EX if lock == "exclusive" else fcntl.LOCK_SH))
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _close(descriptor: int) -> int:
    if descriptor >= 0:
        os.close(descriptor)
    return 0


def _map(path: str) -> int:
    # Python's own map would keep a descriptor.
    descriptor = os.open(path, os.O_RDWR)
    protection = mmap.PROT_READ | mmap.PROT_WRITE
    address = LIBC.mmap(None, mmap.PAGESIZE, protection, mmap.MAP_SHARED, descriptor, 0)
    number = ctypes.get_errno()
    os.close(descriptor)
    if address == _FAILED:
        raise OSError(number, os.strerror(number), path)
    return int(address)


def _unmap(address: int) -> int:
    checked(LIBC.munmap(address, mmap.PAGESIZE), "munmap")
    return 0


_ACTS: dict[str, Callable[..., int]] = {
    "open": _open,
    "close": _close,
    "map": _map,
    "unmap": _unmap,
    "mount": mount,
    "unmount": unmount,
}


def _serve(name: str) -> None:
    Path("/proc/self/comm").write_text(name, "utf-8")
    for line in sys.stdin:
        word, *arguments = json.loads(line)
        try:
            answer = {"result": _ACTS[word](*arguments)}
        except OSError as error:
            answer = {"errno": error.errno}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    if sys.argv[2:]:
        _write_by_a_thread(*sys.argv[1:])
    else:
        _serve(sys.argv[1])
