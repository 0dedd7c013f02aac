"""The gate and what only a kernel with device mapper can build upon a drive."""

import subprocess

import pytest
from assay.bench import Answers, hold_drive
from assay.device.gate import refusals
from assay.device.identity import identify
from assay.errors import DriveBusyError
from emulated import FindDrive, held

NAME = "assay-gate-test"


def dmsetup(*arguments: str) -> None:
    subprocess.run(["/usr/sbin/dmsetup", "--noudevsync", "--noudevrules", *arguments], check=True)


def test_a_drive_that_a_mapped_device_holds_is_refused_and_free_again_without_it(drive: FindDrive) -> None:
    found = drive("Q-SCSI")
    dmsetup("create", NAME, "--table", f"0 2048 linear {found.path} 4096")
    try:
        (reason,) = refusals(found)
        assert reason.startswith("held by dm-")
        with pytest.raises(DriveBusyError, match="held by dm-"), held(found):
            pass
    finally:
        dmsetup("remove", NAME)
    with held(found) as (opened, _, _):
        opened.verify()


def test_a_mapped_device_is_a_drive_of_its_own(drive: FindDrive) -> None:
    found = drive("Q-SCSI")
    dmsetup("create", NAME, "--table", f"0 8192 linear {found.path} 4096")
    try:
        reason = refusals(found)[0]
        mapped = identify(f"/dev/{reason.removeprefix('held by ')}", file_target=False)
        answers = Answers(confirmation=mapped.id)
        with hold_drive(mapped, answers, needed_bytes=0, thread_count=1, transfer_bytes_max=4096, seed=1) as (
            open_,
            *_,
        ):
            open_.verify()
    finally:
        dmsetup("remove", NAME)
