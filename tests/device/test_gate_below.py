"""What lies below a loop device, or is hidden behind another path, keeps its data: no case that once lost it does."""

from __future__ import annotations

import contextlib
import fcntl
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from assay.dut.real.gate import examined, open_drive, refusals
from assay.dut.real.identity import identify
from assay.errors import DriveBusyError, SignatureError
from conftest import allocate, command, find_loop

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from assay.dut.real.gate import OpenDrive
    from assay.engine.records import DriveIdentity
    from conftest import LoopDrive

MIB = 1 << 20
SIZE_BYTES = 16 * MIB
WORD = b"what somebody needs\n" * 4096


def block(path: str) -> DriveIdentity:
    return identify(path, file_target=False)


def try_open(drive: DriveIdentity, *signatures: str) -> OpenDrive:
    return open_drive(
        drive, confirmation=drive.id, acknowledged_signatures=frozenset(signatures), needed_bytes=SIZE_BYTES // 2
    )


@dataclass
class Stack:
    """Loop devices and mounts of a test; undone at its end."""

    undo: contextlib.ExitStack
    folder: Path

    def loop(self, backing: str | Path, *options: str) -> str:
        """A loop device upon a file or device; its node."""
        node = find_loop(*options, str(backing))
        self.undo.callback(command, "losetup", "--detach", node)
        return node

    def mount(self, node: str) -> Path:
        """A file system upon a device, with a file that somebody needs."""
        place = self.folder / "mnt"
        place.mkdir()
        command("mkfs.ext4", "-q", "-F", node)
        command("mount", node, str(place))
        self.undo.callback(command, "umount", str(place))
        (place / "file").write_bytes(WORD)
        os.sync()
        return place / "file"


@pytest.fixture
def stack(needs_root: None, tmp_path: Path) -> Iterator[Stack]:  # noqa: ARG001
    with contextlib.ExitStack() as undo:
        yield Stack(undo, tmp_path)


def refused(drive: DriveIdentity, text: str, needed: Path) -> None:
    """The gate refuses, and what somebody needs is read from the device as it was."""
    with pytest.raises(DriveBusyError, match=text):
        try_open(drive, "ext4")
    assert any(text in reason for reason in refusals(drive))
    with needed.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        assert file.read() == WORD


def same_file_by_a_deleted_link(stack: Stack, image: Path) -> str:
    other = stack.folder / "other.img"
    os.link(image, other)
    node = stack.loop(other)
    other.unlink()
    return node


def same_file_in_another_namespace(stack: Stack, image: Path) -> str:
    place = stack.folder / "elsewhere"
    place.mkdir()
    script = 'mount --bind "$0" "$1" && losetup --find --show "$1/$2"'
    arguments = ["/usr/bin/unshare", "--mount", "--propagation", "private", "/bin/sh", "-c", script]
    done = subprocess.run(
        [*arguments, str(image.parent), str(place), image.name], check=True, capture_output=True, text=True
    )
    node = done.stdout.strip()
    stack.undo.callback(command, "losetup", "--detach", node)
    assert not (place / image.name).exists()
    return node


def same_file_in_a_folder_that_is_covered(stack: Stack, image: Path) -> str:
    place = stack.folder / "covered"
    place.mkdir()
    other = place / "other.img"
    os.link(image, other)
    node = stack.loop(other)
    command("mount", "-t", "tmpfs", "tmpfs", str(place))
    stack.undo.callback(command, "umount", str(place))
    assert not other.exists()
    return node


def another_file_under_the_same_path(stack: Stack, image: Path) -> str:
    other = stack.folder / "other.img"
    os.link(image, other)
    node = stack.loop(other)
    other.unlink()
    allocate(other, SIZE_BYTES)
    return node


HIDDEN = [
    same_file_by_a_deleted_link,
    same_file_in_another_namespace,
    same_file_in_a_folder_that_is_covered,
    another_file_under_the_same_path,
]


@pytest.mark.parametrize("hide", HIDDEN, ids=lambda hide: hide.__name__)
@pytest.mark.parametrize("as_file", [True, False], ids=["file", "loop"])
def test_a_mounted_user_of_the_same_file_is_seen_however_it_is_hidden(
    stack: Stack, hide: Callable[[Stack, Path], str], as_file: bool
) -> None:
    image = allocate(stack.folder / "disk.img", SIZE_BYTES)
    node = hide(stack, image)
    needed = stack.mount(node)
    drive = identify(str(image), file_target=True) if as_file else block(stack.loop(image))
    refused(drive, f"backs {Path(node).name}", needed)


def test_a_file_system_on_the_device_below_is_kept(loop_drive: LoopDrive, stack: Stack) -> None:
    lower = loop_drive(SIZE_BYTES)
    upper = stack.loop(lower)
    needed = stack.mount(lower)
    says = f"{Path(upper).name} stands on {Path(lower).name}, which is mounted on {needed.parent}"
    refused(block(upper), says, needed)


def test_a_file_system_three_levels_below_is_kept(loop_drive: LoopDrive, stack: Stack) -> None:
    lowest = loop_drive(SIZE_BYTES)
    middle = stack.loop(lowest)
    upper = stack.loop(middle)
    needed = stack.mount(lowest)
    names = " on ".join(Path(node).name for node in (middle, lowest))
    refused(block(upper), f"{Path(upper).name} stands on {names}, which is mounted on {needed.parent}", needed)


def test_a_file_system_on_the_file_below_the_device_below_is_kept(loop_drive: LoopDrive, stack: Stack) -> None:
    upper = stack.loop(loop_drive(SIZE_BYTES))
    other = stack.loop(stack.folder / "loop0.img")
    refused(block(upper), f"which backs {Path(other).name}", stack.mount(other))


def test_a_loop_upon_a_loop_that_nobody_uses_is_let_in_and_keeps_others_away(
    loop_drive: LoopDrive, stack: Stack
) -> None:
    lower = loop_drive(SIZE_BYTES)
    upper = block(stack.loop(lower))
    assert refusals(upper) == ()
    command("mkfs.ext4", "-q", "-F", lower)
    with try_open(upper, "ext4") as held:
        held.verify()
        with pytest.raises(OSError, match="busy"):
            os.close(os.open(lower, os.O_RDONLY | os.O_EXCL))
        with pytest.raises(subprocess.CalledProcessError):
            command("mount", lower, str(stack.folder))
    os.close(os.open(lower, os.O_RDONLY | os.O_EXCL))


def test_a_loop_upon_a_file_in_a_mounted_file_system_of_a_loop_is_let_in(loop_drive: LoopDrive, stack: Stack) -> None:
    lower = loop_drive(4 * SIZE_BYTES)
    image = allocate(stack.mount(lower).with_name("disk.img"), SIZE_BYTES)
    drive = block(stack.loop(image))
    assert examined(drive).refusals == ()
    try_open(drive).close()


def test_what_is_below_a_part_of_a_disk_is_to_be_acknowledged(loop_drive: LoopDrive, stack: Stack) -> None:
    lower = loop_drive(SIZE_BYTES)
    command("mkfs.ext4", "-q", "-F", lower)
    drive = block(stack.loop(lower, "--offset", str(MIB)))
    says = f"{Path(drive.path).name} stands on {Path(lower).name}, which carries ext4"
    assert examined(drive).refusals == (f"{says}, to be acknowledged with --destroy-signature",)
    with pytest.raises(SignatureError, match=f"{says}; .*add --destroy-signature ext4"):
        try_open(drive)
    assert examined(drive, frozenset({"ext4"})).refusals == ()
    try_open(drive, "ext4").close()


def test_a_run_on_a_disk_and_one_on_a_loop_upon_it_exclude_each_other(loop_drive: LoopDrive, stack: Stack) -> None:
    lower = block(loop_drive(SIZE_BYTES))
    with try_open(lower):
        upper = block(stack.loop(lower.path))
        with pytest.raises(DriveBusyError, match=f"stands on {Path(lower.path).name}, which is busy"):
            try_open(upper)
    with try_open(upper), pytest.raises(DriveBusyError, match=f"backs {Path(upper.path).name}"):
        try_open(lower)


def test_a_run_on_a_file_and_one_on_a_loop_upon_it_exclude_each_other(stack: Stack) -> None:
    file = identify(str(allocate(stack.folder / "disk.img", SIZE_BYTES)), file_target=True)
    with try_open(file):
        upper = block(stack.loop(file.path))
        with pytest.raises(DriveBusyError, match=f"stands on {file.path}, which is open for writing by process"):
            try_open(upper)
    with try_open(upper), pytest.raises(DriveBusyError, match=f"backs {Path(upper.path).name}"):
        try_open(file)


def test_a_run_on_a_loop_locks_its_file(stack: Stack) -> None:
    image = allocate(stack.folder / "disk.img", SIZE_BYTES)
    upper = block(stack.loop(image))
    with try_open(upper), image.open("rb") as other, pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_SH | fcntl.LOCK_NB)
    with image.open("rb") as other:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_loop_device_is_the_same_drive_where_its_file_is_covered(loop_drive: LoopDrive, tmp_path: Path) -> None:
    node = loop_drive(16 << 20)
    code = f"from assay.dut.real.identity import identify; print(identify({node!r}, file_target=False).id)"
    script = 'mount -t tmpfs none "$0" && exec "$1" -c "$2"'
    arguments = ["/usr/bin/unshare", "--mount", "/bin/sh", "-c", script, str(tmp_path), sys.executable, code]
    assert command(*arguments).strip() == block(node).id
