"""A loop device over a file in memory, for benchmarks that need a real block device."""

from __future__ import annotations

import os
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

LOSETUP = "/usr/sbin/losetup"


@contextmanager
def loop_device(size_bytes: int, *, sector_bytes: int = 512) -> Iterator[str]:
    """The node of a fresh loop device with direct I/O; gone with its memory afterwards.

    size_bytes : a multiple of sector_bytes. sector_bytes : its logical block, 512 or 4096.
    Raises CalledProcessError where none is to be had, OSError where the memory is not.
    """
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        image = Path(folder) / "image"
        # Nobody keeps it open: the gate would refuse what stands on it.
        with image.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, size_bytes)
        with attached(str(image), sector_bytes=sector_bytes) as path:
            yield path


@contextmanager
def attached(file: str, *, sector_bytes: int = 512) -> Iterator[str]:
    """The node of a loop device over a file that is there, with direct I/O; detached afterwards.

    Raises CalledProcessError where none is to be had.
    """
    command = [LOSETUP, "--find", "--show", "--direct-io=on", f"--sector-size={sector_bytes}", file]
    path = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    try:
        yield path
    finally:
        subprocess.run([LOSETUP, "--detach", path], check=True)
