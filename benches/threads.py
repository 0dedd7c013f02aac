"""How alike 32 threads are served: their I/O counts on two loop devices over memory, at several lengths of the step.

Goal: the spread between threads, (most I/Os of one - fewest of one) / mean, which is to be 5 % or less, and counts that
agree to the I/O: completed, histogram and the kernel's counters. Once with blocks of 1 MiB on 4,096-byte sectors, once
with the twelve sizes of the enterprise composite workload on 512-byte sectors. All threads share the host's cores with
one another and with the loop device, so that short steps measure the host's scheduler. Non-goal: IOPS. Needs root.
``--smoke`` runs one short step of each.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from assay.dut.real.identity import identify
from assay.dut.real.queue import merging_off, stat_path
from assay.engine.pattern import leading_range, random_pattern
from assay.engine.records import AccessPattern, DataPattern, Demand, StepSpec, StopRule
from assay.engine.stimulus import Stimulus
from assay.results.step import completed_count, iops, thread_spread
from loop_device import loop_device

if TYPE_CHECKING:
    from assay.engine.records import KernelCounters, StepRecord

SIZE = 512 << 20
DEMANDS = (Demand(thread_count=32, queue_depth=1), Demand(thread_count=32, queue_depth=4))
SECONDS = (1, 5, 20)
REPEATS = 3
COMPOSITE = {512: 4, 1024: 1, 1536: 1, 2048: 1, 2560: 1, 3072: 1, 3584: 1, 4096: 67, 8192: 10, 16384: 7, 32768: 3}
COMPOSITE |= {65536: 3}


def main() -> None:
    """Print one line per workload, demand and length."""
    if os.geteuid() != 0:
        print("skipped: needs root to set up a loop device")
        return
    smoke = "--smoke" in sys.argv
    lengths, demands, repeats = ((0.5,), DEMANDS[:1], 1) if smoke else (SECONDS, DEMANDS, REPEATS)
    for name, sector_bytes, pattern in workloads():
        with loop_device(SIZE, sector_bytes=sector_bytes) as path:
            for demand in demands:
                for seconds in lengths:
                    records = [run(path, sector_bytes, pattern, demand, seconds) for _ in range(repeats)]
                    show(f"{name}, {demand.thread_count} x {demand.queue_depth}, {seconds} s", records, demand)
    print(f"load average {os.getloadavg()[0]:.1f}")


def workloads() -> list[tuple[str, int, AccessPattern]]:
    """Name, logical block and pattern of each."""
    sizes = tuple((size, share / 100) for size, share in COMPOSITE.items())
    mixture = AccessPattern(sizes=sizes, read_share=0.4, random_share=1.0, alignment_bytes=512)
    return [("1 MiB", 4096, random_pattern(1 << 20, 0.5, DataPattern())), ("composite", 512, mixture)]


def run(path: str, sector_bytes: int, pattern: AccessPattern, demand: Demand, seconds: float) -> StepRecord:
    """One timed step with the kernel's counters around it."""
    drive = identify(path, file_target=False)
    step = StepSpec(
        label="threads",
        pattern=pattern,
        demand=demand,
        active_range=leading_range(SIZE),
        stop=StopRule(time_ns=int(seconds * 10**9)),
    )
    descriptor = os.open(path, os.O_RDWR | os.O_DIRECT | os.O_EXCL)
    try:
        with (
            merging_off(drive),
            Stimulus.real(
                descriptor,
                capacity_bytes=SIZE,
                logical_block_bytes=sector_bytes,
                thread_count=demand.thread_count,
                seed=1,
                data_origin=1,
                counters_path=stat_path(drive),
            ) as stimulus,
        ):
            (record,) = stimulus.run([step])
    finally:
        os.close(descriptor)
    return record


def show(what: str, records: list[StepRecord], demand: Demand) -> None:
    """The spreads, and whether every count is the same."""
    spreads = sorted(float(100 * (thread_spread(record, demand) or 0)) for record in records)
    rate = float(sum(iops(record) for record in records)) / len(records)
    listed = ", ".join(f"{spread:.1f}" for spread in spreads)
    print(f"{what}: spread {listed} %; {rate:.0f} IOPS; {difference(records)}")


def difference(records: list[StepRecord]) -> str:
    """How far completed I/Os, histograms and the kernel's counters are apart."""
    completed = sum(completed_count(record) for record in records)
    kept = sum(count for record in records for side in (record.read, record.write) for _, count in side.histogram)
    counted = sum(counted_ios(record.counters_after) - counted_ios(record.counters_before) for record in records)
    return f"{completed} completed, {kept - completed:+d} in histograms, {counted - completed:+d} by the kernel"


def counted_ios(counters: KernelCounters | None) -> int:
    """Reads and writes by the kernel's count."""
    return counters.read_io_count + counters.write_io_count if counters else 0


if __name__ == "__main__":
    main()
