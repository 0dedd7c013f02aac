"""Looking again while a file is held: who comes to write ends the run, and each look comes when it is due."""

from __future__ import annotations

import os
import subprocess
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from assay.dut.real.gate import Asking, OpenDrive, open_drive
from assay.dut.real.identity import identify
from assay.dut.real.user_watch import LOOK_EVERY_NS, UserWatch
from assay.errors import DriveChangedError
from assay.spec.units import SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SIZE_BYTES = 1 << 20


@pytest.fixture
def held(tmp_path: Path) -> Iterator[OpenDrive]:
    path = tmp_path / "target.img"
    with path.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, SIZE_BYTES)
    drive = identify(str(path), file_target=True)
    with open_drive(drive, confirmation=drive.id, acknowledged_signatures=frozenset(), needed_bytes=0) as opened:
        yield opened


def watching(held: OpenDrive, now: list[int]) -> UserWatch:
    asking = Asking(identity=held.identity, held=held.fd)
    return UserWatch(held, asking, frozenset(), clock=lambda: now[0])


@contextmanager
def holding(path: str, flags: int) -> Iterator[int]:
    """A process that has a file open; its number."""
    descriptor = os.open(path, flags | os.O_CLOEXEC)
    with subprocess.Popen(["/bin/sleep", "600"], stdout=descriptor) as process:
        os.close(descriptor)
        try:
            yield process.pid
        finally:
            process.kill()


def test_a_process_that_comes_to_write_is_seen_with_the_time_of_the_last_good_look(held: OpenDrive) -> None:
    watch = watching(held, [0])
    watch.look_at_processes()
    good_ns = time.time_ns()
    with (
        holding(held.identity.path, os.O_WRONLY) as process,
        pytest.raises(DriveChangedError, match=rf"open for writing by process {process} \(") as changed,
    ):
        watch.look_at_processes()
    assert changed.value.since_wall_ns is not None
    assert changed.value.since_wall_ns < good_ns
    assert changed.value.exit_code == 4


def test_a_process_that_reads_in_two_looks_a_second_apart_is_noted_once(held: OpenDrive) -> None:
    watch = watching(held, [0])
    with holding(held.identity.path, os.O_RDONLY) as process:
        watch.look_at_processes()
        assert watch.record().arrivals == ()
        time.sleep(1)
        watch.look_at_processes()
        watch.look_at_processes()
    (arrival,) = watch.record().arrivals
    assert (arrival.process, arrival.name) == (process, "sleep")


def test_within_a_sequence_the_stack_is_looked_at_every_ten_seconds(held: OpenDrive) -> None:
    now = [0]
    watch = watching(held, now)
    for now[0] in range(0, 3 * LOOK_EVERY_NS + 1, SECOND_NS // 2):
        watch.during()
    assert watch.record().look_count == 3


def test_a_file_that_changes_its_size_is_another(held: OpenDrive) -> None:
    watch = watching(held, [0])
    os.truncate(held.identity.path, SIZE_BYTES * 2)
    with pytest.raises(
        DriveChangedError, match=r"its size changed from .* while it was tested; what ran since .* is void"
    ):
        watch.look()
