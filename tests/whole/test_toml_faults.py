"""Plan files and drive models with seeded mistakes: each is read, or refused in one line, and none ends the sequence.

``make soak`` looks at 10,000 of each, or as many as ``ASSAY_FUZZ_CASES`` says.
"""

from __future__ import annotations

import os
import random
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from assay.dut.dut import find_drive
from assay.dut.simulated.model import parse_simulated
from assay.engine.pattern import random_pattern
from assay.engine.records import ActiveRange, DataPattern, Demand, StepSpec, StopRule
from assay.engine.stimulus import Stimulus
from assay.errors import AssayError
from assay.run.plan_file import load_plan
from assay.run.run import plan_run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ROOT = Path(__file__).parents[2]
MODELS = sorted((ROOT / "python/assay/dut/simulated/models").glob("*.toml"))
PLANS = sorted((ROOT / "plans").glob("*.toml"))
CHUNK = 100
CASES = int(os.environ.get("ASSAY_FUZZ_CASES", "10000"))
SAMPLE_CHUNKS = 4
CHUNKS = [
    pytest.param(chunk, marks=[] if chunk < SAMPLE_CHUNKS else pytest.mark.soak) for chunk in range(CASES // CHUNK)
]
RUN_BYTES_MAX = 2_000_000_000
VALUES = (
    "0", "-1", "1", "512", "4095", "65536", "4294967296", "9223372036854775807", "9223372036854775808",
    "4611686018427387904", "1e308", "inf", "nan", "-0.0", "0.5", "true", '""', '"x"', '"choices"', "[]", "{}",
    "1979-05-27", '"\\u0000"', '"\\u001b[2J"', '{ value = 1, source = "x" }',
)  # fmt: skip
LETTERS = ("\0", "\ufeff", "é", "東", "\\", '"', "{", "}", "[", "]", "=", ".", "\n", "#", "\u2028")


def mistaken(text: str, draw: random.Random) -> bytes:
    """The text with a value changed, a line lost, doubled or moved, or a letter too many; now and then a stray byte."""
    lines = text.split("\n")
    for _ in range(draw.choice([1, 1, 2, 4])):
        place, act = draw.randrange(len(lines)), draw.random()
        line = lines[place]
        found = list(re.finditer(r"= *(\[[^\]]*\]|\"[^\"]*\"|[^\s,}]+)", line))
        if act < 0.6 and found:
            match = draw.choice(found)
            lines[place] = line[: match.start(1)] + draw.choice(VALUES) + line[match.end(1) :]
        elif act < 0.7:
            lines[place] = ""
        elif act < 0.8:
            lines.insert(place, draw.choice(lines))
        else:
            at = draw.randrange(len(line) + 1)
            lines[place] = line[:at] + draw.choice(LETTERS) + line[at:]
    content = "\n".join(lines).encode()
    cut = draw.randrange(len(content))
    return content[:cut] + bytes([draw.randrange(256)]) + content[cut:] if draw.random() < 0.05 else content


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


def try_each(
    kind: str, models: Sequence[Path], chunk: int, folder: Path, tried: Callable[[Path, random.Random], None]
) -> None:
    """Every seed of a chunk makes something of its file with mistakes, or an error of the tool's own."""
    path = folder / f"{kind}.toml"
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        draw = random.Random(f"{kind} {seed}")  # noqa: S311 - the same every time
        path.write_bytes(mistaken(draw.choice(models).read_text("utf-8"), draw))
        try:
            tried(path, draw)
        except AssayError:
            pass
        except BaseException as error:
            raise AssertionError(f"seed {kind} {seed}") from error


@pytest.mark.parametrize("chunk", CHUNKS)
def test_a_model_drive_model_with_mistakes_makes_a_drive_or_one_line(chunk: int, tmp_path: Path) -> None:
    def tried(path: Path, draw: random.Random) -> None:
        drive = f"sim:{path}{draw.choice(['', '?capacity=128MB', '?capacity=1GB', '?capacity=16TB'])}"
        find_drive(load_plan(None, {"drive": drive}))
        run_briefly(drive)

    try_each("drive_model", MODELS, chunk, tmp_path, tried)


@pytest.mark.parametrize("chunk", CHUNKS)
def test_a_plan_with_mistakes_makes_a_plan_or_one_line(chunk: int, tmp_path: Path) -> None:
    def tried(path: Path, _: random.Random) -> None:
        plan = load_plan(path, {})
        if plan.drive.startswith("sim:"):
            plan_run(plan, find_drive(plan))

    try_each("plan", PLANS, chunk, tmp_path, tried)
