"""Mapped devices that are turned to another drive while they are held: name, size and number stay."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from assay.errors import IdentityError
from emulated import held
from stacked import SECTORS, dmsetup, load_table, mapped

if TYPE_CHECKING:
    from assay.engine.records import DriveIdentity
    from emulated import FindDrive

NAME = "assay-turned"
KEY, OTHER_KEY = "11" * 32, "22" * 32


def part(drive: DriveIdentity, offset: int) -> str:
    """The table of a part of a drive."""
    return f"0 {SECTORS} linear {drive.path} {offset}"


def encrypted(drive: DriveIdentity, key: str) -> str:
    """The table of an encrypted part of a drive."""
    return f"0 {SECTORS} crypt aes-cbc-plain64 {key} 0 {drive.path} 4096"


def test_a_mapped_device_of_another_part_is_another_drive_though_nothing_else_shows_it(drive: FindDrive) -> None:
    disk = drive("Q-SCSI")
    with mapped(NAME, part(disk, 4096)) as found, held(found) as (opened, *_):
        opened.verify()
        load_table(NAME, part(disk, 4096))
        opened.verify()
        load_table(NAME, part(disk, 16384))
        with pytest.raises(IdentityError, match=r"dm-\d+ changed: table from 0 8192 linear \S+ 4096 to .* 16384"):
            opened.verify()
        opened.stack = None
        opened.verify()


def test_a_mapped_device_of_another_disk_is_another_drive(drive: FindDrive) -> None:
    disk, other = drive("Q-SCSI"), drive("Q-SATA")
    with mapped(NAME, part(disk, 4096)) as found, held(found) as (opened, *_):
        load_table(NAME, part(other, 4096))
        names = [one.path.removeprefix("/dev/") for one in (other, disk)]
        with pytest.raises(IdentityError, match=f"stands on {names[0]} now, no longer on {names[1]}"):
            opened.verify()


def test_a_mapped_device_over_another_level_is_another_drive(drive: FindDrive) -> None:
    disk = drive("Q-SCSI")
    with (
        mapped(f"{NAME}-below", part(disk, 4096)) as below,
        mapped(NAME, f"0 {SECTORS} linear {below.path} 0") as found,
        held(found) as (opened, *_),
    ):
        load_table(f"{NAME}-below", part(disk, 16384))
        name = below.path.removeprefix("/dev/")
        with pytest.raises(IdentityError, match=f"{name} changed: table from"):
            opened.verify()


def test_a_changed_key_is_seen_and_not_shown(drive: FindDrive) -> None:
    disk = drive("Q-SCSI")
    with mapped(NAME, encrypted(disk, KEY)) as found, held(found) as (opened, *_):
        assert KEY not in repr(opened.stack)
        opened.verify()
        load_table(NAME, encrypted(disk, OTHER_KEY))
        with pytest.raises(IdentityError, match=r"changed: table from 0 8192 crypt \w+ to 0 8192 crypt \w+") as refused:
            opened.verify()
        assert not re.search(f"{KEY}|{OTHER_KEY}", str(refused.value))


def test_a_path_that_fails_is_no_other_drive(drive: FindDrive) -> None:
    paths = [drive(serial).path for serial in ("Q-SCSI", "Q-SATA")]
    table = f"0 {SECTORS} multipath 0 0 1 1 round-robin 0 2 1 {paths[0]} 1 {paths[1]} 1"
    with mapped(NAME, table) as found, held(found) as (opened, *_):
        dmsetup("message", NAME, "0", f"fail_path {paths[0]}")
        opened.verify()
