"""Cases of the gate's rules on what a loop device stands on: another loop device, or a file."""

from __future__ import annotations

import fcntl
import mmap
import os
from pathlib import Path
from typing import TYPE_CHECKING

from assay.dut.real import loop
from assay.dut.real.gate import files, open_drive, system
from assay.dut.real.identity import identify
from assay.dut.real.sysfs import Disk
from conftest import command
from gate_cases_files import opened
from gate_stage import EXT4, MIB, SIZE_BYTES, Case

if TYPE_CHECKING:
    from assay.engine.records import DriveIdentity
    from gate_stage import Stage


def names(*drives: DriveIdentity) -> tuple[str, ...]:
    return tuple(Path(drive.path).name for drive in drives)


def on_a_mounted_disk(stage: Stage) -> Case:
    lower, place = stage.drive(), stage.folder / "mnt"
    place.mkdir()
    command("mkfs.ext4", "-q", "-F", lower.path)
    drive = stage.on_top(lower.path)
    command("mount", lower.path, str(place))
    stage.undo.callback(command, "umount", str(place))
    top, below = names(drive, lower)
    says = f"{top} stands on {below}, which is "
    return Case(drive, {"mounts": f"{says}mounted on {place}", "exclusive": f"{says}busy"}, EXT4)


def on_a_loop_on_a_mounted_disk(stage: Stage) -> Case:
    lower, place = stage.drive(), stage.folder / "mnt"
    place.mkdir()
    command("mkfs.ext4", "-q", "-F", lower.path)
    middle = stage.on_top(lower.path)
    drive = stage.on_top(middle.path)
    command("mount", lower.path, str(place))
    stage.undo.callback(command, "umount", str(place))
    top, between, below = names(drive, middle, lower)
    says = f"{top} stands on {between} on {below}, which is "
    return Case(drive, {"mounts": f"{says}mounted on {place}", "exclusive": f"{says}busy"}, EXT4)


def on_a_disk_that_is_swapped_to(stage: Stage) -> Case:
    lower = stage.drive()
    drive = stage.on_top(lower.path)
    stage.swap_to(lower.path)
    rules = {"system": "which backs the running system", "swap": f"which is swap on {lower.path}", "exclusive": "busy"}
    return Case(drive, rules, {"acknowledged_signatures": frozenset({"swap"})})


def on_a_disk_under_test(stage: Stage) -> Case:
    lower = stage.drive()
    drive = stage.on_top(lower.path)
    # The other run began before this one stood upon its drive: it would refuse that now.
    descriptor = opened(stage, lower.path, os.O_RDONLY | os.O_EXCL)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return Case(drive, {"exclusive": "which is busy", "lock": "which is locked by another process"})


def on_a_disk_that_another_loop_stands_on(stage: Stage) -> Case:
    lower = stage.drive()
    drive, other = stage.on_top(lower.path), stage.on_top(lower.path)
    top, below, beside = names(drive, lower, other)
    return Case(drive, {"loops": f"{top} stands on {below}, which backs {beside}"})


def on_a_disk_that_a_mapped_device_holds(stage: Stage) -> Case:
    lower = stage.drive()
    drive = stage.on_top(lower.path)
    name = Path(lower.path).name
    stage.patch.setattr(Disk, "holders", lambda disk: ["dm-3"] if disk.name == name else [])
    return Case(drive, {"holders": f"stands on {name}, which is held by dm-3"})


def on_a_disk_of_the_running_system(stage: Stage) -> Case:
    lower = stage.drive()
    stage.patch.setattr(system, "PATHS", (lower.path,))
    return Case(stage.on_top(lower.path), {"system": "which backs the running system"})


def on_a_disk_beneath_the_run_folder(stage: Stage) -> Case:
    lower = stage.drive()
    return Case(stage.on_top(lower.path), {"run-folder": "which backs the run folder"}, {"kept": (Path(lower.path),)})


def on_a_part_of_a_disk_with_a_file_system(stage: Stage) -> Case:
    lower = stage.drive()
    command("mkfs.ext4", "-q", "-F", lower.path)
    drive = stage.on_top(lower.path, "--offset", str(MIB))
    top, below = names(drive, lower)
    return Case(drive, {"signatures": f"{top} stands on {below}, which carries ext4; .*--destroy-signature ext4"})


def on_a_part_of_a_file_with_a_file_system(stage: Stage) -> Case:
    target = stage.file()
    command("mkfs.ext4", "-q", "-F", target.path)
    drive = stage.on_top(target.path, "--offset", str(MIB))
    return Case(drive, {"signatures": f"stands on {target.path}, which carries ext4"})


def on_a_file_that_another_loop_uses_by_a_name_that_is_gone(stage: Stage) -> Case:
    target, other = stage.file(), stage.folder / "other.img"
    os.link(target.path, other)
    node = stage.loop_upon(str(other))
    other.unlink()
    rules = {"file-loops": f"stands on {target.path}, which backs {Path(node).name}"}
    return Case(stage.on_top(target.path), rules)


def on_a_file_of_the_system(stage: Stage) -> Case:
    target = stage.file()
    stage.patch.setattr(files, "PLACES", (str(stage.folder),))
    return Case(stage.on_top(target.path), {"file-places": f"stands on {target.path}, which belongs to the system"})


def on_a_file_that_is_swapped_to(stage: Stage) -> Case:
    target = stage.file()
    stage.proc("swaps", f"Filename Type Size Used Priority\n{target.path} file 1 0 -2\n")
    says = f"which is swap on {target.path}"
    return Case(stage.on_top(target.path), {"file-swap": says})


def on_a_file_in_the_run_folder(stage: Stage) -> Case:
    target = stage.file()
    return Case(stage.on_top(target.path), {"file-kept": "which belongs to the run folder"}, {"kept": (stage.folder,)})


def on_a_file_that_cannot_be_told_from_others(stage: Stage) -> Case:
    stage.patch.setattr(loop, "_asked", lambda _: None)
    stage.patch.setattr(loop, "_found", lambda _: None)
    drive, _ = stage.drive(), stage.drive()
    rules = {
        "known": "which cannot be distinguished from other files",
        "unasked-loops": "which may back loop.*--acknowledge unknown-backing",
        "alike": "is on unknown, where it cannot be distinguished",
    }
    return Case(drive, rules)


def on_a_file_that_a_process_writes(stage: Stage) -> Case:
    target = stage.file()
    drive = stage.on_top(target.path)
    opened(stage, target.path, os.O_RDWR)
    says = rf"stands on {target.path}, which is open for writing by process {os.getpid()} \("
    return Case(drive, {"writers": says})


def on_a_file_that_a_process_has_mapped(stage: Stage) -> Case:
    target = stage.file()
    descriptor = os.open(target.path, os.O_RDONLY)
    stage.undo.enter_context(mmap.mmap(descriptor, SIZE_BYTES, prot=mmap.PROT_READ))
    os.close(descriptor)
    return Case(stage.on_top(target.path), {"maps": f"which is mapped by process {os.getpid()}"})


def on_a_file_that_somebody_has_locked(stage: Stage) -> Case:
    target = stage.file()
    fcntl.flock(opened(stage, target.path, os.O_RDONLY), fcntl.LOCK_SH)
    return Case(stage.on_top(target.path), {"lock": f"stands on {target.path}, which is locked by another process"})


def on_a_file_under_test(stage: Stage) -> Case:
    target = stage.file()
    held = open_drive(target, confirmation=target.id, acknowledged_signatures=frozenset(), needed_bytes=0)
    drive = identify(stage.loop_upon(target.path), file_target=False)
    stage.undo.enter_context(held)
    rules = {
        "writers": f"which is open for writing by process {os.getpid()}",
        "lock": "which is locked by another process",
        "range-lock": "which is locked by another process",
    }
    return Case(drive, rules)


BELOW_CASES = [
    on_a_mounted_disk,
    on_a_loop_on_a_mounted_disk,
    on_a_disk_that_is_swapped_to,
    on_a_disk_under_test,
    on_a_disk_that_another_loop_stands_on,
    on_a_disk_that_a_mapped_device_holds,
    on_a_disk_of_the_running_system,
    on_a_disk_beneath_the_run_folder,
    on_a_part_of_a_disk_with_a_file_system,
    on_a_part_of_a_file_with_a_file_system,
    on_a_file_that_another_loop_uses_by_a_name_that_is_gone,
    on_a_file_of_the_system,
    on_a_file_that_is_swapped_to,
    on_a_file_in_the_run_folder,
    on_a_file_that_cannot_be_told_from_others,
    on_a_file_that_a_process_writes,
    on_a_file_that_a_process_has_mapped,
    on_a_file_that_somebody_has_locked,
    on_a_file_under_test,
]
