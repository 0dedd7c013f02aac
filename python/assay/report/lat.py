"""The six pages of the latency test.

Source: Latency report pages of "Understanding SSD Performance Using the SNIA SSS PTS" (2012). The maximum is the
largest of the window; the mean of the rounds' maxima, which is no maximum, stands beside it under its own name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.report.loop_figures import columns_figure
from assay.window import latency_maxima

if TYPE_CHECKING:
    from assay.report.loop import Sheets
    from assay.report.page import Page


def lat_pages(sheets: Sheets) -> tuple[Page, ...]:
    """Lay out the pages of the latency test: two convergence plots, window, tables, two 3D plots."""
    profile, settings = sheets.profile, sheets.settings
    maxima = latency_maxima(sheets.test, sheets.result)
    average = columns_figure(f"{sheets.prefix}-average", settings, sheets.result.matrix)
    largest = columns_figure(f"{sheets.prefix}-largest", settings, maxima.largest)
    subtitle, convergence = sheets.convergence("Steady State Convergence - Average Latency - 100% Writes")
    title = f"{profile.market} Latency ({profile.lat.status.value}) - Report Page"
    tables = (
        sheets.matrix("Average response time (ms)", ("", sheets.result.matrix)),
        sheets.matrix(
            "Maximum response time (ms)", ("largest", maxima.largest), ("mean of maxima", maxima.mean_of_maxima)
        ),
    )
    return sheets.pages(
        "Latency Test - Report Page" if profile.header == "2.0" else title,
        (
            (subtitle, (sheets.strip(), *convergence)),
            sheets.convergence(
                "Steady State Convergence - Maximum Latency - 100% Writes", name="maxima", values=maxima.by_round
            ),
            *sheets.windows(),
            ("Average and Maximum Response Time - ALL RW Mix & BS - Tabular Data", tables),
            ("AVE Latency vs BS and R/W Mix - 3D Plot", (sheets.or_reason(average),)),
            ("MAX Latency vs BS and R/W Mix - 3D Plot", (sheets.or_reason(largest),)),
        ),
    )
