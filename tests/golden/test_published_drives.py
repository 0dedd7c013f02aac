"""Drives published in 2012 and 2013 against the simulated drives fitted to them, on a scaled drive.

Source: IOPS tables and summaries of "Understanding SSD Performance Using the SNIA SSS PTS" (2012) and of the SNIA PTS
session 202-C (2013), in ``published/``.
The whole tests at full size, with every miss, are in ``docs/guide/published.md``; here a smaller drive and shorter
cells stand for them, which costs some cells their place inside 25 %.
"""

import math
from pathlib import Path

import pytest
from assay.dut.simulated.model import DriveModel, parse_simulated
from assay.run.plan_file import load_plan
from assay.tools.simfit import Rig, measured, read_targets
from assay.tools.simfit.measure import log_errors

pytestmark = pytest.mark.long

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
    drive_model = parse_simulated(plan.drive).drive_model
    targets = read_targets(ROOT / f"published/{name}_iops.csv", ROOT / f"published/{name}_figures.csv")
    rig = Rig.of(plan, drive_model.capacity_bytes)
    errors = log_errors(measured(drive_model, rig, SCALED_BYTES, 1.0), targets)
    cells = [math.exp(error) - 1 for key, error in errors.items() if key.startswith("iops")]
    assert len(cells) == 30
    assert sum(abs(error) <= 0.25 for error in cells) >= cells_least
    for figure in figures:
        assert abs(math.exp(errors[figure]) - 1) < 0.2, figure


def test_mixtures_of_a_client_drive_collapse_because_reads_hold_up_what_comes_behind_them() -> None:
    plan = load_plan(ROOT / "plans/client-2013.toml", {})
    drive_model = parse_simulated(plan.drive).drive_model
    rig = Rig.of(plan, drive_model.capacity_bytes)
    targets = read_targets(ROOT / "published/client-2013_iops.csv", ROOT / "published/client-2013_figures.csv")

    def errors_of(one: DriveModel) -> dict[str, float]:
        found = log_errors(measured(one, rig, 4_000_000_000), targets)
        return {name: math.exp(error) - 1 for name, error in found.items()}

    errors = errors_of(drive_model)
    cells = [error for name, error in errors.items() if name.startswith("iops")]
    assert len(cells) == 56
    assert sum(abs(error) <= 0.25 for error in cells) >= 48
    assert all(abs(errors[f"tp_1024_{way}_mb_per_s"]) < 0.1 for way in ("read", "write"))
    free = errors_of(drive_model.replaced(reads_in_order=False))
    assert abs(errors["iops_4_50"]) < 0.25
    assert free["iops_4_50"] > 1
    assert all(abs(free[name] - errors[name]) < 0.02 for name in ("iops_4_100", "iops_64_100"))
