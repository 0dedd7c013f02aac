"""The pages of one throughput run.

Source: Throughput report pages of "Understanding SSD Performance Using the SNIA SSS PTS" (2012); enterprise titles
carry the block size. Its last two, table and plot of a single size, are one page here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.procedures.families.loop.figures import plane_figure
from assay.procedures.families.loop.open_loop_pages import open_loop_parts
from assay.words.printed import size_label

if TYPE_CHECKING:
    from assay.procedures.families.loop.report import LoopReport
    from assay.summary.pages.model import Page


def tp_pages(test_report: LoopReport) -> tuple[Page, ...]:
    """Lay out the pages of one throughput run: convergence of writes and of reads, window, table with plot."""
    edition = test_report.edition
    size = size_label((*test_report.settings.sizes_bytes, *test_report.settings.not_applicable)[0])
    name = f"{edition.market} {size} Throughput" if edition.market == "Enterprise" else f"{edition.market} Throughput"
    plane = plane_figure(f"{test_report.prefix}-plane", test_report.result, test_report.settings)
    subtitle, writes = test_report.convergence("Steady State Convergence Plot - 100% Writes")
    title = f"{edition.market} Throughput Test ({test_report.status}) - Report Page"
    return test_report.pages(
        "Throughput Test - Report Page" if edition.header == "2.0" else title,
        (
            (subtitle, (*test_report.strip(), *writes)),
            test_report.convergence("Steady State Convergence Plot - 100% Reads", name="reads", read_pct=100),
            *test_report.windows(),
            # A table of one size is a line, and its plot a pair of bars: together they are a page.
            (
                f"{name} - ALL RW Mix & BS - Tabular Data & 2D Plot",
                (test_report.matrix("MB/s by block size and read/write mix"), test_report.or_reason(plane)),
            ),
            *open_loop_parts(test_report),
        ),
    )
