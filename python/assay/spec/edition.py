"""An edition of the specification as data: conditions of all its tests, and the records that its tables share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

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


__all__ = ["Edition", "RangeDatum", "SampledPreconditioning", "WorkloadName"]


NoticeText = Annotated[str, Field(min_length=1, max_length=200)]


class Edition(Strict):
    """One edition: conditions common to its tests and, behind them, one table per test of the registry.

    header : the page header form, ``1.0`` (one block per group) or ``2.0`` (four columns).
    notices : what every report and terminal says of a run of it, where it is no edition of the specification.
    market : printed in titles, ``Client``, ``Enterprise`` or, where an edition makes no difference, ``SSD``.
    """

    schema_version: Literal[1] = Field(alias="schema")
    name: str
    title: str
    market: Literal["Client", "Enterprise", "SSD"]
    header: Literal["1.0", "2.0"]
    notices: tuple[NoticeText, ...] | None = None
    write_cache: Datum[Literal["enabled", "disabled"]]
    data_pattern: Datum[Literal["random"]]

    if TYPE_CHECKING:
        # The tables of tests are fields of a class that the registry makes; see ``assay.procedures.editions``.
        def __getattr__(self, name: str) -> Any: ...

    def table(self, procedure: str) -> Any:
        """The table of a test, None where the edition has no such test."""
        return getattr(self, procedure, None)
