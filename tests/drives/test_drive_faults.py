"""Drives that fail, vanish or shrink in the middle of a step: counted by errno, and part of no figure."""

import errno
import threading
import time

import pytest
from assay.dut.real.identity import identify
from assay.engine.pattern import leading_range
from assay.engine.records import ActiveRange, StopRule
from assay.engine.stimulus import ERROR_LIMIT
from assay.errors import AssayError, DriveNotFoundError
from emulated import CAPACITY, KIB, MIB, Control, FindDrive, assert_only_whole_ios_count, held, io_count, step

SECOND = 10**9
STEP_SECONDS = 6
# The kernel itself waits 30 s for an NVMe I/O and 60 s for an admin command.
LIMIT_SECONDS = 150
BAD_LBA_AT = MIB


@pytest.mark.parametrize("read_share", [1.0, 0.0])
def test_a_drive_removed_in_mid_run_ends_the_step_by_errors(
    drive: FindDrive, control: Control, read_share: float
) -> None:
    found = drive("Q-NVME-A")
    sequence = [step(StopRule(time_ns=STEP_SECONDS * SECOND), leading_range(CAPACITY), read_share=read_share)] * 2
    removal = threading.Timer(1.5, control.remove, ["nvme-a"])
    try:
        with held(found) as (opened, stimulus, _):
            begun = time.monotonic()
            removal.start()
            records = stimulus.run(sequence)
            took = time.monotonic() - begun
            removal.join()
            with pytest.raises(AssayError):
                opened.verify()
        with pytest.raises(DriveNotFoundError):
            identify(found.path, file_target=False)
    finally:
        removal.join()
        control.insert("nvme-a")
    assert took < LIMIT_SECONDS
    assert records[-1].ended in {"errors", "hung"}
    broken = records[0]
    direction = broken.read if read_share else broken.write
    assert io_count(direction), "it worked before it was removed"
    assert_only_whole_ios_count(broken)
    control.say(f"removed after {io_count(direction)} I/Os: {broken.ended}, errors {direction.errors}, {took:.1f} s")
    assert sum(direction.errors.values()) >= (ERROR_LIMIT if broken.ended == "errors" else 1)
    # Not one of the answers of nothing at all, which take a microsecond, is an I/O.
    assert direction.latency_ns_min
    assert direction.latency_ns_min > 5_000


def test_a_media_error_is_an_errno_and_never_an_io(drive: FindDrive) -> None:
    found = drive("Q-NVME-BAD")
    bad = ActiveRange(segment_starts=(BAD_LBA_AT,), segment_bytes=4 * KIB)
    with held(found) as (_, stimulus, _):
        record = stimulus.run([step(StopRule(io_count=50), bad)])[0]
    assert record.read.errors == {errno.ENODATA: 50}
    assert (io_count(record.read), record.read.latency_ns_max) == (0, None)


def test_one_bad_block_among_good_ones_takes_only_its_own_ios(drive: FindDrive) -> None:
    found = drive("Q-NVME-BAD")
    around = ActiveRange(segment_starts=(BAD_LBA_AT - 16 * KIB,), segment_bytes=64 * KIB)
    with held(found) as (_, stimulus, _):
        record = stimulus.run([step(StopRule(io_count=500), around)])[0]
    assert set(record.read.errors) == {errno.ENODATA}
    # One block in sixteen: 31 of 500 expected, five standard deviations to each side.
    assert 4 <= record.read.errors[errno.ENODATA] <= 58
    assert io_count(record.read) + record.read.errors[errno.ENODATA] == 500
    assert_only_whole_ios_count(record)


def test_a_drive_that_shrinks_answers_with_nothing_and_nothing_is_no_io(drive: FindDrive, control: Control) -> None:
    found = drive("Q-SCSI")
    try:
        with held(found) as (opened, stimulus, _):
            control.resize("scsi", CAPACITY // 2)
            record = stimulus.run([step(StopRule(io_count=5_000), leading_range(CAPACITY))])[0]
            with pytest.raises(AssayError, match="size changed"):
                opened.verify()
    finally:
        control.resize("scsi", CAPACITY)
    assert record.ended == "errors"
    assert set(record.read.errors) == {errno.EIO}
    assert io_count(record.read)
    assert_only_whole_ios_count(record)
