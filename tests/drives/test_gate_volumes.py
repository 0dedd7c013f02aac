"""Logical volumes: their drive belongs to them, and they are other drives once their extents lie elsewhere."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from assay.dut.real.gate import refusals
from assay.dut.real.identity import identify
from assay.dut.real.user_watch import check_unchanged
from assay.errors import DriveChangedError, IdentityError
from emulated import held
from stacked import blank_after, mapped_node, run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import DriveIdentity
    from emulated import FindDrive

GROUP, VOLUME = "assaygroup", "volume"
# The guest has no udev; without its answers each command waits for them.
_CONFIG = (
    "activation { udev_sync=0 udev_rules=0 monitoring=0 } "
    "devices { obtain_device_list_from_udev=0 external_device_info_source=none use_devicesfile=0 } "
    "global { event_activation=0 use_lvmpolld=0 }"
)


def lvm(*arguments: str) -> None:
    run("lvm", arguments[0], "--config", _CONFIG, *arguments[1:])


@contextmanager
def volume(*disks: DriveIdentity) -> Iterator[DriveIdentity]:
    """A volume of 32 MiB on the first of the drives, in a group of all of them."""
    with blank_after(*disks):
        lvm("vgcreate", "--yes", GROUP, *(disk.path for disk in disks))
        try:
            lvm("lvcreate", "--yes", "--wipesignatures=n", "--size=32m", f"--name={VOLUME}", GROUP, disks[0].path)
            yield identify(mapped_node(f"{GROUP}-{VOLUME}"), file_target=False)
        finally:
            lvm("vgremove", "--force", "--yes", GROUP)


def test_the_drive_of_a_volume_is_refused_and_the_volume_is_a_drive(drive: FindDrive) -> None:
    disk = drive("Q-SCSI")
    with volume(disk) as found:
        assert refusals(disk) == (f"held by {found.path.removeprefix('/dev/')}",)
        assert refusals(found) == ()
        with held(found) as (opened, *_):
            opened.verify()


def test_a_volume_that_is_extended_is_another_drive(drive: FindDrive) -> None:
    with volume(drive("Q-SCSI")) as found, held(found) as (opened, *_):
        opened.verify()
        lvm("lvextend", "--size=+32m", f"{GROUP}/{VOLUME}")
        with pytest.raises(DriveChangedError, match="its size changed from 33,554,432 to 67,108,864 bytes"):
            check_unchanged(opened)


def test_a_volume_that_is_moved_to_another_drive_is_another_one(drive: FindDrive) -> None:
    disks = drive("Q-SCSI"), drive("Q-SATA")
    with volume(*disks) as found, held(found) as (opened, *_):
        opened.verify()
        lvm("pvmove", "--interval=1", *(disk.path for disk in disks))
        names = [disk.path.removeprefix("/dev/") for disk in disks]
        with pytest.raises(IdentityError, match=f"stands on {names[1]} now, no longer on {names[0]}"):
            opened.verify()
