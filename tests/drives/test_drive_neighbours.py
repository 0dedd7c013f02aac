"""What shares a controller with an emulated drive is known, and its I/O is counted to the byte."""

import mmap
import os
from pathlib import Path

from assay.dut.real.neighbours import neighbours
from assay.dut.real.watch import DriveWatch
from assay.engine.pattern import leading_range
from assay.engine.records import StopRule
from emulated import CAPACITY, MIB, Control, FindDrive, held, step

COUNT = 8


def read_directly(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECT)
    with mmap.mmap(-1, MIB) as buffer:
        for index in range(COUNT):
            assert os.preadv(descriptor, [buffer], index * MIB) == MIB
    os.close(descriptor)


def test_io_of_another_namespace_is_counted_to_the_byte(drive: FindDrive, control: Control) -> None:
    found = drive("Q-NVME-TWIN")
    (near,) = [one for one in neighbours(found) if one.shared == "subsystem"]
    control.say(f"{found.path} shares {near.shared} {near.by} with {near.name}; all: {neighbours(found)}")
    with held(found) as (_, stimulus, _), DriveWatch(found) as watch:
        watch.begin()
        records = stimulus.run([step(StopRule(io_count=100), leading_range(CAPACITY))])
        read_directly(f"/dev/{near.name}")
        watch.finished(records)
    assert watch.record
    assert watch.record.neighbours
    (moved,) = [one for one in watch.record.neighbours.moved if one.name == near.name]
    assert (moved.read_bytes, moved.write_bytes) == (COUNT * MIB, 0)


def test_disks_of_one_host_adapter_share_it_and_a_drive_with_a_slot_of_its_own_shares_nothing(
    drive: FindDrive, control: Control
) -> None:
    scsi, fixed, alone = (drive(f"Q-{name}") for name in ("SCSI", "SCSI-FIXED", "NVME-A"))
    shared = {one.name: one.shared for one in neighbours(scsi)}
    control.say(f"{scsi.path}: {shared}; {alone.path}: {neighbours(alone)}")
    assert shared[Path(fixed.path).name] == "controller"
    assert Path(drive("Q-SATA").path).name not in shared
    assert neighbours(alone) == ()


def test_the_paths_of_a_namespace_are_no_neighbours_of_it(drive: FindDrive) -> None:
    assert neighbours(drive("Q-NVME-PATHS")) == ()
