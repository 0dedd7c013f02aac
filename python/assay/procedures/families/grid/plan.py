"""The plan of a demand grid: its table in an edition, its options, settings, and how it departs from the edition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, model_validator

from assay.engine.records.settings import PatternSettings
from assay.plan.options import Options
from assay.procedures.departures import other_limits, other_range, other_rounds, shortened
from assay.procedures.families.saturation.result import SaturationSettings
from assay.spec.datum import Datum, Strict
from assay.spec.demand import Demand
from assay.spec.edition import DemandDatum, Positive, RangeDatum, SampledPreconditioning, Seconds, Share, Unique

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.engine.records import DriveIdentity, StepRecord, StoredTest


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


class GridOptions(Options):
    """Choices for a test over a grid of demands; None means the edition's.

    art_limit_ms : bound on the average response time of the Max point, which the specification has at 5 ms.
    thread_counts, queue_depths : a custom grid.
    """

    round_limit: int | None = Field(default=None, ge=5, le=1000)
    art_limit_ms: float | None = Field(default=None, gt=0)
    thread_counts: ThreadCounts | None = None
    queue_depths: QueueDepths | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DemandSettings(PatternSettings):
    """What a test over a grid of demands used. ``demand`` is that of every pre-write.

    name : as printed, such as ``DIRTH``. pattern, label : the accesses of every cell and operating point.
    preconditioning : its writes until steady, before the first round.
    grid : the demands of a round in the order they run; cell_ns : for how long each.
    tracking : the cell whose IOPS decide steady state.
    sample_ns : length of one pre-write sample; pre_write_samples : before the cells of a round;
        point_pre_write_samples : before an operating point.
    art_limit_ms : a cell counts for the Max point where its average response time is below.
    capture_ns : length of an operating point, of which every completion is kept.
    """

    name: str
    preconditioning: SaturationSettings
    grid: tuple[Demand, ...]
    tracking: Demand
    cell_ns: int
    round_limit: int
    sample_ns: int
    pre_write_samples: int
    point_pre_write_samples: int
    art_limit_ms: float
    capture_ns: int

    @property
    def demands(self) -> tuple[Demand, ...]:
        """Every demand that the test makes."""
        return (self.demand, self.preconditioning.demand, *self.grid)


def grid_departures(
    settings: DemandSettings, table: DemandTable, drive: DriveIdentity, test: StoredTest | None
) -> Iterator[str]:
    """How a test over a grid of demands departs from its edition."""
    writes, cells, points = _ran(settings, test) if test else (None, None, None)
    asked = table.preconditioning.sample_seconds.value
    yield from shortened("preconditioning and pre-write samples", settings.sample_ns, asked, writes)
    yield from shortened("cells", settings.cell_ns, table.cell_seconds.value, cells)
    yield from shortened("operating points", settings.capture_ns, table.capture_seconds.value, points)
    grid = grid_demands(table.thread_counts.value, table.queue_depths.value, table.tie_order.value)
    if settings.grid != grid:
        yield f"a custom grid of {len(settings.grid)} demands instead of {len(grid)}"
    tracking = settings.tracking
    if tracking != table.tracking.value.to_demand():
        yield f"steady state tracked at TC {tracking.thread_count} x QD {tracking.queue_depth}"
    yield from other_rounds(settings.round_limit, table.round_limit.value)
    if settings.art_limit_ms != table.art_limit_ms.value:
        yield f"Max point below {settings.art_limit_ms:g} ms on average instead of {table.art_limit_ms.value:g} ms"
    yield from other_range(settings, table.test_range.value, drive)
    yield from other_limits(settings, table)


def _ran(settings: DemandSettings, test: StoredTest) -> tuple[list[StepRecord], list[StepRecord], list[StepRecord]]:
    """The samples of preconditioning and pre-writes, the cells, and the operating points that ran."""
    before = settings.pre_write_samples
    writes = [*test.steps("sample"), *test.steps("pre-write")]
    writes += [step for round_ in test.rounds for step in round_.cells[:before]]
    cells = [step for round_ in test.rounds for step in round_.cells[before:]]
    return writes, cells, [step for one in test.stage("point") for step in one.steps[1:]]


def grid_demands(thread_counts: Sequence[int], queue_depths: Sequence[int], ties: TieOrder) -> tuple[Demand, ...]:
    """The demands of a grid in order of decreasing total OIO; ``ties`` says which of equals is first.

    Source: SNIA PTS session 202-C (2013) for the order; which of equals is first is stated nowhere.
    Worked: threads 2, 1 and depths 2, 1, more threads first -> 2 x 2, 2 x 1, 1 x 2, 1 x 1.
    """
    sign = -1 if ties == "more threads first" else 1
    cells = [Demand(thread_count=threads, queue_depth=depth) for threads in thread_counts for depth in queue_depths]
    return tuple(sorted(cells, key=lambda cell: (-cell.thread_count * cell.queue_depth, sign * cell.thread_count)))
