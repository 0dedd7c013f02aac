"""Every rule of the gate on its own: it alone refuses its case, and with it taken away the case is let in.

A case that several rules catch names them all; each is tried with the others taken away, so that none can rot unseen.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import re
import struct
import subprocess
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from assay.dut.real.gate import claim, doubts, entry, facts, holders, processes, system, users
from assay.dut.real.sysfs import Disk
from assay.errors import AssayError
from conftest import command, find_loop
from gate_cases_below import BELOW_CASES
from gate_cases_files import FILE_CASES, exported
from gate_stage import EXT4, SIZE_BYTES, Case, Stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import LoopDrive

TABLES: tuple[dict[str, Any], ...] = (
    users.USERS,
    users.FILE_USERS,
    users.PROCESSES,
    doubts.DOUBTS,
    entry.WISHES,
    entry.HELD,
    entry.HELD_FILE,
    entry.CONSENT,
)


def mounted(stage: Stage) -> Case:
    drive, place = stage.drive(), stage.folder / "mnt"
    place.mkdir()
    command("mkfs.ext4", "-q", "-F", drive.path)
    command("mount", drive.path, str(place))
    stage.undo.callback(command, "umount", str(place))
    return Case(drive, {"mounts": f"mounted on {place}", "exclusive": "busy"}, EXT4)


def mounted_in_another_namespace(stage: Stage) -> Case:
    drive, place = stage.drive(), stage.folder / "mnt"
    place.mkdir()
    command("mkfs.ext4", "-q", "-F", drive.path)
    arguments = ["/usr/bin/unshare", "--mount", "/bin/sh", "-c", 'mount "$0" "$1" && echo up && read _']
    shell = stage.undo.enter_context(
        subprocess.Popen([*arguments, drive.path, str(place)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    )
    assert shell.stdin
    assert shell.stdout
    stage.undo.callback(shell.wait)
    stage.undo.callback(shell.stdin.close)
    assert shell.stdout.readline() == b"up\n"
    assert drive.path not in Path("/proc/self/mountinfo").read_text("utf-8")
    return Case(drive, {"mounts": "in another mount namespace", "exclusive": "busy"}, EXT4)


def swapped(stage: Stage) -> Case:
    drive = stage.drive()
    stage.swap_to(drive.path)
    rules = {"system": "running system", "swap": f"swap on {drive.path}", "exclusive": "busy"}
    return Case(drive, rules, {"acknowledged_signatures": frozenset({"swap"})})


def second_member_of_a_btrfs(stage: Stage) -> Case:
    drive = stage.drive()
    name = Path(drive.path).name
    (stage.folder / "btrfs/f00d/devices" / name).mkdir(parents=True)
    stage.patch.setattr(holders, "BTRFS", stage.folder / "btrfs")
    return Case(drive, {"btrfs": f"member {name} of the btrfs f00d"})


def member_of_an_md_array(stage: Stage) -> Case:
    drive = stage.drive()
    name = Path(drive.path).name
    stage.proc("mdstat", f"Personalities : [raid1]\nmd7 : inactive sdz1[1] {name}[0](S)\nmd8 : active raid0 sdy[0]\n")
    return Case(drive, {"md": "member of md7$|member of md7;"})


def held_by_a_mapped_device(stage: Stage) -> Case:
    drive = stage.drive()
    stage.patch.setattr(Disk, "holders", lambda _: ["dm-3"])
    return Case(drive, {"holders": "held by dm-3"})


def with_a_loop_upon_it(stage: Stage) -> Case:
    drive = stage.drive()
    node = stage.folder / "second-node"
    os.mknod(node, 0o600 | 0o060000, Path(drive.path).stat().st_rdev)
    upper = find_loop(str(node))
    stage.undo.callback(command, "losetup", "--detach", upper)
    return Case(drive, {"loops": f"backs {Path(upper).name}"})


def with_a_loop_over_its_image(stage: Stage) -> Case:
    drive = stage.drive()
    other = find_loop(str(stage.folder / "loop0.img"))
    stage.undo.callback(command, "losetup", "--detach", other)
    image = stage.folder / "loop0.img"
    return Case(drive, {"file-loops": f"{Path(drive.path).name} stands on {image}, which backs {Path(other).name}"})


def beneath_the_running_system(stage: Stage) -> Case:
    drive = stage.drive()
    stage.patch.setattr(system, "PATHS", (drive.path,))
    return Case(drive, {"system": "backs the running system"})


def beneath_the_run_folder(stage: Stage) -> Case:
    drive = stage.drive()
    return Case(drive, {"run-folder": "backs the run folder"}, {"kept": (Path(drive.path),)})


def opened_for_writing_by_a_node_of_any_name(stage: Stage) -> Case:
    drive, node = stage.drive(), stage.folder / "any-name"
    os.mknod(node, 0o600 | 0o060000, Path(drive.path).stat().st_rdev)
    stage.undo.callback(os.close, os.open(node, os.O_WRONLY))
    return Case(drive, {"writers": rf"open for writing by process {os.getpid()} \("})


def opened_for_writing_by_another_process(stage: Stage) -> Case:
    drive = stage.drive()
    child = subprocess.Popen(["/bin/sleep", "600"], stdout=os.open(drive.path, os.O_WRONLY | os.O_CLOEXEC))
    stage.undo.callback(child.wait)
    stage.undo.callback(child.kill)
    return Case(drive, {"writers": "open for writing by process"})


def opened_by_its_controller(stage: Stage) -> Case:
    drive = stage.drive()
    stage.patch.setattr(Disk, "characters", lambda _: {"10:237"})
    stage.undo.callback(os.close, os.open("/dev/loop-control", os.O_RDWR))
    return Case(drive, {"writers": rf"open for writing by process {os.getpid()} \("})


def mapped_by_a_process(stage: Stage) -> Case:
    drive = stage.drive()
    descriptor = os.open(drive.path, os.O_RDWR)
    stage.undo.enter_context(mmap.mmap(descriptor, mmap.PAGESIZE))
    os.close(descriptor)
    # Python's map keeps a descriptor of its own.
    return Case(drive, {"maps": rf"mapped by process {os.getpid()} \(", "writers": "open for writing"})


def read_by_somebody(stage: Stage) -> Case:
    drive = stage.drive()
    stage.undo.callback(os.close, os.open(drive.path, os.O_RDONLY))
    said = rf"open for reading by process {os.getpid()} \(.*--acknowledge reader:"
    return Case(drive, {"readers": said}, {"acknowledged": frozenset()})


def where_a_process_cannot_be_seen(stage: Stage) -> Case:
    drive = stage.drive()
    stage.patch.setattr(processes, "open_descriptors", lambda *_: ([], [1, 2]))
    return Case(drive, {"unseen": "the open files of process 1 .*and 1 more.*--acknowledge unseen-processes"})


def whose_backing_is_not_told(stage: Stage) -> Case:
    stage.patch.setattr(doubts, "_UNTOLD", re.compile(r"loop\d+"))
    return Case(stage.drive(), {"untold": "the kernel does not tell .*--acknowledge unknown-backing"})


def exported_by_a_server(stage: Stage) -> Case:
    drive = stage.drive()
    exported(stage, "nvmet/subsystems/x/namespaces/1/device_path", drive.path)
    return Case(drive, {"exports": "exported by nvmet as nvmet/subsystems/x/namespaces/1"})


def locked_as_virtual_machines_lock(stage: Stage) -> Case:
    drive = stage.drive()
    descriptor = os.open(drive.path, os.O_RDONLY)
    stage.undo.callback(os.close, descriptor)
    wish = struct.pack("hhqqi0q", fcntl.F_RDLCK, os.SEEK_SET, 100, 1, 0)
    fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, wish)
    return Case(drive, {"range-lock": "is locked by another process"})


def claimed_by_somebody(stage: Stage) -> Case:
    drive = stage.drive()
    stage.undo.callback(os.close, os.open(drive.path, os.O_RDONLY | os.O_EXCL))
    return Case(drive, {"exclusive": "busy"})


def locked_by_somebody(stage: Stage) -> Case:
    drive = stage.drive()
    descriptor = os.open(drive.path, os.O_RDONLY)
    stage.undo.callback(os.close, descriptor)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return Case(drive, {"lock": "locked by another process"})


def read_only(stage: Stage) -> Case:
    drive = stage.drive()
    stage.sysfs_value("ro", "1")
    return Case(drive, {"read-only": "read-only: the kernel refuses writes"})


def read_only_since_it_was_opened(stage: Stage) -> Case:
    drive = stage.drive()
    stage.undo.callback(command, "blockdev", "--setrw", drive.path)
    stage.between(
        lambda: command("blockdev", "--setro", drive.path), lambda: command("blockdev", "--setrw", drive.path)
    )
    return Case(drive, {"writable": "turned read-only"})


def zoned(stage: Stage) -> Case:
    drive = stage.drive()
    stage.sysfs_value("queue/zoned", "host-managed")
    return Case(drive, {"zoned": r"is zoned \(host-managed\)"})


def too_small(stage: Stage) -> Case:
    return Case(stage.drive(), {"size": "are needed"}, {"needed_bytes": SIZE_BYTES + 1})


def with_a_twin(stage: Stage) -> Case:
    stage.patch.setattr(facts, "twins", lambda _: ("/dev/sdz",))
    return Case(stage.drive(), {"twins": "ambiguous.*/dev/sdz"})


def written_too_often(stage: Stage) -> Case:
    wish = {"written_bytes": 2 * SIZE_BYTES + SIZE_BYTES // 4, "drive_writes_max": 2}
    return Case(
        stage.drive(), {"wear": "would be written 2.25 times over, 2 are allowed.*--max-drive-writes 2.25"}, wish
    )


def written_more_than_thirty_times(stage: Stage) -> Case:
    return Case(stage.drive(), {"wear": "31 times over, 30 are"}, {"written_bytes": 31 * SIZE_BYTES})


def too_hot(stage: Stage) -> Case:
    stage.patch.setattr(facts, "too_hot", lambda _: "is at 85 °C, its warning temperature is 80 °C")
    return Case(stage.drive(), {"heat": "is at 85"})


def replaced_under_its_name(stage: Stage) -> Case:
    # The number alone is other, as with a drive that has a serial and was pulled and put back.
    drive = stage.drive()
    assert drive.diskseq is not None
    return Case(replace(drive, diskseq=drive.diskseq - 1), {"sequence": "replaced since it was named"})


def under_another_name(stage: Stage) -> Case:
    drive, other = stage.drive(), stage.drive()
    real = os.open
    stage.patch.setattr("os.open", lambda path, *rest: real(other.path if path == drive.path else path, *rest))
    rules = {"node": "no longer this disk", "sequence": "replaced since it was named", "unasked-loops": "may back"}
    return Case(drive, rules)


def with_another_serial(stage: Stage) -> Case:
    drive = replace(stage.drive(), id="S123")
    return Case(drive, {"identity": "its identity changed to 'loop:"})


def with_another_size(stage: Stage) -> Case:
    return Case(replace(stage.drive(), capacity_bytes=SIZE_BYTES * 2), {"capacity": f"changed to {SIZE_BYTES} bytes"})


def with_other_blocks(stage: Stage) -> Case:
    return Case(replace(stage.drive(), logical_block_bytes=4096), {"blocks": r"changed from \(4096, "})


def with_a_file_system(stage: Stage) -> Case:
    drive = stage.drive()
    command("mkfs.ext4", "-q", "-F", drive.path)
    return Case(drive, {"signatures": "carries ext4"}, {"acknowledged_signatures": frozenset({"xfs"})})


def unconfirmed(stage: Stage) -> Case:
    return Case(stage.drive(), {"confirmation": "'YES' is not its identity"}, {"confirmation": "YES"})


CASES = [
    mounted,
    mounted_in_another_namespace,
    swapped,
    second_member_of_a_btrfs,
    member_of_an_md_array,
    held_by_a_mapped_device,
    with_a_loop_upon_it,
    with_a_loop_over_its_image,
    beneath_the_running_system,
    beneath_the_run_folder,
    opened_for_writing_by_a_node_of_any_name,
    opened_for_writing_by_another_process,
    opened_by_its_controller,
    mapped_by_a_process,
    read_by_somebody,
    where_a_process_cannot_be_seen,
    whose_backing_is_not_told,
    exported_by_a_server,
    locked_as_virtual_machines_lock,
    claimed_by_somebody,
    locked_by_somebody,
    read_only,
    read_only_since_it_was_opened,
    zoned,
    too_small,
    with_a_twin,
    written_too_often,
    written_more_than_thirty_times,
    too_hot,
    replaced_under_its_name,
    under_another_name,
    with_another_serial,
    with_another_size,
    with_other_blocks,
    with_a_file_system,
    unconfirmed,
    *FILE_CASES,
    *BELOW_CASES,
]


def take_away(patch: pytest.MonkeyPatch, rule: str) -> None:
    """Remove a rule from the gate."""
    single = {
        "exclusive": (claim, "EXCLUSIVE", 0),
        "lock": (claim, "LOCK", fcntl.LOCK_UN),
        "range-lock": (claim, "lock_ranges", lambda *_: None),
        "read-only": (entry, "_read_only", lambda _: ()),
    }
    if rule in single:
        patch.setattr(*single[rule])
        return
    (table,) = (table for table in TABLES if rule in table)
    patch.delitem(table, rule)


@pytest.mark.parametrize("make", CASES, ids=lambda make: make.__name__)
def test_each_rule_alone_refuses_and_without_them_the_drive_is_let_in(
    loop_drive: LoopDrive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Stage], Case]
) -> None:
    with ExitStack() as undo:
        case = make(Stage(loop_drive, tmp_path, monkeypatch, undo))
        if len(case.rules) > 1:
            with pytest.raises(AssayError):
                case.open()
        for rule, text in case.rules.items():
            with pytest.MonkeyPatch.context() as patch:
                for other in case.rules.keys() - {rule}:
                    take_away(patch, other)
                with pytest.raises(AssayError, match=text) as refused:
                    case.open()
                assert refused.value.exit_code == (2 if rule == "file-size" else 3)
        with pytest.MonkeyPatch.context() as patch:
            for rule in case.rules:
                take_away(patch, rule)
            case.open()


def test_every_rule_has_its_case() -> None:
    source = "".join(path.read_text("utf-8") for path in Path(__file__).parent.glob("*gate_*.py"))
    assert [rule for table in TABLES for rule in table if f'"{rule}": ' not in source] == []
