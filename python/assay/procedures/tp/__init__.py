"""TP, throughput.

Question:      How fast does the drive move large sequential transfers at steady state?
Clauses:       PTS-C 1.0 clause 9; PTS-E 1.0, 1.1 and PTS 2.0 clause 8.
Purge:         yes, before preconditioning, for each size.
Precondition:  2X user capacity, SEQ writes of 128 KiB (1.x) or of the tested size (2.0).
Loop:          for read share in 100, 0: SEQ transfers of the size for 1 min at advancing positions.
Tracking:      MB/s of the writes of the size.
Steady state:  five rounds, excursion within 20 %, slope within 10 % of the average; at most 25 rounds.
Result:        average MB/s (base 10) over the five rounds per cell; each size is a separate run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.plan.procedure import Procedure
from assay.procedures.families.loop.plan import LoopOptions, LoopSettings, LoopTable, loop_departures
from assay.procedures.families.loop.run import plan_loop
from assay.spec.lazy import LazyModule
from assay.spec.units import KIB
from assay.words.printed import size_label

if TYPE_CHECKING:
    from assay.plan.procedure import PlannedTest, Request
    from assay.procedures.families.loop import figures, record, tables
    from assay.procedures.families.loop.record import LoopPages
    from assay.summary.pages.test_record import PagePart
else:
    figures = LazyModule("assay.procedures.families.loop.figures")
    record = LazyModule("assay.procedures.families.loop.record")
    tables = LazyModule("assay.procedures.families.loop.tables")


def tp_pages(pages: LoopPages) -> tuple[str, tuple[PagePart, ...]]:
    """Lay out the pages of one throughput run: convergence of writes and of reads, window, table with plot."""
    edition = pages.edition
    size = size_label((*pages.settings.sizes_bytes, *pages.settings.not_applicable)[0])
    name = f"{edition.market} {size} Throughput" if edition.market == "Enterprise" else f"{edition.market} Throughput"
    plane = figures.plane_figure(f"{pages.prefix}-plane", pages.result, pages.settings)
    subtitle, writes = pages.convergence("Steady State Convergence Plot - 100% Writes")
    title = f"{edition.market} Throughput Test ({pages.status}) - Report Page"
    return (
        "Throughput Test - Report Page" if edition.header == "2.0" else title,
        (
            (subtitle, (*pages.plan_box(), *writes)),
            pages.convergence("Steady State Convergence Plot - 100% Reads", name="reads", read_pct=100),
            *pages.windows(),
            # A table of one size is a line, and its plot a pair of bars: together they are a page.
            (
                f"{name} - ALL RW Mix & BS - Tabular Data & 2D Plot",
                (pages.matrix("MB/s by block size and read/write mix"), pages.or_reason(plane)),
            ),
            *tables.open_loop_parts(pages.test, pages.result),
        ),
    )


def plan_tp(request: Request[LoopTable, LoopOptions]) -> list[PlannedTest]:
    """Settle what the throughput test does on a drive: one run per block size, each with its own purge.

    Raises TooSmallError where the test ActiveRange does not fit the drive.
    Worked: an enterprise edition gives the runs ``tp-128`` and ``tp-1024`` of two cells a round.
    """
    return [
        plan_loop("tp", f"tp-{kib:g}", (int(kib * KIB),), access="sequential", variable="throughput", request=request)
        for kib in request.table.block_kib.value
    ]


TP = Procedure(
    name="tp",
    header=__doc__,
    title="Throughput (TP)",
    question="Throughput of large sequential transfers at steady state.",
    outline="Rounds of 1 min of reads and 1 min of writes at advancing positions, until the writes are steady.",
    preconditioning="Sequential writes over the drive, then the test loop itself.",
    table=LoopTable,
    options=LoopOptions,
    settings=LoopSettings,
    plan=plan_tp,
    report=lambda source: record.loop_shown(source, tp_pages),
    departures=loop_departures,
)
