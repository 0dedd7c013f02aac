"""Arrays of MD: their members belong to them, and they are other drives once their members change."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from assay.dut.real.gate import refusals
from assay.dut.real.identity import identify
from assay.dut.real.user_watch import check_unchanged
from assay.errors import DriveChangedError, IdentityError
from emulated import held
from stacked import assert_each_refuses, blank_after, opened_by_another, run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import DriveIdentity
    from emulated import FindDrive

NODE = "/dev/md7"
SIZE_KIB = 65536


def create(*members: DriveIdentity) -> None:
    options = ["--level=1", f"--raid-devices={len(members)}", f"--size={SIZE_KIB}", "--metadata=1.2", "--bitmap=none"]
    run("mdadm", "--create", NODE, *options, "--assume-clean", "--run", *(one.path for one in members))


@contextmanager
def mirrored(*members: DriveIdentity) -> Iterator[DriveIdentity]:
    """An array of drives that mirror each other, with a part of their capacity."""
    with blank_after(*members):
        create(*members)
        try:
            yield identify(NODE, file_target=False)
        finally:
            run("mdadm", "--stop", NODE)


def test_a_member_is_refused_by_each_rule_and_the_array_is_a_drive(
    drive: FindDrive, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = drive("Q-SATA"), drive("Q-SCSI")
    with mirrored(one, other) as array:
        name = array.path.removeprefix("/dev/")
        # A rule that was taken away by another test stands last in its table.
        assert set(refusals(one)) == {f"member of {name}", f"held by {name}"} == set(refusals(other))
        assert refusals(array) == ()
        with held(array) as (opened, *_):
            opened.verify()
        rules = {"md": f"member of {name}", "holders": f"held by {name}", "exclusive": "busy"}
        assert_each_refuses(one, rules, monkeypatch, signatures=frozenset({"linux_raid_member"}))


def test_an_array_is_refused_where_somebody_writes_a_member(drive: FindDrive) -> None:
    one, other = drive("Q-SATA"), drive("Q-SCSI")
    with mirrored(one, other) as array, opened_by_another(other.path) as process:
        lower = other.path.removeprefix("/dev/")
        assert refusals(array) == (f"md7 stands on {lower}, which is open for writing by process {process} (sh)",)


def test_an_inactive_array_keeps_its_member(drive: FindDrive) -> None:
    one, other = drive("Q-SATA"), drive("Q-SCSI")
    with blank_after(one, other):
        create(one, other)
        run("mdadm", "--stop", NODE)
        run("mdadm", "--incremental", one.path)
        try:
            assert "inactive" in Path("/proc/mdstat").read_text("utf-8")
            assert set(refusals(one)) == {"member of md7", "held by md7"}
            assert refusals(other) == ()
        finally:
            run("mdadm", "--stop", "--scan")


def test_an_array_that_loses_a_member_is_another_drive(drive: FindDrive) -> None:
    one, other = drive("Q-SATA"), drive("Q-SCSI")
    with mirrored(one, other) as array, held(array) as (opened, *_):
        opened.verify()
        run("mdadm", NODE, "--fail", other.path)
        run("mdadm", NODE, "--remove", other.path)
        gone = Path(one.path).name
        with pytest.raises(IdentityError, match=f"stands on {gone} now, no longer on"):
            opened.verify()


def test_an_array_that_grows_is_another_drive_by_its_size_or_its_members(drive: FindDrive) -> None:
    one, other = drive("Q-SATA"), drive("Q-SCSI")
    with mirrored(one, other) as array, held(array) as (opened, *_):
        run("mdadm", "--grow", NODE, f"--size={2 * SIZE_KIB}")
        with pytest.raises(DriveChangedError, match="its size changed from 67,108,864 to 134,217,728 bytes"):
            check_unchanged(opened)
    with mirrored(one, other) as array, held(array) as (opened, *_):
        run("mdadm", "--grow", NODE, "--raid-devices=3", "--force")
        with pytest.raises(IdentityError, match="md7 changed: raid_disks from 2 to 3"):
            opened.verify()
