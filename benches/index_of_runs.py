"""How ``assay runs`` and the building of its index grow: 1,000, 3,000 and 10,000 runs.

Goal: with 10,000 runs the list in less than 1 s, the index built in less than 5 min, each in less than 1 GB of memory.
The runs are copies of one short throughput run on a simulated drive, each with an identity and a hash chain of its own
(``tools/synthetic_runs.py``); the list is printed into a pipe, by the command line as a user starts it, and best of
five. Non-goal: long runs, whose reading takes as long as ``assay show`` of each. ``--smoke`` takes 20 and 40 runs.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from measured_command import command
from synthetic_runs import synthetic_runs

COUNTS, SMOKE_COUNTS = (1_000, 3_000, 10_000), (20, 40)
TIMES = 5


def main() -> None:
    """Print the figures of each size."""
    counts = SMOKE_COUNTS if "--smoke" in sys.argv else COUNTS
    print(f"{os.cpu_count()} CPUs, load average {os.getloadavg()[0]:.1f}")
    print("  runs  index built   memory     list      CPU   memory  filtered     JSON")
    with tempfile.TemporaryDirectory() as name:
        folder, made = Path(name), 0
        command(folder, "run", "sim:client-2011?capacity=1GB", "--test", "tp", "--scale", "0.01", "--seed", "1",
            "--no-report", "--out", str(folder / "one"))  # fmt: skip
        for count in counts:
            synthetic_runs(folder / "one", folder / "runs", count - made, first=made)
            made = count
            figures(folder, count)


def figures(folder: Path, count: int) -> None:
    """Print a line: building, and listing what is built."""
    (folder / "state/assay/index.sqlite").unlink(missing_ok=True)
    built = command(folder, "index", "update", str(folder / "runs"))
    listing = ("runs", str(folder / "runs"))
    listed = min((command(folder, *listing) for _ in range(TIMES)), key=lambda done: done.wall_s)
    if listed.lines != count + 1:
        sys.exit(f"{listed.lines} lines for {count} runs")
    filtered = min(command(folder, *listing, "--drive", "SYN0003").wall_s for _ in range(TIMES))
    as_json = min(command(folder, *listing, "--json").wall_s for _ in range(TIMES))
    print(
        f"{count:>6} {built.wall_s:>10.1f} s {built.bytes_max / 1e6:>5.0f} MB {listed.wall_s:>6.2f} s "
        f"{listed.cpu_s:>6.2f} s {listed.bytes_max / 1e6:>5.0f} MB {filtered:>7.2f} s {as_json:>6.2f} s"
    )


if __name__ == "__main__":
    main()
