"""Cases of the gate's rules on regular files that are named as targets."""

from __future__ import annotations

import fcntl
import mmap
import os
import struct
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from assay.dut.real.gate import doubts, exports, files, lease, mounts, processes
from assay.dut.real.identity import identify
from conftest import allocate, command
from gate_stage import SIZE_BYTES, Case

if TYPE_CHECKING:
    from gate_stage import Stage


HIDDEN = {
    "hidden-writers": "open for writing by somebody who cannot be seen",
    "opened-unseen": "open by somebody who cannot be seen",
}
"""What the kernel tells of a file that is written though no process is seen with it."""


def opened(stage: Stage, path: str, flags: int) -> int:
    """A descriptor that is closed at the end of the test."""
    descriptor = os.open(path, flags)
    stage.undo.callback(os.close, descriptor)
    return descriptor


def file_of_the_system(stage: Stage) -> Case:
    stage.patch.setattr(sys, "prefix", str(stage.folder))
    return Case(stage.file(), {"file-system": "part of the running system"})


def file_in_a_place_of_the_system(stage: Stage) -> Case:
    stage.patch.setattr(files, "PLACES", (str(stage.folder.parent),))
    return Case(stage.file(), {"file-places": f"belongs to the system: it lies in {stage.folder.parent}"})


def file_in_a_place_of_the_system_by_another_path(stage: Stage) -> Case:
    place = stage.folder / "place"
    place.mkdir()
    target = stage.file()
    command("mount", "--bind", str(stage.folder), str(place))
    stage.undo.callback(command, "umount", str(place))
    stage.patch.setattr(files, "PLACES", (str(place),))
    return Case(target, {"file-places": f"belongs to the system: it lies in {place}"})


def file_in_the_run_folder(stage: Stage) -> Case:
    return Case(
        stage.file(), {"file-kept": rf"belongs to the run folder \({stage.folder}\)"}, {"kept": (stage.folder,)}
    )


def file_that_is_swapped_to(stage: Stage) -> Case:
    target = stage.file()
    stage.proc("swaps", f"Filename Type Size Used Priority\n{target.path} file 1 0 -2\n")
    return Case(target, {"file-swap": f"swap on {target.path}"})


def file_beneath_a_loop(stage: Stage) -> Case:
    target = stage.file()
    node = stage.loop_upon(target.path)
    return Case(target, {"file-loops": f"backs {Path(node).name}", **HIDDEN})


def file_beneath_a_loop_by_a_name_that_is_gone(stage: Stage) -> Case:
    target, other = stage.file(), stage.folder / "other.img"
    os.link(target.path, other)
    node = stage.loop_upon(str(other))
    other.unlink()
    return Case(target, {"file-loops": f"backs {Path(node).name}", **HIDDEN})


def file_that_a_process_writes(stage: Stage) -> Case:
    target = stage.file()
    opened(stage, target.path, os.O_WRONLY)
    return Case(target, {"writers": rf"open for writing by process {os.getpid()} \("})


def file_that_a_hidden_process_writes(stage: Stage) -> Case:
    target = stage.file()
    opened(stage, target.path, os.O_WRONLY)
    stage.patch.setattr(processes, "open_descriptors", lambda *_: ([], []))
    return Case(target, HIDDEN)


def file_that_is_written_where_leases_are_unknown(stage: Stage) -> Case:
    target = stage.file()
    opened(stage, target.path, os.O_WRONLY)
    stage.patch.setattr(lease, "_leased", lambda *_: None)
    stage.patch.setattr(lease, "held_alone", lambda _: None)
    return Case(target, {"writers": rf"open for writing by process {os.getpid()} \("})


def file_that_a_process_has_mapped(stage: Stage) -> Case:
    target = stage.file()
    descriptor = os.open(target.path, os.O_RDONLY)
    stage.undo.enter_context(mmap.mmap(descriptor, SIZE_BYTES, prot=mmap.PROT_READ))
    os.close(descriptor)
    return Case(target, {"maps": rf"mapped by process {os.getpid()} \("})


def file_that_a_process_reads(stage: Stage) -> Case:
    target = stage.file()
    opened(stage, target.path, os.O_RDONLY)
    said = rf"open for reading by process {os.getpid()} \(.*--acknowledge reader:"
    return Case(target, {"readers": said}, {"acknowledged": frozenset()})


def file_that_a_file_system_is_mounted_from(stage: Stage) -> Case:
    target, real = stage.file(), mounts.mounts
    there = mounts.Mount("0:99", "/srv/x", target.path, "ro", own=True, kind="erofs")
    stage.patch.setattr(mounts, "mounts", lambda **more: [*real(**more), there])
    opened(stage, target.path, os.O_RDONLY)
    return Case(target, {"file-mounts": "mounted on /srv/x"})


def file_that_may_be_mounted_from_elsewhere(stage: Stage) -> Case:
    target, real = stage.file(), mounts.mounts
    there = mounts.Mount("0:99", "/srv/x", "img.erofs", "ro", own=True, kind="erofs")
    stage.patch.setattr(mounts, "mounts", lambda **more: [*real(**more), there])
    opened(stage, target.path, os.O_RDONLY)
    return Case(target, {"file-mounts": "perhaps carries what is mounted on /srv/x: the source of that, img.erofs"})


def file_with_another_name_in_a_place_of_the_system(stage: Stage) -> Case:
    target, place = stage.file(), stage.folder / "place/deep"
    place.mkdir(parents=True)
    os.link(target.path, place / "library")
    stage.patch.setattr(files, "PLACES", (str(place.parent),))
    return Case(target, {"file-places": f"lies in {place.parent} as {place / 'library'}"})


def file_by_a_bind_mount_of_a_part_of_a_place(stage: Stage) -> Case:
    place, view = stage.folder / "place/deep", stage.folder / "view"
    place.mkdir(parents=True)
    view.mkdir()
    command("mount", "--bind", str(place), str(view))
    stage.undo.callback(command, "umount", str(view))
    stage.patch.setattr(files, "PLACES", (str(place.parent),))
    target = identify(str(allocate(view / "target.img", SIZE_BYTES)), file_target=True)
    return Case(target, {"file-places": f"belongs to the system: it lies in {place.parent}"})


def file_that_a_server_exports(stage: Stage) -> Case:
    target = stage.file()
    exported(stage, "target/core/fileio_0/disk/udev_path", target.path)
    return Case(target, {"file-exports": "exported by LIO as target/core/fileio_0/disk"})


def file_that_a_server_has_open_without_a_note(stage: Stage) -> Case:
    target = stage.file()
    told = f"TCM FILEIO ID: 0        File: {target.path}  Size: 1  Mode: O_DSYNC Async: 0"
    exported(stage, "target/core/fileio_0/disk/info", told)
    return Case(target, {"file-exports": "exported by LIO as target/core/fileio_0/disk"})


def exported(stage: Stage, place: str, path: str) -> None:
    """Let a server of the kernel say that it serves a path."""
    stage.patch.setattr(exports, "CONFIG", stage.folder / "config")
    entry = stage.folder / "config" / place
    entry.parent.mkdir(parents=True)
    entry.write_text(f"{path}\n")


def file_where_files_cannot_be_told_apart(stage: Stage) -> Case:
    stage.patch.setattr(mounts, "OWN_INODES", frozenset())
    return Case(stage.file(), {"alike": "cannot be distinguished from other files.*--acknowledge file-system:"})


def file_whose_backing_is_in_a_process(stage: Stage) -> Case:
    stage.patch.setattr(doubts, "file_system", lambda _: "fuse.bindfs")
    return Case(stage.file(), {"untold": r"does not tell \(fuse.bindfs\).*--acknowledge unknown-backing"})


def file_that_somebody_has_locked(stage: Stage) -> Case:
    target = stage.file()
    fcntl.flock(opened(stage, target.path, os.O_RDONLY), fcntl.LOCK_SH)
    return Case(target, {"lock": "is locked by another process"})


def file_of_which_somebody_has_locked_a_byte(stage: Stage) -> Case:
    target = stage.file()
    wish = struct.pack("hhqqi0q", fcntl.F_RDLCK, os.SEEK_SET, 100, 1, 0)
    fcntl.fcntl(opened(stage, target.path, os.O_RDONLY), fcntl.F_OFD_SETLK, wish)
    return Case(target, {"range-lock": "is locked by another process"})


def file_that_was_replaced(stage: Stage) -> Case:
    target = stage.file()
    moved = stage.folder / "moved.img"
    stage.between(lambda: Path(target.path).rename(moved), lambda: moved.rename(target.path))
    return Case(target, {"same-file": "replaced since it was named"})


def file_that_was_replaced_before_it_was_opened(stage: Stage) -> Case:
    target = stage.file()
    Path(target.path).rename(stage.folder / "moved.img")
    return Case(replace(stage.file(), file_id=target.file_id), {"same-file": "replaced since it was named"})


def file_that_was_replaced_after_it_was_shown(stage: Stage) -> Case:
    shown = stage.file().file_id
    (stage.folder / "target.img").rename(stage.folder / "moved.img")
    return Case(stage.file(), {"shown": "replaced after it was shown"}, {"shown_file_id": shown})


def file_that_is_sparse(stage: Stage) -> Case:
    path = stage.folder / "sparse.img"
    path.touch()
    os.truncate(path, SIZE_BYTES)
    return Case(identify(str(path), file_target=True), {"file-size": "is sparse"})


FILE_CASES = [
    file_of_the_system,
    file_in_a_place_of_the_system,
    file_in_a_place_of_the_system_by_another_path,
    file_in_the_run_folder,
    file_that_is_swapped_to,
    file_beneath_a_loop,
    file_beneath_a_loop_by_a_name_that_is_gone,
    file_that_a_process_writes,
    file_that_a_hidden_process_writes,
    file_that_is_written_where_leases_are_unknown,
    file_that_a_process_has_mapped,
    file_that_a_process_reads,
    file_that_a_file_system_is_mounted_from,
    file_that_may_be_mounted_from_elsewhere,
    file_with_another_name_in_a_place_of_the_system,
    file_by_a_bind_mount_of_a_part_of_a_place,
    file_that_a_server_exports,
    file_that_a_server_has_open_without_a_note,
    file_where_files_cannot_be_told_apart,
    file_whose_backing_is_in_a_process,
    file_that_somebody_has_locked,
    file_of_which_somebody_has_locked_a_byte,
    file_that_was_replaced,
    file_that_was_replaced_before_it_was_opened,
    file_that_was_replaced_after_it_was_shown,
    file_that_is_sparse,
]
