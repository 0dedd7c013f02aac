"""LAT, latency.

Question:      How long does a single outstanding random I/O take at steady state?
Clauses:       PTS-C 1.0 clause 10; PTS-E 1.0, 1.1 and PTS 2.0 clause 9.
Purge:         yes, before preconditioning.
Precondition:  2X user capacity, SEQ 128 KiB writes at the tester's demand; the loop itself (dependent).
Loop:          for read share in 100, 65, 0: for size in 8, 4, 0.5 KiB: 1 min RND at TC 1 / QD 1.
Tracking:      average response time of RND 4KiB 0/100 in ms.
Steady state:  five rounds, excursion within 20 %, slope within 10 % of the average; at most 25 rounds.
Histogram:     in 2.0, 20 minutes of RND 4KiB W with all response times, after the loop.
Result:        average response time over the five rounds per cell; maximum = largest of the window.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.plan.procedure import Procedure
from assay.procedures.families.loop.departures import loop_departures
from assay.procedures.families.loop.edition import LoopTable
from assay.procedures.families.loop.report import loop_report
from assay.procedures.families.loop.run import plan_loop
from assay.procedures.families.loop.settings import LoopSettings
from assay.procedures.lat.options import LatencyOptions
from assay.procedures.lat.pages import lat_pages
from assay.spec.units import KIB

if TYPE_CHECKING:
    from assay.plan.procedure import PlannedTest, Request


def plan_lat(request: Request[LoopTable, LatencyOptions]) -> list[PlannedTest]:
    """Settle what the latency test does on a drive; one run.

    Raises TooSmallError where the test ActiveRange does not fit the drive.
    Worked: nine cells a round, so a round takes nine minutes.
    """
    sizes = tuple(int(kib * KIB) for kib in request.table.block_kib.value)
    return [
        plan_loop(
            "lat",
            "lat",
            sizes,
            access="random",
            variable="latency",
            request=request,
            histogram_minutes=request.options.histogram_minutes,
        )
    ]


LAT = Procedure(
    name="lat",
    header=__doc__,
    title="Latency (LAT)",
    question="Response time of a single outstanding random I/O at steady state, average and maximum.",
    outline="Rounds of 1 min cells at a single outstanding I/O: read share outside, block size inside, until steady.",
    preconditioning="Sequential writes over the drive, then the test loop itself.",
    table=LoopTable,
    options=LatencyOptions,
    settings=LoopSettings,
    plan=plan_lat,
    report=loop_report(lat_pages),
    departures=loop_departures,
)
