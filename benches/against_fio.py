"""CPU time per I/O of our engine and of fio on the same loop device over memory, run alternately.

Goal: the ratio of the two at queue depth 32, RND 4KiB reads, both with every response time counted; fio's start-up is
left out (its own job figures are used). Non-goal: IOPS, which the loop device limits for both. Needs root and fio.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from assay.pattern import fill_pattern, leading_range, random_pattern
from assay.records import AccessPattern, DataPattern, Demand, StepRecord, StepSpec, StopRule
from assay.stimulus import Stimulus

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZE = 256 << 20
FIO_OPTIONS = "--rw=randread --bs=4k --ioengine=io_uring --direct=1 --iodepth=32 --norandommap --randrepeat=0"


def main() -> None:
    """Print the CPU time per I/O of both and their ratio over alternating runs."""
    smoke = "--smoke" in sys.argv
    if os.geteuid() != 0 or not Path("/usr/bin/fio").exists():
        print("skipped: needs root and fio")
        return
    seconds, repeats = (0.2, 1) if smoke else (2.0, 5)
    with loop_device() as path:
        pairs = [(ours(path, seconds), fio(path, seconds)) for _ in range(repeats)]
    ratios = [theirs / mine for mine, theirs in pairs]
    mine, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"ours {mine:.0f} ns, fio {theirs:.0f} ns of CPU per I/O; fio/ours median {statistics.median(ratios):.2f}")
    print(f"over {repeats} pairs: {min(ratios):.2f} to {max(ratios):.2f}")


@contextmanager
def loop_device() -> Iterator[str]:
    """A loop device over a file in memory."""
    with tempfile.NamedTemporaryFile(dir="/dev/shm") as file:
        os.posix_fallocate(file.fileno(), 0, SIZE)
        command = ["/usr/sbin/losetup", "-f", "--show", "--direct-io=on", file.name]
        path = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
        try:
            yield path
        finally:
            subprocess.run(["/usr/sbin/losetup", "-d", path], check=True)


def ours(path: str, seconds: float) -> float:
    """CPU ns per I/O of our stimulus threads."""
    descriptor = os.open(path, os.O_RDWR | os.O_DIRECT | os.O_EXCL)
    try:
        with Stimulus.real(
            descriptor,
            capacity_bytes=SIZE,
            logical_block_bytes=512,
            thread_count=1,
            seed=1,
            data_origin=1,
            counters_path=None,
        ) as stimulus:
            stimulus.run([step(fill_pattern(131072, DataPattern()), StopRule(amount_bytes=SIZE))])
            (record,) = stimulus.run(
                [step(random_pattern(4096, 1.0, DataPattern()), StopRule(time_ns=int(seconds * 10**9)))]
            )
    finally:
        os.close(descriptor)
    return cpu_per_io(record)


def step(pattern: AccessPattern, stop: StopRule) -> StepSpec:
    """A step at queue depth 32 over the whole device."""
    demand = Demand(thread_count=1, queue_depth=32)
    return StepSpec(label="bench", pattern=pattern, demand=demand, active_range=leading_range(SIZE), stop=stop)


def cpu_per_io(record: StepRecord) -> float:
    """CPU ns of the stimulus threads per completed read."""
    return (record.cpu_ns or 0) / record.read.window_io_count


def fio(path: str, seconds: float) -> float:
    """CPU ns per I/O of fio's job, from its own report."""
    command = ["/usr/bin/fio", "--name=j", "--thread", f"--filename={path}", *FIO_OPTIONS.split()]
    command += [f"--runtime={seconds}", "--time_based", "--output-format=json", "--registerfiles", "--fixedbufs"]
    report = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    job = report["jobs"][0]
    share = (job["usr_cpu"] + job["sys_cpu"]) / 100
    return share * job["read"]["runtime"] * 1e6 / job["read"]["total_ios"]


if __name__ == "__main__":
    main()
