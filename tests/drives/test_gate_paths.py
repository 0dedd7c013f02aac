"""Drives that QEMU alone emulates so far: with two paths, with zones, write-protected, of other blocks, behind USB."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from assay.dut.real.gate import refusals
from assay.dut.real.identity import disks
from assay.errors import AssayError
from emulated import CAPACITY, held
from stacked import SECTORS, assert_each_refuses, mapped, usb_disk

if TYPE_CHECKING:
    from emulated import FindDrive


def test_two_controllers_of_one_subsystem_are_one_drive(drive: FindDrive) -> None:
    found = drive("Q-NVME-PATHS")
    assert [one.path for one in disks() if one.serial == "Q-NVME-PATHS"] == [found.path]
    controllers = [
        path for path in Path(f"/sys/block/{Path(found.path).name}/device/").glob("nvme*") if path.is_symlink()
    ]
    assert len(controllers) == 2
    assert (found.id, found.capacity_bytes, refusals(found)) == ("Q-NVME-PATHS", CAPACITY, ())
    with held(found) as (opened, *_):
        opened.verify()


def test_two_paths_of_one_disk_are_refused_as_they_cannot_be_told_apart(
    drive: FindDrive, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = drive("Q-SCSI-PATHS")
    (other,) = [one.path for one in disks() if one.serial == found.serial and one.path != found.path]
    assert_each_refuses(found, {"twins": f"same identity 'Q-SCSI-PATHS' as {other}"}, monkeypatch)


def test_a_multipath_device_over_both_paths_is_a_drive(drive: FindDrive) -> None:
    paths = sorted(one.path for one in disks() if one.serial == drive("Q-SCSI-PATHS").serial)
    table = f"0 {SECTORS} multipath 0 0 1 1 round-robin 0 2 1 {paths[0]} 1 {paths[1]} 1"
    with mapped("assay-paths", table) as found:
        name = found.path.removeprefix("/dev/")
        assert refusals(drive("Q-SCSI-PATHS")) == (f"held by {name}",)
        with held(found) as (opened, *_):
            opened.verify()


def test_a_zoned_drive_is_refused(drive: FindDrive, monkeypatch: pytest.MonkeyPatch) -> None:
    found = drive("Q-NVME-ZONED")
    assert refusals(found) == ("is zoned (host-managed): random writes are not possible",)
    assert_each_refuses(found, {"zoned": "is zoned"}, monkeypatch)


def test_a_write_protected_disk_is_refused(drive: FindDrive, monkeypatch: pytest.MonkeyPatch) -> None:
    found = drive("Q-SCSI-FIXED")
    assert refusals(found) == ("read-only: the kernel refuses writes",)
    with pytest.raises(AssayError, match="read-only: the kernel refuses writes"), held(found):
        pass
    monkeypatch.setattr("assay.dut.real.gate.entry._read_only", lambda _: ())
    # The kernel itself refuses to open it for writing.
    with pytest.raises(AssayError, match="cannot be written"), held(found):
        pass


@pytest.mark.parametrize(
    ("serial", "interface", "block_bytes"),
    [
        ("Q-NVME-4KN", "NVMe (pcie)", 4096),
        ("Q-NVME-PROTECTED", "NVMe (pcie)", 512),
    ],
)
def test_drives_of_other_blocks_are_let_in(drive: FindDrive, serial: str, interface: str, block_bytes: int) -> None:
    found = drive(serial)
    assert (found.id, found.interface, found.logical_block_bytes) == (serial, interface, block_bytes)
    assert found.capacity_bytes > 0.9 * CAPACITY
    assert refusals(found) == ()
    with held(found) as (opened, *_):
        opened.verify()


def test_a_disk_behind_usb_has_no_serial_and_is_known_for_this_boot() -> None:
    found = usb_disk()
    assert (found.serial, found.id.split(":")[0], found.interface) == (None, "disk", "USB")
    assert refusals(found) == ()
    with held(found) as (opened, *_):
        opened.verify()
