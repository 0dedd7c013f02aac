"""The gate where it cannot see everything: a private ``/dev``, a PID namespace, a root without the right to look."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stacked import COMMAND_SECONDS, TOOLS, opened_by_another, program, run

if TYPE_CHECKING:
    from emulated import FindDrive

ASKED = str(Path(__file__).with_name("asked.py"))
UNSEEN, UNKNOWN = "unseen-processes", "unknown-backing"
PRIVATE_DEV = """set -e
mount -t tmpfs tmpfs /dev
mkdir /dev/shm
mknod /dev/null c 1 3
mknod /dev/urandom c 1 9
mknod "$0" b "$1" "$2"
shift 2
exec "$@"
"""


def asked(*command: str) -> dict[str, Any]:
    """What the gate answers in a process of other surroundings."""
    done = subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        timeout=COMMAND_SECONDS,
        env=os.environ | {"PATH": TOOLS},
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def in_private_dev(path: str, *words: str) -> dict[str, Any]:
    """The answer where nothing but the node of the drive is in ``/dev``."""
    number = Path(path).stat().st_rdev
    shell = [program("unshare"), "--mount", "--propagation", "private", "/bin/sh", "-c", PRIVATE_DEV]
    return asked(*shell, path, str(os.major(number)), str(os.minor(number)), sys.executable, ASKED, path, *words)


def test_in_a_pid_namespace_a_word_is_needed(drive: FindDrive) -> None:
    path = drive("Q-SCSI").path
    answer = asked(program("unshare"), "--pid", "--fork", "--mount-proc", sys.executable, ASKED, path, UNSEEN)
    assert "processes outside this PID namespace cannot be seen" in answer["refused"]
    assert f"--acknowledge {UNSEEN}" in answer["refused"]
    assert [UNSEEN in reason for reason in answer["refusals"]] == [True]
    assert answer["with_words"] == ""


def test_a_root_that_may_not_look_at_others_needs_a_word(drive: FindDrive) -> None:
    path = drive("Q-SCSI").path
    rights = ["--bounding-set=-sys_ptrace", "--inh-caps=-sys_ptrace"]
    answer = asked(program("setpriv"), *rights, sys.executable, ASKED, path, UNSEEN)
    assert "the open files of processes with more rights cannot be seen" in answer["refused"]
    assert f"--acknowledge {UNSEEN}" in answer["refused"]
    assert answer["with_words"] == ""


def test_with_a_private_dev_a_drive_without_users_is_let_in(drive: FindDrive) -> None:
    assert in_private_dev(drive("Q-SCSI").path) == {"refusals": [], "refused": "", "with_words": ""}


def test_with_a_private_dev_processes_are_seen_on_whatever_node(drive: FindDrive, tmp_path: Path) -> None:
    path, other = drive("Q-SCSI").path, tmp_path / "any-name"
    os.mknod(other, 0o060600, Path(path).stat().st_rdev)
    with opened_by_another(str(other)) as process:
        answer = in_private_dev(path, UNKNOWN)
    assert f"open for writing by process {process} (sh)" in answer["refusals"][0]
    assert f"open for writing by process {process} (sh)" in answer["with_words"]


def test_with_a_private_dev_a_loop_may_lie_on_the_drive_by_whatever_node(drive: FindDrive, tmp_path: Path) -> None:
    path, other = drive("Q-SCSI").path, tmp_path / "any-name"
    os.mknod(other, 0o060600, Path(path).stat().st_rdev)
    # The kernel names a backing in another mount namespace by a part of its path only.
    node = run("losetup", "--find", "--show", str(other))
    try:
        answer = in_private_dev(path, UNKNOWN)
        assert f"may back {Path(node).name}, which cannot be queried" in answer["refused"]
        assert f"--acknowledge {UNKNOWN}" in answer["refused"]
        assert answer["with_words"] == ""
    finally:
        run("losetup", "--detach", node)
