"""Every workload that a plan can state runs to its end, with exit code 0, and breaks no rule of ``assay verify``.

``make soak`` looks at 500 drawn plans, or as many as ``ASSAY_FUZZ_CASES`` says.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from assay.archive.verify import verify_run
from assay.dut.dut import Answers
from assay.run.plan_file import load_plan
from assay.run.run import run_plan
from drawn_workloads import drawn_plan

if TYPE_CHECKING:
    from pathlib import Path

CHUNK = 50
CASES = int(os.environ.get("ASSAY_FUZZ_CASES", "500"))
SAMPLE_CHUNKS = 2
CHUNKS = [
    pytest.param(chunk, marks=[] if chunk < SAMPLE_CHUNKS else pytest.mark.soak) for chunk in range(CASES // CHUNK)
]


@pytest.mark.long
@pytest.mark.parametrize("chunk", CHUNKS)
def test_a_workload_that_a_plan_can_state_runs_and_breaks_no_rule(chunk: int, tmp_path: Path) -> None:
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        folder = tmp_path / str(seed)
        done = run_plan(load_plan(None, drawn_plan(seed)), out=folder, answers=Answers(), show=lambda _: None)
        found = verify_run(folder)
        assert (done.exit_code, found.answers, found.complete) == (0, (), True), f"seed {seed}"
