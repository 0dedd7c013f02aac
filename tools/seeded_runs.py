"""Seeded runs on simulated drives whose reports are kept, and how one is made.

Virtual time and a stated seed: each gives the same numbers on every host and day.
"""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.dut.dut import Answers
from assay.errors import DeviceFailureError, InterruptedRunError
from assay.run.plan_file import load_plan
from assay.run.run import run_plan

if TYPE_CHECKING:
    from assay.run.progress import Progress

ROOT = Path(__file__).resolve().parents[1]
SEED = 7
SMALL, MIDDLE = "sim:client-2011?capacity=2GB", "sim:client-2011?capacity=32GB"
ENDED_RUNS: dict[str, dict[str, Any]] = {
    "iops-pts-0.9": {"drive": MIDDLE, "tests": ["iops"], "edition": "pts-0.9", "scale": 0.01},
    "iops-pts-c-1.0": {"drive": MIDDLE, "tests": ["iops"], "edition": "pts-c-1.0", "scale": 0.02},
    "iops-pts-e-1.1": {
        "drive": "sim:enterprise-tlc?capacity=32GB",
        "tests": ["iops"],
        "edition": "pts-e-1.1",
        "scale": 0.01,
    },
    "tp-pts-c-2.0": {"drive": MIDDLE, "tests": ["tp"], "edition": "pts-c-2.0", "scale": 0.02},
    "tp-pts-e-1.0": {"drive": "sim:hdd-15k?capacity=32GB", "tests": ["tp"], "edition": "pts-e-1.0", "scale": 0.05},
    "lat-pts-e-2.0": {"drive": "sim:client-tlc?capacity=32GB", "tests": ["lat"], "edition": "pts-e-2.0", "scale": 0.02},
    "lat-pts-c-1.0": {"drive": MIDDLE, "tests": ["lat"], "edition": "pts-c-1.0", "scale": 0.02},
    "wsat-pts-c-1.0": {"drive": SMALL, "tests": ["wsat"], "edition": "pts-c-1.0", "scale": 0.01},
    "wsat-pts-e-1.1": {"drive": SMALL, "tests": ["wsat"], "edition": "pts-e-1.1", "scale": 0.01},
    "hir-pts-e-1.1": {"drive": SMALL, "tests": ["hir"], "edition": "pts-e-1.1", "scale": 0.01},
    "xsr-pts-e-2.0": {"drive": SMALL, "tests": ["xsr"], "edition": "pts-e-2.0", "scale": 0.01},
    "ecw-pts-e-1.1": {"drive": SMALL, "tests": ["ecw"], "edition": "pts-e-1.1", "scale": 0.005},
    "dirth-pts-e-2.0": {"drive": SMALL, "tests": ["dirth"], "edition": "pts-e-2.0", "scale": 0.005},
    "study-oio": {"drive": SMALL, "studies": ["oio"], "scale": 0.005},
    "study-trim": {"drive": SMALL, "studies": ["trim"], "scale": 0.005},
    "study-write-cache": {"drive": SMALL, "studies": ["write-cache"], "scale": 0.005},
    "study-xsr-reverse": {"drive": SMALL, "studies": ["xsr-reverse"], "scale": 0.005},
}
"""Plans of runs that end well."""
_LIMITS: list[dict[str, Any]] = [
    {"id": "L-1", "test": "iops", "measure": "iops", "cell": {"block_kib": 4, "read_pct": 100}, "at_least": 20_000},
    {"id": "L-2", "test": "iops", "measure": "iops", "cell": {"block_kib": 4, "read_pct": 0}, "at_least": 50_000},
    {"text": "Slow reads", "test": "lat", "measure": "latency_ms_p99.9", "at_most": 10},
    {"test": "wsat", "item": "RND 4KiB 0/100, settled", "measure": "iops", "at_least": 1_000, "per_tb": True},
    {"health": "media_errors", "at_most": 0},
    {"findings": "void", "at_most": 0},
]
_REPORT = {
    "objective": "Qualify firmware 1.2",
    "baseline": "Firmware 1.1",
    "notes": "Same bay for all samples",
    "sponsor": "Example Lab",
    "vendor": "Example",
    "name": "firmware 1.2",
    "tags": ["nightly", "bay 3"],
}
STATE_RUNS: dict[str, dict[str, Any]] = {
    "interrupted": {"drive": SMALL, "tests": ["wsat", "iops", "lat"], "edition": "pts-c-1.0", "scale": 0.005},
    "withheld": {
        "drive": f"{SMALL}&faults=tests/frozen/media-error.toml",
        "tests": ["wsat", "iops", "lat"],
        "edition": "pts-c-1.0",
        "scale": 0.005,
    },
    "limits": {
        "drive": SMALL,
        "tests": ["iops", "lat", "wsat"],
        "edition": "pts-c-1.0",
        "scale": 0.005,
        "limits": _LIMITS,
        "claims": {"rnd_4k_read_iops": 30_000, "rnd_4k_write_iops": 30_000, "write_latency_ms": 0.5},
        "baseline": {"rnd_4k_read_iops": 25_000, "rnd_4k_write_iops": 4_000, "wsat_settled_iops": 3_000},
        "report": _REPORT,
        "special_notes": [{"item": "Bay", "notation": "3", "comments": "same bay for all samples"}],
    },
}
"""Plans of runs that do not end well, or that are held against something."""
ALL_RUNS = {**ENDED_RUNS, **STATE_RUNS}


def make_run(name: str, folder: Path) -> int:
    """Make a run; its exit code.

    name : one of ``ALL_RUNS``. folder : of the run, new or empty.
    """
    plan, out = load_plan(None, {"seed": SEED, **ALL_RUNS[name]}), folder.absolute()
    show = _interrupt if name == "interrupted" else _ignore
    # Plans name files relative to the root, so that no folder of this host is stored.
    with contextlib.chdir(ROOT):
        try:
            return run_plan(plan, out=out, answers=Answers(), show=show).exit_code
        except (DeviceFailureError, InterruptedRunError) as error:
            return error.exit_code


def run_folder(name: str, runs: Path) -> Path:
    """The folder of a run below ``runs``, made where it is missing."""
    folder, unfinished = runs / name, runs / f"{name}.unfinished"
    if not folder.exists():
        shutil.rmtree(unfinished, ignore_errors=True)
        make_run(name, unfinished)
        unfinished.rename(folder)
    return folder


def _ignore(progress: Progress) -> None:
    """Show nothing."""


def _interrupt(progress: Progress) -> None:
    """Stop the run as Ctrl-C does, after round 2 of its IOPS test."""
    if progress.test == "iops" and progress.judged and progress.judged.index == 2:  # noqa: PLR2004
        raise KeyboardInterrupt
