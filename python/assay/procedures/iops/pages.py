"""The pages of the IOPS test: six with one tracking variable (header form 1.0), eight with three (form 2.0).

Source: IOPS report pages of "Understanding SSD Performance Using the SNIA SSS PTS" (2012); PTS 2.0 reports
give each of the three tracking variables its own window page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.procedures.families.loop.figures import columns_figure, plane_figure
from assay.procedures.families.loop.open_loop_pages import open_loop_parts

if TYPE_CHECKING:
    from assay.procedures.families.loop.report import LoopReport
    from assay.summary.pages.model import Page


def iops_pages(test_report: LoopReport) -> tuple[Page, ...]:
    """Lay out every page of one IOPS test: 5 + n for n tracking variables, six for PTS 1.x and eight for PTS 2.0."""
    edition, result, settings = test_report.edition, test_report.result, test_report.settings
    matrix = f"{edition.market} IOPS - ALL RW Mix & BS"
    plane = plane_figure(f"{test_report.prefix}-plane", result, settings)
    columns = columns_figure(f"{test_report.prefix}-columns", settings, result.matrix)
    subtitle, convergence = test_report.convergence("Steady State Convergence Plot - All Block Sizes")
    title = f"{edition.market} IOPS ({test_report.status}) - Report Page"
    return test_report.pages(
        "IOPS Test - Report Page" if edition.header == "2.0" else title,
        (
            (subtitle, (*test_report.strip(), *convergence)),
            test_report.tracking(),
            *test_report.windows(),
            (
                f"{matrix} - Tabular Data",
                (test_report.matrix("IOPS by block size and read/write mix"),),
            ),
            (f"{matrix} - 2D Plot", (test_report.or_reason(plane),)),
            (f"{matrix} - 3D Columns", (test_report.or_reason(columns),)),
            *open_loop_parts(test_report),
        ),
    )
