"""What a test over demands says of the drive, for the first page: how many outstanding I/Os are enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.pages.effect import Effect
from assay.pages.printed import milliseconds_text, one_decimal, percent
from assay.procedures.grid.result import demand_label, total_oio
from assay.spec.units import count_label

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from assay.procedures.grid.operating_points import DemandCell
    from assay.procedures.grid.result import DemandResult
    from assay.procedures.grid.settings import DemandSettings

_NEARLY = 0.95
"""Share of the most IOPS from which more outstanding I/Os bring little."""


def demand_in_short(settings: DemandSettings, result: DemandResult) -> Iterator[str]:
    """The fewest outstanding I/Os that come near the most IOPS, and what the most of them cost; none without a window.

    Worked: 2,434 IOPS with one outstanding, 2,634 to 2,701 with more -> ``"95 % of the most IOPS of all 49 demands
    (2,701.0) are reached with 2 I/Os outstanding (TC1-QD2, 0.759 ms on average); 1,024 give 0.99 times the most,
    385.000 ms on average."``
    """
    if not result.cells:
        return
    most, enough, deepest = _compared(result)
    few, many = (milliseconds_text(float(cell.latency_ms_mean)) for cell in (enough, deepest))
    outstanding, named = count_label(_outstanding(enough), "I/O"), demand_label(settings, enough.demand)
    yield (
        f"{percent(_NEARLY)} of the most IOPS of all {len(result.cells)} demands ({one_decimal(float(most))}) are "
        f"reached with {outstanding} outstanding ({named}, {few} ms on average); {_outstanding(deepest):,} give "
        f"{float(deepest.iops / most):.2f} times the most, {many} ms on average."
    )


def demand_effects(settings: DemandSettings, result: DemandResult) -> Iterator[Effect]:
    """How few outstanding I/Os are enough, against the most that were tried; none without a window.

    Worked: of up to 1,024 outstanding 2 give 95 % of the most IOPS -> 512 times fewer.
    """
    if not result.cells:
        return
    most, *cells = _compared(result)
    enough, deepest = map(_outstanding, cells)
    rate = one_decimal(float(most))
    text = (
        f"{settings.label}: {count_label(enough, 'I/O')} outstanding give {percent(_NEARLY)} of the most IOPS "
        f"({rate}); up to {deepest:,} only wait longer"
    )
    also = f"{settings.label} with {enough:,} ({rate})"
    yield Effect(kind="queue", times=deepest / enough, text=text, expected=True, also=also)


def _compared(result: DemandResult) -> tuple[Fraction, DemandCell, DemandCell]:
    """The most IOPS of a grid, the cell of fewest outstanding I/Os that comes near them, and that of most."""
    most = max(cell.iops for cell in result.cells)
    enough = min((cell for cell in result.cells if cell.iops >= _NEARLY * most), key=_outstanding)
    return most, enough, max(result.cells, key=_outstanding)


def _outstanding(cell: DemandCell) -> int:
    return total_oio(cell.demand)
