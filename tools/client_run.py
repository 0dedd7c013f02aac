"""A run of the client suite on a simulated drive, for benchmarks: the same each time."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from assay.dut.dut import Answers
from assay.run.plan_file import load_plan
from assay.run.run import run_plan

if TYPE_CHECKING:
    from pathlib import Path

_FULL, _SMOKE = ("32GB", 1.0), ("1GB", 0.01)


def client_run(folder: Path) -> Path:
    """Make the run in a folder, which is returned; a small one where ``--smoke`` is among the arguments."""
    capacity, scale = _SMOKE if "--smoke" in sys.argv else _FULL
    keys = {"suite": "client", "scale": scale, "seed": 1}
    plan = load_plan(None, {"drive": f"sim:client-2011?capacity={capacity}", **keys})
    run_plan(plan, out=folder, answers=Answers(), show=lambda _: None)
    return folder
