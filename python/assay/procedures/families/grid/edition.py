"""What the tables of tests over a grid of demands have in common."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from assay.spec.datum import Datum, Strict
from assay.spec.edition_data import DemandDatum, Positive, RangeDatum, SampledPreconditioning, Seconds, Share, Unique

ThreadCounts = Annotated[tuple[Annotated[int, Field(ge=1, le=1024)], ...], Unique]


QueueDepths = Annotated[tuple[Annotated[int, Field(ge=1, le=4096)], ...], Unique]


TieOrder = Literal["more threads first", "fewer threads first"]


class DemandTable(Strict):
    """What demand intensity and the composite workload have in common.

    demand : of the pre-writes; pre_write_seconds : of them before the grid of every round.
    thread_counts, queue_depths : the grid, run in order of decreasing total OIO; tie_order : among equals.
    tracking : the cell whose IOPS decide steady state.
    art_limit_ms : the Max point is the fastest cell whose average response time is below.
    point_pre_write_seconds, capture_seconds : of each operating point.
    """

    section: Datum[int]
    status: Datum[Literal["REQUIRED", "OPTIONAL"]]
    test_range: Datum[RangeDatum]
    preconditioning: SampledPreconditioning
    demand: Datum[DemandDatum]
    pre_write_seconds: Datum[Seconds]
    thread_counts: Datum[ThreadCounts]
    queue_depths: Datum[QueueDepths]
    tie_order: Datum[TieOrder]
    tracking: Datum[DemandDatum]
    cell_seconds: Datum[Seconds]
    round_limit: Datum[Annotated[int, Field(ge=5, le=1000)]]
    range_limit: Datum[Share]
    slope_limit: Datum[Share]
    art_limit_ms: Datum[Positive]
    point_pre_write_seconds: Datum[Seconds]
    capture_seconds: Datum[Seconds]

    @model_validator(mode="after")
    def _tracked(self) -> Self:
        tracking = self.tracking.value
        if tracking.thread_count not in self.thread_counts.value or tracking.queue_depth not in self.queue_depths.value:
            raise ValueError("the tracking demand is no cell of the grid")
        return self
