"""The recovery of cross stimulus recovery in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.words.printed import NOT_AVAILABLE, minutes_label, percent

if TYPE_CHECKING:
    from assay.procedures.xsr.result import CrossStimulusResult
    from assay.procedures.xsr.settings import CrossStimulusSettings


def recovery_name(settings: CrossStimulusSettings) -> str:
    """Name the recovery time with the share. Worked: ``"Recovery time to 95 % of the first group's mean"``."""
    return f"Recovery time to {percent(settings.recovered_share)} of the first group's mean"


def recovery_label(result: CrossStimulusResult) -> str:
    """Print the recovery time. Worked: recovered at the end of the third minute -> ``"3 min"``."""
    if result.recovery_minutes is not None:
        return minutes_label(result.recovery_minutes)
    return NOT_AVAILABLE if result.lowest_share is None else "not recovered"
