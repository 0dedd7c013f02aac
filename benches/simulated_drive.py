"""How fast the simulated drive serves I/Os, against the time that it simulates.

Goal: I/Os per second of one core for the three shapes that a test consists of, with the figures that prove the work
was done. Non-goal: the speed of a real drive. The yardstick is the same loop on an all-but-empty drive, whose reads
need no flash: the ratio is the cost of the flash itself, and holds on a noisy machine.
"""

from __future__ import annotations

import hashlib
import sys
import time

from assay.dut.simulated.model import parse_simulated
from assay.engine.pattern import fill_pattern, leading_range, random_pattern
from assay.engine.records import AccessPattern, DataPattern, Demand, StepRecord, StepSpec, StopRule
from assay.engine.stimulus import Stimulus

DATA = DataPattern()


def main() -> None:
    """Print one line per shape; ``--smoke`` runs it small."""
    smoke = "--smoke" in sys.argv
    target = parse_simulated(f"sim:client-2011?capacity={'1GB' if smoke else '32GB'}")
    capacity = target.drive_model.capacity_bytes
    count = 100_000 if smoke else 5_000_000
    with Stimulus.simulated(target.drive_model, seed=1, epoch_wall_ns=0) as stimulus:
        empty = timed(stimulus, capacity, random_pattern(4096, 1.0, DATA), StopRule(io_count=count))
        fill = timed(stimulus, capacity, fill_pattern(131072, DATA), StopRule(amount_bytes=2 * capacity))
        write = timed(stimulus, capacity, random_pattern(4096, 0.0, DATA), StopRule(io_count=count))
        read = timed(stimulus, capacity, random_pattern(4096, 1.0, DATA), StopRule(io_count=count))
    for name, rate in {
        "RND 4KiB R, empty": empty,
        "SEQ 128KiB W": fill,
        "RND 4KiB W": write,
        "RND 4KiB R": read,
    }.items():
        print(
            f"{name:20} {rate[0] / 1e6:6.2f} M I/Os per s  {rate[0] / empty[0]:5.2f} x empty reads  outcome {rate[1]}"
        )


def timed(stimulus: Stimulus, capacity: int, pattern: AccessPattern, stop: StopRule) -> tuple[float, str]:
    """I/Os per second of real time, and a hash of what they did."""
    demand = Demand(thread_count=1, queue_depth=8)
    step = StepSpec(label="bench", pattern=pattern, demand=demand, active_range=leading_range(capacity), stop=stop)
    begun = time.perf_counter()
    (record,) = stimulus.run([step])
    return count(record) / (time.perf_counter() - begun), outcome(record)


def count(record: StepRecord) -> int:
    """Completed I/Os."""
    return sum(direction.window_io_count + direction.tail_io_count for direction in (record.read, record.write))


def outcome(record: StepRecord) -> str:
    """A hash of everything that was counted; the same seed gives the same one."""
    return hashlib.sha256(repr((record.span_ns, record.read, record.write)).encode()).hexdigest()[:12]


if __name__ == "__main__":
    main()
