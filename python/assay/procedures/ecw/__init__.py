"""ECW, the enterprise composite workload; CBW, composite block workload, in edition 2.0.

Question:      How do IOPS and response times of mixed block sizes with hot and cold regions change with demand?
Clauses:       PTS-E 1.1 and PTS 2.0 clause 13.
Purge:         yes.
Precondition:  the composite accesses at 0/100, TC 32 x QD 32, in 1 min samples until steady.
Loop:          as demand intensity: pre-writes, then 49 demands in order of decreasing total OIO, at 40/60. Twelve block
               sizes from 0.5 to 64 KiB with shares; half of the accesses in the first 5 % of the drive, 30 % in the
               next 15 %, 20 % in the rest; size and position are drawn independently.
Tracking:      IOPS at TC 32 x QD 32, reads and writes together.
Stop:          five steady rounds, or 25 rounds; then three operating points as in demand intensity.
Result:        as demand intensity, and the table of block sizes and access probabilities.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from assay.engine.pattern import Workload, workload
from assay.plan.procedure import Procedure, Request
from assay.procedures.families.grid.plan import DemandSettings, DemandTable, GridOptions, grid_departures
from assay.procedures.families.grid.run import plan_demand
from assay.spec.datum import Datum
from assay.spec.edition import BlockKib, ReadPct
from assay.spec.lazy import later
from assay.spec.units import KIB

if TYPE_CHECKING:
    from assay.engine.records import DataPattern, SkippedTest
    from assay.plan.procedure import PlannedTest


class CompositeTable(DemandTable):
    """Parameters of the composite workload, whose sizes and LBA groups are ``assay.engine.pattern``'s.

    name : ``ECW`` or ``CBW``. alignment_kib : of every access, whatever its size.
    """

    name: Datum[Literal["ECW", "CBW"]]
    read_pct: Datum[ReadPct]
    alignment_kib: Datum[BlockKib]


def plan_ecw(request: Request[CompositeTable, GridOptions]) -> list[PlannedTest | SkippedTest]:
    """Settle what the composite workload does on a drive; a drive with 4 KiB blocks cannot run its small sizes.

    Worked: ``pts-e-1.1`` -> ``ecw`` at 40 % reads; ``pts-c-2.0`` -> the same under the name ``cbw``.
    """
    name = request.table.name.value
    return [plan_demand("ecw", name, _composite(request.table, request.data), test=name.lower(), request=request)]


def _composite(edition: CompositeTable, data: DataPattern) -> Workload:
    named, reads = workload("composite", data), edition.read_pct.value
    pattern = replace(named.pattern, read_share=reads / 100, alignment_bytes=int(edition.alignment_kib.value * KIB))
    return Workload(label=f"{edition.name.value} {reads}/{100 - reads}", suffix="", pattern=pattern)


ECW = Procedure(
    name="ecw",
    header=__doc__,
    title="Composite Workload (ECW)",
    question=(
        "IOPS and response times of mixed block sizes with hot and cold regions, over demand and at operating points."
    ),
    outline=(
        "Rounds of pre-writes and 1 min cells over threads and queue depths, high to low total OIO, until steady; "
        "then Max, Mid and Min IOPS points: pre-writes and ten minutes with every completion kept."
    ),
    preconditioning="The composite accesses as writes in samples without a gap until steady.",
    table=CompositeTable,
    options=GridOptions,
    settings=DemandSettings,
    plan=plan_ecw,
    report=later("assay.procedures.families.grid.record", "demand_shown"),
    departures=grid_departures,
)
