"""A drive that dies, shrinks, turns read-only or hangs while a run is on it, and one that comes back from a hang."""

import fcntl
import json
import os
import signal
import struct
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from assay.dut.real.identity import identify
from assay.errors import DeviceFailureError, DriveChangedError
from assay.run.store.read import read_run
from conftest import ASSAY, HANG_S, allocate, command, find_loop
from quiet_host import QUIET_ASSAY
from result_rows import table_rows
from shown_errors import error_lines
from undisturbed import undisturbed, verdict_code

SIZE = 160 << 20
GROWN_BYTES = 1 << 20
FILE_SYSTEM_BYTES = 208 << 20
# EXT4_IOC_SHUTDOWN without writing anything back.
SHUTDOWN, SHUTDOWN_NOW = 0x8004587D, 2
HANG_LIMIT_S = 3
STALL_LIMIT_S, HANG_IN_ROUND_S = 5, 10
"""No busy host keeps a drive in memory silent for the first; of the second it may keep the watch from seeing a part."""
FEW_ROUNDS = 'schema = 1\ndrive = "/dev/null"\n[lat]\nround_limit = 7\n'
CELLS = 9
"""Of a round of the latency test, 0.3 s each, in which a thread of any host completes an I/O."""


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

    def is_silent(self) -> bool:
        """Whether it has I/Os, and completes none of them for half a second."""
        counters, inflight = (Path("/sys/block", Path(self.path).name, name) for name in ("stat", "inflight"))
        before = _completed(counters)
        time.sleep(0.5)
        return _completed(counters) == before and inflight.read_text("ascii").split() != ["0", "0"]

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


def _completed(counters: Path) -> tuple[str, ...]:
    """Reads and writes that a drive has completed, by the kernel."""
    return tuple(counters.read_text("ascii").split()[0:5:4])


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
        node = find_loop("--direct-io=on", str(image))
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


def _until(done: Callable[[], bool]) -> None:
    """Wait for what the kernel does at leisure."""
    deadline = time.monotonic() + HANG_S
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.1)


@contextmanager
def running(
    drive: HostedDrive, out: Path, *options: str, test: tuple[str, ...] = ("lat",)
) -> "Iterator[subprocess.Popen[str]]":
    """A run in its second round, on a quiet host; the child does not outlive its test."""
    identity = identify(drive.path, file_target=False).id
    arguments = ("run", drive.path, *options, "--yes-destroy", identity, "--out", str(out))
    with _in_round_2(*arguments, test=test) as process:
        try:
            yield process
        finally:
            process.kill()
            # What the drive holds ends only with it.
            with suppress(subprocess.CalledProcessError):
                drive.thaw()


@contextmanager
def _in_round_2(*arguments: str, test: tuple[str, ...] = ("lat",)) -> "Iterator[subprocess.Popen[str]]":
    """A run of the latency test, which has a single I/O outstanding and so no thread that is late for another."""
    command = [*QUIET_ASSAY, *arguments, "--test", *test, "--scale", "0.005"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr
            shown = ""
            while "round 1" not in (line := process.stderr.readline()):
                shown += line
                assert line, f"it ended before its first round: {shown}"
            yield process
        finally:
            process.kill()


def ended(process: "subprocess.Popen[str]") -> tuple[int, str]:
    """Exit code and error line."""
    _, error = process.communicate(timeout=HANG_S)
    return process.returncode, error_lines(error)


def results(out: Path) -> dict[str, Any]:
    """What a report made afterwards says of the first test."""
    subprocess.run([ASSAY, "report", str(out), "--json", "--html"], check=True, capture_output=True, timeout=HANG_S)
    tests: list[dict[str, Any]] = json.loads((out / "report/results.json").read_text("utf-8"))["tests"]
    return tests[0]


def ending_of(error: str) -> str:
    """How a run is stored that ended with this error: I/Os may fail before somebody looks why."""
    return DeviceFailureError.slug if "I/Os failed" in error else DriveChangedError.slug


def assert_no_headline(out: Path, ended: str = DeviceFailureError.slug) -> None:
    """The first round is there to be read, and nothing is made of it."""
    found = results(out)
    assert found["ended"] == ended
    assert found["verdict"]["state"] in {"withheld", "cut-short"}
    assert {cell["latency_ms_mean_of_rounds"] for cell in table_rows(found, "matrix")} == {None}
    first = [step for step in table_rows(found, "steps") if (step["role"], step["number"]) == ("measure", 1)]
    assert len(first) == CELLS
    assert any(step["iops"] > 0 for step in first)
    assert ended.replace("-", " ").upper() in (out / "report/report.html").read_text("utf-8")


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
        code, error = ended(process)
    assert (code, said in error, error.count("\n")) == (4, True, 1), error
    assert_no_headline(out, ending_of(error))


@pytest.mark.long
@pytest.mark.parametrize("change_bytes", [GROWN_BYTES, -GROWN_BYTES])
def test_a_file_whose_size_changes_in_mid_run_ends_it_with_exit_code_4(tmp_path: Path, change_bytes: int) -> None:
    image, out = allocate(tmp_path / "drive.img", SIZE), tmp_path / "run"
    options = ("--file-target", "--yes-destroy", str(image), "--out", str(out))
    with _in_round_2("run", str(image), *options) as process:
        os.truncate(image, SIZE + change_bytes)
        code, error = ended(process)
    # Beyond its end, a file answers with nothing until somebody looks why.
    assert (code, f"its size changed from {SIZE:,} to {SIZE + change_bytes:,} bytes" in error) == (4, True), error
    found = results(out)
    assert (found["ended"], found["verdict"]["state"] in {"withheld", "cut-short"}) == (ending_of(error), True)
    assert any(step["role"] == "measure" for step in table_rows(found, "steps"))


def test_a_drive_that_hangs_for_ever_ends_the_run_soon_behind_the_time_limit(
    hosted: HostedDrive, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    with running(hosted, out, "--io-time-limit", str(HANG_LIMIT_S)) as process:
        begun = time.monotonic()
        hosted.freeze()
        # It is never thawed: that the run ends at all is the limit's doing.
        code, error = ended(process)
        took_s = time.monotonic() - begun
    assert (code, "stopped answering" in error, error.count("\n")) == (4, True, 1), error
    assert took_s > HANG_LIMIT_S - 0.5
    assert_no_headline(out)
    # What it still had to do is done now, and the drive is free.
    _until(lambda: not identify(hosted.path, file_target=False).refusals)


@pytest.mark.parametrize(
    "number",
    [signal.SIGINT, *(pytest.param(one, marks=pytest.mark.long) for one in (signal.SIGTERM, signal.SIGHUP))],
)
def test_a_signal_in_a_hang_stops_the_run_before_the_drive_answers(
    hosted: HostedDrive, tmp_path: Path, number: signal.Signals
) -> None:
    if signal.getsignal(number) == signal.SIG_IGN:
        pytest.skip(f"SKIPPED: {number.name} is ignored here, as under nohup, and so it is by the run")
    out = tmp_path / "run"
    # The hang itself would end this run with exit code 4, an hour later.
    with running(hosted, out, "--io-time-limit", "3600") as process:
        hosted.freeze()
        _until(hosted.is_silent)
        process.send_signal(number)
        code, error = ended(process)
    assert (code, error.count("\n")) == (130, 1), error
    assert results(out)["ended"] == "interrupted"


@pytest.mark.long
def test_a_drive_that_hangs_for_seconds_voids_the_round_and_the_window_begins_anew(
    hosted: HostedDrive, tmp_path: Path
) -> None:
    plan = tmp_path / "few.toml"
    plan.write_text(FEW_ROUNDS, "utf-8")
    hung_s: dict[Path, float] = {}

    def attempt(out: Path) -> subprocess.CompletedProcess[str]:
        with running(hosted, out, str(plan), "--stall-limit", str(STALL_LIMIT_S)) as process:
            begun = time.monotonic()
            hosted.freeze()
            _until(hosted.is_silent)
            time.sleep(HANG_IN_ROUND_S)
            hosted.thaw()
            hung_s[out] = time.monotonic() - begun
            code, error = ended(process)
        return subprocess.CompletedProcess([], code, "", error)

    done, out = undisturbed(attempt, tmp_path)
    assert done.returncode == verdict_code(out), done.stderr
    found = results(out)
    steps = [step for step in table_rows(found, "steps") if step["role"] == "measure"]
    (number,) = {step["number"] for step in steps if step["void"]}
    void = [step for step in steps if step["number"] == number]
    assert any("no I/O completed for" in (step["void"] or "") for step in void)
    assert STALL_LIMIT_S < max(step["stall_ns_max"] for step in void) / 1e9 <= hung_s[out] + 0.5
    assert found["window"]["rounds"][0] > number
    assert found["verdict"]["state"] not in {"withheld", "cut-short"}
    assert all(cell["latency_ms_mean_of_rounds"] for cell in table_rows(found, "matrix"))
    assert f"ROUND {number} VOID: the drive stalled for" in (out / "report/report.html").read_text("utf-8")
    assert '"kind":"stall"' in (out / "journal.jsonl").read_text("utf-8")


@pytest.mark.long
def test_the_first_void_round_ends_the_run_where_the_plan_says_stop(hosted: HostedDrive, tmp_path: Path) -> None:
    out = tmp_path / "run"
    with running(hosted, out, "--on-stall", "stop", "--stall-limit", str(STALL_LIMIT_S)) as process:
        hosted.freeze()
        _until(hosted.is_silent)
        time.sleep(HANG_IN_ROUND_S)
        hosted.thaw()
        code, error = ended(process)
    assert (code, "the drive stalled" in error, error.count("\n")) == (4, True, 1), error
    assert_no_headline(out)


@pytest.mark.long
def test_a_drive_that_holds_a_thread_inside_a_system_call_is_told_and_written_down(
    hosted: HostedDrive, tmp_path: Path
) -> None:
    """The kernel lets such a process go only with the drive; what it has to say comes before."""
    out = tmp_path / "run"
    options = ("--io-path", "synchronous", "--io-time-limit", str(HANG_LIMIT_S))
    # One I/O at a time in preconditioning, too, which system calls alone carry.
    single = ("tp", "--thread-count", "1", "--queue-depth", "1")
    with running(hosted, out, *options, test=single) as process:
        hosted.freeze()
        assert process.stderr
        while not (error := process.stderr.readline()).startswith("assay: "):
            assert error
        assert '"kind":"run_ended"' in (out / "journal.jsonl").read_text("utf-8")
        hosted.thaw()
        code, rest = ended(process)
    assert (code, "inside a system call" in error, rest) == (4, True, ""), error
    (test,) = read_run(out).tests
    assert (test.ended, len(test.rounds) >= 1) == (DeviceFailureError.slug, True)
