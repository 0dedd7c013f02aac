"""The figures of the page of a test over demands: IOPS over response times, tails of its points, and its grid."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.procedures.families.grid.figures import demand_maps, totals_figure
from assay.summary.pages.main_figure import MainFigure, main_tail
from assay.words.printed import depth_label

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.procedures.families.grid.result import DemandResult, PointRun
    from assay.procedures.families.grid.settings import DemandSettings


def demand_main_figures(settings: DemandSettings, result: DemandResult, prefix: str) -> Iterator[MainFigure]:
    """IOPS over response times first."""
    if figure := totals_figure(f"{prefix}-main-demand", result):
        yield MainFigure(kind="demand", title="IOPS over response time", note=settings.label, figure=figure)
    tails = [(_label(run), run.times) for run in result.points if run.times]
    yield from main_tail(f"{prefix}-main-tail", tails, settings.label, "Response times at the operating points")
    for demand_map in demand_maps(f"{prefix}-main-map", result.cells)[:1]:
        yield MainFigure(
            kind="matrix",
            title="IOPS by threads and queue depth",
            note=settings.label,
            figure=replace(demand_map, x_title="QD per thread"),
        )


def _label(run: PointRun) -> str:
    """Worked: the Max point at two threads of 16 -> ``"Max, QD 32"``."""
    return f"{run.point.name}, {depth_label(run.point.demand)}"
