"""Host idle recovery and cross stimulus recovery on a real loop device: bursts, idle times, the kernel's counters."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from assay.procedures.hir.result import idle_recovery_result
from assay.procedures.xsr.result import cross_stimulus_result
from assay.results.audit import sequence_audits
from assay.run.store.read import read_run
from conftest import PATIENT, known_id
from undisturbed import quiet_assay, undisturbed, verdict_code

if TYPE_CHECKING:
    from conftest import LoopDrive

BURST_NS = 200_000_000
SHIPPED = Path(__file__).parents[2] / "python/assay/spec/editions/pts-e-1.1.toml"
SHORTER = (
    ("cycles = { value = 360", "cycles = { value = 4"),
    ("burst_seconds = { value = 5", "burst_seconds = { value = 0.2"),
    ("idle_seconds = { value = [5, 10, 15, 25, 50]", "idle_seconds = { value = [0.05, 0.1, 0.15, 0.2, 0.25]"),
    ("return_seconds = { value = 1800", "return_seconds = { value = 0.4"),
    ("[hir.preconditioning]\nsample_seconds = { value = 60", "[hir.preconditioning]\nsample_seconds = { value = 0.05"),
    ("first_verdict_sample = { value = 30", "first_verdict_sample = { value = 2"),
    ("samples_per_verdict = { value = 30", "samples_per_verdict = { value = 2"),
    ("hours = 8", "hours = 0.0002"),
    ("hours = 6", "hours = 0.0002"),
)


@pytest.mark.long
def test_bursts_on_a_loop_device_are_whole_and_idle_times_are_idle(
    loop_drive_in_memory: LoopDrive, tmp_path: Path
) -> None:
    text = SHIPPED.read_text("utf-8")
    for asked, shorter in SHORTER:
        assert asked in text, asked
        text = text.replace(asked, shorter)
    edition, path = tmp_path / "short.toml", loop_drive_in_memory(128 << 20)
    edition.write_text(re.sub(r"(\[xsr\](?:.|\n)*?sample_seconds = \{ value = )60", r"\g<1>0.1", text), "utf-8")
    chosen = ("--test", "hir,xsr", "--profile", str(edition), "--seed", "1")
    options = ("run", path, *chosen, "--yes-destroy", known_id(path), *PATIENT)
    done, out = undisturbed(lambda out: quiet_assay(*options, "--out", str(out)), tmp_path)
    assert done.returncode == verdict_code(out), done.stderr
    recovery, crossed = read_run(out, histograms=True).tests
    for audit in (*sequence_audits(recovery), *sequence_audits(crossed)):
        assert audit.write_bytes[0] == audit.write_bytes[1] > 0, audit
        assert audit.read_bytes[0] == 0
    result = idle_recovery_result(recovery, 128 << 20)
    for state in result.states:
        assert (len(state.bursts.iops), len(state.returned.iops)) == (4, 2)
        assert max(state.bursts.iops) > 0
    assert result.withheld is None
    idle = [step for step in recovery.steps("segment") if step.label == "idle"]
    bursts = [step for step in recovery.steps("segment") if step.label != "idle"]
    assert (len(idle), len(bursts)) == (5 * 4, 5 * (4 + 2))
    assert all(step.first_submission_ns is None and not step.write.window_io_count for step in idle)
    # When the scheduler lets a burst begin is its affair; whole it is all the same, and every I/O of it comes back.
    assert {step.span_ns for step in bursts} == {BURST_NS}
    begun = [step for step in bursts if step.first_submission_ns is not None]
    assert all(step.write.window_io_count + step.write.tail_io_count > 0 for step in begun)
    assert all(0 <= (step.first_submission_ns or 0) - step.start_ns < BURST_NS for step in begun)
    assert [len(group.samples.throughput) for group in cross_stimulus_result(crossed).groups] == [7, 7, 7]
