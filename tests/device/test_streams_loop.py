"""Streams side by side on a loop device: ranges, rates and trims, held against the kernel's counters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.archive.verify import verify_run
from assay.procedures.workload.result import stage_results
from assay.run.store.read import read_run
from conftest import PATIENT, known_id
from undisturbed import quiet_assay, undisturbed

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import LoopDrive

SIZE = 256 << 20
PLAN = """
schema = 1
drive = "{path}"
studies = ["workload"]
[workload]
[[workload.stages]]
name = "mixed"
time_s = 3
[[workload.stages.streams]]
name = "reads"
queue_depth = 4
size_percent = 50
rate = {{ ios_per_s = 400 }}
lines = [{{ size_bytes = 4096 }}]
[[workload.stages.streams]]
name = "writes"
queue_depth = 4
start_percent = 50
size_percent = 25
rate = {{ ios_per_s = 200 }}
lines = [{{ size_bytes = 8192, read_percent = 0 }}]
[[workload.stages.streams]]
name = "trims"
operation = "trim"
queue_depth = 2
start_percent = 75
rate = {{ ios_per_s = 50 }}
lines = [{{ size_bytes = 65536 }}]
[[workload.stages.streams]]
name = "flushes"
operation = "flush"
rate = {{ ios_per_s = 5 }}
lines = [{{ size_bytes = 4096 }}]
"""


def test_streams_trims_and_flushes_reach_a_drive_and_the_kernel_counts_them(
    loop_drive_in_memory: LoopDrive, tmp_path: Path
) -> None:
    path, plan = loop_drive_in_memory(SIZE), tmp_path / "plan.toml"
    plan.write_text(PLAN.format(path=path), "utf-8")
    options = ("run", str(plan), "--yes-destroy", known_id(path), "--no-report", *PATIENT)
    done, out = undisturbed(lambda out: quiet_assay(*options, "--out", str(out)), tmp_path)
    assert done.returncode == 0, done.stderr
    run = read_run(out, histograms=True)
    (test,) = run.tests
    (sequence,) = (one for one in test.sequences if one.role == "measure")
    by_label = {spec.label: record for spec, record in zip(sequence.asked, sequence.steps, strict=True)}
    assert not any(side.errors for record in sequence.steps for side in record.sides), done.stderr
    # What was due is exact whatever the host does; what was achieved is not.
    for label, rate in (("reads", 400), ("writes", 200), ("trims", 50), ("flushes", 5)):
        assert abs((by_label[label].offered_io_count or 0) - 3 * rate) <= 1, label
    trims = by_label["trims"].other
    before, after = sequence.steps[0].counters_before, sequence.steps[-1].counters_after
    assert trims is not None
    assert before is not None
    assert after is not None
    issued = trims.lead_in_bytes + trims.window_bytes + trims.tail_bytes
    assert after.discard_bytes - before.discard_bytes == issued > 0
    assert after.write_bytes - before.write_bytes == sum(
        side.window_bytes + side.tail_bytes + side.lead_in_bytes for side in [by_label["writes"].write]
    )
    (streams,) = stage_results(test)
    assert {stream.label for stream in streams} >= set(by_label)
    # A drive in memory answers in time: only what the host did may be marked, and that is no rule of a stored run.
    assert verify_run(out).passed
