"""Response times of open loops through stalls of 200 ms in every second, on a file whose service times are known.

Goal: response times from when an I/O was due, mean, 99 % and largest, against what the server's log and the due times
(the n-th at n / rate) say; bar 2 %, but for the largest, a single I/O that a busy host makes late. At some rates more
I/Os are due in a stall than may be outstanding: they wait to be sent, which response times from the submission, whose
mean is printed beside, do not show. Non-goal: speed.
Needs root and /dev/fuse; exits with 1 where a bar is missed. ``--smoke`` runs one rate for a second.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from assay.engine.records import Demand
from assay.results.histogram import direction_times
from assay.results.step import mean_latency_ns
from assay.spec.units import MICROSECOND_NS, MILLISECOND_NS, SECOND_NS
from direct_run import ahead_of_others, read_cell, run_on
from timed_file import Service, missing, timed_file

if TYPE_CHECKING:
    from assay.engine.records import DirectionRecord, StepRecord
    from numpy.typing import NDArray

STALLS = Service(service_ns=500 * MICROSECOND_NS, stall_every_ns=SECOND_NS, stall_ns=200 * MILLISECOND_NS)
RATES_PER_S = (200, 1000, 1500)
OUTSTANDING = (64, 512)
SECONDS = 10.0
BAR = 0.02
# Ahead of the other work of the host.
FIRST = -20


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Response times in ns."""

    mean: float
    p99: float
    largest: float


def main() -> None:
    """Print a line per rate and limit of outstanding I/Os."""
    if (reason := missing()) is not None:
        print(f"skipped: {reason}")
        return
    smoke = "--smoke" in sys.argv
    rates, limits, seconds = ((1500,), (64,), 1.2) if smoke else (RATES_PER_S, OUTSTANDING, SECONDS)
    with ahead_of_others():
        held = [measure(rate, limit, seconds) for rate in rates for limit in limits]
    print(f"{held.count(False)} of {len(held)} beyond {BAR:.0%}; load average {os.getloadavg()[0]:.1f}")
    if not all(held) and not smoke:
        sys.exit(1)


def measure(rate: int, limit: int, seconds: float) -> bool:
    """Run one open loop and print it; whether it is within the bar."""
    demand = Demand(thread_count=1, queue_depth=limit, arrivals_per_s=float(rate))
    with timed_file(STALLS) as file:
        (record,) = run_on(file.path, file.size_bytes, [read_cell(file.size_bytes, demand, seconds)])
        answered = file.log()["answered_ns"].astype(np.int64)
    known, found = known_times(answered, record, rate), intended_times(record.read)
    ratios = {name: getattr(found, name) / getattr(known, name) for name in Times.__slots__}
    held = all(abs(ratios[name] - 1) <= BAR for name in ("mean", "p99"))
    told = ", ".join(f"{name} {getattr(found, name) / MILLISECOND_NS:.1f} ms ({ratios[name]:.4f})" for name in ratios)
    sent_ms = (mean_latency_ns(record) or 0) / MILLISECOND_NS
    told += f"; mean from submission {sent_ms:.1f} ms"
    print(f"{rate} per s, at most {limit} outstanding, {len(answered)} I/Os: {told}")
    return held


def known_times(answered_ns: NDArray[np.int64], record: StepRecord, rate: int) -> Times:
    """What the log says: one server answers in order, so that the n-th answer is that to the n-th due."""
    late = np.sort(answered_ns - record.start_ns - np.arange(len(answered_ns)) * SECOND_NS / rate)
    return Times(mean=late.mean(), p99=late[-(-len(late) * 99 // 100) - 1], largest=late[-1])


def intended_times(direction: DirectionRecord) -> Times:
    """The same as the tool records it."""
    largest = direction.intended_ns_max or 0
    counted = replace(direction, histogram=direction.intended_histogram, latency_ns_max=largest)
    times = direction_times(counted)
    return Times(
        mean=(direction.intended_ns_sum or 0) / times.io_count,
        p99=(times.percentile(0.99) or 0) * MILLISECOND_NS,
        largest=largest,
    )


if __name__ == "__main__":
    main()
