"""Randomised trials of the gate: a sample, and 10,000 by ``make soak`` or as many as ASSAY_GATE_TRIALS says.

A tenth of them are whole runs of ``assay run``. What is right: no wrong open, no arrival missed by the next look, no
refusal of a free drive. A trial that fails prints the line that repeats it.
"""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING

import pytest
from gate_topologies import DEAL, trial
from gate_topology_images import trial_dut
from gate_topology_runs import RUN_DEAL, run_trial
from gate_topology_users import KINDS, missing
from gate_trial_counts import FAULTS_MAX, Counts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from gate_topologies import Dealt, Outcome
    from gate_topology_images import Dut

pytestmark = pytest.mark.long

SAMPLE = len(DEAL)
"""Each kind at each of its moments once."""
SAMPLE_RUNS = 4
TRIALS = int(os.environ.get("ASSAY_GATE_TRIALS", "10000"))
SEED = int(os.environ.get("ASSAY_GATE_SEED", "0")) or secrets.randbits(48)
RUNS = max(1, TRIALS // 10)
SECONDS_PER_TRIAL, SECONDS_PER_RUN = 60, 900
"""Limits that find a trial which hangs."""
EACH_KIND_MIN = 100
"""So often a soak of 10,000 has each kind."""


@pytest.fixture
def gate_dut(needs_root: None, tmp_path: Path) -> Iterator[Dut]:  # noqa: ARG001
    with trial_dut(tmp_path) as dut:
        yield dut


def counted(
    dut: Dut, attempt: Callable[[Dut, int], Outcome], deal: Sequence[Dealt], count: int
) -> tuple[Counts, set[str]]:
    """So many trials from the seed on, and the kinds that they can have here; prints the counts, fails with faults."""
    without, counts = missing(dut), Counts()
    for seed in range(SEED, SEED + count):
        if deal[seed % len(deal)].kind not in without:
            counts.add(seed, attempt(dut, seed))
        if len(counts.faults) == FAULTS_MAX:
            break
    print(f"\nfrom seed {SEED}: {counts.text()}\nnot tried here: {without or 'nothing'}")  # noqa: T201
    assert counts.faults == []
    return counts, KINDS.keys() - without.keys()


def soak(count: int, seconds: int) -> pytest.param:  # type: ignore[valid-type]
    """The soak's parameters, with a time that finds one which hangs."""
    return pytest.param(count, marks=[pytest.mark.soak, pytest.mark.timeout(max(1800, count * seconds))], id="soak")


@pytest.mark.parametrize(
    "count", [pytest.param(min(SAMPLE, TRIALS), id="sample"), soak(max(1, TRIALS - RUNS), SECONDS_PER_TRIAL)]
)
def test_no_trial_opens_a_used_drive_or_misses_an_arrival_or_refuses_a_free_drive(gate_dut: Dut, count: int) -> None:
    counts, kinds = counted(gate_dut, trial, DEAL, count)
    least = min(counts.of(kind) for kind in kinds)
    if count >= len(DEAL):
        assert 0.05 < counts.share_opened() < 0.95
        assert least >= (EACH_KIND_MIN if TRIALS >= 10_000 and count > SAMPLE else 1)


@pytest.mark.parametrize("count", [pytest.param(min(SAMPLE_RUNS, TRIALS), id="sample"), soak(RUNS, SECONDS_PER_RUN)])
def test_no_run_starts_on_a_used_drive_or_goes_on_when_a_user_arrives(gate_dut: Dut, count: int) -> None:
    counted(gate_dut, run_trial, RUN_DEAL, count)
