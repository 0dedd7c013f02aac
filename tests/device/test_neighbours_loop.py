"""I/O of another loop device on the same disk is counted to the byte, and is not taken for that of the drive."""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from assay.dut.real.identity import identify
from assay.dut.real.neighbours import neighbours
from assay.dut.real.sysfs import disk_of
from assay.dut.real.watch import DriveWatch

if TYPE_CHECKING:
    from assay.engine.records import NeighbourRecord
    from conftest import LoopDrive

MIB = 1 << 20


@pytest.fixture
def disk(tmp_path: Path) -> str:
    """The whole disk that the files of this test lie on."""
    found = disk_of(tmp_path.stat().st_dev)
    if found is None:
        pytest.skip("SKIPPED: needs a file system on one block device for temporary files")
    return found.whole().name


def read_through(path: str, count: int) -> None:
    """Read the first MiBs of a device past the page cache."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECT)
    with mmap.mmap(-1, MIB) as buffer:
        for index in range(count):
            assert os.preadv(descriptor, [buffer], index * MIB) == MIB
    os.close(descriptor)


def counted(watch: DriveWatch, name: str) -> list[NeighbourRecord]:
    assert watch.record
    assert watch.record.neighbours
    assert name not in watch.record.neighbours.uncounted
    return [one for one in watch.record.neighbours.moved if one.name == name]


def test_another_loop_device_on_the_same_disk_is_counted_to_the_byte(loop_drive: LoopDrive, disk: str) -> None:
    target, other = loop_drive(16 * MIB), loop_drive(16 * MIB)
    identity, name = identify(target, file_target=False), Path(other).name
    shared = {near.name: (near.shared, near.by) for near in neighbours(identity)}
    assert shared[name] == ("disk", disk)
    assert not {disk, Path(target).name} & shared.keys(), "its own I/O is counted there"
    with DriveWatch(identity) as watch:
        watch.begin()
        read_through(target, 3)
        watch.finished([])
        assert counted(watch, name) == []
        watch.begin()
        read_through(target, 3)
        read_through(other, 5)
        watch.finished([])
    (found,) = counted(watch, name)
    assert (found.read_bytes, found.write_bytes, found.write_count) == (5 * MIB, 0, 0)
    assert found.read_count >= 5


def test_a_loop_device_in_memory_shares_nothing(loop_drive: LoopDrive, loop_drive_in_memory: LoopDrive) -> None:
    target, other = loop_drive(16 * MIB), loop_drive_in_memory(16 * MIB)
    names = {near.name for near in neighbours(identify(target, file_target=False))}
    assert Path(other).name not in names
