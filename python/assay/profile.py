"""Profiles: the parameters of one edition of the specification, every datum with its source note."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, ValidationError, model_validator

from assay.datum import Datum, Strict
from assay.errors import StoreError, UsageError
from assay.records import Cell, Demand, SaturationStop
from assay.toml_file import fault_error, faults, read_toml
from assay.units import KIB

_SUFFIX = ".toml"


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


class Profile(Strict):
    """One edition: conditions common to its tests and one table per test.

    header : the page header form, ``1.0`` (one block per group) or ``2.0`` (four columns).
    market : printed in titles, ``Client``, ``Enterprise`` or, where an edition makes no difference, ``SSD``.
    """

    schema_version: Literal[1] = Field(alias="schema")
    name: str
    title: str
    market: Literal["Client", "Enterprise", "SSD"]
    header: Literal["1.0", "2.0"]
    write_cache: Datum[Literal["enabled", "disabled"]]
    data_pattern: Datum[Literal["random"]]
    wsat: SaturationProfile
    iops: LoopProfile
    tp: LoopProfile
    lat: LoopProfile


def profile_names() -> list[str]:
    """Names of the shipped profiles, sorted; ``pts-c-1.0`` is one of them."""
    folder = resources.files("assay") / "profiles"
    return sorted(entry.name.removesuffix(_SUFFIX) for entry in folder.iterdir() if entry.name.endswith(_SUFFIX))


def load_profile(name: str) -> Profile:
    """Read an edition from the package, or a profile of one's own from a TOML file.

    name : one of ``profile_names()``, or the path of a file that ends in ``.toml``.
    Raises UsageError naming the known profiles for any other name, PlanError with the places of a file's faults.
    Worked: ``load_profile("pts-c-1.0").iops.test_range.value.segment_count`` is 2048.
    """
    if name.endswith(_SUFFIX):
        return _read_profile(Path(name))
    if name not in profile_names():
        known = ", ".join(profile_names())
        raise UsageError(f"profile {name!r}", "is not known", f"choose one of {known}, or name a .toml file")
    with resources.as_file(resources.files("assay") / "profiles" / f"{name}{_SUFFIX}") as path:
        return _read_profile(path)


def is_shipped(profile: Profile) -> bool:
    """Whether a profile is, datum by datum, the edition that the package ships under its name."""
    return profile.name in profile_names() and load_profile(profile.name) == profile


def stored_profile(table: dict[str, Any]) -> Profile:
    """A profile as a run folder holds it. Raises StoreError where it is not one of this version."""
    try:
        return Profile.model_validate(table)
    except ValidationError as error:
        key, reason = faults(error)[0]
        raise StoreError(f"profile in run.json: {key}", reason, "use the version of Assay that wrote it") from None


def _read_profile(path: Path) -> Profile:
    table, positions = read_toml(path)
    try:
        return Profile.model_validate(table)
    except ValidationError as error:
        raise fault_error(path, positions, error) from None
