"""A sentence below each figure of a test over a grid of demands: what it asks, how it was measured, how it is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.procedures.families.loop.record import SPREAD
from assay.spec.units import duration_label

if TYPE_CHECKING:
    from assay.procedures.families.grid.settings import DemandSettings


def grid_readings(settings: DemandSettings) -> dict[str, str]:
    """The sentences by the beginning of a figure's name."""
    sample, cell = duration_label(settings.sample_ns), duration_label(settings.cell_ns)
    spread = (
        f"How are response times spread? All I/Os that were issued in the point (IOPS: that completed in it), {SPREAD} "
        "MRT is that of a single I/O."
    )
    capture = duration_label(settings.capture_ns)
    steady = (
        "Is it steady? The points are the five values that are judged; greatest less least and the rise of the "
        "fitted line must stay within the limits in the box."
    )
    return {
        "precondition": (
            f"How do IOPS change until the drive has settled? Writes of the workload's sizes, a point per {sample}; "
            "the page of their window says whether they settled."
        ),
        "window-pc": steady,
        "window-dv": steady,
        "pre-writes": f"Is the drive in the same state before each round? Writes in samples of {sample}, by round.",
        "by-round": f"Do the cells repeat from round to round? Each point is a cell of {cell}; level lines mean yes.",
        "variation": (
            f"How do IOPS depend on demand? Cells of {cell}, averages of the last five rounds, a line per thread "
            "count over queue depth; where a line is flat, more outstanding I/Os bring nothing."
        ),
        "intensity": (
            "What does each additional I/O per second cost in response time? A point per demand; best is low and to "
            "the right, and where the points turn upwards the drive is saturated. Large marks: operating points, "
            f"measured for {capture}."
        ),
        "intensity-top": (
            "What separates the fastest points? Points within 10 % of the highest IOPS, enlarged; at equal IOPS the "
            "lowest point needs the fewest outstanding I/Os."
        ),
        "map-iops": f"How many IOPS does each demand give? Cells of {cell}, averages of the last five rounds.",
        "map-art": "How long does an I/O take at each demand? The same cells; low is good.",
        "point-writes": (
            f"Is the drive in the same state before each point? Writes in samples of {sample}, a line per point, in "
            f"order of time; in each gap the point was measured for {capture}. Equal levels mean yes."
        ),
        "cpu": "How busy was the test system? CPU time of the threads that issue I/Os, per demand.",
        "total": "How do IOPS or response times depend on outstanding I/Os (threads times depth)? A point per demand.",
        **{f"{point}-histogram": spread for point in ("max", "mid", "min")},
    }
