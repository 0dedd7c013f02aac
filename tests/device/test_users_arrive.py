"""Users that arrive, and a stack that changes, while a run goes on: the run is a child, the user somebody else."""

from __future__ import annotations

import fcntl
import json
import os
import struct
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from assay.dut.real.identity import identify
from assay.run.store.read import read_run
from conftest import PATIENT, command, find_loop
from quiet_host import QUIET_ASSAY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conftest import LoopDrive

pytestmark = pytest.mark.long

MIB = 1 << 20
PATIENCE_S = 240
_STATUS, _SET_STATUS = 0x4C05, 0x4C04


@contextmanager
def running(path: str, out: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    """A latency test of two rounds and more on a drive, in a session and mount namespace of its own."""
    identity = identify(path, file_target=False)
    call = [*QUIET_ASSAY, "run", path, "--test", "lat", "--scale", "0.005", "--out", str(out), *PATIENT]
    call += ["--yes-destroy", identity.id, "--no-report", *options]
    with subprocess.Popen(
        ["/usr/bin/unshare", "--mount", *call],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def lines(out: Path, kind: str) -> list[dict[str, Any]]:
    """Lines of a kind in the journal of a run that goes on."""
    try:
        text = (out / "journal.jsonl").read_text("utf-8")
    except OSError:
        return []
    found = [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]
    return [line for line in found if line["kind"] == kind]


def until(out: Path, kind: str, count: int, process: subprocess.Popen[str]) -> None:
    """Wait until the journal has so many lines of a kind."""
    end = time.monotonic() + PATIENCE_S
    while len(lines(out, kind)) < count:
        assert process.poll() is None, process.stderr and process.stderr.read()
        assert time.monotonic() < end
        time.sleep(0.05)


def stopped(process: subprocess.Popen[str]) -> str:
    """The error of a run that is to end with exit code 4."""
    _, error = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 4, error
    return error


def someone_writes(path: str) -> Callable[[], object]:
    """A process in another session with the node open for writing, which writes nothing."""
    return holding(path, os.O_WRONLY, "/usr/bin/unshare", "--mount")


def holding(path: str, flags: int, *before: str) -> Callable[[], object]:
    """A process in a session of its own that holds a drive open; what ends it."""
    descriptor = os.open(path, flags | os.O_CLOEXEC)
    holder = subprocess.Popen([*before, "/bin/sleep", "600"], stdout=descriptor, start_new_session=True)
    os.close(descriptor)
    return lambda: (holder.kill(), holder.wait())


def a_loop_upon_it(path: str) -> Callable[[], object]:
    node = find_loop(path)
    return lambda: command("losetup", "--detach", node)


@pytest.mark.parametrize(
    ("arrive", "told"), [(someone_writes, "open for writing by process"), (a_loop_upon_it, "backs loop")]
)
def test_a_user_that_arrives_stops_the_run_and_voids_what_ran_since_the_last_look(
    loop_drive_in_memory: LoopDrive,
    tmp_path: Path,
    arrive: Callable[[str], Callable[[], object]],
    told: str,
) -> None:
    path, out = loop_drive_in_memory(64 * MIB), tmp_path / "run"
    with running(path, out) as process:
        until(out, "steps", 4, process)
        before, arrived_ns = len(lines(out, "steps")), time.time_ns()
        leave = arrive(path)
        try:
            error = stopped(process)
        finally:
            leave()
    assert told in error
    assert "is void" in error
    (test,) = read_run(out).tests
    assert test.ended == "drive-changed"
    assert len(test.sequences) >= before
    ((reason, since_ns),) = (line["data"].values() for line in lines(out, "drive_changed"))
    assert since_ns < arrived_ns
    assert reason in error
    for sequence in test.sequences:
        end_ns = max(step.start_wall_ns + step.span_ns for step in sequence.steps)
        assert all(bool(step.drive_events) == (end_ns > since_ns) for step in sequence.steps)


def test_a_loop_device_that_is_turned_to_another_place_stops_the_run(
    loop_drive_in_memory: LoopDrive, tmp_path: Path
) -> None:
    path, out = loop_drive_in_memory(64 * MIB), tmp_path / "run"
    turn(path, 0)
    with running(path, out) as process:
        until(out, "steps", 4, process)
        turn(path, MIB)
        error = stopped(process)
    assert f"{Path(path).name} changed: offset from 0 to {MIB} while it was tested" in error


def turn(path: str, offset: int) -> None:
    """Let a loop device show another part of its file, always 32 MiB, under whoever has it open."""
    with Path(path).open("rb") as loop:
        status = bytearray(fcntl.ioctl(loop, _STATUS, bytes(232)))
        struct.pack_into("2Q", status, 24, offset, 32 * MIB)
        fcntl.ioctl(loop, _SET_STATUS, bytes(status))


def test_a_reader_that_arrives_is_named_in_the_checks_and_stops_nothing(
    loop_drive_in_memory: LoopDrive, tmp_path: Path
) -> None:
    path, out = loop_drive_in_memory(64 * MIB), tmp_path / "run"
    with running(path, out) as process:
        until(out, "steps", 2, process)
        leave = holding(path, os.O_RDONLY)
        try:
            process.communicate(timeout=PATIENCE_S)
        finally:
            leave()
    (test,) = read_run(out).tests
    assert process.returncode != 4
    assert test.looks is not None
    assert [one.name for one in test.looks.arrivals] == ["sleep"]
    assert test.looks.process_look_count > 0
