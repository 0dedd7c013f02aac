"""Which processes use a regular file, as far as they can be seen.

Looking through all of them takes milliseconds on a quiet host and tens of them on a busy one, so these rules are asked
last. Of each descriptor only what the kernel itself keeps is read: a file system that hangs must not hang the gate.
"""

from __future__ import annotations

import fcntl
import os
import re
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

from assay.dut.real.gate import mounts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.dut.real.gate.levels import File, FileLevel

_HIDDEN = ["open for writing by somebody who cannot be seen from here"]
_ATTEMPTS = 5
_PAUSE_S = 0.02


def writers(level: FileLevel) -> list[str]:
    """A process that has it open for writing, a mapping that is shared and written included.

    Of a target the kernel knows the number of writers, whoever they are; beneath a loop device, which is one itself,
    only those count that are seen.
    """
    counted = None if level.chain else _is_written(level.file)
    if counted is False:
        return []
    found = next((process for process in _processes() if _writes(process, level.file)), None)
    if found is None:
        return list(_HIDDEN) if counted else []
    return [f"open for writing by {_name(found)}"]


def mappers(level: FileLevel) -> list[str]:
    """A process that runs it or has mapped it, such as a library: its memory would change."""
    found = next((process for process in _processes() if _maps(process, level.file)), None)
    return [] if found is None else [f"mapped by {_name(found)}"]


def _is_written(file: File) -> bool | None:
    """Whether anybody has a file open for writing, None where the kernel does not tell.

    A read lease is granted only where nobody has; it is given back at once. Somebody who opens the file in that moment
    waits for it. Source: Linux ``fcntl(2)``, F_SETLEASE.
    """
    try:
        descriptor = os.open(file.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if not file.is_of(os.fstat(descriptor)):
            return None
        # By default the kernel would announce such an opener by a signal that ends us.
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        return not _leased(descriptor)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _leased(descriptor: int) -> bool:
    """Whether a lease is granted, asking again for a moment: a file that was just closed is still being let go of."""
    for attempt in range(_ATTEMPTS):
        try:
            fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        except BlockingIOError:
            if attempt + 1 < _ATTEMPTS:
                time.sleep(_PAUSE_S)
        else:
            fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
            return True
    return False


def _processes() -> Iterator[str]:
    """Folders in /proc."""
    return (f"{mounts.PROC}/{name}" for name in os.listdir(mounts.PROC) if name.isdigit())  # noqa: PTH208


def _name(process: str) -> str:
    try:
        word = (Path(process) / "comm").read_text("utf-8", "replace").strip()
    except OSError:
        word = "ended"
    return f"process {Path(process).name} ({word})"


def _writes(process: str, file: File) -> bool:
    try:
        numbers = os.listdir(f"{process}/fd")  # noqa: PTH208 - several times quicker than paths
        return any(_is_writer(process, number, file) for number in numbers)
    except OSError:
        # It has ended, or is hidden from us.
        return False


def _is_writer(process: str, number: str, file: File) -> bool:
    try:
        if not os.readlink(f"{process}/fd/{number}").startswith("/"):  # noqa: PTH115
            return False
        with open(f"{process}/fdinfo/{number}", "rb") as told:  # noqa: PTH123
            facts = dict(line.split(b":", 1) for line in told.read().splitlines() if b":" in line)
    except OSError:
        return False
    if int(facts[b"flags"], 8) & os.O_ACCMODE == os.O_RDONLY or int(facts.get(b"ino", file.inode)) != file.inode:
        return False
    return file.is_at(f"{process}/fd/{number}")


def _maps(process: str, file: File) -> bool:
    try:
        with open(f"{process}/maps", "rb") as told:  # noqa: PTH123
            text = told.read()
    except OSError:
        return False
    if not file.inode or b" %d " % file.inode not in text:
        return False
    pattern = rb"^0*([0-9a-f]+-)0*([0-9a-f]+) \S+ \S+ ([0-9a-f]+:[0-9a-f]+) %d " % file.inode
    found = re.findall(pattern, text, re.MULTILINE)
    return any(_is_mapping(process, (low + high).decode(), device.decode(), file) for low, high, device in found)


def _is_mapping(process: str, place: str, device: str, file: File) -> bool:
    """Whether a mapping is of this file. The device in the table may be another than that of ``stat``, as on btrfs."""
    try:
        return file.is_of(os.stat(f"{process}/map_files/{place}"))  # noqa: PTH116
    except OSError:
        return device == f"{os.major(file.device):02x}:{os.minor(file.device):02x}"
