"""Parameters of the tests: those of every edition, and those that came with PTS-E 1.1."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from assay.spec.datum import Datum, Strict
from assay.spec.demand import Demand


def _unique(values: tuple[Any, ...]) -> tuple[Any, ...]:
    if not values or len(set(values)) != len(values):
        raise ValueError("needs at least a value, and no duplicates")
    return values


Unique = AfterValidator(_unique)
"""At least one value, and none twice."""

Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0, le=1e9)]
Share = Annotated[float, Field(gt=0, le=1)]
Seconds = Annotated[float, Field(ge=0.05, le=7 * 24 * 3600)]
HistogramSeconds = Annotated[float, Field(ge=0, le=24 * 3600)]
ReadPct = Annotated[int, Field(ge=0, le=100)]
WorkloadName = Literal["rnd-4k-write", "oltp", "vod", "metadata", "composite"]
BlockKib = Annotated[float, Field(ge=0.5, le=1024 * 64)]


class DemandDatum(Strict):
    """Thread count TC and queue depth QD per thread."""

    thread_count: int = Field(ge=1, le=1024)
    queue_depth: int = Field(ge=1, le=4096)

    def to_demand(self) -> Demand:
        """The demand as the record that steps take."""
        return Demand(thread_count=self.thread_count, queue_depth=self.queue_depth)


class RangeDatum(Strict):
    """Test ActiveRange: an amount in equal random segments, or the first ``share`` of the drive."""

    share: float | None = Field(default=None, gt=0, le=1)
    amount_gib: float | None = Field(default=None, gt=0)
    segment_count: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if (self.amount_gib is None) != (self.segment_count is None):
            raise ValueError("amount_gib and segment_count are given together or not at all")
        return self


class SampledPreconditioning(Strict):
    """Writes in samples until the five-point rule holds, which stand for the preconditioning of a test.

    first_verdict_sample, samples_per_verdict : which samples enter the rule. round_limit : so many of them at most.
    """

    demand: Datum[DemandDatum] | None = None
    sample_seconds: Datum[Seconds]
    first_verdict_sample: Datum[Annotated[int, Field(ge=1, le=1440)]]
    samples_per_verdict: Datum[Annotated[int, Field(ge=1, le=1440)]]
    round_limit: Datum[Annotated[int, Field(ge=5, le=1000)]]
    range_limit: Datum[Share]
    slope_limit: Datum[Share]
