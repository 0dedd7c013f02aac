"""The test system in records: what it did during a step, and its reference drive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from assay.engine.records.drive import DriveIdentity


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeated:
    """One figure measured several times.

    values : in the order measured. mean : of them. spread : largest minus smallest over the mean.
    variation : coefficient of variation, the sample's standard deviation over the mean.
    """

    values: tuple[float, ...]
    mean: float
    spread: float
    variation: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferencePoint:
    """One access pattern at one demand. iops : I/Os per second. mean_ns : mean response times, submission included."""

    label: str
    iops: Repeated
    mean_ns: Repeated


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceChange:
    """A point against the baseline: mean IOPS and response time there, and the changes as fractions of them."""

    label: str
    iops_before: float
    mean_ns_before: float
    iops_change: float
    mean_ns_change: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceDrive:
    """Repeatability of one drive on one host.

    range_bytes : written once before, from its first byte. seconds : of each measurement.
    new_baseline : later ones are held against this one, whatever came before.
    baseline_wall_ns : when the one that this is held against was made, None where it is the first; changes : by point.
    """

    drive: DriveIdentity
    made_wall_ns: int
    range_bytes: int
    seconds: float
    points: tuple[ReferencePoint, ...]
    new_baseline: bool = False
    baseline_wall_ns: int | None = None
    changes: tuple[ReferenceChange, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HostPoint:
    """What a host reached at one demand on a device that answers at once.

    iops : over all threads. cpu_ns : CPU time of each I/O, engine and kernel.
    """

    thread_count: int
    queue_depth: int
    iops: float
    cpu_ns: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FillPoint:
    """How fast one thread of a host makes random data for writes of one size.

    transfer_bytes : of each write. bytes_per_s : into 32 buffers of that size in turn, without any I/O.
    """

    transfer_bytes: int
    bytes_per_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationPoint:
    """How long the stimulus threads waited for a processor at one demand on a device of a constant answer time.

    wait_share : of the threads' time, in [0, 1]; None where the kernel does not count it. wakes, waits, watched_ns : as
    in ``HostRecord``.
    """

    thread_count: int
    queue_depth: int
    answer_ns: int
    wait_share: float | None
    wakes: tuple[tuple[int, int], ...]
    waits: tuple[tuple[int, int], ...] = ()
    watched_ns: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class HostCalibration:
    """What this host costs a measurement while nothing else runs.

    points : by demand and answer time. other_busy_share, steal_share : of all processors' time in it, the largest of
    its points; None where the kernel does not count them.
    """

    points: tuple[CalibrationPoint, ...]
    other_busy_share: float | None
    steal_share: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostCertificate:
    """What was known of the host when a run began.

    status : ``valid``, ``expired`` (there is one, but not of this host as it is), ``drifted`` (a reference drive gives
    other numbers than it did), or ``none``.
    reason : why it is not valid, and what to do; empty where it is.
    made_wall_ns, age_ns : when it was made, and how long before the run; None where there is none.
    method : how it was made, in words. points : by demand; empty unless it is valid.
    fills : by transfer size, ascending; empty unless it is valid and was measured.
    reference : the newest repeatability of a reference drive that speaks for this host; None where there is none.
    calibration : of the certificate where it is valid, else made when the run began; None in older runs.
    """

    status: Literal["valid", "expired", "drifted", "none"]
    reason: str = ""
    made_wall_ns: int | None = None
    age_ns: int | None = None
    method: str = ""
    points: tuple[HostPoint, ...] = ()
    fills: tuple[FillPoint, ...] = ()
    reference: ReferenceDrive | None = None
    calibration: HostCalibration | None = None
