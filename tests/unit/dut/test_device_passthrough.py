"""The character device of a namespace, and what fits into one of its commands, on a sysfs tree made up for the test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from assay.dut.real.gate import OpenDrive, open_passthrough
from assay.dut.real.transport import check_passthrough_transfer, passthrough_node
from assay.engine.records import DriveIdentity
from assay.errors import IdentityError, NotADriveError, ValueRangeError
from assay.spec.units import KIB, MIB

if TYPE_CHECKING:
    from pathlib import Path


def drive(path: str = "/dev/nvme0n1", kind: str = "block") -> DriveIdentity:
    return DriveIdentity(id="x", path=path, kind=kind, capacity_bytes=1, logical_block_bytes=512)


@pytest.fixture
def sysfs(tmp_path: Path) -> Path:
    """One controller with one namespace; a transfer has 512 KiB or 127 segments at most."""
    controller = tmp_path / "devices/nvme/nvme0"
    queue = controller / "nvme0n1/queue"
    for folder in (queue, controller / "ng0n1", tmp_path / "block", tmp_path / "kernel/mm/transparent_hugepage"):
        folder.mkdir(parents=True)
    (tmp_path / "block/nvme0n1").symlink_to(controller / "nvme0n1")
    (controller / "ng0n1/dev").write_text("245:3\n")
    (queue / "max_hw_sectors_kb").write_text("512\n")
    (queue / "max_segments").write_text("127\n")
    set_huge_pages(tmp_path, "always [madvise] never")
    return tmp_path


def set_huge_pages(sysfs: Path, choice: str) -> None:
    (sysfs / "kernel/mm/transparent_hugepage/enabled").write_text(choice + "\n")


def test_the_character_device_lies_beside_the_block_device(sysfs: Path) -> None:
    assert passthrough_node(drive(), sysfs=sysfs) == ("/dev/ng0n1", "245:3")


@pytest.mark.parametrize("other", [drive("/dev/sda"), drive("/srv/nvme0n1", "file"), drive("/dev/nvme0n1p1")])
def test_a_drive_that_takes_no_nvme_commands_is_refused(sysfs: Path, other: DriveIdentity) -> None:
    with pytest.raises(NotADriveError, match="takes no NVMe commands"):
        passthrough_node(other, sysfs=sysfs)


def test_a_kernel_without_character_devices_is_named(sysfs: Path) -> None:
    (sysfs / "devices/nvme/nvme0/ng0n1/dev").unlink()
    with pytest.raises(NotADriveError, match=r"has no character device ng0n1: Linux 5\.13"):
        passthrough_node(drive(), sysfs=sysfs)


def test_a_transfer_that_the_drive_does_not_take_in_one_command_is_refused_with_the_limit(sysfs: Path) -> None:
    check_passthrough_transfer(drive(), 512 * KIB, sysfs=sysfs)
    with pytest.raises(ValueRangeError, match=r"1024 KiB exceed the 512 KiB of a command \(max_hw_sectors_kb\)"):
        check_passthrough_transfer(drive(), MIB, sysfs=sysfs)


def test_without_huge_pages_every_segment_is_a_page(sysfs: Path) -> None:
    set_huge_pages(sysfs, "always madvise [never]")
    check_passthrough_transfer(drive(), 508 * KIB, sysfs=sysfs)
    with pytest.raises(ValueRangeError, match=r"512 KiB exceed the 508 KiB of a command \(max_segments"):
        check_passthrough_transfer(drive(), 512 * KIB, sysfs=sysfs)


def test_a_command_counts_its_blocks_in_sixteen_bits(sysfs: Path) -> None:
    (sysfs / "devices/nvme/nvme0/nvme0n1/queue/max_hw_sectors_kb").write_text("65536\n")
    check_passthrough_transfer(drive(), 32 * MIB, sysfs=sysfs)
    with pytest.raises(ValueRangeError, match=r"32768 KiB of a command \(65,536 blocks"):
        check_passthrough_transfer(drive(), 32 * MIB + 512, sysfs=sysfs)


def test_a_drive_that_is_not_held_gets_no_commands() -> None:
    with (
        pytest.raises(IdentityError, match="is not held any more"),
        open_passthrough(OpenDrive(drive(), -1), transfer_bytes_max=4096),
    ):
        pass
