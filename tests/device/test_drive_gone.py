"""A drive that dies, shrinks, turns read-only or hangs while a run is on it, and one that comes back from a hang."""

import fcntl
import json
import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from assay.dut.real.identity import identify
from assay.run.store.read import read_run
from conftest import allocate, command
from shown_errors import error_lines

ASSAY = str(Path(sys.executable).with_name("assay"))
SIZE = 160 << 20
GROWN_BYTES = 1 << 20
FILE_SYSTEM_BYTES = 208 << 20
# EXT4_IOC_SHUTDOWN without writing anything back.
SHUTDOWN, SHUTDOWN_NOW = 0x8004587D, 2
HANG_LIMIT_S = 3
FEW_ROUNDS = 'schema = 1\ndrive = "/dev/null"\n[iops]\nround_limit = 7\n'

pytestmark = pytest.mark.timeout(240)


class HostedDrive:
    """A loop device whose file lies on a file system of its own, which can hang or die."""

    def __init__(self, path: str, mount: Path) -> None:
        self.path, self.mount, self.image = path, mount, mount / "loop.img"

    def freeze(self) -> None:
        """Let nothing complete any more."""
        command("fsfreeze", "--freeze", str(self.mount))

    def thaw(self) -> None:
        """Let everything complete again."""
        command("fsfreeze", "--unfreeze", str(self.mount))

    def die(self) -> None:
        """Fail every I/O from now on."""
        descriptor = os.open(self.mount, os.O_RDONLY)
        try:
            fcntl.ioctl(descriptor, SHUTDOWN, struct.pack("I", SHUTDOWN_NOW))
        finally:
            os.close(descriptor)

    def shrink(self) -> None:
        """Become an eighth of its size."""
        os.truncate(self.image, SIZE // 8)
        command("losetup", "--set-capacity", self.path)

    def grow(self) -> None:
        """Become a little larger."""
        allocate(self.image, SIZE + GROWN_BYTES)
        command("losetup", "--set-capacity", self.path)

    def turn_read_only(self) -> None:
        """Refuse every write from now on."""
        command("blockdev", "--setro", self.path)


@pytest.fixture
def hosted(needs_root: None, tmp_path: Path, memory_path: Path) -> Iterator[HostedDrive]:  # noqa: ARG001
    """A drive that hangs or dies at will; thawed and taken apart again whatever became of the test."""
    mount = tmp_path / "host"
    mount.mkdir()
    system = allocate(memory_path / "host.img", FILE_SYSTEM_BYTES)
    try:
        command("mkfs.ext4", "-q", "-F", str(system))
        command("mount", "-o", "loop", str(system), str(mount))
    except (subprocess.CalledProcessError, FileNotFoundError) as error:
        pytest.skip(f"SKIPPED: no file system for a loop device: {getattr(error, 'stderr', None) or error}")
    try:
        image = allocate(mount / "loop.img", SIZE)
        node = command("losetup", "--find", "--show", "--direct-io=on", str(image))
        try:
            yield HostedDrive(node, mount)
        finally:
            with suppress(subprocess.CalledProcessError):
                command("fsfreeze", "--unfreeze", str(mount))
            # The node would stay so for whoever gets it next.
            command("blockdev", "--setrw", node)
            command("losetup", "--detach", node)
    finally:
        _until(lambda: _unmounted(mount))
        system.unlink()


def _unmounted(mount: Path) -> bool:
    with suppress(subprocess.CalledProcessError):
        command("umount", str(mount))
        return True
    return False


def _until(done: Callable[[], bool], limit_s: float = 20) -> None:
    """Wait for what the kernel does at leisure."""
    deadline = time.monotonic() + limit_s
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.1)


@contextmanager
def running(drive: HostedDrive, out: Path, *options: str, test: str = "iops") -> "Iterator[subprocess.Popen[str]]":
    """A run in its second round; the child does not outlive its test."""
    identity = identify(drive.path, file_target=False).id
    chosen = ["--test", test, "--scale", "0.001", "--yes-destroy", identity, "--out", str(out), *options]
    arguments = [ASSAY, "run", drive.path, *chosen]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr
            while "round 1" not in (line := process.stderr.readline()):
                assert process.poll() is None, line
            yield process
        finally:
            process.kill()
            # What the drive holds ends only with it.
            with suppress(subprocess.CalledProcessError):
                drive.thaw()


def ended(process: "subprocess.Popen[str]", limit_s: float) -> tuple[int, str, float]:
    """Exit code, error line, and the seconds that it took."""
    begun = time.monotonic()
    _, error = process.communicate(timeout=limit_s)
    return process.returncode, error_lines(error), time.monotonic() - begun


def results(out: Path) -> dict[str, Any]:
    """What a report made afterwards says of the first test."""
    subprocess.run([ASSAY, "report", str(out), "--json", "--html"], check=True, capture_output=True, timeout=60)
    tests: list[dict[str, Any]] = json.loads((out / "report/results.json").read_text("utf-8"))["tests"]
    return tests[0]


def assert_no_headline(out: Path) -> None:
    """The first round is there to be read, and nothing is made of it."""
    found = results(out)
    assert found["ended"] == "device-failure"
    assert found["withheld"]
    assert {cell["iops"] for cell in found["matrix"]} == {None}
    assert found["rounds"][0]["complete"]
    # On a busy host a cell of 60 ms may complete nothing.
    assert sum(cell["iops"] > 0 for cell in found["rounds"][0]["cells"]) > 40
    assert "DEVICE FAILURE" in (out / "report/report.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (HostedDrive.die, "EIO"),
        (HostedDrive.shrink, "its size changed from 167,772,160 to 20,971,520 bytes"),
        pytest.param(
            HostedDrive.grow, "its size changed from 167,772,160 to 168,820,736 bytes", marks=pytest.mark.long
        ),
        (HostedDrive.turn_read_only, "turned read-only"),
    ],
)
def test_a_drive_that_fails_in_mid_run_ends_it_with_exit_code_4(
    hosted: HostedDrive, tmp_path: Path, fault: Callable[[HostedDrive], None], said: str
) -> None:
    out = tmp_path / "run"
    with running(hosted, out) as process:
        fault(hosted)
        code, error, took_s = ended(process, 60)
    assert (code, said in error, error.count("\n")) == (4, True, 1), error
    assert took_s < 60
    assert_no_headline(out)


@pytest.mark.long
@pytest.mark.parametrize("change_bytes", [GROWN_BYTES, -GROWN_BYTES])
def test_a_file_whose_size_changes_in_mid_run_ends_it_with_exit_code_4(tmp_path: Path, change_bytes: int) -> None:
    image, out = allocate(tmp_path / "drive.img", SIZE), tmp_path / "run"
    chosen = ["--test", "iops", "--scale", "0.001", "--yes-destroy", str(image), "--out", str(out)]
    arguments = [ASSAY, "run", str(image), "--file-target", *chosen]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        while "round 1" not in (line := process.stderr.readline()):
            assert process.poll() is None, line
        os.truncate(image, SIZE + change_bytes)
        code, error, _ = ended(process, 60)
    # Beyond its end, a file answers with nothing until somebody looks why.
    assert (code, f"its size changed from {SIZE:,} to {SIZE + change_bytes:,} bytes" in error) == (4, True), error
    found = results(out)
    assert (found["ended"], bool(found["withheld"]), bool(found["rounds"])) == ("device-failure", True, True)


def test_a_drive_that_hangs_for_ever_ends_the_run_soon_behind_the_time_limit(
    hosted: HostedDrive, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    with running(hosted, out, "--io-time-limit", str(HANG_LIMIT_S)) as process:
        hosted.freeze()
        code, error, took_s = ended(process, 60)
    assert (code, "stopped answering" in error, error.count("\n")) == (4, True, 1), error
    assert HANG_LIMIT_S - 0.5 < took_s < HANG_LIMIT_S + 12
    assert_no_headline(out)
    # What it still had to do is done now, and the drive is free.
    _until(lambda: not identify(hosted.path, file_target=False).refusals)


@pytest.mark.parametrize(
    "number",
    [signal.SIGINT, *(pytest.param(one, marks=pytest.mark.long) for one in (signal.SIGTERM, signal.SIGHUP))],
)
def test_a_signal_in_a_hang_stops_the_run_within_seconds(
    hosted: HostedDrive, tmp_path: Path, number: signal.Signals
) -> None:
    if signal.getsignal(number) == signal.SIG_IGN:
        pytest.skip(f"SKIPPED: {number.name} is ignored here, as under nohup, and so it is by the run")
    out = tmp_path / "run"
    with running(hosted, out) as process:
        hosted.freeze()
        time.sleep(0.5)
        process.send_signal(number)
        code, error, took_s = ended(process, 60)
    assert (code, error.count("\n")) == (130, 1), error
    assert took_s < 8
    assert results(out)["ended"] == "interrupted"


@pytest.mark.long
def test_a_drive_that_hangs_for_five_seconds_voids_the_round_and_the_window_begins_anew(
    hosted: HostedDrive, tmp_path: Path
) -> None:
    out, plan = tmp_path / "run", tmp_path / "few.toml"
    plan.write_text(FEW_ROUNDS, "utf-8")
    with running(hosted, out, str(plan)) as process:
        begun = time.monotonic()
        hosted.freeze()
        time.sleep(5)
        hosted.thaw()
        hung_s = time.monotonic() - begun
        code, error, _ = ended(process, 200)
    # A busy host may keep the rounds behind it from being steady.
    assert code in {0, 5, 7}, error
    found = results(out)
    (void,) = [one for one in found["rounds"] if one["void"]]
    assert "no I/O completed for" in void["void"]
    assert 4 <= max(cell["stall_ns_max"] for cell in void["cells"]) / 1e9 <= hung_s + 0.5
    assert not void["complete"]
    assert code != 0 or found["window"]
    assert not found["window"] or found["window"]["rounds"][0] > void["round"]
    # A busy host may have disturbed the window; the drive's stall has not.
    assert found["withheld"] is None or "test system" in found["withheld"]
    assert found["withheld"] or not found["window"] or all(cell["iops"] is not None for cell in found["matrix"])
    number = void["round"]
    assert f"ROUND {number} VOID: the drive stalled for" in (out / "report/report.html").read_text("utf-8")
    assert '"kind":"stall"' in (out / "journal.jsonl").read_text("utf-8")


@pytest.mark.long
def test_a_tester_that_was_stopped_is_not_laid_to_the_drive(hosted: HostedDrive, tmp_path: Path) -> None:
    out, plan = tmp_path / "run", tmp_path / "few.toml"
    plan.write_text(FEW_ROUNDS.replace("7", "5"), "utf-8")
    with running(hosted, out, str(plan), "--io-time-limit", "5") as process:
        # Some of the stops may fall between two rounds.
        for _ in range(3):
            time.sleep(0.9)
            process.send_signal(signal.SIGSTOP)
            time.sleep(5.6)
            process.send_signal(signal.SIGCONT)
        code, error, _ = ended(process, 100)
    assert code in {0, 5, 7}, error
    found = results(out)
    assert [one["void"] for one in found["rounds"]] == [None] * 5
    assert max(cell["latency_ns_max"] or 0 for one in found["rounds"] for cell in one["cells"]) > 5.5e9


@pytest.mark.long
def test_the_first_void_round_ends_the_run_where_the_plan_says_stop(hosted: HostedDrive, tmp_path: Path) -> None:
    out = tmp_path / "run"
    with running(hosted, out, "--on-stall", "stop", "--stall-limit", "1") as process:
        hosted.freeze()
        time.sleep(2.5)
        hosted.thaw()
        code, error, _ = ended(process, 60)
    assert (code, "the drive stalled" in error, error.count("\n")) == (4, True, 1), error
    assert_no_headline(out)


@pytest.mark.long
def test_a_drive_that_holds_a_thread_inside_a_system_call_is_told_and_written_down(
    hosted: HostedDrive, tmp_path: Path
) -> None:
    """The kernel lets such a process go only with the drive; what it has to say comes before."""
    out = tmp_path / "run"
    options = ("--io-path", "synchronous", "--io-time-limit", str(HANG_LIMIT_S))
    with running(hosted, out, *options, test="lat") as process:
        hosted.freeze()
        assert process.stderr
        begun = time.monotonic()
        while not (error := process.stderr.readline()).startswith("assay: "):
            assert error
        assert time.monotonic() - begun < HANG_LIMIT_S + 15
        assert '"kind":"run_ended"' in (out / "journal.jsonl").read_text("utf-8")
        hosted.thaw()
        code, rest, _ = ended(process, 30)
    assert (code, "inside a system call" in error, rest) == (4, True, ""), error
    (test,) = read_run(out).tests
    assert (test.ended, len(test.rounds) >= 1) == ("device-failure", True)
