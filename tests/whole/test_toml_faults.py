"""Files of users with seeded mistakes: each is read, or refused in our own words, soon, and none ends the sequence.

``make soak`` looks at 10,000 of each, or as many as ``ASSAY_FUZZ_CASES`` says.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from assay.dut.dut import find_drive
from assay.dut.simulated.model import parse_simulated
from assay.engine.pattern import random_pattern
from assay.engine.records import ActiveRange, DataPattern, Demand, StepSpec, StopRule
from assay.engine.stimulus import Stimulus
from assay.procedures.editions import load_edition
from assay.run.plan_file import load_plan
from assay.run.planning import plan_run
from assay.tools.simfit import Rig, left_alone, read_targets
from mistaken_files import try_each

if TYPE_CHECKING:
    import random

ROOT = Path(__file__).parents[2]
MODELS = sorted((ROOT / "python/assay/dut/simulated/models").glob("*.toml"))
EDITIONS = sorted((ROOT / "python/assay/spec/editions").glob("*.toml"))
MATRICES = sorted((ROOT / "published").glob("*_iops.csv"))
FIGURES = sorted((ROOT / "published").glob("*_figures.csv"))
GUIDE = ROOT / "docs/guide/simulated-drives.md"
PLANS = sorted((ROOT / "plans").glob("*.toml"))
CHUNK = 100
CASES = int(os.environ.get("ASSAY_FUZZ_CASES", "10000"))
SAMPLE_CHUNKS = 4
CHUNKS = [
    pytest.param(chunk, marks=[] if chunk < SAMPLE_CHUNKS else pytest.mark.soak) for chunk in range(CASES // CHUNK)
]
RUN_BYTES_MAX = 2_000_000_000


def run_briefly(drive: str) -> None:
    """A few thousand I/Os and a purge on a drive that the file still makes."""
    drive_model = parse_simulated(drive).drive_model
    if drive_model.capacity_bytes > RUN_BYTES_MAX:
        return
    step = StepSpec(
        label="mixed",
        pattern=random_pattern(4096, 0.5, DataPattern()),
        demand=Demand(thread_count=1, queue_depth=8),
        active_range=ActiveRange(segment_starts=(0,), segment_bytes=drive_model.capacity_bytes // 4096 * 4096),
        stop=StopRule(io_count=3000),
    )
    with Stimulus.simulated(drive_model, seed=1, epoch_wall_ns=0) as stimulus:
        stimulus.run([step])
        stimulus.purge_simulated()


def seeds(chunk: int) -> range:
    return range(chunk * CHUNK, (chunk + 1) * CHUNK)


@pytest.mark.parametrize("chunk", CHUNKS)
def test_a_model_drive_model_with_mistakes_makes_a_drive_or_one_line(chunk: int, tmp_path: Path) -> None:
    def tried(path: Path, draw: random.Random) -> None:
        drive = f"sim:{path}{draw.choice(['', '?capacity=128MB', '?capacity=1GB', '?capacity=16TB'])}"
        find_drive(load_plan(None, {"drive": drive}))
        run_briefly(drive)

    try_each("drive_model", MODELS, seeds(chunk), tmp_path, tried)


@pytest.mark.parametrize("chunk", CHUNKS)
def test_a_plan_with_mistakes_makes_a_plan_or_one_line(chunk: int, tmp_path: Path) -> None:
    def tried(path: Path, _: random.Random) -> None:
        plan = load_plan(path, {})
        if plan.drive.startswith("sim:"):
            plan_run(plan, find_drive(plan))

    try_each("plan", PLANS, seeds(chunk), tmp_path, tried)


@pytest.mark.parametrize("chunk", CHUNKS)
def test_an_edition_with_mistakes_makes_an_edition_or_one_line(chunk: int, tmp_path: Path) -> None:
    def tried(path: Path, _: random.Random) -> None:
        load_edition(str(path))
        plan = load_plan(None, {"drive": "sim:client-2011?capacity=32GB", "edition": str(path)})
        plan_run(plan, find_drive(plan))

    try_each("edition", EDITIONS, seeds(chunk), tmp_path, tried)


@pytest.mark.parametrize("chunk", CHUNKS)
def test_published_figures_with_mistakes_are_read_or_refused(chunk: int, tmp_path: Path) -> None:
    rig = Rig.of(load_plan(None, {"drive": "sim:client-2011"}), 128 * 10**9)

    def matrix(path: Path, draw: random.Random) -> None:
        figures = draw.choice([None, draw.choice(FIGURES)])
        left_alone(path, figures)
        rig.check(read_targets(path, figures))

    def figures(path: Path, draw: random.Random) -> None:
        left_alone(draw.choice(MATRICES), path)
        read_targets(draw.choice(MATRICES), path)

    try_each("matrix", MATRICES, seeds(chunk), tmp_path, matrix)
    try_each("figures", FIGURES, seeds(chunk), tmp_path, figures)


@pytest.mark.parametrize("chunk", CHUNKS)
def test_a_file_of_faults_with_mistakes_makes_a_drive_or_one_line(chunk: int, tmp_path: Path) -> None:
    examples = GUIDE.read_text("utf-8").split("```toml\n")[1:]
    original = tmp_path / "original.toml"
    original.write_text(next(part.split("```")[0] for part in examples if "[[faults]]" in part), "utf-8")

    def tried(path: Path, _: random.Random) -> None:
        find_drive(load_plan(None, {"drive": f"sim:ideal?capacity=128MB&faults={path}"}))

    try_each("faults", [original], seeds(chunk), tmp_path, tried)
