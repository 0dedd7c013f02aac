"""The gate and what only a kernel with device mapper can build upon a drive."""

import os
import subprocess
from pathlib import Path

import pytest
from assay.dut.dut import Answers, hold_drive
from assay.dut.real.gate import refusals
from assay.dut.real.identity import identify
from assay.errors import DriveBusyError
from emulated import FindDrive, held

NAME = "assay-gate-test"


def run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def dmsetup(*arguments: str) -> None:
    run("/usr/sbin/dmsetup", "--noudevsync", "--noudevrules", *arguments)


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


def test_a_mapped_device_whose_disk_is_used_otherwise_is_refused(drive: FindDrive) -> None:
    found = drive("Q-SCSI")
    dmsetup("create", NAME, "--table", f"0 8192 linear {found.path} 4096")
    try:
        mapped = identify(f"/dev/{refusals(found)[0].removeprefix('held by ')}", file_target=False)
        assert refusals(mapped) == ()
        dmsetup("create", f"{NAME}-2", "--table", f"0 8192 linear {found.path} 16384")
        try:
            (reason,) = refusals(mapped)
            disk, name = Path(found.path).name, Path(mapped.path).name
            assert reason.startswith(f"{name} stands on {disk}, which is held by dm-")
        finally:
            dmsetup("remove", f"{NAME}-2")
    finally:
        dmsetup("remove", NAME)


def test_a_loop_device_upon_a_mapped_device_that_somebody_holds_is_refused(drive: FindDrive) -> None:
    found = drive("Q-SCSI")
    dmsetup("create", NAME, "--table", f"0 8192 linear {found.path} 4096")
    try:
        mapped = f"/dev/{refusals(found)[0].removeprefix('held by ')}"
        node = run("/usr/sbin/losetup", "--find", "--show", mapped)
        try:
            upper = identify(node, file_target=False)
            assert refusals(upper) == ()
            holder = os.open(mapped, os.O_RDONLY | os.O_EXCL)
            try:
                (reason,) = refusals(upper)
                assert reason.startswith(f"{Path(node).name} stands on {Path(mapped).name}, which is busy")
            finally:
                os.close(holder)
        finally:
            run("/usr/sbin/losetup", "--detach", node)
    finally:
        dmsetup("remove", NAME)
