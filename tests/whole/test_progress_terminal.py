"""What a run draws on a terminal: no line is wider than it, and the time left is there at every width."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from assay.run.store.read import read_run
from on_terminal import ASSAY, on_terminal
from same_process import assay

DRIVE = "sim:client-2011?capacity=1GB"
OPTIONS = ("--test", "wsat", "--scale", "0.5", "--seed", "1", "--no-report")
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_no_line_is_wider_than_the_terminal_and_the_time_left_is_always_there(columns: int, tmp_path: Path) -> None:
    colour = columns != 80
    stream, code = on_terminal(columns, "run", DRIVE, *OPTIONS, "--out", str(tmp_path / "run"), colour=colour)
    # The lines of the outcome, behind the last drawing, are the shell's to fold.
    before = stream.partition("Simulated client")[0]
    drawn = _CONTROL.sub("", before).replace("\r", "\n").split("\n")
    assert code == 0, stream
    assert max(map(len, drawn)) <= columns
    # Below 61 columns there is no bar, which alone has colours.
    assert bool(re.search(r"\x1b\[[0-9;]*3[0-9]", before)) is (colour and columns > 60)
    text = " ".join(" ".join(drawn).split())
    assert re.search(r"\d+ (s|min)( \d+ s)? left", text)
    assert re.search(r"run:? .*\d+ (s|min)( \d+ s)? left|Run +.*left", text, re.IGNORECASE)
    assert "test 1 of 1" in text or columns < 61
    assert re.search(r"wsat ended: its (amount is written|time is over)", text)


def test_a_running_run_a_killed_one_and_a_finished_one_are_told_apart(tmp_path: Path) -> None:
    killed, finished = tmp_path / "runs/killed", tmp_path / "runs/finished"
    long = ["sim:client-2011?capacity=2GB", "--test", "iops", "--scale", "0.9"]
    command = [ASSAY, "run", *long, "--no-report", "--out", str(killed)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            wait_for(killed / "progress.json")
            found = status("--json", folder=tmp_path)
            assert (found["state"], found["run"], found["exit_code"]) == ("running", "runs/killed", None)
            assert found["progress"]["pid"] == process.pid
            said = told(tmp_path, str(killed))
            assert f"running, process {process.pid}" in said
            process.send_signal(signal.SIGSTOP)
            wait_until_stopped(process.pid)
            assert status("--json", str(killed), folder=tmp_path)["state"] == "suspended"
        finally:
            process.kill()
    assert status("--json", str(killed), folder=tmp_path)["state"] == "dead"
    assert "dead: its process was killed" in told(tmp_path, str(killed))
    quiet = ("--test", "wsat", "--scale", "0.01", "--no-report", "-q", "--out", str(finished))
    done = assay("run", DRIVE, *quiet)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    found = status("--json", folder=tmp_path)
    assert (found["state"], found["run"], found["exit_code"]) == ("finished", "runs/finished", 0)
    assert (found["tests"], found["progress"]) == ([{"test": "wsat", "ended": "amount"}], None)
    assert not (finished / "progress.json").exists()


def test_a_folder_of_progress_that_somebody_made_up_is_no_traceback(tmp_path: Path) -> None:
    done = assay("status", cwd=tmp_path)
    assert (done.returncode, "assay: runs: holds no run; name a run folder\n" in done.stderr) == (2, True)
    done = assay("status", "x", cwd=tmp_path)
    assert (done.returncode, "no run folder" in done.stderr) == (6, True)


@pytest.mark.parametrize(
    ("more", "code", "outcome"), [(("--scale", "0.01"), 0, "ok"), (("--scale", "0.01", "--purge", "erase"), 2, "usage")]
)
def test_a_command_is_run_at_the_end_and_at_a_failure_and_changes_no_exit_code(
    more: tuple[str, ...], code: int, outcome: str, tmp_path: Path
) -> None:
    end = f'echo "$ASSAY_OUTCOME $ASSAY_EXIT_CODE $ASSAY_RUN" > {tmp_path}/end; echo said; exit 9'
    command = ("run", DRIVE, "--test", "wsat", "--no-report", "--out", str(tmp_path / "run"), "--on-end", end)
    done = assay(*command, *more, "--json")
    folder = str(tmp_path / "run") if not code else ""
    assert (done.returncode, (tmp_path / "end").read_text().strip()) == (code, f"{outcome} {code} {folder}".strip())
    assert "ended with 9; the run is not affected" in done.stderr
    assert "said" not in done.stdout
    if not code:
        assert json.loads(done.stdout)["exit_code"] == 0
        log = (tmp_path / "run/run.log").read_text()
        assert "run ended: exit code 0" in log
        (tmp_path / "run/run.log").write_text("nobody reads it")
        assert read_run(tmp_path / "run").tests[0].ended == "amount"
        assert re.search(r"samples? 1( to \d+)?, cell 1 of \d+, RND 4KiB 0/100: [\d,.]+ IOPS", log)


def status(*arguments: str, folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(told(folder, *arguments))
    return found


def told(folder: Path, *arguments: str) -> str:
    done = assay("status", *arguments, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def wait_for(path: Path) -> None:
    while not path.exists():
        time.sleep(0.05)


def wait_until_stopped(pid: int) -> None:
    while " T " not in Path(f"/proc/{pid}/stat").read_text("utf-8"):
        time.sleep(0.05)
