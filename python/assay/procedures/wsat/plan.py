"""The plan of a write saturation test: its table in an edition, its options, and how it departs from the edition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from assay.plan.options import DemandOptions
from assay.procedures.departures import deeper, other_limits, other_range, short_histogram, shortened
from assay.procedures.families.saturation.result import SaturationStop
from assay.spec.datum import Datum, Strict
from assay.spec.edition import DemandDatum, HistogramSeconds, RangeDatum, Seconds, Share, Unique, WorkloadName
from assay.spec.units import HOUR_SECONDS, SECOND_NS, duration_label

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import DriveIdentity, StoredTest
    from assay.procedures.families.saturation.result import SaturationSettings


def wsat_departures(
    settings: SaturationSettings, table: SaturationTable, drive: DriveIdentity, test: StoredTest | None
) -> Iterator[str]:
    """How write saturation departs from its edition."""
    samples = test.steps("sample") if test else None
    yield from shortened("samples", settings.sample_ns, table.sample_seconds.value, samples)
    yield from short_histogram(settings, table.histogram_seconds.value, test)
    yield from _ended_elsewhere(settings, table, drive)
    yield from other_range(settings, table.test_range.value, drive)
    yield from deeper(settings, samples or ())
    yield from other_limits(settings, table)


_ENDS = {
    "first": "at the first of time, amount and the five-point rule",
    "time": "by time",
    "amount": "by the amount written",
    "steady": "by the five-point rule",
}


def _ended_elsewhere(settings: SaturationSettings, table: SaturationTable, drive: DriveIdentity) -> Iterator[str]:
    """Rules in force that end the test elsewhere than the edition's."""
    if settings.stop != table.stop.value:
        yield f"write saturation ends {_ENDS[settings.stop]} instead of {_ENDS[table.stop.value]}"
    limit_ns = round(table.time_hours.value * HOUR_SECONDS * SECOND_NS)
    if settings.stop in {"first", "time"} and settings.time_ns != limit_ns:
        yield f"write saturation for {duration_label(settings.time_ns)} instead of {duration_label(limit_ns)}"
    multiple = table.amount_multiple.value
    if settings.stop in {"first", "amount"} and settings.amount_bytes != round(multiple * drive.capacity_bytes):
        written = settings.amount_bytes / drive.capacity_bytes
        yield f"write saturation to {written:g}X capacity instead of {multiple:g}X"


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
