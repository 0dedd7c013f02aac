"""Job files that Assay writes, run by fio on a loop device: it does what the workload says."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from assay.spec.workload import Line, Rate, Stage, Stream, Workload
from assay.workloads import fio
from conftest import HANG_S

if TYPE_CHECKING:
    from conftest import LoopDrive

pytestmark = pytest.mark.long

SIZE = 64 << 20


def run(workload: Workload, drive: str, folder: Path) -> list[dict[str, Any]]:
    """What fio says of each job."""
    tool = shutil.which("fio")
    if tool is None:
        pytest.skip("SKIPPED: needs fio to run the jobs")
    path, answer = folder / "jobs.fio", folder / "answer.json"
    path.write_text(fio.job_text(workload, filename=drive, ioengine="libaio"), "utf-8")
    command = [tool, "--output-format=json", f"--output={answer}", str(path)]
    subprocess.run(command, check=True, capture_output=True, timeout=HANG_S)
    return list(json.loads(answer.read_text("utf-8"))["jobs"])


def test_two_streams_with_rates_and_a_stage_by_amount_do_what_the_workload_says(
    loop_drive: LoopDrive, tmp_path: Path
) -> None:
    reads = Stream(
        name="reads",
        lines=(
            Line(percent=75, size_bytes=4096, align_bytes=4096),
            Line(percent=25, size_bytes=16384, align_bytes=4096),
        ),
        queue_depth=4,
        rate=Rate(ios_per_s=200),
    )
    writes = Stream(
        name="writes",
        lines=(Line(size_bytes=8192, read_percent=0, random_percent=0),),
        start_bytes=SIZE // 2,
        size_bytes=SIZE // 4,
        rate=Rate(bytes_per_s=100 * 8192),
    )
    fill = writes.model_copy(update={"name": "fill", "rate": None})
    workload = Workload(
        stages=(
            Stage(name="both", time_s=3, streams=(reads, writes)),
            Stage(name="fill", amount_bytes=SIZE // 2, streams=(fill,)),
        )
    )
    first, second, third = run(workload, loop_drive(SIZE), tmp_path)
    # A busy host may let fio fall behind its rate, never ahead of it by more than what it does at once.
    assert 0 < first["read"]["total_ios"] <= 3 * 200 * 1.1
    assert first["write"]["total_ios"] == 0
    assert 4096 < first["read"]["io_bytes"] / first["read"]["total_ios"] < 16384
    assert 0 < second["write"]["total_ios"] <= 3 * 100 * 1.1
    assert second["write"]["io_bytes"] == second["write"]["total_ios"] * 8192
    assert (third["write"]["io_bytes"], third["read"]["io_bytes"]) == (SIZE // 2, 0)


def test_trims_of_a_job_reach_the_device(loop_drive: LoopDrive, tmp_path: Path) -> None:
    trims = Stream(name="trims", operation="trim", lines=(Line(size_bytes=65536, random_percent=0),))
    drive = loop_drive(SIZE)
    counters = Path("/sys/block") / Path(drive).name / "stat"
    before = int(counters.read_text("ascii").split()[11])
    (done,) = run(Workload(stages=(Stage(name="t", amount_bytes=1 << 20, streams=(trims,)),)), drive, tmp_path)
    assert done["trim"]["total_ios"] == 16
    assert int(counters.read_text("ascii").split()[11]) - before == 16
