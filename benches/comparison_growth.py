"""How ``assay compare`` grows: 2, 10 and 50 runs of a whole client suite, on the terminal and with all its files.

Goal: 50 runs on the terminal in less than 20 s of CPU time, in less than 1 GB of memory; in 3 s the next time, from
kept summaries. The runs are copies of one
run of the suite on a simulated drive at a tenth of its durations (74 tables, 713 numbers), each with an identity and
a hash chain of its own (``tools/synthetic_runs.py``); the command line is started as a user starts it. With files it
draws every run's columns as a picture of its own, which takes longer than all the rest. Non-goal: what is compared.
``--smoke`` takes 2 and 3 runs of one short test.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from measured_command import command
from synthetic_runs import synthetic_runs

if TYPE_CHECKING:
    from measured_command import Done

COUNTS, SMOKE_COUNTS = (2, 10, 50), (2, 3)
SUITE, SMOKE_SUITE = ("--suite", "client", "--scale", "0.1"), ("--test", "tp", "--scale", "0.01")
DRIVE = "sim:client-2011?capacity=8GB"
ENDED = {0, 7}
"""Of the run that is copied: whether it is steady is of no matter here."""


def main() -> None:
    """Print the figures of each number of runs."""
    smoke = "--smoke" in sys.argv
    counts, suite = (SMOKE_COUNTS, SMOKE_SUITE) if smoke else (COUNTS, SUITE)
    print(f"{os.cpu_count()} CPUs, load average {os.getloadavg()[0]:.1f}")
    print("  runs   terminal      CPU   memory        again      CPU   memory   with files      CPU   memory")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = ("run", DRIVE, *suite, "--seed", "1", "--no-report", "--out", str(folder / "one"))
        command(folder, *made, exit_codes=ENDED)
        synthetic_runs(folder / "one", folder / "runs", max(counts))
        runs = sorted(map(str, (folder / "runs").iterdir()))
        for count in counts:
            shown, again = (command(folder, "compare", *runs[:count]) for _ in range(2))
            filed = command(folder, "compare", *runs[:count], "--out", str(folder / f"of-{count}"))
            print(f"{count:>6} {'   '.join(map(figures, (shown, again, filed)))}")


def figures(done: Done) -> str:
    """What a command took, as columns."""
    return f"{done.wall_s:>8.1f} s {done.cpu_s:>6.1f} s {done.bytes_max / 1e6:>5.0f} MB"


if __name__ == "__main__":
    main()
