"""Parameters of the tests: those of every edition, and those that came with PTS-E 1.1."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from assay.datum import Datum, Strict
from assay.records import Cell, Demand, SaturationStop
from assay.units import KIB


def _unique(values: tuple[Any, ...]) -> tuple[Any, ...]:
    if not values or len(set(values)) != len(values):
        raise ValueError("needs at least one value, and none twice")
    return values


Unique = AfterValidator(_unique)
"""At least one value, and none twice."""

Positive = Annotated[float, Field(gt=0)]
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
        """The same as a Demand record."""
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


class CellDatum(Strict):
    """A cell of the loop by read share in percent and block size in KiB."""

    read_pct: ReadPct
    block_kib: BlockKib

    def to_cell(self) -> Cell:
        """The same as a Cell record."""
        return Cell(read_pct=self.read_pct, transfer_bytes=int(self.block_kib * KIB))


class LoopProfile(Strict):
    """Parameters of a test that repeats a loop of cells until steady: IOPS, throughput, latency.

    histogram_seconds : length of the response-time histogram behind the test; None means that there is none.
    section : of the specification.
    preconditioning_block_kib : ``tested`` means the size of the test. preconditioning_demand : None means the loop's.
    """

    section: Datum[int]
    status: Datum[Literal["REQUIRED", "OPTIONAL"]]
    preconditioning_multiple: Datum[Positive]
    preconditioning_block_kib: Datum[BlockKib | Literal["tested"]]
    preconditioning_share: Datum[Share]
    preconditioning_demand: Datum[DemandDatum] | None = None
    test_range: Datum[RangeDatum]
    demand: Datum[DemandDatum]
    read_pct: Datum[Annotated[tuple[ReadPct, ...], Unique]]
    block_kib: Datum[Annotated[tuple[BlockKib, ...], Unique]]
    step_seconds: Datum[Seconds]
    tracking: Datum[Annotated[tuple[CellDatum, ...], Unique]]
    round_limit: Datum[Annotated[int, Field(ge=5, le=1000)]]
    range_limit: Datum[Share]
    slope_limit: Datum[Share]
    histogram_seconds: Datum[HistogramSeconds] | None = None


class SaturationProfile(Strict):
    """Parameters of the write saturation test.

    section : of the specification.
    workloads : patterns that the edition knows, by the names of ``assay.pattern.workload``; the first is required.
    samples_per_verdict : every so many samples, one enters the five-point rule.
    stop : ``first`` of time, amount and five-point rule, or one of them alone.
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


class IdleRecoveryProfile(Strict):
    """Parameters of host idle recovery.

    wait_states : numbers of the wait states in the order they run; idle_seconds : behind each of their bursts.
    cycles : bursts of a wait state. return_seconds : of bursts without idle time behind them.
    """

    section: Datum[int]
    status: Datum[Literal["REQUIRED", "OPTIONAL"]]
    test_range: Datum[RangeDatum]
    demand: Datum[DemandDatum]
    preconditioning: SampledPreconditioning
    burst_seconds: Datum[Seconds]
    wait_states: Datum[Annotated[tuple[int, ...], Unique]]
    idle_seconds: Datum[Annotated[tuple[Seconds, ...], Unique]]
    cycles: Datum[Annotated[int, Field(ge=1, le=10_000)]]
    return_seconds: Datum[Seconds]

    @model_validator(mode="after")
    def _paired(self) -> Self:
        if len(self.wait_states.value) != len(self.idle_seconds.value):
            raise ValueError("every wait state needs its idle time")
        return self


class AccessGroupDatum(Strict):
    """One access group of cross stimulus recovery; writes only."""

    access: Literal["random", "sequential"]
    block_kib: BlockKib
    hours: float = Field(gt=0, le=7 * 24)


class CrossStimulusProfile(Strict):
    """Parameters of cross stimulus recovery.

    groups : access groups in the order they run. recovered_share : of the mean throughput of the first group, at which
    the third counts as recovered.
    """

    section: Datum[int]
    status: Datum[Literal["REQUIRED", "OPTIONAL"]]
    test_range: Datum[RangeDatum]
    demand: Datum[DemandDatum]
    sample_seconds: Datum[Seconds]
    groups: Datum[Annotated[tuple[AccessGroupDatum, ...], Field(min_length=1, max_length=9)]]
    recovered_share: Datum[Share]
