"""Processes with a drive open, on any node that leads to it: QEMU with a disk of a virtual machine, and other nodes."""

from __future__ import annotations

import os
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from assay.dut.real.gate import Asking, examined, refusals
from assay.dut.real.identity import disks, identify
from assay.dut.real.sysfs import disk_at
from assay.dut.real.user_watch import UserWatch
from assay.errors import DriveBusyError, DriveChangedError
from emulated import held
from stacked import assert_each_refuses, opened_by_another, program, usb_disk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.dut.real.gate import OpenDrive
    from assay.engine.records import DriveIdentity
    from emulated import FindDrive

NOBODY: frozenset[str] = frozenset()


@contextmanager
def opened_by_qemu(path: str, *options: str) -> Iterator[None]:
    """QEMU's block layer with a disk open, as a virtual machine has it: with its locks."""
    with subprocess.Popen(
        [program("qemu-io"), "-f", "raw", *options, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        try:
            assert process.stdin
            assert process.stdout
            process.stdin.write(b"length\n")
            process.stdin.flush()
            answer = b""
            while b"MiB" not in answer:
                part = os.read(process.stdout.fileno(), 4096)
                assert part, answer
                answer += part
            yield
        finally:
            process.kill()


@contextmanager
def second_node(found: DriveIdentity, folder: Path) -> Iterator[str]:
    """Another node of a drive, behind a link as udev makes it."""
    node, link = folder / "any-name", folder / "by-id"
    os.mknod(node, 0o060600, Path(found.path).stat().st_rdev)
    link.symlink_to(node)
    yield str(link)


def watched(found: DriveIdentity, opened: OpenDrive) -> UserWatch:
    return UserWatch(opened, Asking(identity=found, held=opened.fd), NOBODY)


def characters(found: DriveIdentity) -> list[str]:
    """Character devices that lead to a drive, by their names in ``/sys/dev/char``."""
    disk = disk_at(found.path)
    assert disk
    return sorted(Path(f"/sys/dev/char/{number}").resolve().name for number in disk.characters())


def test_a_disk_of_a_virtual_machine_is_refused_by_its_name_and_by_its_locks(
    drive: FindDrive, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = drive("Q-SATA")
    rules = {"writers": r"open for writing by process \d+ \(qemu-io\)", "range-lock": "is locked by another process"}
    with opened_by_qemu(found.path):
        assert_each_refuses(found, rules, monkeypatch)
    with held(found) as (opened, *_):
        opened.verify()


def test_a_disk_that_qemu_opened_by_another_node_is_refused(drive: FindDrive, tmp_path: Path) -> None:
    found = drive("Q-NVME-A")
    with second_node(found, tmp_path) as node, opened_by_qemu(node):
        (reason,) = refusals(found)
        assert reason.startswith("open for writing by process ")


def test_a_disk_that_qemu_only_reads_needs_its_name_and_is_refused_by_its_locks(drive: FindDrive) -> None:
    found = drive("Q-SCSI")
    with opened_by_qemu(found.path, "-r"):
        with pytest.raises(DriveBusyError, match=r"open for reading by .*--acknowledge reader:qemu-io;"), held(found):
            pass
        with (
            pytest.raises(DriveBusyError, match="is locked by another"),
            held(found, said=frozenset({"reader:qemu-io"})),
        ):
            pass


def test_a_process_that_only_reads_needs_its_name(drive: FindDrive) -> None:
    found = drive("Q-SCSI")
    with opened_by_another(found.path, writes=False):
        with pytest.raises(DriveBusyError, match="--acknowledge reader:sh;"), held(found):
            pass
        with held(found, said=frozenset({"reader:sh"})) as (opened, *_):
            opened.verify()


def test_qemu_that_opens_a_held_disk_by_another_node_is_seen(drive: FindDrive, tmp_path: Path) -> None:
    found = drive("Q-SCSI")
    with held(found) as (opened, *_), second_node(found, tmp_path) as node:
        watch = watched(found, opened)
        watch.look_at_processes()
        with opened_by_another(node) as process, pytest.raises(DriveChangedError, match=f"process {process} "):
            watch.look_at_processes()
        watch.look_at_processes()


@pytest.mark.parametrize(
    ("serial", "patterns"),
    [
        ("Q-NVME-A", ["ng*n1", "nvme*"]),
        ("Q-SATA", ["*:*:*:*", "sg*"]),
        ("Q-SCSI", ["*:*:*:*", "sg*"]),
        ("Q-NVME-PATHS", ["ng*n1", "nvme*", "nvme*"]),
    ],
)
def test_the_character_nodes_of_a_drive_are_users_of_it_and_of_no_other(
    drive: FindDrive, serial: str, patterns: list[str]
) -> None:
    assert_characters_lead_to(drive(serial), patterns)


def test_the_character_nodes_of_a_disk_behind_usb_are_users_of_it_and_of_no_other() -> None:
    assert_characters_lead_to(usb_disk(), ["*:*:*:*", "sg*"])


def assert_characters_lead_to(found: DriveIdentity, patterns: list[str]) -> None:
    names = characters(found)
    assert len(names) == len(patterns)
    assert all(Path(name).match(pattern) for name, pattern in zip(names, patterns, strict=True))
    for name in names:
        with opened_by_another(character_node(name)) as process:
            users = {one.path for one in disks() if any(f"process {process} " in reason for reason in refusals(one))}
        assert users == {found.path}, name
    assert refusals(found) == ()


def character_node(name: str) -> str:
    return f"/dev/bsg/{name}" if ":" in name else f"/dev/{name}"


def test_a_controller_is_of_all_its_namespaces_and_a_generic_node_of_its_own(drive: FindDrive) -> None:
    first = drive("Q-NVME-TWIN")
    second = identify(f"{first.path[:-1]}2", file_target=False)
    controller, generic = first.path.removesuffix("n1"), first.path.replace("nvme", "ng")
    names = [Path(controller).name, Path(generic).name]
    assert characters(first) == sorted(names)
    assert characters(second) == sorted([names[0], f"{names[1][:-1]}2"])
    with opened_by_another(generic):
        assert refusals(first)
        assert refusals(second) == ()
    with opened_by_another(controller):
        assert refusals(first)
        assert refusals(second)


def test_a_character_node_that_is_opened_while_the_drive_is_held_is_seen(
    drive: FindDrive, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = drive("Q-NVME-A")
    generic = found.path.replace("nvme", "ng")
    with held(found) as (opened, *_):
        watch = watched(found, opened)
        with opened_by_another(generic):
            with pytest.raises(DriveChangedError, match=r"open for writing by process \d+ \(sh\)"):
                watch.look_at_processes()
            monkeypatch.setattr(type(disk_at(found.path)), "characters", lambda _: set())
            watch.look_at_processes()


def test_a_reader_of_a_character_node_needs_its_name(drive: FindDrive) -> None:
    found = drive("Q-SCSI")
    (generic,) = [name for name in characters(found) if name.startswith("sg")]
    with opened_by_another(f"/dev/{generic}", writes=False):
        # A program such as smartd keeps no node open; one that does is asked about once, and then again.
        assert examined(found).refusals == ()
        with pytest.raises(DriveBusyError, match="--acknowledge reader:sh;"), held(found):
            pass
