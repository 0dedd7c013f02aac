"""What a certificate of the host holds."""

from __future__ import annotations

from dataclasses import dataclass

# Read by pydantic when the program runs.
from assay.engine.records import FillPoint, HostCalibration, Platform, ReferenceDrive  # noqa: TC001
from assay.host.certificate.simulator import SimulatorCheck  # noqa: TC001


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
    calibration : what a quiet host costs. None, and empty, in certificates of versions that did not look.
    """

    made_wall_ns: int
    platform: Platform
    seconds: float
    ceiling: tuple[NullPoint, ...]
    timers: tuple[TimerPoint, ...]
    fills: tuple[FillPoint, ...] = ()
    simulator: SimulatorCheck | None = None
    reference: ReferenceDrive | None = None
    calibration: HostCalibration | None = None
