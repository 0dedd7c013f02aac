"""The gate refuses, one test per rule; after each refusal the image beneath the drive is byte for byte as before."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import struct
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from assay.dut.real.gate import OpenDrive, claim, facts, open_drive, refusals, system
from assay.dut.real.identity import identify
from assay.dut.real.preflight import list_drives
from assay.dut.real.sysfs import Disk
from assay.errors import (
    AssayError,
    ConfirmationError,
    DriveBusyError,
    IdentityError,
    NotADriveError,
    PartitionError,
    ReadOnlyError,
    SignatureError,
    TooSmallError,
)
from conftest import command, find_loop

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import DriveIdentity
    from conftest import LoopDrive

MIB = 1 << 20
SIZE_BYTES = 16 * MIB
SWAP_HEADER_BYTES = 4096


def block(path: str) -> DriveIdentity:
    return identify(path, file_target=False)


def try_open(
    drive: DriveIdentity,
    *,
    confirmation: str | None = "",
    signatures: frozenset[str] = frozenset(),
    needed: int = 0,
    acknowledged: frozenset[str] = frozenset(),
) -> OpenDrive:
    given = drive.id if confirmation == "" else confirmation
    return open_drive(
        drive,
        confirmation=given,
        acknowledged_signatures=signatures,
        needed_bytes=needed,
        acknowledged=acknowledged,
    )


def checksum(image: Path) -> str:
    return hashlib.sha256(image.read_bytes()).hexdigest()


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@contextlib.contextmanager
def untouched(image: Path) -> Iterator[None]:
    """The block inside leaves every byte of the image, and no descriptor open."""
    os.sync()
    before, descriptors = checksum(image), open_descriptors()
    yield
    os.sync()
    assert checksum(image) == before
    assert open_descriptors() == descriptors


def refused(drive: DriveIdentity, error: type[AssayError], image: Path, text: str, **options: object) -> None:
    with untouched(image), pytest.raises(error, match=text):
        try_open(drive, **options)  # type: ignore[arg-type]


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """The image of the first loop device of a test."""
    return tmp_path / "loop0.img"


@contextlib.contextmanager
def partitioned(node: str) -> Iterator[str]:
    """A disk with one partition of 8 MiB at 1 MiB; its node. The table is written by hand, the kernel told by partx."""
    entry = struct.pack("<B3sB3sII", 0, bytes(3), 0x83, bytes(3), 2048, 16384)
    with Path(node).open("r+b") as disk:
        disk.write(bytes(446) + entry + bytes(48) + b"\x55\xaa")
    try:
        command("partx", "--update", node)
    except (subprocess.CalledProcessError, FileNotFoundError) as error:
        pytest.skip(f"SKIPPED: the kernel or this system takes no partitions on loop devices: {error}")
    try:
        yield f"{node}p1"
    finally:
        command("partx", "--delete", node)


@contextlib.contextmanager
def mounted(node: str, folder: Path) -> Iterator[None]:
    command("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", node)
    folder.mkdir()
    command("mount", "-o", "noatime", node, str(folder))
    try:
        yield
    finally:
        command("umount", str(folder))


def test_opens_a_free_drive_with_its_identity(loop_drive: LoopDrive, image: Path) -> None:
    drive = block(loop_drive(SIZE_BYTES))
    assert drive.id == f"loop:{image.stat().st_ino}:{drive.diskseq}"
    assert drive.refusals == refusals(drive) == ()
    with untouched(image), try_open(drive, needed=SIZE_BYTES) as held:
        held.verify()
        assert held.identity == drive
        assert fcntl.fcntl(held.fd, fcntl.F_GETFL) & os.O_DIRECT
        with pytest.raises(OSError, match="busy"):
            os.close(os.open(drive.path, os.O_RDONLY | os.O_EXCL))


def test_lets_go_of_the_drive_at_the_end(loop_drive: LoopDrive) -> None:
    drive = block(loop_drive(SIZE_BYTES))
    held = try_open(drive)
    held.close()
    held.close()
    with try_open(drive):
        pass


def test_finds_the_drive_behind_a_link_and_a_second_node(loop_drive: LoopDrive, tmp_path: Path) -> None:
    node = loop_drive(SIZE_BYTES)
    link, second = tmp_path / "by-id", tmp_path / "node"
    link.symlink_to(node)
    os.mknod(second, 0o600 | 0o060000, Path(node).stat().st_rdev)
    assert block(str(link)).path == block(str(second)).path == node


def test_lists_a_loop_device_that_is_set_up_and_says_what_it_is_used_for(loop_drive: LoopDrive, tmp_path: Path) -> None:
    node = loop_drive(SIZE_BYTES)
    with mounted(node, tmp_path / "mnt"):
        found = {drive.path: drive for drive in list_drives()}
    assert found[node].capacity_bytes == SIZE_BYTES
    assert found[node].refusals == (f"mounted on {tmp_path / 'mnt'}",)


def test_refuses_a_mounted_drive(loop_drive: LoopDrive, image: Path, tmp_path: Path) -> None:
    drive = block(loop_drive(SIZE_BYTES))
    with mounted(drive.path, tmp_path / "mnt with blank"):
        refused(drive, DriveBusyError, image, "mounted on .*/mnt with blank")


def test_refuses_a_drive_with_a_mounted_partition(loop_drive: LoopDrive, image: Path, tmp_path: Path) -> None:
    drive = block(loop_drive(SIZE_BYTES))
    with partitioned(drive.path) as partition, mounted(partition, tmp_path / "mnt"):
        refused(drive, DriveBusyError, image, f"mounted on {tmp_path / 'mnt'}")


def test_refuses_a_partition_and_names_its_disk(loop_drive: LoopDrive, image: Path) -> None:
    node = loop_drive(SIZE_BYTES)
    with partitioned(node) as partition, untouched(image), pytest.raises(PartitionError, match=f"whole disk {node}"):
        block(partition)


def test_refuses_a_drive_that_is_swapped_to(loop_drive: LoopDrive, image: Path) -> None:
    drive = block(loop_drive(SIZE_BYTES))
    command("mkswap", drive.path)
    try:
        command("swapon", drive.path)
    except subprocess.CalledProcessError as error:
        pytest.skip(f"SKIPPED: no swap allowed here: {error.stderr}")
    # Behind its first page the kernel may swap to it at any time.
    header = image.read_bytes()[:SWAP_HEADER_BYTES]
    try:
        with pytest.raises(DriveBusyError, match=f"swap on {drive.path}"):
            try_open(drive)
        os.sync()
        assert image.read_bytes()[:SWAP_HEADER_BYTES] == header
    finally:
        command("swapoff", drive.path)


def test_refuses_a_read_only_drive(loop_drive: LoopDrive, image: Path) -> None:
    drive = block(loop_drive(SIZE_BYTES, read_only=True))
    refused(drive, ReadOnlyError, image, "read-only")


def test_refuses_a_drive_that_somebody_holds_exclusively(loop_drive: LoopDrive, image: Path) -> None:
    drive = block(loop_drive(SIZE_BYTES))
    holder = os.open(drive.path, os.O_RDONLY | os.O_EXCL)
    try:
        refused(drive, DriveBusyError, image, "busy")
    finally:
        os.close(holder)


def test_a_held_drive_is_listed_as_busy(loop_drive: LoopDrive) -> None:
    drive = block(loop_drive(SIZE_BYTES))
    with try_open(drive):
        assert refusals(drive) == ("busy: device or resource busy",)
    assert refusals(drive) == ()


def test_refuses_a_drive_that_a_mapped_device_holds(
    loop_drive: LoopDrive, image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drive = block(loop_drive(SIZE_BYTES))
    monkeypatch.setattr(Disk, "holders", lambda _: ["dm-0"])
    refused(drive, DriveBusyError, image, "held by dm-0")


def test_refuses_a_drive_that_another_run_holds(loop_drive: LoopDrive, image: Path) -> None:
    drive = block(loop_drive(SIZE_BYTES))
    with try_open(drive):
        refused(drive, DriveBusyError, image, "busy")


def test_refuses_a_drive_that_somebody_has_locked(loop_drive: LoopDrive, image: Path) -> None:
    drive = block(loop_drive(SIZE_BYTES))
    with Path(drive.path).open("rb") as locked:
        fcntl.flock(locked, fcntl.LOCK_EX)
        reader = Path("/proc/self/comm").read_text("utf-8").strip()
        refused(drive, DriveBusyError, image, "locked", acknowledged=frozenset({f"reader:{reader}"}))


def test_waits_for_a_claim_that_lasts_a_moment_only(loop_drive: LoopDrive, monkeypatch: pytest.MonkeyPatch) -> None:
    drive = block(loop_drive(SIZE_BYTES))
    holder = [os.open(drive.path, os.O_RDONLY | os.O_EXCL)]
    monkeypatch.setattr(claim, "_PAUSE_S", 0)
    real = os.open

    def release_after(path: str, flags: int) -> int:
        try:
            return real(path, flags)
        finally:
            if holder:
                os.close(holder.pop())

    monkeypatch.setattr("os.open", release_after)
    with try_open(drive):
        assert not holder


def test_refuses_a_drive_with_a_loop_device_on_it(loop_drive: LoopDrive, image: Path) -> None:
    drive = block(loop_drive(SIZE_BYTES))
    stacked = find_loop(drive.path)
    try:
        refused(drive, DriveBusyError, image, f"backs {Path(stacked).name}")
    finally:
        command("losetup", "--detach", stacked)


def test_refuses_a_drive_whose_image_another_loop_device_uses(loop_drive: LoopDrive, image: Path) -> None:
    drive = block(loop_drive(SIZE_BYTES))
    other = find_loop(str(image))
    try:
        refused(drive, DriveBusyError, image, f"stands on {image}, which backs {Path(other).name}")
    finally:
        command("losetup", "--detach", other)


def test_refuses_a_drive_far_beneath_the_running_system(
    loop_drive: LoopDrive, image: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lower = block(loop_drive(SIZE_BYTES * 2))
    with mounted(lower.path, tmp_path / "lower"):
        file = tmp_path / "lower/upper.img"
        file.write_bytes(bytes(SIZE_BYTES))
        upper = find_loop(str(file))
        try:
            with mounted(upper, tmp_path / "upper"):
                monkeypatch.setattr(system, "PATHS", (str(tmp_path / "upper"),))
                refused(lower, DriveBusyError, image, f"backs the running system .{tmp_path / 'upper'}")
        finally:
            command("losetup", "--detach", upper)


def test_refuses_a_drive_that_is_too_small_and_prints_both_figures(loop_drive: LoopDrive, image: Path) -> None:
    drive = block(loop_drive(SIZE_BYTES))
    refused(drive, TooSmallError, image, r"has 0\.016777216 GB, 0\.016777217 GB", needed=SIZE_BYTES + 1)


def test_refuses_a_drive_with_a_file_system_and_names_the_option(loop_drive: LoopDrive, image: Path) -> None:
    drive = block(loop_drive(SIZE_BYTES))
    command("mkfs.ext4", "-q", "-F", drive.path)
    refused(drive, SignatureError, image, "carries ext4; .*--destroy-signature ext4")


def test_refuses_a_drive_where_only_another_signature_was_acknowledged(loop_drive: LoopDrive, image: Path) -> None:
    drive = block(loop_drive(SIZE_BYTES))
    command("mkfs.ext4", "-q", "-F", drive.path)
    refused(drive, SignatureError, image, "ext4", signatures=frozenset({"xfs", "ext"}))


def test_refuses_a_drive_with_a_partition_table(loop_drive: LoopDrive, image: Path) -> None:
    drive = block(loop_drive(SIZE_BYTES))
    with partitioned(drive.path):
        refused(drive, SignatureError, image, "dos")


def test_opens_a_drive_whose_signature_was_acknowledged(loop_drive: LoopDrive, image: Path) -> None:
    drive = block(loop_drive(SIZE_BYTES))
    command("mkfs.ext4", "-q", "-F", drive.path)
    with untouched(image), try_open(drive, signatures=frozenset({"ext4"})) as held:
        assert held.fd >= 0


def test_refuses_a_drive_that_cannot_be_searched_for_signatures(
    loop_drive: LoopDrive, image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drive = block(loop_drive(SIZE_BYTES))
    monkeypatch.setattr("assay.dut.real.gate.contents.WIPEFS", "/nonexistent/wipefs")
    refused(drive, IdentityError, image, "contents are unknown")


@pytest.mark.parametrize("answer", [None, "y", "YES", "yes", "loop:1:1", " "])
def test_refuses_any_confirmation_but_the_identity(loop_drive: LoopDrive, image: Path, answer: str | None) -> None:
    drive = block(loop_drive(SIZE_BYTES))
    refused(drive, ConfirmationError, image, f"--yes-destroy {drive.id}$", confirmation=answer)


@pytest.mark.parametrize("change", ["short", "blank", "upper"])
def test_refuses_an_identity_that_is_nearly_right(loop_drive: LoopDrive, image: Path, change: str) -> None:
    drive = block(loop_drive(SIZE_BYTES))
    nearly = {"short": drive.id[:-1], "blank": drive.id + " ", "upper": drive.id.upper()}[change]
    refused(drive, ConfirmationError, image, "is not its identity", confirmation=nearly)


def test_refuses_a_drive_that_was_replaced_under_the_same_name(loop_drive: LoopDrive, image: Path) -> None:
    drive = block(loop_drive(SIZE_BYTES))
    command("losetup", "--detach", drive.path)
    try:
        command("losetup", "--direct-io=on", drive.path, str(image))
    except subprocess.CalledProcessError as error:
        pytest.skip(f"SKIPPED: another process took the loop device: {error.stderr}")
    try:
        refused(drive, IdentityError, image, "replaced")
    finally:
        command("losetup", "--detach", drive.path)


def test_refuses_a_drive_whose_size_changed(loop_drive: LoopDrive, image: Path) -> None:
    drive = block(loop_drive(SIZE_BYTES))
    refused(replace(drive, capacity_bytes=SIZE_BYTES * 2), IdentityError, image, "size changed")


def test_refuses_a_drive_whose_identity_another_one_carries(
    loop_drive: LoopDrive, image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drive = block(loop_drive(SIZE_BYTES))
    monkeypatch.setattr(facts, "twins", lambda _: ("/dev/sdz",))
    refused(drive, IdentityError, image, "ambiguous.*/dev/sdz")


def test_notices_that_a_held_drive_shrank(loop_drive: LoopDrive, image: Path) -> None:
    drive = block(loop_drive(SIZE_BYTES))
    with try_open(drive) as held:
        os.truncate(image, SIZE_BYTES // 2)
        command("losetup", "--set-capacity", drive.path)
        with pytest.raises(IdentityError, match="size changed"):
            held.verify()


def test_refuses_a_node_that_is_gone(loop_drive: LoopDrive, image: Path) -> None:
    drive = replace(block(loop_drive(SIZE_BYTES)), path="/dev/assay-none")
    refused(drive, DriveBusyError, image, "cannot be reached: no such file")


def test_refuses_a_device_with_the_option_for_files(loop_drive: LoopDrive) -> None:
    node = loop_drive(SIZE_BYTES)
    with pytest.raises(NotADriveError, match="leave out --file-target"):
        identify(node, file_target=True)


def test_refuses_a_file_that_a_loop_device_uses(loop_drive: LoopDrive, image: Path) -> None:
    node = loop_drive(SIZE_BYTES)
    drive = identify(str(image), file_target=True)
    refused(drive, DriveBusyError, image, f"backs {Path(node).name}")
