"""Demand intensity on a real loop device, scaled: 32 threads, captured operating points, the kernel's counters."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from assay.procedures.families.grid.plan import DemandSettings
from assay.procedures.families.grid.result import demand_result, total_oio
from assay.results.audit import sequence_audits
from assay.results.step import effective_queue_depth, latency_count
from assay.run.store.read import read_run
from conftest import PATIENT, known_id
from undisturbed import quiet_assay, undisturbed, verdict_code

if TYPE_CHECKING:
    from conftest import LoopDrive

SHIPPED = Path(__file__).parents[2] / "python/assay/spec/editions/pts-e-1.1.toml"
SHORTER = {
    r"samples_per_verdict = \{ value = 30": "samples_per_verdict = { value = 1",
    "point_pre_write_seconds = { value = 3600": "point_pre_write_seconds = { value = 180",
    "round_limit = { value = 25": "round_limit = { value = 5",
}


def short_edition(folder: Path) -> Path:
    """A custom edition with fewer samples, so that a scaled test is over in seconds."""
    text = SHIPPED.read_text("utf-8")
    for asked, shorter in SHORTER.items():
        text, count = re.subn(asked if "\\" in asked else re.escape(asked), shorter, text)
        assert count
    path = folder / "short.toml"
    path.write_text(text, "utf-8")
    return path


@pytest.mark.long
def test_32_threads_on_a_loop_device_are_measured_captured_and_counted(
    loop_drive_in_memory: LoopDrive, tmp_path: Path
) -> None:
    path, plan = loop_drive_in_memory(256 << 20), tmp_path / "plan.toml"
    plan.write_text(
        f'schema = 1\ndrive = "{path}"\nedition = "{short_edition(tmp_path)}"\ntests = ["dirth"]\nscale = 0.0001\n'
        "[dirth]\nthread_counts = [32, 4, 1]\nqueue_depths = [32, 2, 1]\n"
    )
    options = ("run", str(plan), "--yes-destroy", known_id(path), *PATIENT)
    done, out = undisturbed(lambda out: quiet_assay(*options, "--out", str(out)), tmp_path)
    assert done.returncode == verdict_code(out), done.stderr
    run = read_run(out, histograms=True)
    (test,) = run.tests
    settings = test.settings_as(DemandSettings)
    assert [total_oio(one) for one in settings.grid] == [1024, 128, 64, 32, 32, 8, 4, 2, 1]
    for audit in sequence_audits(test):
        assert audit.read_bytes[0] == audit.read_bytes[1], audit
        assert audit.write_bytes[0] == audit.write_bytes[1], audit
    result = demand_result(test)
    for round_ in test.rounds:
        tracked = round_.cells[settings.pre_write_samples]
        assert effective_queue_depth(tracked) > 512
    points = [sequence for sequence in test.sequences if sequence.keeps_ios]
    assert len(points) == 3
    for sequence in points:
        assert sequence.captured is not None
        kept = sum(len(block) for block in sequence.captured(1))
        assert kept == latency_count(sequence.steps[1]) > 0
    assert (out / "report/report.pdf").stat().st_size > 10_000
    assert result.withheld is None
    assert all(point.exact is not None and point.exact.agrees for point in result.points)
    assert all(cell.cpu_share is not None and cell.cpu_share > 0 for cell in result.cells)
