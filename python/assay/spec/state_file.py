"""Files in the user's state and cache folders that only this user can have written.

From the home folder (or from XDG_STATE_HOME, XDG_CACHE_HOME) on no link is followed, and each folder and the file
belong to the effective user. What another user may have planted is not read, and nothing is written there.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from assay.spec.files import XDG_DEFAULTS

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = "assay"
BYTES_MAX = 8 << 20
"""Of the file, some 15,000 runs; beyond it the older half is dropped."""
_LOCK_S, _TRY_S = 2.0, 0.01
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_SHARED = stat.S_IWOTH
_WRITABLE = stat.S_IWGRP | stat.S_IWOTH


def read_lines(name: str) -> list[bytes]:
    """The lines that were kept in a file, the oldest first. Raises OSError."""
    with _file(name, os.O_RDONLY, make=False) as descriptor:
        return _content(descriptor).splitlines()


def file_state(name: str) -> tuple[int, ...]:
    """What changes with a file, without its content. Raises OSError."""
    with _file(name, os.O_RDONLY, make=False) as descriptor:
        status = os.fstat(descriptor)
        return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def append_line(name: str, line: bytes) -> None:
    """Keep a line, without its end; writers wait for each other, at most 2 s. Raises OSError."""
    with _file(name, os.O_RDWR | os.O_CREAT, make=True) as descriptor:
        _lock(descriptor)
        content = _content(descriptor)
        # A writer that was killed may have left a line without its end.
        end = b"" if not content or content.endswith(b"\n") else b"\n"
        if len(content) + len(line) > BYTES_MAX:
            _drop_older_half(descriptor, content)
            end = b""
        _write(descriptor, end + line + b"\n")


def _drop_older_half(descriptor: int, content: bytes) -> None:
    """A reader that comes between sees fewer lines, and checks once more."""
    lines = content.splitlines(keepends=True)
    os.ftruncate(descriptor, 0)
    _write(descriptor, b"".join(line for line in lines[len(lines) // 2 :] if line.endswith(b"\n")))


def _write(descriptor: int, content: bytes) -> None:
    at = os.fstat(descriptor).st_size
    while content:
        written = os.pwrite(descriptor, content, at)
        content, at = content[written:], at + written


def _content(descriptor: int) -> bytes:
    size = os.fstat(descriptor).st_size
    if size > 2 * BYTES_MAX:
        raise OSError(errno.EFBIG, "is larger than this version writes it")
    return os.pread(descriptor, size, 0)


def _lock(descriptor: int) -> None:
    until = time.monotonic() + _LOCK_S
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise
            time.sleep(_TRY_S)


@contextmanager
def _file(name: str, flags: int, *, make: bool) -> Iterator[int]:
    """The file, opened; it is closed, and with it unlocked, afterwards."""
    with own_folder("state", make=make) as folder, _opened(folder, name, flags) as descriptor:
        yield descriptor


@contextmanager
def _opened(folder: int, name: str, flags: int) -> Iterator[int]:
    descriptor = os.open(name, flags | _FILE, 0o600, dir_fd=folder)
    try:
        status = _of_this_user(descriptor, _WRITABLE)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "is not a regular file")
        yield descriptor
    finally:
        os.close(descriptor)


def read_whole(name: str, *below: str) -> bytes:
    """The content of a file in a folder below the user's cache. Raises OSError."""
    with own_folder("cache", *below, make=False) as folder, _opened(folder, name, os.O_RDONLY) as descriptor:
        return _content(descriptor)


def write_whole(name: str, content: bytes, *below: str, count_max: int) -> None:
    """Write a file in a folder below the user's cache, at once or not at all. Raises OSError.

    count_max : files of the folder, at least 2; beyond it the older half is dropped.
    """
    draft = f".{name}.{os.getpid()}"
    with own_folder("cache", *below, make=True) as folder:
        try:
            with _opened(folder, draft, os.O_RDWR | os.O_CREAT | os.O_EXCL) as descriptor:
                _write(descriptor, content)
            os.rename(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
        except OSError:
            with suppress(FileNotFoundError):
                os.unlink(draft, dir_fd=folder)
            raise
        names = os.listdir(folder)  # noqa: PTH208 - of a descriptor
        if len(names) > count_max:
            _drop_oldest(folder, names, len(names) - count_max // 2)


def _drop_oldest(folder: int, names: list[str], count: int) -> None:
    """Others may drop them meanwhile."""
    times: dict[str, int] = {}
    for name in names:
        with suppress(FileNotFoundError):
            times[name] = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mtime_ns
    for name in sorted(times, key=lambda name: times[name])[:count]:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)


@contextmanager
def own_folder(kind: Literal["state", "cache"], *below: str, make: bool) -> Iterator[int]:
    """A descriptor of the user's folder of a kind, or of one below it, reached step by step. Raises OSError."""
    base, parts = _start(kind)
    descriptor = os.open(base, _FOLDER)
    try:
        _of_this_user(descriptor, _SHARED)
        for part in (*parts, *below):
            inner = _below(descriptor, part, make=make)
            os.close(descriptor)
            descriptor = inner
            _of_this_user(descriptor, _SHARED)
        yield descriptor
    finally:
        os.close(descriptor)


def _start(kind: Literal["state", "cache"]) -> tuple[Path, tuple[str, ...]]:
    """The first folder that has to belong to the user, and the names below it."""
    named = os.environ.get(f"XDG_{kind.upper()}_HOME")
    if not named:
        try:
            return Path.home(), (*XDG_DEFAULTS[kind].split("/"), FOLDER)
        except RuntimeError as error:
            raise OSError(errno.ENOENT, str(error)) from None
    path = Path(named)
    # One that is still to be made belongs to the folder above it.
    return (path, (FOLDER,)) if os.path.lexists(path) else (path.parent, (path.name, FOLDER))


def _below(folder: int, name: str, *, make: bool) -> int:
    if make:
        with suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=folder)
    return os.open(name, _FOLDER, dir_fd=folder)


def _of_this_user(descriptor: int, forbidden: int) -> os.stat_result:
    """Raise OSError where another user owns what is open, or rights among ``forbidden`` let others write to it."""
    status = os.fstat(descriptor)
    if status.st_uid != os.geteuid():
        raise OSError(errno.EPERM, "belongs to another user")
    if status.st_mode & forbidden:
        raise OSError(errno.EPERM, "can be written to by other users")
    return status
