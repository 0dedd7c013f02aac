"""A trace issued again on a loop device: its I/Os reach the kernel, and how late they were is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.archive.verify import verify_run
from assay.results.audit import counted
from assay.run.store.read import read_run
from conftest import PATIENT, known_id
from every_kind import TRACE
from undisturbed import quiet_assay, undisturbed

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import LoopDrive

SIZE = 256 << 20


def test_the_ios_of_a_trace_reach_a_drive_and_their_lateness_is_graded(
    loop_drive_in_memory: LoopDrive, tmp_path: Path
) -> None:
    path = loop_drive_in_memory(SIZE)
    chosen = ("--replay", str(TRACE), "--map", "scale", "--capture", "addresses", "--no-report")
    options = ("run", path, *chosen, "--yes-destroy", known_id(path), *PATIENT)
    done, out = undisturbed(lambda out: quiet_assay(*options, "--out", str(out)), tmp_path)
    assert done.returncode == 0, done.stderr
    run = read_run(out, histograms=True)
    (test,) = run.tests
    sequence = test.sequences[-1]
    (record,) = sequence.steps
    assert not any(side.errors for side in record.sides), done.stderr
    assert sum(side.latency_io_count for side in record.sides) == 400
    # As long as the trace, and as much longer as the last of them was late.
    late_max = max(side.late_ns_max or 0 for side in record.sides)
    assert 2_365_455_000 <= record.span_ns <= 2_365_455_000 + late_max + 1_000_000
    assert record.offered_io_count == 400
    # Ours is the only load of the device, so that the kernel counts what was issued.
    for one in counted(sequence.steps):
        assert one.counted_bytes is None or one.counted_bytes >= one.byte_count
    assert not [one for one in verify_run(out).answers if one.rule in {"W-08", "W-10", "W-12", "W-14", "W-15"}]
