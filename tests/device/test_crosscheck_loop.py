"""The sceptic's command on a loop device."""

import json
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from conftest import ASSAY, HANG_S, LoopDrive

pytestmark = pytest.mark.long

SIZE = 64 << 20


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command line as a user does."""
    return subprocess.run([ASSAY, *arguments], capture_output=True, text=True, check=False)


def test_every_point_is_measured_by_both_engines_and_reported(loop_drive: LoopDrive, tmp_path: Path) -> None:
    if shutil.which("fio") is None:
        pytest.skip("SKIPPED: needs fio to compare with")
    path, folder = loop_drive(SIZE), tmp_path / "check"
    identity = json.loads(run("drives", "--describe", path, "--json").stdout)["id"]
    options = ("--seconds", "0.4", "--pairs", "2", "--out", str(folder), "--json")
    counters = Path("/sys/block") / Path(path).name / "stat"
    written = counters.read_text().split()[4]
    unconfirmed = run("crosscheck", path, *options[:4], "--out", str(tmp_path / "other"))
    assert unconfirmed.returncode == 3
    assert counters.read_text().split()[4] == written, "nothing was written"
    assert not (tmp_path / "other").exists(), "no empty folder is left"
    done = run("crosscheck", path, "--yes-destroy", identity, *options)
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert len(facts["pairs"]) == 7
    for point in facts["pairs"]:
        assert len(point["pairs"]) == 2
        # Of a point, not of a pair: a busy host may let none of one finish in 0.4 s. How many were outstanding tells
        # nothing: most I/Os cross an end then.
        for engine in ("ours", "fio"):
            done_in_time = [pair[engine] for pair in point["pairs"] if pair[engine]["iops"]]
            assert done_in_time
            assert min(one["mean_ns"] for one in done_in_time) > 0
    assert {"crosscheck.json", "report.pdf", "report.html"} == {file.name for file in folder.iterdir()}


def test_one_that_is_interrupted_leaves_no_empty_folder(loop_drive: LoopDrive, tmp_path: Path) -> None:
    if shutil.which("fio") is None:
        pytest.skip("SKIPPED: needs fio to compare with")
    path, folder = loop_drive(SIZE), tmp_path / "check"
    identity = json.loads(run("drives", "--describe", path, "--json").stdout)["id"]
    command = [ASSAY, "crosscheck", path, "--yes-destroy", identity, "--seconds", "60", "--out", str(folder)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as check:
        assert check.stderr is not None
        assert any("pair 1 of" in line for line in check.stderr), "it measures"
        assert folder.exists()
        check.send_signal(signal.SIGINT)
        check.communicate(timeout=HANG_S)
    assert check.returncode == 130
    assert not folder.exists()


def test_a_simulated_drive_is_refused_with_what_to_name_instead(tmp_path: Path) -> None:
    made = tmp_path / "made"
    made.mkdir()
    for folder, is_left in ((tmp_path / "check", False), (made, True)):
        done = run("crosscheck", "sim:ideal", "--out", str(folder))
        assert done.returncode == 2
        assert "--file-target" in done.stderr
        assert folder.exists() is is_left
