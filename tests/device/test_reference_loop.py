"""A reference drive measured on a loop device, and held against its own earlier certificate."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from assay.dut.real.host_watch import HostWatch
from conftest import ASSAY, HANG_S, LoopDrive
from quiet_host import was_disturbed

SIZE = 64 << 20
ATTEMPTS_MAX = 3


def run(data: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command line as a user does, with certificates of its own."""
    environment = {**os.environ, "XDG_DATA_HOME": str(data)}
    command = [ASSAY, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=HANG_S)


def measured(data: Path, *arguments: str) -> tuple[subprocess.CompletedProcess[str], HostWatch]:
    """A measurement with an I/O in each window, which a disturbed host may not let complete, and the host meanwhile."""
    for _ in range(ATTEMPTS_MAX):
        with HostWatch() as watch:
            done = run(data, *arguments)
        if "completed no I/O" not in done.stderr:
            return done, watch
        assert disturbed(watch), done.stderr
    pytest.skip(f"SKIPPED: the host was disturbed in all {ATTEMPTS_MAX} attempts: {done.stderr}")


def disturbed(watch: HostWatch) -> bool:
    return was_disturbed(watch.record)


def certified(data: Path, *arguments: str) -> dict[str, Any]:
    """The first certificate whose queues the host let be kept full, else the last; all else of it is exact."""
    facts: dict[str, Any] = {}
    for _ in range(ATTEMPTS_MAX):
        shutil.rmtree(data, ignore_errors=True)
        done, watch = measured(data, *arguments)
        assert done.returncode == 0, done.stderr
        facts = json.loads(done.stdout)
        if all(map(kept_full, facts["reference"]["points"])):
            break
        assert disturbed(watch), facts
    return facts


def kept_full(point: dict[str, Any]) -> bool:
    """Whether Little's law gives the depth of a point within 30 %: on a slow host more I/Os cross an end of 0.6 s."""
    depth = int(point["label"].rpartition(" ")[2])
    pairs = zip(point["iops"]["values"], point["mean_ns"]["values"], strict=True)
    return all(rate * mean_ns / 1e9 == pytest.approx(depth, rel=0.3) for rate, mean_ns in pairs)


def raised(path: Path, times: float) -> dict[str, Any]:
    """Rewrite a certificate: a day older, quiet, and with rates that many times as high."""
    facts: dict[str, Any] = json.loads(path.read_text())
    reference = facts["reference"]
    reference["made_wall_ns"] -= 86_400 * 10**9
    facts["made_wall_ns"] -= 86_400 * 10**9
    for point in reference["points"]:
        mean = point["iops"]["mean"] * times
        point["iops"] = {"values": [mean] * 5, "mean": mean, "spread": 0.0, "variation": 0.0}
    path.write_text(json.dumps(facts))
    return facts


@pytest.mark.long
def test_a_loop_device_is_measured_five_times_and_held_against_its_baseline(
    loop_drive_in_memory: LoopDrive, tmp_path: Path
) -> None:
    path, data = loop_drive_in_memory(SIZE), tmp_path / "data"
    counters = Path("/sys/block") / Path(path).name / "stat"
    identity = json.loads(run(data, "drives", "--describe", path, "--json").stdout)["id"]
    options = ("calibrate", "--seconds", "0.05", "--reference", path, "--reference-seconds", "0.6", "--json")
    written = counters.read_text().split()[6]
    refused = run(data, *options)
    assert refused.returncode == 3
    assert identity in refused.stderr
    assert counters.read_text().split()[6] == written, "nothing was written"
    assert not data.exists(), "nothing was certified"

    facts = certified(data, *options, "--yes-destroy", identity)
    first = facts["reference"]
    assert (first["drive"]["id"], first["range_bytes"], first["baseline_wall_ns"]) == (identity, SIZE, None)
    assert [point["label"] for point in first["points"]] == [
        "RND 4KiB 100/0, 1 x 1",
        "RND 4KiB 100/0, 1 x 32",
        "RND 4KiB 0/100, 1 x 32",
        "SEQ 128KiB 100/0, 1 x 8",
    ]
    for point in first["points"]:
        values, times = point["iops"]["values"], point["mean_ns"]["values"]
        assert len(values) == len(times) == 5
        assert min(values) > 0
        assert point["iops"]["spread"] == pytest.approx((max(values) - min(values)) / (sum(values) / 5))
    # Filled once, and written at random.
    assert (int(counters.read_text().split()[6]) - int(written)) * 512 > SIZE

    before = raised(Path(facts["path"]), 1000.0)
    again, _ = measured(data, *options, "--yes-destroy", identity)
    assert again.returncode == 5, again.stderr
    second = json.loads(again.stdout)
    assert second["reference"]["baseline_wall_ns"] == before["reference"]["made_wall_ns"]
    assert "reference drive off by -" in second["outside"][0]
