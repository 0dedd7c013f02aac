"""Write saturation's table in a plan file."""

from __future__ import annotations

from pydantic import Field

from assay.plan.options import DemandOptions
from assay.procedures.families.saturation.settings import SaturationStop
from assay.spec.edition import WorkloadName


class SaturationOptions(DemandOptions):
    """Choices for the write saturation test; None means the edition's.

    stop : ``first`` of time, amount and five-point rule, or a single criterion.
    workloads : each is a separate test with a separate purge.
    """

    stop: SaturationStop | None = None
    time_hours: float | None = Field(default=None, gt=0, le=7 * 24)
    amount_multiple: float | None = Field(default=None, gt=0, le=1000)
    histogram_minutes: float | None = Field(default=None, ge=0, le=24 * 60)
    workloads: tuple[WorkloadName, ...] = Field(default=("rnd-4k-write",), min_length=1)
