"""The OEM guide's method and the five steps on a loop device: the kernel counts every byte, the offset is real."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from assay.results.audit import sequence_audits
from assay.run.store.read import read_run
from conftest import PATIENT, LoopDrive, known_id
from result_rows import table_rows
from undisturbed import quiet_assay, undisturbed

if TYPE_CHECKING:
    from pathlib import Path

SIZE = 64 << 20


@pytest.mark.long
@pytest.mark.parametrize("suite", ["oem-guide", "five-steps"])
def test_a_method_runs_on_a_loop_device(suite: str, loop_drive_in_memory: LoopDrive, tmp_path: Path) -> None:
    path = loop_drive_in_memory(SIZE)
    options = ("run", path, "--suite", suite, "--scale", "0.0002", "--yes-destroy", known_id(path), *PATIENT)
    done, out = undisturbed(lambda out: quiet_assay(*options, "--out", str(out)), tmp_path)
    # Neither method requires a steady state.
    assert done.returncode == 0, done.stderr
    (test,) = read_run(out, histograms=True).tests
    assert test.settings.test == f"study-{suite}"
    assert test.ended == "time"
    for audit in sequence_audits(test):
        assert audit.read_bytes[0] == audit.read_bytes[1], audit
        assert audit.write_bytes[0] == audit.write_bytes[1], audit
    found = json.loads((out / "report/results.json").read_text())["tests"][0]
    if suite == "oem-guide":
        checks = {row["check"]: row["level"] for row in table_rows(found, "guide_checks")}
        assert (checks["Secondary drive"], checks["Idle before the test"]) == ("pass", "pass")
        starts = {asked.active_range.segment_starts for one in test.stage("variant", 2) for asked in one.asked}
        assert starts == {(63 * 512,)}
    else:
        assert len(table_rows(found, "verdicts")) == 5
    assert "no test of the specification" in (out / "report/report.html").read_text()
