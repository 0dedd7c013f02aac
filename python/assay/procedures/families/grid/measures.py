"""The numbers of every cell of a grid of demands, and of its operating points."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.procedures.families.grid.result import demand_label
from assay.results import iops, mean_and_max_ms
from assay.spec.steady import WINDOW_ROUNDS
from assay.summary.measures import MEAN, quoted
from assay.summary.record import Measure
from assay.words.coded import coded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.procedures.families.grid.result import DemandResult, PointRun
    from assay.procedures.families.grid.settings import DemandSettings
    from assay.summary.record import Key


def demand_measures(settings: DemandSettings, result: DemandResult) -> Iterator[Measure]:
    """IOPS and average response time of each operating point in its own measurement, and of every cell of the grid.

    Those of the cells are over the measurement window; none without a result.
    Worked: Max, Mid and Min -> six numbers that people quote.
    """
    for run in result.points:
        yield from _point(settings, run)
    steady = result.window is not None and result.window.reached
    for cell in result.cells:
        key: Key = (("thread_count", cell.demand.thread_count), ("queue_depth", cell.demand.queue_depth))
        label = demand_label(settings, cell.demand)
        yield Measure(
            cell=key,
            key="iops",
            label=label,
            unit="IOPS",
            value=float(cell.iops),
            stat="mean",
            rounds=result.by_round[cell.demand][-WINDOW_ROUNDS:],
            tracked=steady and cell.demand == settings.tracking,
        )
        mean = float(cell.latency_ms_mean) if cell.completed else None
        yield Measure(cell=key, key=MEAN, label=label, unit="ms", value=mean, stat="mean")


def _point(settings: DemandSettings, run: PointRun) -> Iterator[Measure]:
    cell: Key = (("point", run.point.name),)
    name = f"{run.point.name} ({demand_label(settings, run.point.demand)})"
    if run.step is None:
        yield quoted(cell, "IOPS", name, None, coded("point-not-run"))
        return
    chosen = settings.art_limit_ms if run.point.name == "Max" and run.point.below_limit else None
    basis = coded("point", span=run.step.span_ns, grid=run.point.iops, limit=chosen)
    yield quoted(cell, "IOPS", name, float(iops(run.step)), basis)
    mean_ms, _ = mean_and_max_ms([run.step])
    basis = coded("in-time", span=run.step.span_ns)
    yield quoted(cell, "ms", f"{name}, average response time", mean_ms, basis, key=MEAN)
