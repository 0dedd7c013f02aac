"""How long a whole suite takes on a simulated drive at full capacity and full virtual duration.

Goal: seconds of real time per test of the client suite on 256 GB with a write saturation of 24 hours, and of the
enterprise suite on 100 GB, each beside the virtual time that it stands for; and of the report
in each format. Non-goal: the drive's own figures.
The ratio of virtual to real time is what holds; the seconds are those of this machine.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from assay.archive.rendering import render_run
from assay.dut.dut import Answers
from assay.report import FORMATS
from assay.run.plan_file import load_plan
from assay.run.run import run_plan
from assay.run.store.read import read_run

if TYPE_CHECKING:
    from assay.engine.records import StoredTest
    from assay.report import Format
    from assay.run.progress import Progress

FULL = (("client", "256GB", 1.0), ("enterprise", "100GB", 1.0))
SMOKE = (("client", "1GB", 0.01),)


def main() -> None:
    """Print one line per test and one per suite; ``--smoke`` runs a small one."""
    for suite, capacity, scale in SMOKE if "--smoke" in sys.argv else FULL:
        run_suite(suite, capacity, scale)


def run_suite(suite: str, capacity: str, scale: float) -> None:
    """Run one suite and its report."""
    begun: dict[str, float] = {}

    def note(progress: Progress) -> None:
        if progress.test:
            begun.setdefault(progress.test, time.perf_counter())

    keys = {"suite": suite, "scale": scale, "seed": 1, "wsat": {"stop": "time"}}
    plan = load_plan(None, {"drive": f"sim:client-2011?capacity={capacity}", **keys})
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        run_plan(plan, out=run, answers=Answers(), show=note)
        ended = time.perf_counter()
        render_run(run, FORMATS)
        report_s = time.perf_counter() - ended
        formats = {name: format_s(run, name) for name in FORMATS}
        tests = read_run(run).tests
    marks = [*begun.values(), ended]
    for test, first, last in zip(tests, marks[:-1], marks[1:], strict=True):
        print(line(f"{suite} {capacity} {test.settings.test}", virtual_s(test), last - first, outcome(test)))
    whole = ended + report_s - marks[0]
    print(line(f"{suite} {capacity} with report", sum(map(virtual_s, tests)), whole, f"report {report_s:.1f} s"))
    print(
        f"{suite} {capacity} report by format  " + ", ".join(f"{name} {real:.1f} s" for name, real in formats.items())
    )


def format_s(run: Path, name: Format) -> float:
    """Seconds of rendering one format by itself."""
    begun = time.perf_counter()
    render_run(run, [name])
    return time.perf_counter() - begun


def virtual_s(test: StoredTest) -> float:
    """Device time of everything that ran."""
    return sum(step.span_ns for sequence in test.sequences for step in sequence.steps) / 1e9


def outcome(test: StoredTest) -> str:
    """A hash of everything that was counted; the same seed gives the same one."""
    counted = [(step.span_ns, step.read, step.write) for sequence in test.sequences for step in sequence.steps]
    return "outcome " + hashlib.sha256(repr(counted).encode()).hexdigest()[:12]


def line(name: str, virtual: float, real: float, end: str) -> str:
    """One printed line."""
    return f"{name:32} {virtual / 3600:6.1f} h virtual  {real:7.1f} s real  {virtual / real:8.0f} x  {end}"


if __name__ == "__main__":
    main()
