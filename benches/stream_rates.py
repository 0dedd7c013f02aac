"""How well streams side by side keep their rates in real time, and how late their I/Os are, beside jobs of fio.

Goal: four streams on a device that answers at once achieve what is due within 0.5 %, and the 99 % value of the lateness
is told with the load of the host. fio issues the same rates with its null engine, one job for each. Non-goal: a drive.
``--smoke`` runs for 0.5 s instead of 5.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np
from assay.engine.pattern import leading_range, random_pattern
from assay.engine.records import DataPattern, Demand, StepRecord, StepSpec, StopRule
from assay.engine.stimulus import Stimulus
from assay.results.histogram import lowest_ns

RATES = ((1_000.0, "fixed"), (10_000.0, "fixed"), (30_000.0, "fixed"), (5_000.0, "poisson"))
WITHIN = 0.005


def main() -> None:
    """Run both and print a line for each stream."""
    seconds = 0.5 if "--smoke" in sys.argv else 5.0
    records, theirs = ours(seconds), fio(seconds)
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} CPUs, {seconds:g} s")
    for (rate, process), record, other in zip(RATES, records, theirs, strict=True):
        offered, done = record.offered_io_count or 1, record.read.window_io_count
        beside = "no fio" if other is None else f"fio {other / rate:.4f} of the rate"
        late = " / ".join(f"{late_us(record, share):,.1f}" for share in (0.5, 0.99, 1.0))
        print(f"{rate:>8,.0f} {process:<8} achieved {done / offered:.4f} of what was due; late {late} us; {beside}")
    worst = min(record.read.window_io_count / (record.offered_io_count or 1) for record in records)
    print(f"worst {worst:.4f}: {'met' if worst >= 1 - WITHIN else 'MISSED'} (at least {1 - WITHIN})")


def ours(seconds: float) -> list[StepRecord]:
    """The streams on a device that answers at once."""
    with Stimulus.null(seed=1) as stimulus:
        return stimulus.run([stream(place, seconds) for place in range(len(RATES))])


def stream(place: int, seconds: float) -> StepSpec:
    """One stream of 4 KiB reads at its rate."""
    rate, process = RATES[place]
    demand = Demand(thread_count=1, queue_depth=64, arrivals_per_s=rate, arrival_process=process)  # type: ignore[arg-type]
    return StepSpec(
        label=f"stream {place + 1}",
        pattern=random_pattern(4096, 1.0, DataPattern()),
        demand=demand,
        active_range=leading_range(1 << 30),
        stop=StopRule(time_ns=int(seconds * 1e9)),
        beside=place > 0,
    )


def late_us(record: StepRecord, share: float) -> float:
    """A percentile of the lateness in us, to the resolution of a bucket."""
    left = share * record.read.latency_io_count
    for bucket, count in record.read.late_histogram:
        left -= count
        if left <= 0:
            return float(lowest_ns(np.array([bucket], np.uint64))[0]) / 1000
    return 0.0


def fio(seconds: float) -> list[float | None]:
    """I/Os per second of each of fio's jobs; None where it is not installed."""
    if (tool := shutil.which("fio")) is None:
        return [None] * len(RATES)
    job = [
        "[global]",
        "ioengine=null",
        "size=1g",
        "rw=randread",
        "bs=4k",
        "iodepth=64",
        "time_based",
        f"runtime={round(seconds * 1000)}ms",
    ]
    for place, (rate, process) in enumerate(RATES):
        job += [
            f"[stream{place}]",
            f"rate_iops={rate:.0f}",
            f"rate_process={'poisson' if process == 'poisson' else 'linear'}",
        ]
    with tempfile.NamedTemporaryFile("w", suffix=".fio") as file:
        file.write("\n".join(job) + "\n")
        file.flush()
        done = subprocess.run([tool, file.name, "--output-format=json"], capture_output=True, text=True, check=True)
    return [one["read"]["iops"] for one in json.loads(done.stdout[done.stdout.index("{") :])["jobs"]]


if __name__ == "__main__":
    main()
