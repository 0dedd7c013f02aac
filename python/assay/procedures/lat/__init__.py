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

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic import Field

from assay.plan.procedure import Procedure
from assay.procedures.families.loop.plan import LoopOptions, LoopSettings, LoopTable, loop_departures
from assay.procedures.families.loop.run import plan_loop
from assay.results.histogram import NINES
from assay.results.measured import kept_histograms
from assay.spec.lazy import LazyModule
from assay.spec.units import KIB
from assay.summary.pages.model import Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.plan.procedure import PlannedTest, Request
    from assay.procedures.families.loop import figures, record, result
    from assay.procedures.families.loop import tables as loop_tables
    from assay.procedures.families.loop.record import LoopPages
    from assay.summary.pages import histograms
    from assay.summary.pages.model import Table
    from assay.summary.pages.test_record import PagePart
else:
    loop_tables = LazyModule("assay.procedures.families.loop.tables")
    figures = LazyModule("assay.procedures.families.loop.figures")
    record = LazyModule("assay.procedures.families.loop.record")
    result = LazyModule("assay.procedures.families.loop.result")
    histograms = LazyModule("assay.summary.pages.histograms")


_TWO_AVERAGES = (
    "An average here is the mean of the rounds' averages; that of all I/Os stands as Mean under Response Times, and is "
    "lower where a slow round completed fewer of them."
)


def lat_pages(pages: LoopPages) -> tuple[str, tuple[PagePart, ...]]:
    """Lay out the pages of the latency test: two convergence plots, window, tables, two 3D plots."""
    edition, settings = pages.edition, pages.settings
    maxima = result.latency_maxima(pages.test, pages.result)
    average = figures.columns_figure(f"{pages.prefix}-average", settings, pages.result.matrix)
    largest = figures.columns_figure(f"{pages.prefix}-largest", settings, maxima.largest)
    subtitle, convergence = pages.convergence("Steady State Convergence - Average Latency - 100% Writes")
    title = f"{edition.market} Latency ({pages.status}) - Report Page"
    tables = (
        _with_note(pages.matrix("Average response time (ms)", ("", pages.result.matrix))),
        pages.matrix(
            "Maximum response time (ms)", ("largest", maxima.largest), ("mean of maxima", maxima.mean_of_maxima)
        ),
    )
    extra = _response_sheets(pages) if edition.header == "2.0" else ()
    return (
        "Latency Test - Report Page" if edition.header == "2.0" else title,
        (
            (subtitle, (*pages.plan_box(), *convergence)),
            pages.convergence(
                "Steady State Convergence - Maximum Latency - 100% Writes", name="maxima", values=maxima.by_round
            ),
            *pages.windows(),
            ("Average and Maximum Response Time - ALL RW Mix & BS - Tabular Data", tables),
            ("AVE Latency vs BS and R/W Mix - 3D Plot", (pages.or_reason(average),)),
            ("MAX Latency vs BS and R/W Mix - 3D Plot", (pages.or_reason(largest),)),
            *extra,
            *loop_tables.open_loop_parts(pages.test, pages.result),
            *histograms.histogram_parts(pages.test, pages.prefix),
        ),
    )


def _with_note(table: Table) -> Table:
    return replace(table, notes=(*table.notes, _TWO_AVERAGES))


def _response_sheets(pages: LoopPages) -> tuple[PagePart, ...]:
    """IOPS and 99.999 % response time per cell, as 2.0 adds them to average and maximum."""
    sheets = result.window_times(pages.test, pages.result)
    rates = {cell: times.iops for cell, times in sheets.items()}
    nines = {
        cell: value for cell, times in sheets.items() if (value := times.percentiles_ms.get(NINES[-1])) is not None
    }
    tables = (
        pages.matrix("IOPS", ("", rates), decimals=1),
        pages.matrix("99.999 % response time (ms)", ("", nines)),
    )
    note = "99.999 % is n/a where fewer than ten I/Os of the window lie beyond it."
    longer = [
        step.label.removeprefix("histogram ")
        for kept_histogram in kept_histograms(pages.test)
        for step in kept_histogram.steps
    ]
    if longer:
        note += f" {longer[0]} was measured longer after the loop: see the Response Time Histogram."
    return (("IOPS and 99.999 % Response Time - ALL RW Mix & BS - Tabular Data", (*tables, Text(paragraphs=(note,)))),)


class LatencyOptions(LoopOptions):
    """Options of a latency test. histogram_minutes : of the histogram after it; None means the edition's."""

    histogram_minutes: float | None = Field(default=None, ge=0, le=24 * 60)

    @classmethod
    def chosen(cls, choices: Mapping[str, Any]) -> dict[str, Any]:
        """Nothing without a rate of arrivals: latency has one I/O outstanding, whatever the demand of other tests."""
        return super().chosen(choices) if "arrival" in choices else {}


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
    report=lambda source: record.loop_shown(source, lat_pages),
    departures=loop_departures,
)
