"""A sentence below each figure of a test loop: what it asks, how it was measured, how it is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.procedures.families.loop.variable import shown
from assay.spec.units import count_label, duration_label

if TYPE_CHECKING:
    from assay.procedures.families.loop.settings import LoopSettings


def loop_readings(settings: LoopSettings, moved: int) -> dict[str, str]:
    """The sentences by the beginning of a figure's name. moved : how many cells moved that are not tracked.

    Worked: ``plane`` -> that of the plot over block size.
    """
    noun, cell = shown(settings).spoken, duration_label(settings.step_ns)
    better = "lower is faster" if settings.variable == "latency" else "higher is faster"
    single = len(settings.sizes_bytes) == 1
    hidden = f"; {count_label(moved, 'cell')} moved in them, each with an asterisk in the table" if moved else ""
    matrix = f"averages of the last five rounds{hidden}; {better}"
    mark, varied = ("bar", "mix") if single else ("line", "block size and mix")
    return {
        "maxima": (
            f"How does the longest response time vary by round? Each point is the slowest I/O of a cell of {cell}, "
            "a line per block size; it is a single I/O, so it varies in a settled drive, too."
        ),
        "tracking": (
            f"When is the drive steady? A point is a tracked cell of the {len(settings.cells)} in each round; the "
            "last five must stay close to their average, and the line fitted to them must be nearly level."
        ),
        "window": (
            "Are the last five rounds steady? The points are the measured rounds; greatest less least, and the rise of "
            "the fitted line over the window, must stay within the limits in the box."
        ),
        "plane": f"How does {noun} depend on {varied}? A {mark} per read/write mix, {matrix}.",
        "columns": f"How does {noun} depend on {varied}? A column per cell, {matrix}.",
        "average": f"How long does an I/O take on average? A column per cell, {matrix}.",
        "largest": "How long did the slowest I/O take? A column per cell, the largest of the last five rounds.",
        **HISTOGRAM_READINGS,
    }


def convergence_reading(settings: LoopSettings, read_pct: int, *, logarithmic: bool) -> str:
    """The sentence below the rounds of one mix. logarithmic : its axis is, where a step is hardly seen.

    Worked: reads of one size in cells of 1 min -> ``"Do reads settle as the rounds go on? Each point is a cell of 1
    min."``
    """
    asked = "Do reads" if read_pct == 100 else f"Does {shown(settings).spoken}"  # noqa: PLR2004 - per cent
    lines = ", a line per block size" if len(settings.sizes_bytes) > 1 else ""
    hidden = (
        "; on a logarithmic axis a step of 20 % is hardly seen: a cell that moved by more in the shaded window has an "
        "asterisk in the table of all cells"
    )
    each = f"Each point is a cell of {duration_label(settings.step_ns)}{lines}"
    return f"{asked} settle as the rounds go on? {each}{hidden if logarithmic else ''}."


SPREAD = "counted by response time on logarithmic axes; a second hill or a long tail on the right are I/Os that waited."

HISTOGRAM_READINGS = {
    "histogram": (f"How are response times distributed? All I/Os of a separate period after the test, {SPREAD}"),
    "confidence": (
        "Which share of the I/Os completed within which time? The I/Os of the histogram, a separate period after the "
        "test; each nine on the left axis means ten times fewer slower I/Os."
    ),
}
"""Of the response-time histogram, which several tests have."""
