"""How exactly bursts begin and end: 5 s of writes and 5 s of idle in turn, one sequence on a loop device over memory.

Goal: how late the first submission of each burst is after its boundary, and how far the last one lies from its end,
over 200 edges (bars: 1 ms at the median, 5 ms at the 99th percentile). The drive's own tail, from the end of a burst to
the last completion of its I/Os, is printed apart: it is not the tool's. Non-goal: IOPS. Needs root and 17 minutes;
``--smoke`` runs five short bursts.
"""

from __future__ import annotations

import math
import os
import statistics
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from assay.engine.pattern import leading_range, random_pattern
from assay.engine.records import IDLE, DataPattern, Demand, StepRecord, StepSpec, StopRule
from assay.engine.stimulus import Capture
from direct_run import stimulus_on
from loop_device import loop_device

SIZE = 256 << 20
SPAN_NS = 5_000_000_000
BURSTS = 100
SMOKE_SPAN_NS = 50_000_000
SMOKE_BURSTS = 5


def main() -> None:
    """Print the edges' lateness, then the drive's tails."""
    span_ns, count = (SMOKE_SPAN_NS, SMOKE_BURSTS) if "--smoke" in sys.argv else (SPAN_NS, BURSTS)
    if os.geteuid() != 0:
        print("skipped: needs root to set up a loop device")
        return
    with tempfile.TemporaryDirectory() as folder, loop_device(SIZE) as path:
        trace = Path(folder) / "trace.parquet"
        records = run(path, span_ns, count, trace)
        tails = tails_ns(trace, records)
    begun, ended = edges_ns(records, span_ns)
    print(f"{count} bursts of {span_ns / 1e9} s with as much idle between, load average {os.getloadavg()[0]:.1f}")
    show("first submission after its boundary", begun)
    show("last submission before the end", ended)
    show("both edges", begun + ended)
    show("the drive's tail: last completion after the end", tails)


def run(path: str, span_ns: int, count: int, trace: Path) -> list[StepRecord]:
    """Bursts and idle in turn, as one sequence whose every completion is kept."""
    burst = StepSpec(
        label="burst",
        pattern=random_pattern(4096, 0.0, DataPattern()),
        demand=Demand(thread_count=1, queue_depth=4),
        active_range=leading_range(SIZE),
        stop=StopRule(time_ns=span_ns),
    )
    idle = StepSpec(label="idle", pattern=burst.pattern, demand=IDLE, active_range=burst.active_range, stop=burst.stop)
    with stimulus_on(path, SIZE, flags=os.O_EXCL) as stimulus:
        return stimulus.run([burst, idle] * count, None, Capture(path=trace))


def edges_ns(records: list[StepRecord], span_ns: int) -> tuple[list[int], list[int]]:
    """How far the first and the last submission of each burst lie inside its plan.

    Idle time begins when the last I/O of the burst before it is in, and lasts its whole time from there.
    """
    begun, ended = [], []
    for index, record in enumerate(records):
        first, last = record.first_submission_ns, record.last_submission_ns
        if index % 2 == 0 and first is not None and last is not None:
            before = records[index - 1] if index else None
            begun.append(first - (before.start_ns + span_ns if before else record.start_ns))
            ended.append(record.start_ns + span_ns - last)
        elif index % 2 == 0 or first is not None:
            sys.exit(f"step {index} submitted nothing in a burst, or something in idle: {record}")
    if min(begun + ended) < 0:
        sys.exit(f"an I/O was submitted outside its burst: {min(begun + ended)} ns")
    return begun, ended


def tails_ns(trace: Path, records: list[StepRecord]) -> list[int]:
    """From the end of each burst to the last completion of its I/Os; zero where none was left."""
    last: dict[int, int] = {}
    for batch in pq.ParquetFile(trace).iter_batches(columns=["step", "at_ns"]):
        steps, at = (batch[name].to_numpy() for name in ("step", "at_ns"))
        for step in np.unique(steps):
            last[int(step)] = max(int(at[steps == step].max()), last.get(int(step), 0))
    ends = {index: record.start_ns + record.span_ns for index, record in enumerate(records)}
    return [max(0, at - ends[index]) for index, at in sorted(last.items())]


def show(what: str, values: list[int]) -> None:
    """Print median, nearest-rank 99th percentile and maximum, in microseconds."""
    ranked = sorted(values)
    p99 = ranked[math.ceil(0.99 * len(ranked)) - 1]
    print(f"{what}: median {statistics.median(ranked) / 1e3:.0f}, p99 {p99 / 1e3:.0f}, max {ranked[-1] / 1e3:.0f} us")


if __name__ == "__main__":
    main()
