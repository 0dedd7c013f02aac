"""How often the gate of assay compare gives a false alarm, and how often it finds a drive that became slower.

Goal: shares over repeats with seeds of simulated drives: unchanged ones, and ones that are 2, 5 and 10 % slower in
every command, program, read, erase and transfer. Each is held against the five unchanged runs before it, at a limit of
5 %. Non-goal: the noise of a real host.
benches/gate_alarms.py [--smoke | COUNT]: 200 repeats of each unless given; some seconds each.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections import Counter, deque
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from assay.compare.gate import GateOptions, run_gate
from assay.dut.dut import Answers
from assay.report.comparison.files import loaded_run
from assay.run.plan_file import load_plan
from assay.run.run import run_plan
from assay.run.store.read import read_run

if TYPE_CHECKING:
    from assay.compare.subject import LoadedRun

REPEATS = 200
BASELINES = 5
LIMIT = 0.05
SLOWER = (0.0, 0.02, 0.05, 0.10)
MODEL = "client-2011"
_TIMES = re.compile(r"^(\w+_ns) = \{ value = ([\d_]+)", re.MULTILINE)
_RATES = re.compile(r"^(\w+_bytes_per_s) = \{ value = ([\d_]+)", re.MULTILINE)


def main() -> None:
    """Print the shares of verdicts by how much slower the drive is."""
    given = [one for one in sys.argv[1:] if one != "--smoke"]
    count = 2 if "--smoke" in sys.argv else int(given[0]) if given else REPEATS
    for slower, found in verdicts(count).items():
        shares = ", ".join(f"{name} {found[name] / count:6.1%}" for name in ("pass", "fail", "undecided"))
        print(f"{slower:4.0%} slower: {shares}  of {count}", flush=True)


def verdicts(count: int, *, first_seed: int = 1) -> dict[float, Counter[str]]:
    """The verdicts of ``count`` gates for each of ``SLOWER``."""
    found: dict[float, Counter[str]] = {slower: Counter() for slower in SLOWER}
    seeds = iter(range(first_seed, sys.maxsize))
    with TemporaryDirectory(prefix="assay-gate-") as work:
        folder = Path(work)
        models = {slower: _model(folder, slower) for slower in SLOWER}
        before: deque[LoadedRun] = deque(maxlen=BASELINES)
        for _ in range(BASELINES):
            before.append(_run(folder, models[0.0], next(seeds)))
        for _ in range(count):
            runs = {slower: _run(folder, models[slower], next(seeds)) for slower in SLOWER}
            for slower, run in runs.items():
                found[slower][run_gate(list(before), [run], GateOptions(limit=LIMIT)).verdict] += 1
            before.append(runs[0.0])
    return found


def _model(folder: Path, slower: float) -> Path:
    """The drive model with everything that takes time slower by a share."""
    text = (resources.files("assay.dut.simulated.models") / f"{MODEL}.toml").read_text("utf-8")
    text = _TIMES.sub(lambda match: _scaled(match, 1 / (1 - slower)), text)
    text = _RATES.sub(lambda match: _scaled(match, 1 - slower), text)
    path = folder / f"slower-{slower * 100:g}.toml"
    path.write_text(text, "utf-8")
    return path


def _scaled(match: re.Match[str], factor: float) -> str:
    return f"{match[1]} = {{ value = {round(int(match[2].replace('_', '')) * factor)}"


def _run(folder: Path, model: Path, seed: int) -> LoadedRun:
    """A short run of the IOPS test on 1 GB, read back."""
    drive = f"sim:{model}?capacity=1GB"
    plan = load_plan(None, {"drive": drive, "edition": "pts-c-1.0", "tests": ["iops"], "seed": seed, "scale": 0.02})
    out = folder / f"run-{model.stem}-{seed}"
    run_plan(plan, out=out, answers=Answers(), show=lambda _: None)
    run = loaded_run(read_run(out), str(out))
    shutil.rmtree(out)
    return run


if __name__ == "__main__":
    main()
