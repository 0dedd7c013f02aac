"""Four drives published in 2012 against the simulated drives fitted to them, on a scaled drive.

Source: IOPS tables and summaries of "Understanding SSD Performance Using the SNIA SSS PTS" (2012), in ``published/``.
The whole tests at full size, with every miss, are in ``docs/guide/published.md``; here a smaller drive and shorter
cells stand for them, which costs some cells their place inside 25 %.
"""

import math
from pathlib import Path

import pytest
from assay.calibrate import Rig, measured, read_targets
from assay.calibrate.targets import log_errors
from assay.device.simulated import parse_simulated
from assay.plan import load_plan

ROOT = Path(__file__).parents[2]


SCALED_BYTES = 2_000_000_000

READS = ("tp_1024_read_mb_per_s",)
ALL = (*READS, "tp_1024_write_mb_per_s", "wsat_steady_iops", "wsat_fob_iops")


@pytest.mark.parametrize(
    ("name", "cells_least", "figures"),
    [("mlc-a", 18, ALL), ("mlc-b", 15, READS), ("slc-a", 24, ALL), ("slc-b", 24, ALL)],
)
def test_a_published_drive_emerges_from_physical_parameters(
    name: str, cells_least: int, figures: tuple[str, ...]
) -> None:
    plan = load_plan(ROOT / f"plans/{name}-2012.toml", {})
    card = parse_simulated(plan.drive).card
    targets = read_targets(ROOT / f"published/{name}_iops.csv", ROOT / f"published/{name}_figures.csv")
    rig = Rig.of(plan, card.capacity_bytes)
    errors = log_errors(measured(card, rig, SCALED_BYTES, 1.0), targets)
    cells = [math.exp(error) - 1 for key, error in errors.items() if key.startswith("iops")]
    assert len(cells) == 30
    assert sum(abs(error) <= 0.25 for error in cells) >= cells_least
    for figure in figures:
        assert abs(math.exp(errors[figure]) - 1) < 0.2, figure
