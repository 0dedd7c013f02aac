"""The six pages of the latency test; in 2.0 also IOPS, 99.999 % and the histogram behind it.

Source: Latency report pages of "Understanding SSD Performance Using the SNIA SSS PTS" (2012). The maximum is the
largest of the window; the mean of the rounds' maxima, which is no maximum, stands beside it under its own name.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.procedures.families.loop.figures import columns_figure
from assay.procedures.families.loop.open_loop_pages import open_loop_parts
from assay.procedures.families.loop.result import latency_maxima, window_times
from assay.results import NINES, kept_histograms
from assay.summary.pages.histogram import histogram_parts
from assay.summary.pages.model import Text

if TYPE_CHECKING:
    from assay.procedures.families.loop.report import LoopReport
    from assay.summary.pages.model import Page, Table
    from assay.summary.pages.test_report import PagePart

_TWO_AVERAGES = (
    "An average here is the mean of the rounds' averages; that of all I/Os stands as Mean under Response Times, and is "
    "lower where a slow round completed fewer of them."
)


def lat_pages(test_report: LoopReport) -> tuple[Page, ...]:
    """Lay out the pages of the latency test: two convergence plots, window, tables, two 3D plots."""
    edition, settings = test_report.edition, test_report.settings
    maxima = latency_maxima(test_report.test, test_report.result)
    average = columns_figure(f"{test_report.prefix}-average", settings, test_report.result.matrix)
    largest = columns_figure(f"{test_report.prefix}-largest", settings, maxima.largest)
    subtitle, convergence = test_report.convergence("Steady State Convergence - Average Latency - 100% Writes")
    title = f"{edition.market} Latency ({test_report.status}) - Report Page"
    tables = (
        _with_note(test_report.matrix("Average response time (ms)", ("", test_report.result.matrix))),
        test_report.matrix(
            "Maximum response time (ms)", ("largest", maxima.largest), ("mean of maxima", maxima.mean_of_maxima)
        ),
    )
    extra = _response_sheets(test_report) if edition.header == "2.0" else ()
    return test_report.pages(
        "Latency Test - Report Page" if edition.header == "2.0" else title,
        (
            (subtitle, (*test_report.strip(), *convergence)),
            test_report.convergence(
                "Steady State Convergence - Maximum Latency - 100% Writes", name="maxima", values=maxima.by_round
            ),
            *test_report.windows(),
            ("Average and Maximum Response Time - ALL RW Mix & BS - Tabular Data", tables),
            ("AVE Latency vs BS and R/W Mix - 3D Plot", (test_report.or_reason(average),)),
            ("MAX Latency vs BS and R/W Mix - 3D Plot", (test_report.or_reason(largest),)),
            *extra,
            *open_loop_parts(test_report),
            *histogram_parts(test_report),
        ),
    )


def _with_note(table: Table) -> Table:
    return replace(table, notes=(*table.notes, _TWO_AVERAGES))


def _response_sheets(test_report: LoopReport) -> tuple[PagePart, ...]:
    """IOPS and 99.999 % response time per cell, as 2.0 adds them to average and maximum."""
    sheets = window_times(test_report.test, test_report.result)
    rates = {cell: times.iops for cell, times in sheets.items()}
    nines = {
        cell: value for cell, times in sheets.items() if (value := times.percentiles_ms.get(NINES[-1])) is not None
    }
    tables = (
        test_report.matrix("IOPS", ("", rates), decimals=1),
        test_report.matrix("99.999 % response time (ms)", ("", nines)),
    )
    note = "99.999 % is n/a where fewer than ten I/Os of the window lie beyond it."
    longer = [
        step.label.removeprefix("histogram ")
        for kept_histogram in kept_histograms(test_report.test)
        for step in kept_histogram.steps
    ]
    if longer:
        note += f" {longer[0]} was measured longer after the loop: see the Response Time Histogram."
    return (("IOPS and 99.999 % Response Time - ALL RW Mix & BS - Tabular Data", (*tables, Text(paragraphs=(note,)))),)
