"""What a summary of a run costs beside its report: reading, summing up, the terminal, all formats; in one process.

Goal: reading and summing up a client suite take at most a sixth of the processor time of its report. Non-goal: the
start of Python (``start_time.py``). Printed are medians of three, and a hash of what was summed up, the same each time.
"""

from __future__ import annotations

import hashlib
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from assay.archive.rendering import render_run, run_summary, stored_run
from assay.report.formats.terminal.lines import terminal_lines
from client_run import client_run

if TYPE_CHECKING:
    from collections.abc import Callable

TIMES = 3
SHARE = 1 / 6


def main() -> None:
    """Print seconds of the processor for each part, and the share; ``--smoke`` takes a small run."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = client_run(Path(scratch) / "run")
        run = stored_run(folder)
        summary = run_summary(run, folder)
        parts: dict[str, Callable[[], object]] = {
            "reading": lambda: stored_run(folder),
            "summing up": lambda: run_summary(run, folder),
            "terminal": lambda: terminal_lines(summary),
            "report": lambda: render_run(folder, ("pdf", "html", "csv", "xlsx", "json")),
        }
        taken = {name: seconds(work) for name, work in parts.items()}
    for name, span in taken.items():
        print(f"{name:12} {span:8.3f} s")
    share = (taken["reading"] + taken["summing up"]) / taken["report"]
    print(f"{'share':12} {share:8.3f}, at most {SHARE:.3f}")
    print(f"{'numbers':12} {hash_of(summary.tests)}")


def seconds(work: Callable[[], object]) -> float:
    """Processor seconds of some work, the median of three."""
    found = []
    for _ in range(TIMES):
        begun = time.process_time()
        work()
        found.append(time.process_time() - begun)
    return median(found)


def hash_of(tests: object) -> str:
    """One hash of what was summed up."""
    return hashlib.sha256(repr(tests).encode()).hexdigest()[:12]


if __name__ == "__main__":
    main()
