"""Randomised trials of the gate: a sample of 300, and 10,000 by ``make soak`` or as many as ASSAY_GATE_TRIALS says.

Kept figure: of 10,000 trials none opened a wrong drive.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
from pathlib import Path

import pytest
from gate_topologies import Dut, trial

pytestmark = pytest.mark.long

SAMPLE = 300
TRIALS = int(os.environ.get("ASSAY_GATE_TRIALS", "10000"))
SEED = int(os.environ.get("ASSAY_GATE_SEED", "0")) or secrets.randbits(48)


@pytest.mark.usefixtures("needs_root")
@pytest.mark.parametrize(
    "trials",
    [
        pytest.param(min(SAMPLE, TRIALS), id="sample"),
        pytest.param(TRIALS, marks=[pytest.mark.soak, pytest.mark.timeout(max(300, TRIALS))], id="soak"),
    ],
)
def test_no_trial_opens_a_wrong_drive_or_refuses_a_right_one(trials: int, tmp_path: Path) -> None:
    opened = 0
    memory = Path("/dev/shm")  # noqa: S108
    with contextlib.ExitStack() as stack:
        if os.access(memory, os.W_OK):
            tmp_path = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=memory)))
        try:
            dut = stack.enter_context(Dut(tmp_path))
        except OSError as error:
            pytest.skip(f"SKIPPED: no loop devices to be had: {error}")
        for seed in range(SEED, SEED + trials):
            outcome = trial(dut, seed)
            assert not outcome.wrong, f"ASSAY_GATE_SEED={seed} ASSAY_GATE_TRIALS=1: {outcome.wrong} ({outcome.story})"
            opened += outcome.opened
    print(f"{trials} trials from seed {SEED}: {opened} opened, all of them right")  # noqa: T201
    assert trials < 100 or 0.05 < opened / trials < 0.95
