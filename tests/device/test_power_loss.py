"""Power is lost below the store: the file system of the run folder is shut down under it, without a flush.

What a run had said to be stored is there after the next mount, and no rule of `assay verify` is broken by what is.
``make soak`` does it 50 times on each file system.
"""

from __future__ import annotations

import errno
import fcntl
import os
import random
import select
import struct
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import acknowledged_run
import pytest
from assay.archive.verify import verify_run
from assay.errors import StoreError
from assay.run.store.read import read_run
from conftest import HANG_S, allocate, command, find_loop

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.long

LOSSES, FEW_LOSSES = 50, 2
SIZE = 320 << 20
"""The smallest xfs has 300 MiB."""
SHUT_DOWN, WITHOUT_FLUSH = 0x8004587D, 2
"""The call that xfs and ext4 have for this, and its way that leaves the log in memory unwritten."""
NUMBERS = [*range(FEW_LOSSES), *(pytest.param(number, marks=pytest.mark.soak) for number in range(FEW_LOSSES, LOSSES))]


@contextmanager
def file_system(kind: str, folder: Path) -> Iterator[str]:
    """An empty file system on a loop device of its own, by the device."""
    image = allocate(folder / "store.img", SIZE)
    device = find_loop(str(image))
    try:
        command(f"mkfs.{kind}", "-q", device)
        yield device
    finally:
        command("losetup", "--detach", device)


@contextmanager
def mounted(device: str, at: Path) -> Iterator[None]:
    """A device at a folder; also where it was shut down meanwhile. Afterwards nobody has it mounted.

    A mount namespace that others made meanwhile keeps its copy of the mount, and with it a system that is shut down.
    """
    command("mount", device, str(at))
    try:
        yield
    finally:
        command("umount", str(at))
        deadline = time.monotonic() + HANG_S
        while is_claimed(device):
            assert time.monotonic() < deadline
            time.sleep(0.1)


def is_claimed(device: str) -> bool:
    try:
        os.close(os.open(device, os.O_RDWR | os.O_EXCL))
    except OSError as error:
        return error.errno == errno.EBUSY
    return False


def shut_down(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.ioctl(descriptor, SHUT_DOWN, struct.pack("I", WITHOUT_FLUSH))
    finally:
        os.close(descriptor)


def said(lines: list[bytes]) -> int:
    """How many sequences a run said were stored."""
    return max((int(line) for line in lines if line.strip() not in {b"begun", b""}), default=0)


@pytest.mark.skipif(os.geteuid() != 0, reason="SKIPPED: mounting a file system needs root")
@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("kind", ["ext4", "xfs"])
def test_power_lost_below_the_store_costs_the_sequence_in_flight_at_most(
    kind: str, number: int, tmp_path: Path
) -> None:
    draw = random.Random(number)  # noqa: S311 - the same every time
    store = tmp_path / "store"
    store.mkdir()
    with file_system(kind, tmp_path) as device:
        with mounted(device, store):
            program = [sys.executable, acknowledged_run.__file__, str(store / "run"), str(number)]
            with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                assert process.stdout
                before = [process.stdout.readline() for _ in range(draw.randrange(2, 14))]
                select.select([], [], [], draw.random() / 10)
                shut_down(store)
                errors = process.communicate(timeout=HANG_S)[1]
            assert process.returncode in {StoreError.exit_code, 0}, errors
        with mounted(device, store):
            found = verify_run(store / "run")
            assert (found.answers, found.unchecked) == ((), ())
            assert sum(len(test.sequences) for test in read_run(store / "run").tests) >= said(before)
