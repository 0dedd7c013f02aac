"""The five pages of one throughput run.

Source: Throughput report pages of "Understanding SSD Performance Using the SNIA SSS PTS" (2012); enterprise titles
carry the block size.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.pages.printed import size_label
from assay.procedures.loop.figures import plane_figure
from assay.procedures.loop.open_loop_pages import open_loop_sheets

if TYPE_CHECKING:
    from assay.pages.model import Page
    from assay.procedures.loop.report import LoopSheets


def tp_pages(sheets: LoopSheets) -> tuple[Page, ...]:
    """Lay out the pages of one throughput run: convergence of writes and of reads, window, table, plot."""
    profile = sheets.profile
    size = size_label((*sheets.settings.sizes_bytes, *sheets.settings.not_applicable)[0])
    name = f"{profile.market} {size} Throughput" if profile.market == "Enterprise" else f"{profile.market} Throughput"
    plane = plane_figure(f"{sheets.prefix}-plane", sheets.result, sheets.settings)
    subtitle, writes = sheets.convergence("Steady State Convergence Plot - 100% Writes")
    title = f"{profile.market} Throughput Test ({sheets.status}) - Report Page"
    return sheets.pages(
        "Throughput Test - Report Page" if profile.header == "2.0" else title,
        (
            (subtitle, (sheets.strip(), *writes)),
            sheets.convergence("Steady State Convergence Plot - 100% Reads", name="reads", read_pct=100),
            *sheets.windows(),
            (f"{name} - ALL RW Mix & BS - Tabular Data", (sheets.matrix("MB/s by block size and read/write mix"),)),
            (f"{name} - ALL RW Mix & BS - 2D Plot", (sheets.or_reason(plane),)),
            *open_loop_sheets(sheets),
        ),
    )
