"""The operating points of a test over a grid of demands.

How the operating points are chosen, from the rounds of the measurement window:

- Max: the highest IOPS among the cells whose average response time is below the limit; where there is none, the cell
  with the lowest average response time.
- Min: the lowest IOPS of all cells.
- Mid: of the cells below the limit (of all where there is none), the one whose IOPS are nearest to the middle between
  those of Max and Min; of equals the one with the lower average response time. Without the limit it could be a cell
  that is slower than Max and takes longer.

Cells in which no I/O completed are no candidates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from assay.engine.records import Demand

PointName = Literal["Max", "Mid", "Min"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DemandCell:
    """One cell of the grid over the measurement window.

    iops : average of its rounds, exact. latency_ms_mean : response time weighted by completions, exact.
    cpu_share : host CPU time of the stimulus per second, 1 being one CPU; None where it cannot be told.
    completed : I/Os.
    """

    demand: Demand
    iops: Fraction
    latency_ms_mean: Fraction
    cpu_share: float | None
    completed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatingPoint:
    """A point at which every completion is kept, with what its cell measured.

    below_limit : whether the average response time is below the limit.
    """

    name: PointName
    demand: Demand
    iops: float
    latency_ms_mean: float
    below_limit: bool


def cells_below(cells: Sequence[DemandCell], limit_ms: Fraction) -> list[DemandCell]:
    """Those whose average response time is below the limit. Worked: 4.9 and 5 ms with a limit of 5 ms -> the first."""
    return [cell for cell in cells if cell.latency_ms_mean < limit_ms]


def choose_points(cells: Sequence[DemandCell], limit_ms: Fraction) -> tuple[OperatingPoint, ...]:
    """Max, Mid and Min of a grid, by the rules at the head of this module."""
    measured = [cell for cell in cells if cell.completed]
    if not measured:
        return ()
    below = cells_below(measured, limit_ms)
    fastest = max(below, key=lambda cell: cell.iops) if below else min(measured, key=lambda cell: cell.latency_ms_mean)
    slowest = min(measured, key=lambda cell: cell.iops)
    middle = (fastest.iops + slowest.iops) / 2
    between = min(below or measured, key=lambda cell: (abs(cell.iops - middle), cell.latency_ms_mean))
    points: tuple[tuple[PointName, DemandCell], ...] = (("Max", fastest), ("Mid", between), ("Min", slowest))
    return tuple(
        OperatingPoint(
            name=name,
            demand=cell.demand,
            iops=float(cell.iops),
            latency_ms_mean=float(cell.latency_ms_mean),
            below_limit=cell in below,
        )
        for name, cell in points
    )
