"""A sentence below each figure of a write saturation: what it asks, how it was measured, how it is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.procedures.families.loop.record import HISTOGRAM_READINGS
from assay.procedures.families.saturation.result import LEVEL_BAND
from assay.spec.units import duration_label

if TYPE_CHECKING:
    from assay.procedures.families.saturation.settings import SaturationSettings


def saturation_readings(settings: SaturationSettings, judged: str, level: str, change: float = 0) -> dict[str, str]:
    """The sentences by the beginning of a figure's name.

    judged : whether steady state was reached, as the summaries print it; what is on the right depends on that.
    level : what the mark says where the level is reached. change : of IOPS over the last drive fill, a share.
    """
    asked = (
        f"How far do the writes of a purged drive slow down as it fills? {settings.label} without a gap, a point per "
        f"{duration_label(settings.sample_ns)}"
    )
    over = {
        "iops-minutes": "time",
        "iops-written": "gigabytes written",
        "iops-fills": "amount written, in drive capacities",
    }
    curves = {name: f"{asked}, over {axis}; {_ends(judged, level, change)}." for name, axis in over.items()}
    response = (
        f"{asked}: average, 99.999 % (known where a sample has a million I/Os) and longest response time; lines that "
        "rise mean longer waits."
    )
    return {**curves, "response": response, **HISTOGRAM_READINGS}


def _ends(judged: str, level: str, change: float) -> str:
    """What is seen on the right. Worked: ``YES`` -> the level of steady state."""
    if judged == "YES":
        return f"the level on the right is the steady state, what is left once clean space is used up; {level}"
    if judged == "not reached":
        return "the right end is no level: steady state was not reached"
    if change < -LEVEL_BAND:
        return f"the right end is no level: over the last drive fill IOPS changed by {change * 100:+.1f} % ({judged})"
    return f"whether the right end is a level is not known ({judged})"
