"""A reference drive, measured again and again to see whether the test system still gives the same numbers."""

from __future__ import annotations

from dataclasses import dataclass

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
