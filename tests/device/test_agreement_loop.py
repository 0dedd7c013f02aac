"""Steps of a run on a loop device, repeated by fio from the job files that Assay writes of them.

The device is throttled, so that no host serves more than is allowed; less is the host's doing where the watch beside
says so, and such an attempt counts for nothing.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from assay.dut.real.host_watch import HostWatch
from assay.results.step import rate_count
from assay.run.store.read import read_run
from conftest import ASSAY, HANG_S, PATIENT, known_id, run_in, set_throttle
from quiet_host import QUIET_ASSAY, was_disturbed
from undisturbed import undisturbed

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import LoopDrive

pytestmark = pytest.mark.long

SIZE, CAP, SECONDS, ATTEMPTS_MAX = 64 << 20, 4000, 6, 3
CLOSED = 0.005
"""Agreement of the one stream: fio counts the 16 I/Os that it waits for at the end, 0.07 % of 24,000."""
RATED = 0.005
"""Agreement of streams with rates, beside one I/O."""
PLAN = f"""
schema = 1
drive = "PATH"
studies = ["workload"]
[workload]
prepare_fills = 1
[[workload.stages]]
name = "one stream"
time_s = {SECONDS}
[[workload.stages.streams]]
name = "reads"
queue_depth = 16
lines = [{{ size_bytes = 4096 }}]
[[workload.stages]]
name = "two streams"
time_s = {SECONDS}
[[workload.stages.streams]]
name = "small reads"
queue_depth = 32
rate = {{ ios_per_s = 400 }}
lines = [{{ size_bytes = 4096 }}]
[[workload.stages.streams]]
name = "large writes"
queue_depth = 32
start_percent = 50
rate = {{ ios_per_s = 200 }}
lines = [{{ size_bytes = 16384, read_percent = 0 }}]
"""


def throttled(loop_drive: LoopDrive, group: Path) -> str:
    path = loop_drive(SIZE)
    set_throttle(group, path, CAP, "read", "write")
    return path


def ours(group: Path, path: str, folder: Path) -> tuple[dict[str, int], Path]:
    """Completions of each stream in a run of ours, and its folder."""
    plan = folder / "plan.toml"
    plan.write_text(PLAN.replace("PATH", path), "utf-8")
    options = ["run", str(plan), "--yes-destroy", known_id(path), "--no-report", *PATIENT, "--out"]
    shell = f'echo $$ > {group}/cgroup.procs && exec "$@"'
    command = ["/bin/sh", "-c", shell, "sh", *QUIET_ASSAY, *options]

    def attempt(out: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*command, str(out)], capture_output=True, text=True, check=False, timeout=HANG_S)

    done, out = undisturbed(attempt, folder)
    assert done.returncode == 0, done.stderr
    measured = (one for one in read_run(out).tests[0].sequences if one.role == "measure")
    counts = {
        spec.label: rate_count(record) for one in measured for spec, record in zip(one.asked, one.steps, strict=True)
    }
    return counts, out


def theirs(group: Path, folder: Path, name: str) -> dict[str, int]:
    """Completions of each job of fio, from the file that Assay writes of a sequence."""
    job, answer = folder.with_name(f"{name}.fio"), folder.with_name(f"{name}.json")
    subprocess.run([ASSAY, "convert", str(folder), "--to", "fio", "--step", name, "--out", str(job)], check=True)
    run_in(group, ["fio", "--output-format=json", f"--output={answer}", str(job)])
    jobs = json.loads(answer.read_text("utf-8"))["jobs"]
    return {one["jobname"]: one["read"]["total_ios"] + one["write"]["total_ios"] for one in jobs}


def agree(ours: dict[str, int], fio: dict[str, int]) -> bool:
    return abs(ours["reads"] / fio["reads"] - 1) <= CLOSED and all(
        abs(ours[name] - fio[name]) <= RATED * SECONDS * rate + 1
        for name, rate in (("small reads", 400), ("large writes", 200))
    )


def test_fio_counts_what_we_count_in_one_stream_and_in_two_with_rates(
    loop_drive: LoopDrive, throttle: Path, tmp_path: Path
) -> None:
    if shutil.which("fio") is None:
        pytest.skip("SKIPPED: needs fio to compare with")
    path = throttled(loop_drive, throttle)
    figures = []
    for attempt in range(ATTEMPTS_MAX):
        folder = tmp_path / f"attempt-{attempt}"
        folder.mkdir()
        with HostWatch() as watch:
            mine, out = ours(throttle, path, folder)
            fio = theirs(throttle, out, "one stream") | theirs(throttle, out, "two streams")
        figures.append((mine, fio))
        # More than was asked is nobody's noise.
        assert mine["small reads"] <= 400 * SECONDS + 1
        assert mine["large writes"] <= 200 * SECONDS + 1
        if agree(mine, fio):
            return
        assert was_disturbed(watch.record), figures
    pytest.skip(f"SKIPPED: the host was disturbed in all {ATTEMPTS_MAX} attempts: {figures}")
