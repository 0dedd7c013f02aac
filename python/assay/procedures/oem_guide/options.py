"""The table of the OEM guide's method in a plan file."""

from __future__ import annotations

from pydantic import Field

from assay.engine.records import Demand
from assay.plan.options import Options

OUTSTANDING = 32
BURN_IN_HOURS = 2.0
"""The guide asks for 2 to 3 hours."""


class GuideOptions(Options):
    """Choices for the OEM guide's method. burn_in_hours : of sequential writes before the first test; 2 to 3."""

    burn_in_hours: float = Field(default=BURN_IN_HOURS, gt=0, le=72)

    def demand(self, _: Demand) -> Demand:
        """That of the guide, whatever the edition has: 32 outstanding I/Os of one worker."""
        return Demand(thread_count=1, queue_depth=OUTSTANDING)
