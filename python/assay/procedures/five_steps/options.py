"""The table of the five steps in a plan file: the demand, and the limits of the verdicts."""

from __future__ import annotations

from pydantic import Field

from assay.plan.options import DemandOptions


class FiveStepsOptions(DemandOptions):
    """Choices for the five steps; limits are shares. The source states none, so that all of them are ours.

    settled_limit : step 1, by which the halves of the last pass differ at most. hole_share : step 2, of the lower
    neighbour that each block size reaches. score_limit : step 3, of the seconds within 10 % of their median.
    drop_limit : step 4, by which sequential writes are slower after random writes at most. load_share : step 5, of the
    highest IOPS at a lighter load that a heavier load keeps.
    """

    settled_limit: float = Field(default=0.10, gt=0, le=1)
    hole_share: float = Field(default=0.50, gt=0, le=1)
    score_limit: float = Field(default=0.90, gt=0, le=1)
    drop_limit: float = Field(default=0.10, gt=0, le=1)
    load_share: float = Field(default=0.90, gt=0, le=1)
