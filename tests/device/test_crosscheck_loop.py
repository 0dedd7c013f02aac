"""The sceptic's command on a loop device."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import LoopDrive

SIZE = 64 << 20


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command line as a user does."""
    return subprocess.run(
        [str(Path(sys.executable).parent / "assay"), *arguments], capture_output=True, text=True, check=False
    )


def test_every_point_is_measured_by_both_engines_and_reported(loop_drive: LoopDrive, tmp_path: Path) -> None:
    if shutil.which("fio") is None:
        pytest.skip("SKIPPED: needs fio to compare with")
    path, folder = loop_drive(SIZE), tmp_path / "check"
    identity = json.loads(run("drives", "--describe", path, "--json").stdout)["id"]
    options = ("--seconds", "0.2", "--pairs", "2", "--out", str(folder), "--json")
    counters = Path("/sys/block") / Path(path).name / "stat"
    written = counters.read_text().split()[4]
    unconfirmed = run("crosscheck", path, *options[:4], "--out", str(tmp_path / "other"))
    assert unconfirmed.returncode == 3
    assert counters.read_text().split()[4] == written, "nothing was written"
    done = run("crosscheck", path, "--yes-destroy", identity, *options)
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert len(facts["pairs"]) == 7
    for point in facts["pairs"]:
        assert len(point["pairs"]) == 2
        for pair in point["pairs"]:
            assert pair["ours"]["iops"] > 0
            assert pair["fio"]["iops"] > 0
            depth = int(point["point"].rpartition(" ")[2])
            # On a busy host fio's own outstanding I/Os may fall well short of what was asked for.
            assert pair["ours"]["iops"] * pair["ours"]["mean_ns"] / 1e9 == pytest.approx(depth, rel=0.5)
    assert {"crosscheck.json", "report.pdf", "report.html"} == {file.name for file in folder.iterdir()}


def test_a_simulated_drive_is_refused_with_what_to_name_instead(tmp_path: Path) -> None:
    done = run("crosscheck", "sim:ideal", "--out", str(tmp_path / "check"))
    assert done.returncode == 2
    assert "--file-target" in done.stderr
