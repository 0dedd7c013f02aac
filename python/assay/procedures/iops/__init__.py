"""IOPS.

Question:      How many random I/Os per second does the drive do at steady state, over sizes and mixes?
Clauses:       PTS-C 1.0 clause 8; PTS-E 1.0, 1.1 and PTS 2.0 clause 7.
Purge:         yes, before preconditioning.
Precondition:  2X user capacity, SEQ 128 KiB writes (workload independent); the loop itself (dependent).
Loop:          for read share in 100, 95, 65, 50, 35, 5, 0: for size in 1024 ... 0.5 KiB: 1 min RND.
Tracking:      IOPS of RND 4KiB 0/100; in 2.0 also RND 64KiB 65/35 and RND 1024KiB 100/0, all at once.
Steady state:  five rounds, excursion within 20 %, slope within 10 % of the average; at most 25 rounds.
Result:        average over the five rounds per cell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engine.records import Cell
from assay.plan.procedure import Procedure
from assay.procedures.families.loop.plan import LoopOptions, LoopSettings, LoopTable, loop_departures
from assay.procedures.families.loop.run import plan_loop
from assay.spec.lazy import LazyModule
from assay.spec.units import KIB

if TYPE_CHECKING:
    from assay.plan.procedure import PlannedTest, Request
    from assay.procedures.families.loop import figures, measures, record, tables
    from assay.procedures.families.loop.record import LoopPages
    from assay.summary.pages.test_record import PagePart, Shown, Source
else:
    figures = LazyModule("assay.procedures.families.loop.figures")
    measures = LazyModule("assay.procedures.families.loop.measures")
    record = LazyModule("assay.procedures.families.loop.record")
    tables = LazyModule("assay.procedures.families.loop.tables")


def iops_shown(source: Source) -> Shown:
    """What a stored IOPS test shows: of 8 KiB beside the key results, too. Source: summary of the SSSI deck, 2012."""
    cells = (Cell(read_pct=read_pct, transfer_bytes=8 * KIB) for read_pct in (0, 100))
    return record.loop_shown(source, iops_pages, frozenset((measures.cell_key(cell), "iops") for cell in cells))


def iops_pages(pages: LoopPages) -> tuple[str, tuple[PagePart, ...]]:
    """Lay out every page of one IOPS test: 5 + n for n tracking variables, six for PTS 1.x and eight for PTS 2.0."""
    edition, result, settings = pages.edition, pages.result, pages.settings
    matrix = f"{edition.market} IOPS - ALL RW Mix & BS"
    plane = figures.plane_figure(f"{pages.prefix}-plane", result, settings)
    columns = figures.columns_figure(f"{pages.prefix}-columns", settings, result.matrix)
    subtitle, convergence = pages.convergence("Steady State Convergence Plot - All Block Sizes")
    title = f"{edition.market} IOPS ({pages.status}) - Report Page"
    return (
        "IOPS Test - Report Page" if edition.header == "2.0" else title,
        (
            (subtitle, (*pages.plan_box(), *convergence)),
            pages.tracking(),
            *pages.windows(),
            (
                f"{matrix} - Tabular Data",
                (pages.matrix("IOPS by block size and read/write mix"),),
            ),
            (f"{matrix} - 2D Plot", (pages.or_reason(plane),)),
            (f"{matrix} - 3D Columns", (pages.or_reason(columns),)),
            *tables.open_loop_parts(pages.test, pages.result),
        ),
    )


def plan_iops(request: Request[LoopTable, LoopOptions]) -> list[PlannedTest]:
    """Settle what the IOPS test does on a drive; one run.

    Raises TooSmallError where the test ActiveRange does not fit the drive.
    Worked: ``pts-c-1.0`` on 32 GB -> 56 cells of 60 s on 2,048 segments of 8 MiB after 64 GB of preconditioning.
    """
    sizes = tuple(int(kib * KIB) for kib in request.table.block_kib.value)
    return [plan_loop("iops", "iops", sizes, access="random", variable="iops", request=request)]


IOPS = Procedure(
    name="iops",
    header=__doc__,
    title="IOPS",
    question="Random I/Os per second at steady state, over block sizes and read/write mixes.",
    outline=("Rounds of 1 min cells: read share outside, block size inside, until the tracking variables are steady."),
    preconditioning="Sequential writes over the drive, then the test loop itself.",
    table=LoopTable,
    options=LoopOptions,
    settings=LoopSettings,
    plan=plan_iops,
    report=iops_shown,
    departures=loop_departures,
)
