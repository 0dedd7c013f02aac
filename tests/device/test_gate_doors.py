"""The gate as the command line shows it: what is refused, by which exit code, in words and as JSON."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from assay.dut.dut import Answers
from assay.dut.real.gate import open_drive, signatures
from assay.dut.real.identity import identify
from assay.errors import DeviceFailureError
from assay.run.plan_file import load_plan
from assay.run.run import run_plan
from assay.run.store.read import read_run
from conftest import LoopDrive, allocate

ASSAY = str(Path(sys.executable).with_name("assay"))
SIZE = 64 << 20
RUN = ("run", "--test", "tp", "--scale", "0.001")


def assay(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # type: ignore[call-overload, no-any-return]
        [ASSAY, *arguments], capture_output=True, text=True, timeout=120, check=False, **options
    )


def told(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    """The error as the JSON object that it is."""
    facts = json.loads(done.stderr)
    assert set(facts) == {"error", "exit_code", "thing", "reason", "remedy"}
    assert facts.pop("exit_code") == done.returncode
    return facts  # type: ignore[no-any-return]


@pytest.fixture
def out(tmp_path: Path) -> str:
    return str(tmp_path / "run")


def test_a_refusal_as_json_names_thing_reason_and_remedy(loop_drive: LoopDrive, out: str) -> None:
    path = loop_drive(SIZE)
    done = assay(*RUN, path, "--yes-destroy", "YES", "--out", out, "--json")
    assert (done.returncode, done.stdout) == (3, "")
    facts = told(done)
    assert (facts["error"], facts["thing"]) == ("confirmation", path)
    assert identify(path, file_target=False).id in facts["remedy"]
    assert not Path(out).exists()


def test_a_wrong_option_as_json_is_a_usage_error() -> None:
    done = assay("drives", "--json", "--no-such-option")
    assert (done.returncode, told(done)["error"]) == (2, "usage")


def test_without_a_terminal_and_a_confirmation_the_run_is_refused_at_once(loop_drive: LoopDrive, out: str) -> None:
    done = assay(*RUN, loop_drive(SIZE), "--out", out, "--json", stdin=subprocess.DEVNULL)
    assert (done.returncode, told(done)["reason"]) == (3, "no confirmation was given")


@pytest.mark.parametrize(
    "command",
    [
        ("run", "/dev/assay-none", "--test", "tp"),
        ("crosscheck", "/dev/assay-none"),
        ("calibrate", "--reference", "/dev/assay-none"),
        ("trace-stack", "--drive", "/dev/assay-none"),
    ],
    ids=lambda command: command[0],
)
def test_two_confirmations_are_refused(command: tuple[str, ...], out: str) -> None:
    done = assay(*command, "--yes-destroy", "A", "--yes-destroy", "B")
    assert done.returncode == 2
    assert "--yes-destroy: is given more than once" in done.stderr
    assert not Path(out).exists()


@pytest.mark.parametrize("target", ["sim:\x1b[31m", "sim:client-2011?\x1b[31m=3", "/srv/\x1b[31m", "\x1b[31m.toml"])
def test_names_that_could_steer_a_terminal_are_shown_with_their_escapes(target: str) -> None:
    outer, inner = pty.openpty()
    try:
        with subprocess.Popen([ASSAY, "drives", "--describe", target], stdout=inner, stderr=inner) as process:
            os.close(inner)
            shown = b""
            # Reading a terminal whose last process has ended is an error.
            with contextlib.suppress(OSError):
                while more := os.read(outer, 4096):
                    shown += more
    finally:
        os.close(outer)
    assert process.returncode == 2
    assert b"\\x1b[31m" in shown
    assert b"\x1b" not in shown


def with_label(path: str) -> None:
    with Path(path).open("r+b") as disk:
        disk.write(b"LUKS\xba\xbe\x00\x01")


@pytest.mark.parametrize("terminal", [True, False])
def test_a_signature_is_refused_with_and_without_a_terminal(loop_drive: LoopDrive, out: str, terminal: bool) -> None:
    path = loop_drive(SIZE)
    with_label(path)
    identity = identify(path, file_target=False).id
    outer, inner = pty.openpty()
    try:
        stdin = inner if terminal else subprocess.DEVNULL
        done = assay(*RUN, path, "--yes-destroy", identity, "--out", out, "--json", stdin=stdin)
    finally:
        os.close(outer)
        os.close(inner)
    assert (done.returncode, told(done)["reason"]) == (3, "carries crypto_LUKS")


def test_a_drive_beneath_the_run_folder_is_refused_whatever_is_given(loop_drive: LoopDrive, tmp_path: Path) -> None:
    path = loop_drive(SIZE)
    place = tmp_path / "mnt"
    place.mkdir()
    subprocess.run(["/usr/sbin/mkfs.ext4", "-q", "-F", path], check=True)
    subprocess.run(["/usr/bin/mount", path, str(place)], check=True)
    try:
        identity = identify(path, file_target=False).id
        options = ("--yes-destroy", identity, "--destroy-signature", "ext4", "--out", str(place / "a/b"), "--json")
        done = assay(*RUN, path, *options)
    finally:
        subprocess.run(["/usr/bin/umount", str(place)], check=True)
    assert done.returncode == 3
    assert f"mounted on {place}; backs the run folder ({place}/a/b)" in told(done)["reason"]


def test_a_run_that_would_wear_the_drive_is_refused_with_its_number(loop_drive: LoopDrive, out: str) -> None:
    path = loop_drive(SIZE)
    identity = identify(path, file_target=False).id
    planned = json.loads(assay("plan", path, *RUN[1:], "--json").stdout)
    writes = planned["drive_fills_max"]
    assert writes > planned["drive_fills"] > 1
    done = assay(*RUN, path, "--yes-destroy", identity, "--out", out, "--max-drive-writes", "1", "--json")
    assert (done.returncode, told(done)["error"]) == (3, "wear")
    reason = f"could be written, at the rate of its link, {writes:.4g} times over, 1 are allowed"
    assert told(done)["reason"] == reason
    # The plan says the same, and exits alike.
    foreseen = assay("plan", path, *RUN[1:], "--max-drive-writes", "1", "--json")
    assert (foreseen.returncode, told(foreseen)) == (3, told(done))
    assert json.loads(foreseen.stdout)["refused"]["reason"] == reason


def test_a_second_run_into_the_same_folder_is_refused_while_the_first_runs(out: str) -> None:
    first = [ASSAY, "run", "sim:client-2011?capacity=32GB", "--test", "iops", "--out", out]
    with subprocess.Popen(first, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            until = time.monotonic() + 60
            while not (Path(out) / "journal.jsonl").exists():
                assert time.monotonic() < until
                assert process.poll() is None
            second = assay("run", "sim:client-2011?capacity=32GB", "--test", "iops", "--out", out, "--json")
            still_runs = process.poll() is None
        finally:
            process.kill()
    assert (second.returncode, told(second)["error"], still_runs) == (3, "folder-busy", True)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (os.mkfifo, "is a FIFO"),
        (lambda path: path.mkdir(), "is a directory"),
        (lambda path: path.symlink_to("/dev/null"), "is a character device"),
        (lambda path: path.symlink_to("/dev/tty"), "is a character device"),
        (lambda path: path.touch(), "--file-target"),
        (lambda path: os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(246, 9)), "is a character device"),
    ],
    ids=["fifo", "directory", "null", "tty", "file", "controller"],
)
@pytest.mark.usefixtures("needs_root")
def test_what_is_no_drive_is_never_opened(tmp_path: Path, make: object, text: str) -> None:
    path = tmp_path / "target"
    make(path)  # type: ignore[operator]
    done = assay(*RUN, str(path), "--yes-destroy", str(path), "--out", str(tmp_path / "run"))
    assert (done.returncode, text in done.stderr, done.stderr.count("\n")) == (2, True, 1), done.stderr


HOSTILE = {
    "PYTHONPATH": "/nonexistent",
    "LC_ALL": "de_DE.UTF-8",
    "LANG": "de_DE.UTF-8",
    "LD_PRELOAD": "/nonexistent.so",
}


def test_tools_of_a_forged_environment_are_not_run(loop_drive: LoopDrive, tmp_path: Path, out: str) -> None:
    path = loop_drive(SIZE)
    with_label(path)
    fake = tmp_path / "bin"
    fake.mkdir()
    for name in ("wipefs", "smartctl", "nvme", "fio", "hdparm"):
        (fake / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/fooled\necho '{{}}'\n")
        (fake / name).chmod(0o755)
    identity = identify(path, file_target=False).id
    environment = {**os.environ, **HOSTILE, "PATH": str(fake)}
    done = assay(*RUN, path, "--yes-destroy", identity, "--out", out, env=environment)
    assert (done.returncode, "carries crypto_LUKS" in done.stderr) == (3, True), done.stderr
    assert not (tmp_path / "fooled").exists()


def nobody() -> list[str]:
    setpriv = shutil.which("setpriv", path="/usr/bin:/bin")
    if setpriv is None or os.geteuid() != 0:
        pytest.skip("SKIPPED: needs root and setpriv to become nobody")
    prefix = [setpriv, "--reuid=65534", "--regid=65534", "--clear-groups"]
    if subprocess.run([*prefix, ASSAY, "--version"], capture_output=True, check=False, cwd="/").returncode:
        pytest.skip("SKIPPED: nobody may not run the tool from where it is installed")
    return prefix


def test_an_unprivileged_user_is_told_clearly_by_every_verb(loop_drive: LoopDrive, tmp_path: Path) -> None:
    prefix, path = nobody(), loop_drive(SIZE)
    identity = identify(path, file_target=False).id
    verbs = {
        ("drives",): 0,
        ("plan", path, "--test", "tp", "--scale", "0.001"): 3,
        ("run", path, "--test", "tp", "--scale", "0.001", "--yes-destroy", identity): 3,
        ("crosscheck", path, "--yes-destroy", identity, "--out", "/nonexistent/x"): 6,
        ("report", str(tmp_path)): 6,
    }
    for verb, code in verbs.items():
        done = subprocess.run([*prefix, ASSAY, *verb], capture_output=True, text=True, check=False, cwd="/")
        assert done.returncode == code, (verb, done.stderr)
        assert "Traceback" not in done.stderr
        assert done.stderr.count("\n") == (code > 0), done.stderr
        if verb[0] in {"plan", "run"}:
            assert "read-only: no permission to write it" in done.stdout + done.stderr
    assert "run as root" in subprocess.run(
        [*prefix, ASSAY, *RUN, path], capture_output=True, text=True, check=False, cwd="/"
    ).stderr  # fmt: skip


ZFS_UBERBLOCK = (0x00BAB10C).to_bytes(8, "little")
MEMBERS = {
    "crypto_LUKS": {0: b"LUKS\xba\xbe\x00\x01"},
    "ceph_bluestore": {0: b"bluestore block device"},
    "zfs_member": {128 * 1024 + 1024 * nth: ZFS_UBERBLOCK for nth in range(16)},
    "VMFS_volume_member": {1048576: b"\x0d\xd0\x01\xc0"},
    "swsuspend": {4086: b"S1SUSPEND"},
}


@pytest.mark.parametrize("kind", MEMBERS)
def test_a_member_that_nobody_uses_is_found(tmp_path: Path, kind: str) -> None:
    image = allocate(tmp_path / "image", SIZE)
    with image.open("r+b") as file:
        for place, magic in MEMBERS[kind].items():
            file.seek(place)
            file.write(magic)
    assert kind in signatures(str(image))


def test_a_member_within_a_partition_is_found_behind_the_table(loop_drive: LoopDrive) -> None:
    if not Path("/usr/sbin/sfdisk").exists():
        pytest.skip("SKIPPED: needs the Debian package fdisk")
    path = loop_drive(SIZE)
    subprocess.run(["/usr/sbin/sfdisk", "-q", "--no-reread", path], input=b"2048,16384\n", check=True)
    subprocess.run(["/usr/bin/partx", "--update", path], check=True)
    try:
        with_label(f"{path}p1")
        drive = identify(path, file_target=False)
        assert signatures(path) == {"dos", "crypto_LUKS"}
        with pytest.raises(Exception, match="carries crypto_LUKS;"):
            open_drive(drive, confirmation=drive.id, acknowledged_signatures=frozenset({"dos"}), needed_bytes=0)
    finally:
        subprocess.run(["/usr/bin/partx", "--delete", path], check=True)


def test_a_drive_that_becomes_too_hot_ends_the_run_before_the_next_round(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = str(allocate(tmp_path / "target.img", SIZE))
    found = iter([None, None, None, "is at 85 °C, its warning temperature is 80 °C"])
    monkeypatch.setattr("assay.dut.dut.too_hot", lambda _: next(found))
    plan = load_plan(None, {"drive": target, "file_target": True, "tests": ("iops",), "scale": 0.0001}, {})
    phases: list[str] = []
    with pytest.raises(DeviceFailureError, match="is at 85 °C"):
        run_plan(
            plan,
            out=tmp_path / "run",
            answers=Answers(confirmation=target),
            show=lambda progress: phases.append(f"{progress.phase} {progress.index}"),
        )
    assert phases[-1] == "round 3"
    assert len(read_run(tmp_path / "run").tests[0].sequences) == 3
