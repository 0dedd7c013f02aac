"""A tester that is starved or stopped is found out, and the host is blamed for it, not the drive."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from assay.dut.real.host_watch import HostWatch
from assay.engine.pattern import leading_range, random_pattern
from assay.engine.records import DataPattern, Demand, HostRecord, StepSpec, StopRule
from assay.engine.stimulus import Stimulus
from assay.errors import EXIT_WITHHELD
from assay.procedures.families.loop.result import loop_result
from assay.results.host import sequence_host
from assay.results.outcome import withheld_reason
from assay.results.stall import void_reason
from assay.run.store.read import read_run
from conftest import ASSAY, FEW, HANG_S, PATIENT, LoopDrive, known_id
from undisturbed import verdict_code

SIZE = 256 << 20
STOPPED_S, LONG_STOP_S = 1.5, 5.6


def rounds_begun(folder: Path) -> int:
    try:
        lines = (folder / "journal.jsonl").read_bytes().splitlines()
    except FileNotFoundError:
        return 0
    return sum(b'"kind":"steps"' in line for line in lines)


@pytest.mark.long
def test_a_tester_that_was_stopped_is_blamed_and_not_the_drive(loop_drive_in_memory: LoopDrive, tmp_path: Path) -> None:
    path, out, plan = loop_drive_in_memory(SIZE), tmp_path / "run", tmp_path / "plan.toml"
    plan.write_text(f'drive = "{path}"\ntests = ["iops"]\nscale = 0.001\n[iops]\nround_limit = 5\n', "utf-8")
    known = known_id(path)
    child = subprocess.Popen(
        [ASSAY, "run", str(plan), *FEW, "--yes-destroy", known, "--out", str(out), *PATIENT],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        deadline = time.monotonic() + HANG_S
        while rounds_begun(out) < 2 and child.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        # A round takes 3.4 s: this lies in its middle, not between two of them.
        time.sleep(1)
        os.kill(child.pid, signal.SIGSTOP)
        time.sleep(STOPPED_S)
        os.kill(child.pid, signal.SIGCONT)
        shown, errors = child.communicate(timeout=HANG_S)
    finally:
        child.kill()
    (test,) = read_run(out).tests
    withheld = withheld_reason(test)
    assert child.returncode == (EXIT_WITHHELD if withheld else verdict_code(out)), errors
    assert ("Results of IOPS are withheld: " in " ".join(shown.split())) == bool(withheld)
    worst = max(test.sequences, key=lambda sequence: sequence.host.late_ns_max if sequence.host else 0)
    found = sequence_host(worst)
    assert found[0].level == "invalid"
    assert any("stalled for " in one.words for one in found), found
    assert worst.host is not None
    start_ns, span_ns = max(worst.host.stalls, key=lambda stall: stall[1])
    # Whoever else stops it makes it longer only.
    assert span_ns >= 1.4e9
    assert worst.steps[0].start_ns <= start_ns
    html = (out / "report/report.html").read_text()
    assert "INVALID; the host stalled for " in html
    if test.verdict and worst.stage == "round" and worst.index in test.verdict.rounds:
        assert loop_result(test).matrix == {}
        # A busy host may have been in the way in more ways than one.
        assert "NO HEADLINE: " in html
        assert "the test system disturbed this, not the drive" in html


@pytest.mark.long
def test_a_tester_that_was_stopped_beyond_the_time_limit_is_not_laid_to_the_drive(
    loop_drive_in_memory: LoopDrive, tmp_path: Path
) -> None:
    path, out, plan = loop_drive_in_memory(SIZE), tmp_path / "run", tmp_path / "plan.toml"
    plan.write_text(f'drive = "{path}"\ntests = ["lat"]\nscale = 0.005\n[lat]\nround_limit = 5\n', "utf-8")
    options = ("--stall-limit", "5", "--io-time-limit", "5", "--yes-destroy", known_id(path), "--out", str(out))
    with subprocess.Popen([ASSAY, "run", str(plan), *options], stderr=subprocess.PIPE, text=True) as child:
        try:
            begun = 0
            # Some of the stops may fall between two rounds.
            for _ in range(3):
                while rounds_begun(out) <= begun and child.poll() is None:
                    time.sleep(0.05)
                begun = rounds_begun(out)
                time.sleep(1)
                child.send_signal(signal.SIGSTOP)
                time.sleep(LONG_STOP_S)
                child.send_signal(signal.SIGCONT)
            errors = child.communicate(timeout=HANG_S)[1]
        finally:
            child.kill()
    (test,) = read_run(out).tests
    assert child.returncode == (EXIT_WITHHELD if withheld_reason(test) else verdict_code(out)), errors
    assert [void_reason(round_.cells, test.settings) for round_ in test.rounds] == [None] * 5
    slowest_ns = max(side.latency_ns_max or 0 for round_ in test.rounds for cell in round_.cells for side in cell.sides)
    assert slowest_ns > 0.9 * LONG_STOP_S * 1e9


# A program of its own: it imports nothing of the tests, wherever pytest put their folders on the path.
SPIN = "print('begun', flush=True)\nwhile True: pass"


def watched(seconds: float) -> HostRecord:
    """The null device, which answers at once, for some time: its thread always wants a processor."""
    step = StepSpec(
        label="null",
        pattern=random_pattern(4096, 1.0, DataPattern()),
        demand=Demand(thread_count=1, queue_depth=8),
        active_range=leading_range(1 << 30),
        stop=StopRule(time_ns=round(seconds * 1e9)),
    )
    with Stimulus.null(seed=1) as stimulus, HostWatch() as watch:
        stimulus.run([step])
    assert watch.record is not None
    return watch.record


def test_hogs_on_every_processor_are_blamed_on_the_host() -> None:
    count = 3 * (os.cpu_count() or 1)
    hogs = [subprocess.Popen([sys.executable, "-c", SPIN], stdout=subprocess.PIPE) for _ in range(count)]
    try:
        # On a busy host they take a while to start.
        assert [hog.stdout and hog.stdout.readline() for hog in hogs] == [b"begun\n"] * count
        record = watched(3.0)
    finally:
        for hog in hogs:
            hog.kill()
            hog.communicate()
    assert record.wait_ns is not None
    assert record.wait_ns > 0.3 * record.span_ns
    assert record.other_busy_ns is not None
    assert record.other_busy_ns > 0.5 * record.span_ns
    assert record.switches_involuntary is not None
    assert record.switches_involuntary > 0


def test_a_loop_device_is_audited_without_being_written(loop_drive_in_memory: LoopDrive) -> None:
    path = loop_drive_in_memory(SIZE)
    done = subprocess.run(
        [ASSAY, "check", path, "--seconds", "0.2", "--json"], capture_output=True, text=True, check=False
    )
    found = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
    assert done.returncode == (5 if any(check["level"] == "invalid" for check in found.values()) else 0)
    scheduler = Path(f"/sys/block/{Path(path).name}/queue/scheduler").read_text()
    assert found["scheduler"]["level"] == ("pass" if "[none]" in scheduler or scheduler.strip() == "none" else "warn")
    assert found["alignment"]["level"] == "pass"
    assert found["link"]["level"] == "unknown"
    with Path(path).open("rb") as device:
        assert not any(device.read(1 << 20))
