"""Resets of a drive, and a write cache that is switched, in the middle of a run: the run ends well, and says so."""

import fcntl
import os
import re
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from assay.dut.real import nvme
from assay.dut.real.gate import refusals
from assay.dut.real.transport import HeldDrive
from assay.dut.real.watch import DriveWatch
from assay.engine.pattern import leading_range
from assay.engine.records import DriveIdentity, StopRule
from assay.errors import DeviceFailureError
from assay.procedures.families.loop.result import loop_result
from assay.report import build_report
from assay.results.events import disturbing
from assay.results.run_checks import run_checks
from assay.results.stall import void_reason
from assay.run.store.read import read_run
from emulated import CAPACITY, Control, FindDrive, held, short_iops, step
from shown_errors import error_lines
from stacked import until

ASSAY = str(Path(sys.executable).with_name("assay"))
SECOND = 10**9
SG_SCSI_RESET, SG_SCSI_RESET_DEVICE = 0x2284, 1


def folder(drive: DriveIdentity) -> Path:
    return Path(f"/sys/block/{Path(drive.path).name}").resolve()


def reset_controller(drive: DriveIdentity) -> None:
    (folder(drive) / "device/reset_controller").write_text("1")


def reset_function(drive: DriveIdentity) -> None:
    (folder(drive) / "device/device/reset").write_text("1")


def reset_link(drive: DriveIdentity) -> None:
    """Let libata look who is there, for which it resets the link."""
    host = re.search(r"/(host\d+)/", str(folder(drive)))
    assert host
    Path(f"/sys/class/scsi_host/{host[1]}/scan").write_text("- - -")


def reset_device(drive: DriveIdentity) -> None:
    descriptor = os.open(drive.path, os.O_RDONLY)
    try:
        fcntl.ioctl(descriptor, SG_SCSI_RESET, struct.pack("i", SG_SCSI_RESET_DEVICE))
    finally:
        os.close(descriptor)


def set_cache(drive: DriveIdentity, *, enabled: bool) -> None:
    """Switch the drive's own cache, which the kernel does not look at again."""
    descriptor = os.open(drive.path, os.O_RDONLY)
    try:
        nvme.set_write_cache(HeldDrive(descriptor), enabled=enabled)
    finally:
        os.close(descriptor)


@contextmanager
def run_beyond_round(found: DriveIdentity, out: Path, number: int, *more: str) -> Iterator[subprocess.Popen[str]]:
    """A run that has just ended a round; killed at the end of the block where it still runs."""
    command = [ASSAY, "run", found.path, *short_iops(found, out), *more]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            wait_for_round(process, number)
            yield process
        finally:
            process.kill()


def wait_for_round(process: subprocess.Popen[str], number: int) -> None:
    assert process.stderr
    while f"round {number}" not in (line := process.stderr.readline()):
        assert line


@pytest.mark.parametrize(
    ("serial", "happen"),
    [
        ("Q-NVME-A", reset_controller),
        ("Q-NVME-A", reset_function),
        ("Q-SATA", reset_link),
        ("Q-SCSI", reset_device),
    ],
)
def test_a_reset_voids_the_step_that_it_befell_though_no_io_fails(
    drive: FindDrive, control: Control, serial: str, happen: Callable[[DriveIdentity], None]
) -> None:
    found, begun = drive(serial), threading.Event()
    sequence = [step(StopRule(time_ns=seconds * SECOND), leading_range(CAPACITY)) for seconds in (2, 6, 2)]

    def look(step_index: int, *_: int) -> None:
        watch.look(step_index)
        if step_index == 1 and not begun.is_set():
            begun.set()
            threading.Timer(1.0, happen, [found]).start()

    with held(found) as (_, stimulus, _), DriveWatch(found) as watch:
        watch.begin()
        records = watch.finished(stimulus.run(sequence, look))
    assert watch.record is not None
    assert watch.record.log == "read"
    assert watch.record.after.controller in {"live", "running"}
    told = [[event.text for event in record.drive_events] for record in records]
    control.say(f"{told}")
    if any("timeout, aborting" in text for texts in told for text in texts):
        until(lambda: not refusals(found))
        pytest.skip("SKIPPED: the emulated controller lost commands at its reset, as the kernel says")
    assert [record.ended for record in records] == ["stop-rule"] * 3
    assert [record.read.errors for record in records] == [{}] * 3
    assert [bool(disturbing(record)) for record in records] == [False, True, False]


@pytest.mark.parametrize("serial", ["Q-NVME-A", "Q-NVME-TWIN", "Q-SATA", "Q-SCSI"])
def test_nothing_is_heard_of_a_drive_while_another_one_is_reset(drive: FindDrive, serial: str) -> None:
    found, others = drive(serial), {"Q-NVME-A": reset_controller, "Q-SATA": reset_link, "Q-SCSI": reset_device}
    with held(found) as (_, stimulus, _), DriveWatch(found) as watch:
        watch.begin()
        for name in others.keys() - {serial}:
            others[name](drive(name))
        (record,) = watch.finished(stimulus.run([step(StopRule(io_count=100), leading_range(CAPACITY))]))
    assert record.drive_events == ()
    assert watch.record is not None
    assert watch.record.log == "read"


def test_a_run_whose_controller_is_reset_has_a_void_round_and_says_why(
    drive: FindDrive, control: Control, tmp_path: Path
) -> None:
    found, out = drive("Q-NVME-A"), tmp_path / "run"
    with run_beyond_round(found, out, 1, "--on-stall", "stop") as process:
        reset_controller(found)
        error = error_lines(process.communicate(timeout=200)[1])
    control.say(error.strip())
    assert (process.returncode, error.count("\n"), "default/read/poll queues" in error) == (4, 1, True), error
    run = read_run(out)
    (test,) = run.tests
    assert test.ended == DeviceFailureError.slug
    reasons = [void_reason(one.cells, test.settings) for one in test.rounds]
    assert [reason is not None for reason in reasons] == [*[False] * (len(reasons) - 1), True]
    assert loop_result(test).matrix == {}
    # Not rendered: figures take a minute in an interpreted guest, and each format prints the same banner.
    assert any("VOID: the kernel's log says" in (page.banner or "") for page in build_report(run).pages)


def test_a_write_cache_that_is_switched_in_mid_run_is_invalid(
    drive: FindDrive, control: Control, tmp_path: Path
) -> None:
    found, out = drive("Q-NVME-A"), tmp_path / "run"
    try:
        with run_beyond_round(found, out, 1) as process:
            set_cache(found, enabled=False)
            wait_for_round(process, 3)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
    finally:
        set_cache(found, enabled=True)
    (test,) = read_run(out).tests
    (cache,) = [check for check in run_checks(test) if check.check.number == "C12"]
    control.say(cache.finding.words)
    assert cache.level == "invalid"
    assert cache.finding.words.startswith("enabled, enabled to the kernel and disabled in the drive in round ")
    assert test.conditions, "read before the test, at least"
