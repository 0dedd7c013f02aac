"""The pages of the IOPS test: six with one tracking variable (header form 1.0), eight with three (form 2.0).

Source: IOPS report pages of "Understanding SSD Performance Using the SNIA SSS PTS" (2012); PTS 2.0 reports
give each of the three tracking variables its own window page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.procedures.loop.figures import columns_figure, plane_figure
from assay.procedures.loop.open_loop_pages import open_loop_sheets

if TYPE_CHECKING:
    from assay.pages.model import Page
    from assay.procedures.loop.report import LoopSheets


def iops_pages(sheets: LoopSheets) -> tuple[Page, ...]:
    """Lay out every page of one IOPS test: 5 + n for n tracking variables, six for PTS 1.x and eight for PTS 2.0."""
    profile, result, settings = sheets.profile, sheets.result, sheets.settings
    matrix = f"{profile.market} IOPS - ALL RW Mix & BS"
    plane = plane_figure(f"{sheets.prefix}-plane", result, settings)
    columns = columns_figure(f"{sheets.prefix}-columns", settings, result.matrix)
    subtitle, convergence = sheets.convergence("Steady State Convergence Plot - All Block Sizes")
    title = f"{profile.market} IOPS ({sheets.status}) - Report Page"
    return sheets.pages(
        "IOPS Test - Report Page" if profile.header == "2.0" else title,
        (
            (subtitle, (sheets.strip(), *convergence)),
            sheets.tracking(),
            *sheets.windows(),
            (f"{matrix} - Tabular Data", (sheets.matrix("IOPS by block size and read/write mix"),)),
            (f"{matrix} - 2D Plot", (sheets.or_reason(plane),)),
            (f"{matrix} - 3D Columns", (sheets.or_reason(columns),)),
            *open_loop_sheets(sheets),
        ),
    )
