"""What the figures of a result row must satisfy among themselves, whoever measured them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.workloads.iometer.results import ResultRow

MEBIBYTE = 1 << 20
_PRINTED = 1e-4
_LITTLE = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Invariant:
    """A rule that a row keeps or not. expected, found : the two ways to the same number."""

    name: str
    expected: float
    found: float
    tolerance: float

    @property
    def holds(self) -> bool:
        """Whether the two are as near as they must be."""
        return math.isclose(self.expected, self.found, rel_tol=self.tolerance, abs_tol=1e-6)


def size_of_ios(row: ResultRow, size_bytes: int) -> Invariant | None:
    """Bytes over I/Os is the size, of a row whose I/Os are all of one. Worked: 710908416 / 1388493 = 512."""
    ios = _sum(row, "Read I/Os", "Write I/Os")
    moved = _sum(row, "Bytes Read", "Bytes Written")
    if not ios or moved is None:
        return None
    return Invariant(name="bytes / I/Os = size", expected=size_bytes, found=moved / ios, tolerance=0.0)


def rate_of_bytes(row: ResultRow, size_bytes: int) -> Invariant | None:
    """IOps x size / 2^20 is the rate in MB. Worked: 46227.62202 x 512 / 2^20 = 22.572."""
    iops, rate = row.cells.get("IOps"), row.mebibytes_per_s()
    if not iops or rate is None:
        return None
    expected = iops * size_bytes / MEBIBYTE
    return Invariant(name="IOps x size / 2^20 = MBps", expected=expected, found=rate, tolerance=_PRINTED)


def littles_law(row: ResultRow) -> Invariant | None:
    """Outstanding I/Os over the mean response time are the IOps, within 1 %. Worked: 32 / 0.69196 ms = 46245.

    None also where workers have different depths. A row of several workers, each on a drive of its own or on the same,
    has the sum of their depths.
    """
    iops, depth, mean_ms = (row.cells.get(name) for name in ("IOps", "Queue Depth", "Average Response Time"))
    if not iops or not mean_ms or depth is None or depth <= 0:
        return None
    several = max(row.cells.get("# Workers", 1), row.cells.get("# Disks", 1), 1)
    return Invariant(
        name="outstanding / mean response time = IOps",
        expected=depth * several / mean_ms * 1000,
        found=iops,
        tolerance=_LITTLE,
    )


def effectiveness(row: ResultRow) -> Invariant | None:
    """IOps over per cent of CPU is the CPU effectiveness. Worked: 46227.62202 / 14.05168 = 3289.83."""
    iops, busy, found = (row.cells.get(name) for name in ("IOps", "% CPU Utilization", "CPU Effectiveness"))
    if not iops or not busy or found is None:
        return None
    return Invariant(name="IOps / % CPU = effectiveness", expected=iops / busy, found=found, tolerance=_PRINTED)


def sums(row: ResultRow) -> Invariant | None:
    """Reads and writes per second are together the IOps."""
    iops, both = row.cells.get("IOps"), _sum(row, "Read IOps", "Write IOps")
    if iops is None or both is None:
        return None
    return Invariant(name="Read IOps + Write IOps = IOps", expected=iops, found=both, tolerance=_PRINTED)


def invariants(row: ResultRow, size_bytes: int | None = None) -> list[Invariant]:
    """Those that the row has figures for. size_bytes : of its I/Os, None where they are of several."""
    result = [littles_law(row), effectiveness(row), sums(row)]
    if size_bytes is not None:
        result += [size_of_ios(row, size_bytes), rate_of_bytes(row, size_bytes)]
    return [one for one in result if one is not None]


def _sum(row: ResultRow, *names: str) -> float | None:
    values = [row.cells.get(name) for name in names]
    return None if None in values else math.fsum(value for value in values if value is not None)
