"""Files opened without following links, bounded, and named to their users."""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedReader


_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,199}")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_READ_BYTES = 1 << 20
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def is_plain_name(name: str) -> bool:
    """Whether a text may be part of a file's name: letters, digits, ``.``, ``_``, ``-``, and no ``.`` or ``-`` first.

    Worked: ``dirth-oltp`` may be one, ``../x``, ``/etc/x`` and the empty text may not.
    """
    return _PART.fullmatch(name) is not None


def open_named(path: Path) -> IO[bytes]:
    """Open a file that the user named, over links too, for reading.

    Raises OSError also where it is no regular file: a pipe would be waited for, and a device has no end.
    """
    if "\0" in str(path):
        raise OSError(errno.EINVAL, "is no name of a file")
    _check_regular(path.stat())
    return os.fdopen(_regular(os.open(path, _READ & ~os.O_NOFOLLOW)), "rb")


def open_inside(folder: Path, name: str) -> int:
    """Open a regular file for reading; the caller closes the descriptor.

    name : with folders below, ``series/000001.parquet``.
    Raises OSError also where it is, or lies behind, a symbolic link, or is no regular file.
    """
    with _parent(folder, name) as (parent, last):
        # Opening a device node may already do something, so its kind is asked first.
        _check_regular(os.stat(last, dir_fd=parent, follow_symlinks=False))
        return _regular(os.open(last, _READ, dir_fd=parent))


def open_bounded(folder: Path, name: str, *, bytes_max: int) -> BufferedReader:
    """Open a regular file for reading whose size is at most ``bytes_max``: of a larger one not a byte is read.

    Raises OSError as ``open_inside``, and where it is larger.
    """
    file = os.fdopen(open_inside(folder, name), "rb")
    size = os.fstat(file.fileno()).st_size
    if size > bytes_max:
        file.close()
        raise OSError(errno.EFBIG, f"has {size:,} bytes where at most {bytes_max:,} can be")
    return file


def read_inside(folder: Path, name: str, *, bytes_max: int) -> bytes:
    """Read a regular file of at most ``bytes_max`` bytes. Raises OSError as ``open_bounded``."""
    with open_bounded(folder, name, bytes_max=bytes_max) as file:
        return read_bounded(file, bytes_max)


def read_bounded(file: IO[bytes], bytes_max: int) -> bytes:
    """Read the rest of a file of at most ``bytes_max`` bytes. Raises OSError where it is larger by now."""
    content = bytearray()
    # A read of so many bytes would take memory for all of them at once; and the file may grow meanwhile.
    while len(content) <= bytes_max and (more := file.read(_READ_BYTES)):
        content += more
    if len(content) > bytes_max:
        raise OSError(errno.EFBIG, f"has more than {bytes_max:,} bytes")
    return bytes(content)


def exists_inside(folder: Path, name: str) -> bool:
    """Whether anything lies at a name, also a link that leads nowhere. Raises OSError as ``open_inside``."""
    with suppress(FileNotFoundError), _parent(folder, name) as (parent, last):
        os.stat(last, dir_fd=parent, follow_symlinks=False)
        return True
    return False


def write_inside(folder: Path, name: str, content: bytes, *, durable: bool = True, mode: int = 0o644) -> None:
    """Put a file in place whole: a reader sees the old one or the new one, never a part.

    name : with folders below, which are made where they are missing. durable : return once it is on stable storage.
    mode : rights of the file.
    Raises OSError also where a folder on the way is a symbolic link; one at the name itself is replaced, not followed.
    """
    with _parent(folder, name, make=True) as (parent, last):
        draft = f".{last}-{secrets.token_hex(8)}"
        descriptor = os.open(draft, _NEW, mode, dir_fd=parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                if durable:
                    os.fsync(file.fileno())
            os.replace(draft, last, src_dir_fd=parent, dst_dir_fd=parent)
        except BaseException:
            with suppress(OSError):
                os.unlink(draft, dir_fd=parent)
            raise
        if durable:
            os.fsync(parent)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable. Raises OSError."""
    descriptor = os.open(folder, _FOLDER)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _parent(folder: Path, name: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
    """A descriptor of the folder that a name lies in, and the last part of the name."""
    *above, last = name.split("/")
    if not all(map(is_plain_name, (*above, last))):
        raise OSError(errno.EINVAL, "is no name of a file in this folder")
    descriptor = os.open(folder, _FOLDER)
    try:
        for part in above:
            inner = _open_below(descriptor, part, make=make)
            os.close(descriptor)
            descriptor = inner
        yield descriptor, last
    finally:
        os.close(descriptor)


def _open_below(folder: int, name: str, *, make: bool) -> int:
    if make:
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=folder)
    if stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
        raise OSError(errno.ELOOP, f"is below the symbolic link {name!r}, which is not followed")
    return os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)


def _regular(descriptor: int) -> int:
    """Return the descriptor of a regular file; close that of anything else."""
    try:
        _check_regular(os.fstat(descriptor))
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _check_regular(found: os.stat_result) -> None:
    if stat.S_ISLNK(found.st_mode):
        raise OSError(errno.ELOOP, "is a symbolic link, which is not followed")
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "is not a regular file")


def process_fields(pid: int) -> list[str]:
    """What the kernel tells of a process behind its name: its state first; nothing where there is no such process.

    Source: Linux ``proc_pid_stat(5)``, fields 3 and following. Worked: of one that sleeps -> ``["S", ...]``.
    """
    try:
        text = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return []
    return text.rpartition(")")[2].split()


XDG_DEFAULTS = {"config": ".config", "data": ".local/share", "state": ".local/state", "cache": ".cache"}
"""The folders of a user for files of each kind, below his home."""


def user_folder(kind: str) -> Path:
    """A user's folder for files of a kind, by XDG: ``config``, ``data``, ``state`` or ``cache``."""
    return Path(os.environ.get(f"XDG_{kind.upper()}_HOME") or Path.home() / XDG_DEFAULTS[kind])


def config_folder() -> Path:
    """The user's folder of settings and keys."""
    return user_folder("config") / "assay"


_BYTES_MAX = 1 << 20


def write_user_file(folder: Path, name: str, content: bytes, *, mode: int = 0o644) -> None:
    """Put a file in place whole. Folders that are missing are made for the user alone.

    folder : such as ``~/.config``, which may itself be reached over links. name : with folders below, such as
    ``assay/trusted_keys``. mode : rights of the file.
    Raises OSError also where a folder of the name is a link; a link at the name itself is replaced, not followed.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    first = folder / name.partition("/")[0]
    with suppress(FileExistsError):
        os.mkdir(first, 0o700)  # noqa: PTH102 - one that leads nowhere is there as well
    write_inside(folder, name, content, mode=mode)


def read_user_file(folder: Path, name: str) -> bytes | None:
    """The content of a file of at most a MiB; None where nothing has that name.

    Raises OSError also where it is, or lies behind, a link, or is no regular file.
    """
    try:
        return read_inside(folder, name, bytes_max=_BYTES_MAX) if exists_inside(folder, name) else None
    except FileNotFoundError:
        return None
