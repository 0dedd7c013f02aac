"""Folders of runs, seen without reading the runs: their names, and whether anything has changed."""

from __future__ import annotations

import hashlib
import os
import re
import socket
import stat
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

from assay.archive.checks import kept_checks, look_of
from assay.archive.index.driver import storable
from assay.errors import StoreError
from assay.run.store import JOURNAL_NAME, ORIGIN, RUN_DOCUMENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from assay.archive.checks import Check

_TAIL_BYTES = 128
"""The end of the last line, with the hash of that line."""
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_TEXT = re.compile(r"[^\0\ud800-\udfff]+")
_BYTES = ":/"
"""Begins what stands for a name that is no text: no folder's name has a slash, and no path begins with a colon."""
_FILES_MAX = 10_000
THOROUGH = "all:"
"""Begins a look at all files of a folder."""


def site() -> str:
    """The host whose folders are meant: hosts that share an index have folders of the same name."""
    return kept_name(socket.gethostname())


def run_address(where: str, parent: str, folder: str) -> str:
    """The address of a run folder, which is no path. where : its site. All names as they are kept.

    Worked: ``lab``, ``/runs``, ``a`` -> the first 20 hex digits of a SHA-256.
    """
    return hashlib.sha256(f"{where}\n{parent}\n{folder}".encode()).hexdigest()[:20]


def parent_of(folder: Path) -> str:
    """A folder of runs as the index keeps it: the same whichever link or relative path leads to it."""
    return kept_name(os.path.realpath(folder))


def address_of(folder: Path) -> str:
    """The address of a run folder of this host, as the index has it."""
    return run_address(site(), parent_of(folder.parent), kept_name(folder.name))


def drive_address(model: str, serial: str | None, drive_id: str) -> str:
    """The address of a drive: equal for all runs of a model with a serial number.

    drive_id : its full identity, which counts where it reports no serial number.
    Worked: ``drive_address("M", "S1", "a")`` equals ``drive_address("M", "S1", "b")``.
    """
    text = storable(f"{model}\n{serial or ''}\n{'' if serial else drive_id}")
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def run_folder(folders: Iterable[Path], address: str) -> Path | None:
    """The run folder of an address directly below one of some folders of this host; None without one."""
    where = site()
    for folder in folders:
        parent = parent_of(folder)
        with suppress(OSError), os.scandir(folder) as entries:
            for name in (entry.name for entry in entries):
                fits = run_address(where, parent, kept_name(name)) == address
                if fits and os.path.lexists(folder / name / RUN_DOCUMENT):
                    return folder / name
    return None


def kept_name(name: str) -> str:
    r"""A name or path as a database can hold it; no two names are kept as one.

    Worked: ``run-1`` stays; the bytes ``61 ff``, which are no text, become ``":/61ff"``.
    """
    return name if _TEXT.fullmatch(name) else _BYTES + os.fsencode(name).hex()


def given_name(kept: str) -> str:
    """The name that ``kept_name`` was given."""
    return os.fsdecode(bytes.fromhex(kept[len(_BYTES) :])) if kept.startswith(_BYTES) else kept


def seen_folders(folder: Path, trust: str = "") -> dict[str, str]:
    """The run folders directly below a folder by the name that is kept, each with what it looks like.

    trust : what stands for the keys that the user trusts, which say how far an imported run is vouched for.
    Two looks are equal where size and time of ``run.json`` and of the journal are, the end of the journal is, and what
    this user has checked of the run.
    Raises StoreError if the folder cannot be looked at.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise StoreError(str(folder), error.strerror or "cannot be read", "name another folder") from None
    try:
        checks = kept_checks()
        looks = {name: _look(name, descriptor, trust, checks) for name in os.listdir(descriptor)}  # noqa: PTH208 - of what was opened
    finally:
        os.close(descriptor)
    return {kept_name(name): look for name, look in looks.items() if look is not None}


def thorough_look(folder: Path) -> str:
    """The look of a folder that cannot be read as a run: the fault may lie in any of its files.

    Empty where there is too much in it, and then equal to no other. Another user may be able to read it.
    """
    lines = list(islice(_all_files(folder), _FILES_MAX + 1))
    if len(lines) > _FILES_MAX:
        return ""
    text = "".join([f"{os.geteuid()}\n", *lines])
    return THOROUGH + hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _look(name: str, parent: int, trust: str, checks: Mapping[str, list[Check]]) -> str | None:
    """The look of a folder; None if it is no run folder."""
    try:
        document = os.stat(f"{name}/{RUN_DOCUMENT}", dir_fd=parent, follow_symlinks=False)
    except OSError:
        return None
    try:
        journal = os.stat(f"{name}/{JOURNAL_NAME}", dir_fd=parent, follow_symlinks=False)
        end = _end(f"{name}/{JOURNAL_NAME}", parent, journal)
    except OSError:
        return f"{_state(document)}:"
    seen = f"{hashlib.sha256(end).hexdigest()[:32]}:{look_of(end, checks)}"
    origin = ""
    # Only a run that was imported has it.
    with suppress(OSError):
        origin = f":{_state(os.stat(f'{name}/{ORIGIN}', dir_fd=parent, follow_symlinks=False))}:{trust}"
    return f"{_state(document)}:{_state(journal)}:{seen}{origin}"


def _state(found: os.stat_result) -> str:
    return f"{found.st_mode:o}.{found.st_size}.{found.st_mtime_ns}"


def _end(name: str, parent: int, found: os.stat_result) -> bytes:
    if not stat.S_ISREG(found.st_mode):
        return b""
    descriptor = os.open(name, _READ, dir_fd=parent)
    try:
        return os.pread(descriptor, _TAIL_BYTES, max(found.st_size - _TAIL_BYTES, 0))
    finally:
        os.close(descriptor)


def _all_files(folder: Path) -> Iterator[str]:
    for above, names, files in os.walk(folder):
        names.sort()
        for name in sorted(files):
            path = f"{above}/{name}"
            inside = path.removeprefix(str(folder))
            try:
                result = os.lstat(path)
                # The time of the last change of rights, too: a file may have been no one's to read.
                yield f"{inside}:{_state(result)}.{result.st_ctime_ns}\n"
            except OSError as error:
                yield f"{inside}:{error.errno}\n"
