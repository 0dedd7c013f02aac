"""How much memory and time a replay of a large trace takes, from the command line to the end of the run.

Goal: a trace of 10 million I/Os is replayed in order, as fast as possible, on a simulated drive with less than 300 MB
more memory than one of 100,000, which is what the drive and the tool take. Non-goal: the drive's speed. ``--smoke``
replays 200,000 I/Os, ``--count N`` N million.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

from synthetic_traces import PART, write_blktrace

MILLION = 1_000_000
BYTES_MAX = 300_000_000
DRIVE = "sim:client-2011?capacity=8GB"


def main() -> None:
    """Replay a small and a large trace, each in a process of its own, and print the facts."""
    count = int(sys.argv[sys.argv.index("--count") + 1]) * MILLION if "--count" in sys.argv else 10 * MILLION
    count = 2 * PART if "--smoke" in sys.argv else count
    with tempfile.TemporaryDirectory() as folder:
        small, _ = replayed(Path(folder), PART)
        large, seconds = replayed(Path(folder), count)
    more = large - small
    print(
        f"{count:,} I/Os in {seconds:.1f} s, {large / 1e6:.0f} MB of memory, {more / 1e6:+.0f} MB against {PART:,} I/Os"
    )
    if more >= BYTES_MAX:
        raise SystemExit(f"{more / 1e6:.0f} MB more, and {BYTES_MAX / 1e6:.0f} MB are the limit")


def replayed(folder: Path, count: int) -> tuple[int, float]:
    """The largest memory in bytes and the seconds of one replay."""
    trace = folder / f"trace-{count}"
    write_blktrace(trace, count)
    plan = folder / f"plan-{count}.toml"
    options = f'trace = "{trace}"\nmap = "wrap"\nspeed = "max"\nprepare_fills = 0'
    plan.write_text(f'schema = 1\ndrive = "{DRIVE}"\nseed = 1\nstudies = ["replay"]\n[replay]\n{options}\n', "utf-8")
    tool = str(Path(sys.executable).with_name("assay"))
    command = [tool, "run", str(plan), "-q", "--no-report", "--out", str(folder / f"run-{count}")]
    begun = time.perf_counter()
    child = os.posix_spawn(command[0], command, os.environ)
    _, status, usage = os.wait4(child, 0)
    if status:
        raise SystemExit(f"the replay of {count} I/Os ended with {os.waitstatus_to_exitcode(status)}")
    return usage.ru_maxrss * 1024, time.perf_counter() - begun


if __name__ == "__main__":
    main()
