"""Study demand-map.

Question:      Which thread count and queue depth does this drive need?
Purge:         before the first variant.
Precondition:  sequential writes over the drive, then RND 4 KiB writes for 2 hours.
Loop:          RND 4 KiB accesses in 1 min cells, TC 1 to 32 by QD 1 to 32; total OIO decreases, the
               higher TC first where it is equal; variants: writes, then reads, on the same drive.
Result:        IOPS and average response time per cell. Proposed: the lowest total OIO that reaches 95 % of the
               highest IOPS; at equal OIO the lowest response time.
"""

from __future__ import annotations

from dataclasses import replace

from assay.engine.records import Demand
from assay.procedures.studies.define import study
from assay.procedures.studies.ground import SMALL, Ground, Study, prepared
from assay.procedures.studies.settings import StudyPlot, StudyVariant

DEPTHS = (1, 2, 4, 8, 16, 32)


def plan_demand_map(ground: Ground) -> Study:
    """Variants by direction, steps by demand. Worked: 36 cells each, from TC 32 x QD 32 to TC 1 x QD 1."""
    directions = ((0, "writes"), (100, "reads"))
    plots = tuple(
        StudyPlot(kind="places", variable="iops", only=label, x_title="Total OIO", x_scale="log")
        for _, label in directions
    )
    return Study(
        variants=tuple(_variant(label, mix, ground, first=not mix) for mix, label in directions),
        plots=plots,
        reading="demand",
    )


def _variant(label: str, read_pct: int, ground: Ground, *, first: bool) -> StudyVariant:
    length = ground.share(1.0)
    before = ground.saturated(length) if first else ()
    demands = [Demand(thread_count=threads, queue_depth=depth) for threads in DEPTHS for depth in DEPTHS]
    demands.sort(key=lambda demand: (demand.thread_count * demand.queue_depth, demand.thread_count), reverse=True)
    cell = ground.cell("random", SMALL, read_pct, length)
    before = (*before, prepared(cell))
    cells = tuple(
        replace(
            cell,
            label=f"{cell.label} TC {demand.thread_count} QD {demand.queue_depth}",
            demand=demand,
            place=float(demand.thread_count * demand.queue_depth),
            series=f"TC {demand.thread_count}",
        )
        for demand in demands
    )
    return StudyVariant(label=label, purge=first, steps=(*before, *cells))


DEMAND_MAP = study(
    "demand-map",
    header=__doc__,
    title="Demand Intensity Map",
    question="Which thread count and queue depth does this drive need?",
    outline="RND 4KiB accesses in cells of {1}, TC and QD 1 to 32, in order of decreasing total OIO.",
    preparation="Purge, sequential writes over the drive and {120} of RND 4KiB writes, once.",
    plan=plan_demand_map,
)
