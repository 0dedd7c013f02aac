"""The table of a test loop in an edition."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from assay.engine.records import Cell
from assay.spec.datum import Datum, Strict
from assay.spec.edition_data import (
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
from assay.spec.units import KIB


class CellDatum(Strict):
    """A cell of the loop by read share in percent and block size in KiB."""

    read_pct: ReadPct
    block_kib: BlockKib

    def to_cell(self) -> Cell:
        """The same as a Cell record."""
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
