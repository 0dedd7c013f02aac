"""Write saturation's table in an edition."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from assay.procedures.families.saturation.settings import SaturationStop
from assay.spec.datum import Datum, Strict
from assay.spec.edition_data import DemandDatum, HistogramSeconds, RangeDatum, Seconds, Share, Unique, WorkloadName


class SaturationTable(Strict):
    """Parameters of the write saturation test.

    section : of the specification.
    workloads : names of patterns, as ``assay.engine.pattern.workload`` has them; the first is required.
    samples_per_verdict : every so many samples, one enters the five-point rule.
    stop : ``first`` of time, amount and five-point rule, or a single criterion.
    histogram_seconds : length of the response-time histogram behind the test, 0 for none.
    """

    section: Datum[int]
    status: Datum[Literal["REQUIRED", "OPTIONAL"]]
    test_range: Datum[RangeDatum]
    demand: Datum[DemandDatum]
    workloads: Datum[Annotated[tuple[WorkloadName, ...], Unique]]
    sample_seconds: Datum[Seconds]
    samples_per_verdict: Datum[Annotated[int, Field(ge=1, le=1440)]]
    stop: Datum[SaturationStop]
    time_hours: Datum[Annotated[float, Field(gt=0, le=7 * 24)]]
    amount_multiple: Datum[Annotated[float, Field(gt=0, le=1000)]]
    range_limit: Datum[Share]
    slope_limit: Datum[Share]
    histogram_seconds: Datum[HistogramSeconds]
