"""What a test over demands says of the drive, for the first page: how many outstanding I/Os are enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.pages.effect import Effect
from assay.pages.printed import milliseconds_text, one_decimal, percent
from assay.procedures.grid.result import demand_label, total_oio
from assay.spec.units import count_label

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    most = max(cell.iops for cell in result.cells)
    enough = min((cell for cell in result.cells if cell.iops >= _NEARLY * most), key=_outstanding)
    deepest = max(result.cells, key=_outstanding)
    few, many = (milliseconds_text(float(cell.latency_ms_mean)) for cell in (enough, deepest))
    outstanding, named = count_label(_outstanding(enough), "I/O"), demand_label(settings, enough.demand)
    yield (
        f"{percent(_NEARLY)} of the most IOPS of all {len(result.cells)} demands ({one_decimal(float(most))}) are "
        f"reached with {outstanding} outstanding ({named}, {few} ms on average); {_outstanding(deepest):,} give "
        f"{float(deepest.iops / most):.2f} times the most, {many} ms on average."
    )


def demand_effects(settings: DemandSettings, result: DemandResult) -> Iterator[Effect]:
    """How much longer the most outstanding I/Os wait than as many as are enough; none without a window.

    Worked: 0.761 ms with 2 outstanding, 389.556 ms with 1,024 -> 512 times.
    """
    if not result.cells:
        return
    most = max(cell.iops for cell in result.cells)
    enough = min((cell for cell in result.cells if cell.iops >= _NEARLY * most), key=_outstanding)
    deepest = max(result.cells, key=_outstanding)
    times = float(deepest.latency_ms_mean / enough.latency_ms_mean)
    gain = float(deepest.iops / enough.iops)
    gives = "no more IOPS" if gain < 1 / _NEARLY else f"{gain:.2f} times the IOPS"
    text = (
        f"{settings.label} with {_outstanding(deepest):,} outstanding waits {times:,.0f} times as long as with "
        f"{_outstanding(enough):,}, for {gives}"
    )
    yield Effect(kind="queue", times=times, text=text)


def _outstanding(cell: DemandCell) -> int:
    return total_oio(cell.demand)
