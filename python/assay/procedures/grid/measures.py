"""The numbers of every cell of a grid of demands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.pages.measure import Measure
from assay.procedures.grid.result import demand_label
from assay.spec.steady import WINDOW_ROUNDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.pages.measure import Key
    from assay.procedures.grid.result import DemandResult
    from assay.procedures.grid.settings import DemandSettings


def demand_measures(settings: DemandSettings, result: DemandResult) -> Iterator[Measure]:
    """IOPS and average response time of every cell over the measurement window; none without a result."""
    steady = result.window is not None and result.window.reached
    for cell in result.cells:
        key: Key = (("thread_count", cell.demand.thread_count), ("queue_depth", cell.demand.queue_depth))
        label = demand_label(settings, cell.demand)
        yield Measure(
            cell=key,
            label=label,
            name="iops",
            unit="IOPS",
            value=float(cell.iops),
            rounds=result.by_round[cell.demand][-WINDOW_ROUNDS:],
            judged=steady and cell.demand == settings.tracking,
        )
        mean = float(cell.latency_ms_mean) if cell.completed else None
        yield Measure(cell=key, label=label, name="latency_ms_mean_of_ios", unit="ms", value=mean)
