"""Measures the host: its ceiling without a device, how late a constant time is seen, how fast it makes data."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from assay.dut.real.platform import describe_platform
from assay.engine.records import (
    DataPattern,
    Demand,
    FillPoint,
    ReferenceDrive,
    StepRecord,
)
from assay.engine.stimulus import fill_rate
from assay.host.calibration import ANSWERS_NS, calibrate_host, without_drive
from assay.host.certificate.baseline import against_baseline, simulator_runs
from assay.host.certificate.record import Certificate, NullPoint, TimerPoint
from assay.host.certificate.simulator import check_simulator
from assay.results.histogram import direction_times
from assay.results.step import effective_queue_depth, iops, mean_latency_ns
from assay.spec.units import KIB, MICROSECOND_NS, MILLISECOND_NS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

DEPTHS = (1, 8, 32)
CONSTANT_NS = (100 * MICROSECOND_NS, 1_000 * MICROSECOND_NS)
CONSTANT_DEPTHS = (1, 8)
FILL_BYTES = (4 * KIB, 128 * KIB, 1024 * KIB)


def measure_host(
    seconds: float = 1.0,
    show: Callable[[str], None] = lambda _: None,
    *,
    reference: ReferenceDrive | None = None,
    kept: Sequence[Certificate] = (),
) -> Certificate:
    """Measure ceiling, lateness and data rate of this host, without any drive, and whether the simulator is exact.

    seconds : of each point, at least 0.05. show : told what runs. reference : a drive measured just now, if any.
    kept : earlier certificates, the newest first; simulator and reference drive are held against them.
    """
    platform = describe_platform()
    ceiling = []
    for demand in ceiling_demands():
        show(f"answers at once, {demand.thread_count} x queue depth {demand.queue_depth}")
        ceiling.append(_ceiling(without_drive(None, demand, seconds), demand))
    timers = []
    for constant_ns in CONSTANT_NS:
        for depth in CONSTANT_DEPTHS:
            show(f"constant {constant_ns / MICROSECOND_NS:.0f} us, queue depth {depth}")
            result = without_drive(constant_ns, Demand(thread_count=1, queue_depth=depth), seconds)
            timers.append(_timer(result, constant_ns, depth))
    show("random data to write")
    fills = [FillPoint(transfer_bytes=size, bytes_per_s=fill_rate(DataPattern(), size, seconds)) for size in FILL_BYTES]
    show("a simulated drive, twice the same")
    return Certificate(
        made_wall_ns=time.time_ns(),
        platform=platform,
        seconds=seconds,
        ceiling=tuple(ceiling),
        timers=tuple(timers),
        fills=tuple(fills),
        calibration=calibrate_host(ceiling_demands(), seconds=seconds * len(ANSWERS_NS) * 2, show=show),
        simulator=check_simulator(simulator_runs(platform, kept)),
        reference=None if reference is None else against_baseline(reference, platform, kept),
    )


def ceiling_demands(cpu_count: int | None = None) -> list[Demand]:
    """The demands whose ceiling is measured: queue depths 1, 8 and 32 at thread counts doubled up to the CPUs.

    cpu_count : CPUs that may be used; None asks the system. Worked: 6 -> 1, 2, 4 and 6 threads.
    """
    most = cpu_count or len(os.sched_getaffinity(0))
    threads = sorted({min(1 << power, most) for power in range(most.bit_length() + 1)})
    return [Demand(thread_count=count, queue_depth=depth) for count in threads for depth in DEPTHS]


def _ceiling(record: StepRecord, demand: Demand) -> NullPoint:
    count = record.read.window_io_count
    return NullPoint(
        thread_count=demand.thread_count,
        queue_depth=demand.queue_depth,
        iops=float(iops(record)),
        cpu_ns=(record.cpu_ns or 0) / max(count, 1),
        p99_ns=_p99_ns(record),
    )


def _timer(record: StepRecord, constant_ns: int, depth: int) -> TimerPoint:
    return TimerPoint(
        constant_ns=constant_ns,
        queue_depth=depth,
        late_ns_mean=(mean_latency_ns(record) or 0) - constant_ns,
        late_ns_p99=_p99_ns(record) - constant_ns,
        late_ns_max=(record.read.latency_ns_max or 0) - constant_ns,
        effective_depth=float(effective_queue_depth(record)),
    )


def _p99_ns(record: StepRecord) -> float:
    """The 99th percentile; the largest where fewer than ten I/Os lie beyond it."""
    found_ms = direction_times(record.read).percentile(0.99)
    return float(record.read.latency_ns_max or 0) if found_ms is None else found_ms * MILLISECOND_NS
