"""The plan of a test loop: its table in an edition, its options, settings, and how it departs from the edition."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, Field

from assay.engine.records import Cell, Demand
from assay.engine.records.settings import TestSettings
from assay.engine.records.stimulus import Access
from assay.plan.options import DemandOptions, parse_arrival
from assay.procedures.departures import (
    TOLERANCE,
    deeper,
    other_limits,
    other_range,
    other_rounds,
    short_histogram,
    shortened,
)
from assay.procedures.planned import whole_blocks
from assay.results.ended import ran_to_its_end
from assay.results.step import arrival_label, issued_bytes
from assay.spec.datum import Datum, Strict
from assay.spec.edition import (
    BlockKib,
    DemandDatum,
    HistogramSeconds,
    NotNegative,
    Positive,
    RangeDatum,
    ReadPct,
    Seconds,
    Share,
    Unique,
)
from assay.spec.units import GIB, KIB
from assay.words.printed import capacity_label

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import DriveIdentity, StoredTest


class CellDatum(Strict):
    """A cell of the loop by read share in percent and block size in KiB."""

    read_pct: ReadPct
    block_kib: BlockKib

    def to_cell(self) -> Cell:
        """The cell as the record that steps take."""
        return Cell(read_pct=self.read_pct, transfer_bytes=int(self.block_kib * KIB))


class LoopTable(Strict):
    """Parameters of a test that repeats a loop of cells until steady: IOPS, throughput, latency.

    histogram_seconds : length of the response-time histogram behind the test; None means that there is none.
    section : of the specification. purge : whether the drive is purged before; None means yes.
    steady_required : whether the test asks for steady state, or only says whether it was reached; None means yes.
    preconditioning_multiple : of the user capacity, or of the test range where that has a ``range_gib_max``: the
    contiguous range is so large at most, and preconditioning covers it alone. step_seconds_least : of a scaled run.
    preconditioning_block_kib : ``tested`` means the size of the test. preconditioning_demand : None means the loop's.
    """

    section: Datum[int]
    status: Datum[Literal["REQUIRED", "OPTIONAL"]]
    purge: Datum[bool] | None = None
    steady_required: Datum[bool] | None = None
    preconditioning_multiple: Datum[NotNegative]
    preconditioning_block_kib: Datum[BlockKib | Literal["tested"]]
    preconditioning_share: Datum[Share]
    preconditioning_demand: Datum[DemandDatum] | None = None
    range_gib_max: Datum[Positive] | None = None
    test_range: Datum[RangeDatum]
    demand: Datum[DemandDatum]
    read_pct: Datum[Annotated[tuple[ReadPct, ...], Unique]]
    block_kib: Datum[Annotated[tuple[BlockKib, ...], Unique]]
    step_seconds: Datum[Seconds]
    step_seconds_least: Datum[Seconds] | None = None
    tracking: Datum[Annotated[tuple[CellDatum, ...], Unique]]
    round_limit: Datum[Annotated[int, Field(ge=5, le=1000)]]
    range_limit: Datum[Share]
    slope_limit: Datum[Share]
    histogram_seconds: Datum[HistogramSeconds] | None = None


def _is_arrival(text: str) -> str:
    parse_arrival(text)
    return text


class LoopOptions(DemandOptions):
    """Choices that the specification leaves to the tester, for one test loop.

    round_least : rounds before which a steady one does not end the test: 13 repeats a published window of rounds 9-13.
    arrival : ``fixed:RATE`` or ``poisson:RATE`` makes it an open loop, which is a listed deviation.
    """

    round_limit: int | None = Field(default=None, ge=5, le=1000)
    round_least: int | None = Field(default=None, ge=5, le=1000)
    arrival: Annotated[str, AfterValidator(_is_arrival)] | None = None

    def demand(self, default: Demand) -> Demand:
        """A demand with the rate at which I/Os arrive; TC x QD then only limits how many are outstanding.

        Worked: ``fixed:5000`` over a default of 1 x 8 -> at most 8 outstanding of 5,000 a second.
        """
        closed = DemandOptions.demand(self, default)
        if self.arrival is None:
            return closed
        process, rate = parse_arrival(self.arrival)
        return replace(closed, arrivals_per_s=rate, arrival_process=process)


PERCENT = 100
Variable = Literal["iops", "throughput", "latency"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopSettings(TestSettings):
    """What a test loop used.

    variable : what is tracked and reported per cell: IOPS, MB/s or average response time in ms.
    read_pcts, sizes_bytes : outer and inner loop values in the order they run.
    preconditioning_bytes : host bytes written before the loop, in transfers of ``preconditioning_transfer_bytes``
        over the first ``preconditioning_share`` of the drive, at ``preconditioning_demand``.
    tracking : the cells whose variable decides steady state, all at once. steady_required : the test asks for it.
    round_least : no round before it ends the test as steady.
    not_applicable : sizes of the specification that this drive cannot run, with the reason.
    """

    access: Access
    variable: Variable
    read_pcts: tuple[int, ...]
    sizes_bytes: tuple[int, ...]
    step_ns: int
    round_limit: int
    tracking: tuple[Cell, ...]
    preconditioning_bytes: int
    preconditioning_transfer_bytes: int
    preconditioning_share: float
    preconditioning_demand: Demand
    not_applicable: dict[int, str] = field(default_factory=dict)
    steady_required: bool = True
    round_least: int = 0

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells of one round in loop order: read share outside, transfer size inside."""
        return tuple(Cell(read_pct=r, transfer_bytes=b) for r in self.read_pcts for b in self.sizes_bytes)

    @property
    def demands(self) -> tuple[Demand, ...]:
        """Every demand that the test makes."""
        return (self.demand, self.preconditioning_demand)

    @property
    def transfer_bytes_max(self) -> int:
        """The largest transfer of the test loop."""
        return max(self.sizes_bytes)

    @property
    def requires_steady_state(self) -> bool:
        """A quick look only says whether the drive was steady."""
        return self.steady_required

    def fault(self) -> str | None:
        """Cells that no test can have, or a tracked one that is none of them."""
        mixes = all(0 <= read_pct <= PERCENT for read_pct in self.read_pcts)
        sizes = all(size > 0 for size in self.sizes_bytes)
        tracked = bool(self.tracking) and set(self.tracking) <= set(self.cells)
        return None if mixes and sizes and tracked else "tracks a cell that it does not have, or has impossible ones"


def loop_departures(
    settings: LoopSettings, table: LoopTable, drive: DriveIdentity, test: StoredTest | None
) -> Iterator[str]:
    """How a test loop departs from its edition. Worked: cells of 0.6 s -> ``"cells of 0.6 s instead of 1 min"``."""
    cells = test.steps("round") if test else None
    yield from shortened("cells", settings.step_ns, table.step_seconds.value, cells)
    if not _is_capped(settings, table, drive):
        yield from other_range(settings, table.test_range.value, drive)
    yield from other_rounds(settings.round_limit, table.round_limit.value, settings.round_least)
    yield from _other_demand(settings, table)
    yield from short_histogram(settings, table.histogram_seconds.value if table.histogram_seconds else 0, test)
    yield from deeper(settings, cells or ())
    yield from other_limits(settings, table)
    yield from _other_cells(settings, table)
    whole_bytes = settings.range_amount_bytes if table.range_gib_max else drive.capacity_bytes
    yield from _unprepared(test, table.preconditioning_multiple.value * whole_bytes)


def _is_capped(settings: LoopSettings, table: LoopTable, drive: DriveIdentity) -> bool:
    """Whether the range is the largest that the edition allows."""
    limit = table.range_gib_max
    return limit is not None and settings.range_amount_bytes == whole_blocks(limit.value * GIB, drive)


def _other_demand(settings: LoopSettings, table: LoopTable) -> Iterator[str]:
    """The demand of latency is the edition's, that of the others the tester's choice; arrivals are nobody's."""
    demand, asked = settings.demand, table.demand.value.to_demand()
    same = (demand.thread_count, demand.queue_depth) == (asked.thread_count, asked.queue_depth)
    if settings.variable == "latency" and not same:
        yield f"latency at TC {demand.thread_count} x QD {demand.queue_depth}"
    if (arrivals := arrival_label(demand)) is not None:
        yield f"open loop: {arrivals}, at most {demand.thread_count * demand.queue_depth} outstanding"


def _other_cells(settings: LoopSettings, table: LoopTable) -> Iterator[str]:
    """Mixes, sizes and tracking cells that the edition has and the test left out; throughput runs a size at a time."""
    known = {*settings.sizes_bytes, *settings.not_applicable}
    sizes = {int(kib * KIB) for kib in table.block_kib.value}
    missing = set(table.read_pct.value) - set(settings.read_pcts)
    if missing or (settings.variable != "throughput" and sizes - known):
        yield f"{settings.test} without {len(missing)} of the edition's mixes and {len(sizes - known)} of its sizes"
    tracked = {cell.to_cell() for cell in table.tracking.value if int(cell.block_kib * KIB) in settings.sizes_bytes}
    if tracked - set(settings.tracking):
        yield f"{settings.test} tracks {len(settings.tracking)} cells instead of {len(tracked)}"


def _unprepared(test: StoredTest | None, asked_bytes: float) -> Iterator[str]:
    if test is None or not ran_to_its_end(test):
        return
    written = sum(issued_bytes(step.write) for step in test.preconditioning)
    if written < asked_bytes * (1 - TOLERANCE):
        yield f"preconditioning of {capacity_label(written)} instead of {capacity_label(round(asked_bytes))}"
