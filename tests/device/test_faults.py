"""Faults in a run on a real device: what fails is counted, told and kept out of every figure."""

import os
import re
import shlex
import signal
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from assay.archive.rendering import render_run
from assay.dut.real.identity import identify
from assay.errors import DeviceFailureError
from assay.procedures.families.loop.result import loop_result
from assay.report import FORMATS
from assay.run.store.read import read_run
from conftest import HANG_S, LoopDrive, allocate
from quiet_host import QUIET_ASSAY
from shown_errors import error_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SIZE = 1 << 30


@contextmanager
def running(*arguments: str) -> "Iterator[subprocess.Popen[str]]":
    """A run on a quiet host as a child that does not outlive its test."""
    command = [*QUIET_ASSAY, "run", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def on_device(path: str, out: Path, scale: str = "0.005") -> list[str]:
    """The latency test, which has a single I/O outstanding and so no thread that is late for another."""
    identity = identify(path, file_target=False).id
    return [path, "--test", "lat", "--scale", scale, "--yes-destroy", identity, "--out", str(out)]


def wait_for(process: "subprocess.Popen[str]", word: str) -> None:
    assert process.stderr
    while word not in (line := process.stderr.readline()):
        assert process.poll() is None, line


def wait_until(done: "Callable[[], bool]") -> None:
    deadline = time.monotonic() + HANG_S
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def first_bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(4096)


def test_a_drive_that_begins_to_fail_ends_the_run_with_no_headline(loop_drive: LoopDrive, tmp_path: Path) -> None:
    path = loop_drive(SIZE)
    out = tmp_path / "run"
    with running(*on_device(path, out)) as process:
        wait_for(process, "round 1")
        os.truncate(tmp_path / "loop0.img", 1 << 20)
        error = error_lines(process.communicate(timeout=HANG_S)[1])
    assert (process.returncode, "EIO" in error, error.count("\n")) == (4, True, 1), error
    (test,) = read_run(out).tests
    assert test.ended == DeviceFailureError.slug
    assert loop_result(test).matrix == {}
    assert render_run(out, FORMATS)


@pytest.mark.parametrize("phase", ["purge", "precondition", "round"])
def test_ctrl_c_in_any_phase_stops_in_the_middle_of_it(loop_drive: LoopDrive, tmp_path: Path, phase: str) -> None:
    path, out = loop_drive(SIZE), tmp_path / "run"
    merging = Path(f"/sys/block/{Path(path).name}/queue/nomerges")
    before = merging.read_text()
    # At least five rounds of half a minute would follow.
    with running(*on_device(path, out, scale="0.05")) as process:
        wait_for(process, phase)
        process.send_signal(signal.SIGINT)
        error = error_lines(process.communicate(timeout=HANG_S)[1])
    assert process.returncode == 130, error
    assert "assay run" in error
    assert error.count("\n") == 1
    assert merging.read_text() == before
    (test,) = read_run(out).tests
    assert test.ended == "interrupted"
    # The signal may come before the first cell began.
    assert [step.ended for step in test.steps("round")][-1:] in ([], ["interrupted"])
    assert len(test.rounds) <= 1


def test_ctrl_c_while_a_file_is_overwritten_is_an_interruption_and_no_accusation(tmp_path: Path) -> None:
    file = allocate(tmp_path / "target.img", 4 << 30)
    out = tmp_path / "run"
    arguments = [str(file), "--file-target", "--test", "iops", "--scale", "0.01", "--yes-destroy", str(file)]
    with running(*arguments, "--out", str(out)) as process:
        wait_for(process, "purge")
        wait_until(lambda: any(first_bytes(file)))
        process.send_signal(signal.SIGINT)
        error = error_lines(process.communicate(timeout=HANG_S)[1])
    assert (process.returncode, "assay run" in error, error.count("\n")) == (130, True, 1), error
    assert '"reason":"interrupted"' in (out / "journal.jsonl").read_text()


def test_a_log_that_nobody_reads_any_more_does_not_end_the_run(tmp_path: Path) -> None:
    out = tmp_path / "run"
    options = f"--test iops --seed 1 --scale 0.01 --no-report --out {out}"
    command = f"{shlex.join(QUIET_ASSAY)} run sim:client-2011?capacity=1GB {options}"
    subprocess.run(["/bin/sh", "-c", f"{command} 2>&1 | head -1"], capture_output=True, check=True, timeout=HANG_S)
    assert read_run(out).tests[0].ended == "steady"


def test_an_absurd_demand_is_refused_before_anything_is_touched(loop_drive: LoopDrive, tmp_path: Path) -> None:
    path = loop_drive(SIZE)
    Path(path).write_bytes(b"mark" * 1024)
    # The first is more than any run may ask for, the second needs 138 GB of memory.
    for threads, depth, code in (("1024", "4096", 2), ("32", "2048", 3)):
        options = ["--thread-count", threads, "--queue-depth", depth]
        identity = identify(path, file_target=False).id
        command = [*QUIET_ASSAY, "run", path, "--test", "iops", "--scale", "0.001", "--yes-destroy", identity, *options]
        done = subprocess.run([*command, "--out", str(tmp_path / "run")], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr.count("\n")) == (code, 1), done.stderr
        with Path(path).open("rb") as device:
            assert device.read(4) == b"mark"


def test_a_drive_that_failed_and_is_another_one_by_then_is_told_so(loop_drive: LoopDrive, tmp_path: Path) -> None:
    path = loop_drive(SIZE)
    with running(*on_device(path, tmp_path / "run")) as process:
        wait_for(process, "round 1")
        os.truncate(tmp_path / "loop0.img", 1 << 20)
        subprocess.run(["/usr/sbin/losetup", "--set-capacity", path], check=True)
        error = error_lines(process.communicate(timeout=HANG_S)[1])
    assert process.returncode == 4, error
    assert re.search(
        r"and the drive is no longer the named drive: its size changed from .* to 1,048,576 bytes", error
    ), error


def test_a_drive_that_turns_read_only_ends_the_run_with_no_further_write(loop_drive: LoopDrive, tmp_path: Path) -> None:
    path = loop_drive(SIZE)
    with running(*on_device(path, tmp_path / "run")) as process:
        wait_for(process, "round 1")
        subprocess.run(["/usr/sbin/blockdev", "--setro", path], check=True)
        try:
            error = error_lines(process.communicate(timeout=HANG_S)[1])
        finally:
            # A loop device keeps this even when another image is attached to it.
            subprocess.run(["/usr/sbin/blockdev", "--setrw", path], check=True)
    assert process.returncode == 4, error
    assert "it turned read-only" in error
