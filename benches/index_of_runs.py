"""How ``assay runs`` and the building of its index grow: 1,000, 3,000 and 10,000 runs.

Goal: with 10,000 runs the list in less than 1 s, the index built in less than 5 min, each in less than 1 GB of memory.
The runs are copies of one short throughput run on a simulated drive, each with an identity and a hash chain of its own
(``tools/synthetic_runs.py``); the list is printed into a pipe, by the command line as a user starts it, and best of
five. Non-goal: long runs, whose reading takes as long as ``assay show`` of each. ``--smoke`` takes 20 and 40 runs.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from synthetic_runs import synthetic_runs

COUNTS, SMOKE_COUNTS = (1_000, 3_000, 10_000), (20, 40)
LINE = [sys.executable, "-c", "from assay.cli import main; main()"]
TIMES = 5


@dataclass(frozen=True)
class Done:
    """What a command took. bytes_max : resident memory of it and of each process that it started, at their largest."""

    wall_s: float
    cpu_s: float
    bytes_max: int
    lines: int


def main() -> None:
    """Print the figures of each size."""
    counts = SMOKE_COUNTS if "--smoke" in sys.argv else COUNTS
    print(f"{os.cpu_count()} CPUs, load average {os.getloadavg()[0]:.1f}")
    print("  runs  index built   memory     list      CPU   memory  filtered     JSON")
    with tempfile.TemporaryDirectory() as name:
        folder, made = Path(name), 0
        run(folder, "run", "sim:client-2011?capacity=1GB", "--test", "tp", "--scale", "0.01", "--seed", "1",
            "--no-report", "--out", str(folder / "one"))  # fmt: skip
        for count in counts:
            synthetic_runs(folder / "one", folder / "runs", count - made, first=made)
            made = count
            figures(folder, count)


def figures(folder: Path, count: int) -> None:
    """Print a line: building, and listing what is built."""
    (folder / "state/assay/index.sqlite").unlink(missing_ok=True)
    built = run(folder, "index", "update", str(folder / "runs"))
    listing = ("runs", str(folder / "runs"))
    listed = min((run(folder, *listing) for _ in range(TIMES)), key=lambda done: done.wall_s)
    if listed.lines != count + 1:
        sys.exit(f"{listed.lines} lines for {count} runs")
    filtered = min(run(folder, *listing, "--drive", "SYN0003").wall_s for _ in range(TIMES))
    as_json = min(run(folder, *listing, "--json").wall_s for _ in range(TIMES))
    print(
        f"{count:>6} {built.wall_s:>10.1f} s {built.bytes_max / 1e6:>5.0f} MB {listed.wall_s:>6.2f} s "
        f"{listed.cpu_s:>6.2f} s {listed.bytes_max / 1e6:>5.0f} MB {filtered:>7.2f} s {as_json:>6.2f} s"
    )


def run(folder: Path, *arguments: str) -> Done:
    """Run a command with an index of its own, and compiled Python as an installed product has it."""
    home = {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "XDG_CONFIG_HOME": str(folder / "config")}
    home = {**home, "PYTHONPYCACHEPREFIX": str(folder / "compiled"), "PYTHONDONTWRITEBYTECODE": ""}
    began = time.perf_counter()
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen([*LINE, *arguments], stdout=out, env=home)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall_s = time.perf_counter() - began
        out.seek(0)
        lines = out.read().count(b"\n")
    if process.returncode:
        sys.exit(f"{' '.join(arguments)}: exit code {process.returncode}")
    return Done(wall_s, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, lines)


if __name__ == "__main__":
    main()
