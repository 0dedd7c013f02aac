"""A reference drive measured on a loop device, and held against its own earlier certificate."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import LoopDrive

SIZE = 64 << 20


def run(data: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command line as a user does, with certificates of its own."""
    command = [str(Path(sys.executable).parent / "assay"), *arguments]
    environment = {**os.environ, "XDG_DATA_HOME": str(data)}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


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
    options = ("calibrate", "--seconds", "0.05", "--reference", path, "--reference-seconds", "0.2", "--json")
    written = counters.read_text().split()[6]
    refused = run(data, *options)
    assert refused.returncode == 3
    assert identity in refused.stderr
    assert counters.read_text().split()[6] == written, "nothing was written"
    assert not data.exists(), "nothing was certified"

    done = run(data, *options, "--yes-destroy", identity)
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
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
        depth = int(point["label"].rpartition(" ")[2])
        assert values[0] * times[0] / 1e9 == pytest.approx(depth, rel=0.3)
    # Filled once, and written at random.
    assert (int(counters.read_text().split()[6]) - int(written)) * 512 > SIZE

    before = raised(Path(facts["path"]), 1000.0)
    again = run(data, *options, "--yes-destroy", identity)
    assert again.returncode == 5, again.stderr
    second = json.loads(again.stdout)
    assert second["reference"]["baseline_wall_ns"] == before["reference"]["made_wall_ns"]
    assert "reference drive off by -" in second["outside"][0]
