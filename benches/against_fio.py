"""CPU time per I/O of our engine and of fio, in alternating pairs, both with every response time counted.

Goal: three ratios. Through a ring at queue depth 32 on a loop device over memory, against fio as it comes and against
fio with registered file and buffers, submitting and reaping in sixteens; and by system calls, one I/O at a time, on a
file in memory, against fio's psync. All are RND 4KiB reads by one thread; fio's start-up is left out (its own job
figures are used). Non-goal: IOPS, which the loop device limits for both. For orientation: `make instructions` is exact.
Needs root and fio; ``--smoke`` runs one short pair of each.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.engine.pattern import fill_pattern, leading_range, random_pattern
from assay.engine.records import AccessPattern, DataPattern, Demand, StepRecord, StepSpec, StopRule
from direct_run import stimulus_on
from loop_device import loop_device

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from assay.engine.records import IoPath

SIZE = 256 << 20
FIO = "/usr/bin/fio --name=j --thread --rw=randread --bs=4k --direct=1 --norandommap --randrepeat=0 --time_based"
BATCHED = "--registerfiles --fixedbufs --iodepth_batch_submit=16 --iodepth_batch_complete_min=1"
BATCHED += " --iodepth_batch_complete_max=16"


@dataclass(frozen=True)
class Comparison:
    """Our path at a queue depth, and fio's options for the same."""

    name: str
    queue_depth: int
    path: IoPath
    options: str


RING = (
    Comparison("loop device, 32 outstanding, fio as it comes", 32, "interrupt", "--ioengine=io_uring --iodepth=32"),
    Comparison(
        "loop device, 32 outstanding, fio registered, in sixteens",
        32,
        "interrupt",
        f"--ioengine=io_uring --iodepth=32 {BATCHED}",
    ),
)
CALLS = (Comparison("file in memory, one at a time, fio psync", 1, "synchronous", "--ioengine=psync"),)


def main() -> None:
    """Print the CPU time per I/O of both and their ratio over alternating pairs."""
    if os.geteuid() != 0 or not Path("/usr/bin/fio").exists():
        print("skipped: needs root and fio")
        return
    seconds, pairs = (0.2, 1) if "--smoke" in sys.argv else (2.0, 10)
    places: tuple[tuple[AbstractContextManager[str], tuple[Comparison, ...]], ...] = (
        (loop_device(SIZE), RING),
        (memory_file(), CALLS),
    )
    for place, comparisons in places:
        with place as path:
            for comparison in comparisons:
                compare(comparison, path, seconds, pairs)
    print(f"load average {os.getloadavg()[0]:.1f}")


def compare(comparison: Comparison, path: str, seconds: float, count: int) -> None:
    """Print one ratio."""
    pairs = [(ours(comparison, path, seconds), fio(comparison, path, seconds)) for _ in range(count)]
    ratios = [theirs / mine for mine, theirs in pairs]
    mine, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"{comparison.name}: ours {mine:.0f} ns, fio {theirs:.0f} ns of CPU per I/O")
    print(f"  fio/ours median {statistics.median(ratios):.2f}, {min(ratios):.2f} to {max(ratios):.2f}, {count} pairs")


@contextmanager
def memory_file() -> Iterator[str]:
    """A file in memory with all of its blocks."""
    with tempfile.NamedTemporaryFile(dir="/dev/shm") as file:
        os.posix_fallocate(file.fileno(), 0, SIZE)
        yield file.name


def ours(comparison: Comparison, path: str, seconds: float) -> float:
    """CPU ns per I/O of our stimulus threads."""
    with stimulus_on(path, SIZE, io_path=comparison.path) as stimulus:
        depth = comparison.queue_depth
        stimulus.run([step(fill_pattern(131072, DataPattern()), depth, StopRule(amount_bytes=SIZE))])
        reads, span = random_pattern(4096, 1.0, DataPattern()), StopRule(time_ns=int(seconds * 10**9))
        (record,) = stimulus.run([step(reads, depth, span)])
    return cpu_per_io(record)


def step(pattern: AccessPattern, queue_depth: int, stop: StopRule) -> StepSpec:
    """A step of one thread over all of it."""
    demand = Demand(thread_count=1, queue_depth=queue_depth)
    return StepSpec(label="bench", pattern=pattern, demand=demand, active_range=leading_range(SIZE), stop=stop)


def cpu_per_io(record: StepRecord) -> float:
    """CPU ns of the stimulus threads per completed read."""
    return (record.cpu_ns or 0) / record.read.window_io_count


def fio(comparison: Comparison, path: str, seconds: float) -> float:
    """CPU ns per I/O of fio's job, from its own report."""
    command = [*FIO.split(), f"--filename={path}", f"--size={SIZE}", *comparison.options.split()]
    # Of a number without a unit fio drops the fraction.
    command += [f"--runtime={seconds * 1000:.0f}ms", "--output-format=json"]
    report = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    job = report["jobs"][0]
    share = (job["usr_cpu"] + job["sys_cpu"]) / 100
    return share * job["read"]["runtime"] * 1e6 / job["read"]["total_ios"]


if __name__ == "__main__":
    main()
