"""Measures the host: its ceiling without a device, how late a constant time is seen, how fast it makes data."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.certificate.baseline import against_baseline, simulator_runs
from assay.certificate.simulator import SimulatorCheck, check_simulator
from assay.device.platform import describe_platform
from assay.pattern import leading_range, random_pattern
from assay.records import DataPattern, Demand, FillPoint, Platform, ReferenceDrive, StepRecord, StepSpec, StopRule
from assay.stimulus import Stimulus, fill_rate
from assay.units import KIB, MICROSECOND_NS, MILLISECOND_NS, SECOND_NS
from assay.window import direction_times, effective_queue_depth, iops, mean_latency_ns

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

DEPTHS = (1, 8, 32)
CONSTANT_NS = (100 * MICROSECOND_NS, 1_000 * MICROSECOND_NS)
CONSTANT_DEPTHS = (1, 8)
FILL_BYTES = (4 * KIB, 128 * KIB, 1024 * KIB)
_RANGE_BYTES = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class NullPoint:
    """The ceiling at one demand: a device that answers at once.

    iops : I/Os per second of all threads. cpu_ns : CPU time of each, engine and kernel. p99_ns : of its response times.
    """

    queue_depth: int
    iops: float
    cpu_ns: float
    p99_ns: float
    thread_count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerPoint:
    """How late a constant time is seen: what host and engine add to a response time.

    constant_ns : that time. late_ns_mean, late_ns_p99, late_ns_max : what was seen beyond it.
    effective_depth : outstanding I/Os over the time measured.
    """

    constant_ns: int
    queue_depth: int
    late_ns_mean: float
    late_ns_p99: float
    late_ns_max: float
    effective_depth: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """What one host was found to be able to do.

    fills : how fast one thread makes data to write, by transfer size.
    simulator : whether the simulated drive did the very same each time. reference : repeatability of a real drive.
    None, and empty, in certificates of versions that did not look.
    """

    made_wall_ns: int
    platform: Platform
    seconds: float
    ceiling: tuple[NullPoint, ...]
    timers: tuple[TimerPoint, ...]
    fills: tuple[FillPoint, ...] = ()
    simulator: SimulatorCheck | None = None
    reference: ReferenceDrive | None = None


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
        ceiling.append(_ceiling(_run(None, demand, seconds), demand))
    timers = []
    for constant_ns in CONSTANT_NS:
        for depth in CONSTANT_DEPTHS:
            show(f"constant {constant_ns / MICROSECOND_NS:.0f} us, queue depth {depth}")
            found = _run(constant_ns, Demand(thread_count=1, queue_depth=depth), seconds)
            timers.append(_timer(found, constant_ns, depth))
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


def _run(answer_ns: int | None, demand: Demand, seconds: float) -> StepRecord:
    step = StepSpec(
        label="host",
        pattern=random_pattern(4 * KIB, 1.0, DataPattern()),
        demand=demand,
        active_range=leading_range(_RANGE_BYTES),
        stop=StopRule(time_ns=round(seconds * SECOND_NS)),
    )
    with Stimulus.null(seed=1, answer_ns=answer_ns) as stimulus:
        return stimulus.run([step])[0]


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
