"""Two drives published in 2012 against the simulated drives fitted to them, on a scaled drive.

Source: IOPS tables and summaries of "Understanding SSD Performance Using the SNIA SSS PTS" (2012), in ``published/``.
The whole tests at full size, with every miss, are in ``docs/guide/published.md``; here a smaller drive and shorter
cells stand for them, which costs some cells their place inside 25 %.
"""

import math
from pathlib import Path

import pytest
from assay.calibrate import Rig, read_targets, residuals
from assay.device.simulated import parse_simulated
from assay.plan import load_plan

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("name", "cells_least"), [("slc-a", 20), ("slc-b", 20)])
def test_a_published_drive_emerges_from_physical_parameters(name: str, cells_least: int) -> None:
    plan = load_plan(ROOT / f"plans/{name}-2012.toml", {})
    card = parse_simulated(plan.drive).card
    targets = read_targets(ROOT / f"published/{name}_iops.csv", ROOT / f"published/{name}_figures.csv")
    errors = residuals(card, Rig.of(plan, card.capacity_bytes), targets)
    cells = [math.exp(error) - 1 for key, error in errors.items() if key.startswith("iops")]
    assert len(cells) == 30
    assert sum(abs(error) <= 0.25 for error in cells) >= cells_least
    for figure in ("wsat_steady_iops", "tp_1024_read_mb_per_s", "lat_4_0_average_ms"):
        assert abs(math.exp(errors[figure]) - 1) < 0.2, figure
