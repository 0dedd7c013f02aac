"""Tests and runs: what they were set to do, what they stored, and the verdict on it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from assay.records.drive import CacheState, DriveCondition, DriveIdentity, Platform, PurgeRecord
from assay.records.host import HostCertificate
from assay.records.stimulus import Access, AccessPattern, DataPattern, Demand, HistogramTable, StepRecord

Variable = Literal["iops", "throughput", "latency"]
Phase = Literal["precondition", "round", "sample", "histogram"]
SaturationStop = Literal["first", "time", "amount", "steady"]


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Cell:
    """One cell of a test loop: read share in percent (integer, 0 to 100) and transfer size in bytes."""

    read_pct: int
    transfer_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TestSettings:
    """What every test settles, after profile, plan, scale and drive were taken into account.

    test : ``wsat``, ``iops``, ``tp-128``, ``lat`` and so on. profile : name of the edition.
    range_amount_bytes, segment_count : the test ActiveRange; segment_count is None where the range is contiguous.
    range_limit, slope_limit : allowed excursions of the five-point rule, as fractions of the average.
    histogram_ns : length of the response-time histogram step behind the test, 0 for none.
    """

    test: str
    profile: str
    demand: Demand
    data: DataPattern
    range_amount_bytes: int
    segment_count: int | None
    range_limit: float
    slope_limit: float
    write_cache_required: CacheState
    histogram_ns: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopSettings(TestSettings):
    """What a test loop used.

    variable : what is tracked and reported per cell: IOPS, MB/s or average response time in ms.
    read_pcts, sizes_bytes : outer and inner loop values in the order they run.
    preconditioning_bytes : host bytes written before the loop, in transfers of ``preconditioning_transfer_bytes``
        over the first ``preconditioning_share`` of the drive, at ``preconditioning_demand``.
    tracking : the cells whose variable decides steady state, all at once.
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
    kind: Literal["loop"] = "loop"

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


@dataclass(frozen=True, slots=True, kw_only=True)
class SaturationSettings(TestSettings):
    """What a write saturation test used.

    pattern : its accesses; label : their name, such as ``RND 4KiB 0/100``.
    sample_ns : length of one sample. samples_per_verdict : every so many samples one enters the five-point rule.
    stop : what ends the test: ``first`` of all three, or ``time``, ``amount`` or ``steady`` alone.
    time_ns, amount_bytes : the limits; the amount counts host bytes written.
    """

    pattern: AccessPattern
    label: str
    sample_ns: int
    samples_per_verdict: int
    stop: SaturationStop
    time_ns: int
    amount_bytes: int
    kind: Literal["saturation"] = "saturation"

    @property
    def demands(self) -> tuple[Demand, ...]:
        """Every demand that the test makes."""
        return (self.demand,)

    @property
    def transfer_bytes_max(self) -> int:
        """The largest transfer of the pattern."""
        return max(size for size, _ in self.pattern.sizes)


AnySettings = LoopSettings | SaturationSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One pass through the cells of a test loop, in the order they ran; ``index`` counts from 1.

    A round that was cut short has fewer cells, or cells that did not run to their stop rule.
    """

    index: int
    cells: tuple[StepRecord, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SteadyVerdict:
    """The five-round decision with every number a report prints. Unit: that of the tracking variable.

    rounds : the real round numbers of the window. values : the tracking variable in them.
    steady : excursion_measured <= excursion_allowed and slope_measured <= slope_allowed, decided exactly.
    fit : ``slope * R + intercept`` with R the real round number.
    """

    rounds: tuple[int, ...]
    values: tuple[float, ...]
    average: float
    excursion_allowed: float
    excursion_measured: float
    slope_allowed: float
    slope_measured: float
    slope: float
    intercept: float
    steady: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasurementWindow:
    """The rounds x-4..x that every result comes from, and the verdict of each tracking variable in them.

    reached : steady state held for all tracking variables at once in the last round.
    """

    rounds: tuple[int, ...]
    verdicts: dict[str, SteadyVerdict]
    reached: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredProgram:
    """One program of steps as the run folder holds it.

    index : round, or program of samples, counted from 1; 0 for preconditioning and histogram.
    histograms : response-time counts of its steps, None where they were not read.
    intended : the same from when the I/Os were due, None without a stated arrival rate.
    """

    phase: Phase
    index: int
    steps: tuple[StepRecord, ...]
    histograms: HistogramTable | None = field(default=None, compare=False, repr=False)
    intended: HistogramTable | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTest:
    """One test of a run as the run folder holds it.

    programs : what ran, in order. verdict : the last one taken.
    ended : None while the test runs or after a crash, else ``steady``, ``round-limit``, ``time``, ``amount``,
        ``interrupted`` or ``device-failure``.
    """

    settings: AnySettings
    started_wall_ns: int
    ended_wall_ns: int | None
    purge: PurgeRecord | None
    programs: tuple[StoredProgram, ...]
    verdict: MeasurementWindow | None
    ended: str | None

    @property
    def loop(self) -> LoopSettings:
        """The settings of a test loop. Raises TypeError for any other test."""
        if not isinstance(self.settings, LoopSettings):
            raise TypeError(f"{self.settings.test} is no test loop")
        return self.settings

    @property
    def saturation(self) -> SaturationSettings:
        """The settings of a write saturation test. Raises TypeError for any other test."""
        if not isinstance(self.settings, SaturationSettings):
            raise TypeError(f"{self.settings.test} is no write saturation test")
        return self.settings

    def phase(self, phase: Phase) -> tuple[StoredProgram, ...]:
        """The programs of one phase in the order they ran."""
        return tuple(program for program in self.programs if program.phase == phase)

    def steps(self, phase: Phase) -> tuple[StepRecord, ...]:
        """The steps of one phase in the order they ran."""
        return tuple(step for program in self.phase(phase) for step in program.steps)

    @property
    def preconditioning(self) -> tuple[StepRecord, ...]:
        """The steps of workload-independent preconditioning; none where the test has none."""
        return self.steps("precondition")

    @property
    def rounds(self) -> tuple[Round, ...]:
        """The rounds of a test loop in the order they ran."""
        return tuple(Round(index=program.index, cells=program.steps) for program in self.phase("round"))


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedTest:
    """A test of the plan that this drive cannot run, with the reason; reported as N/A."""

    test: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """A run folder as read: enough to print and recompute everything.

    profile : the edition as it was when the run began, in the form of its file.
    description : objective, baseline, samples, sponsor, auditor and notes of the plan (text by key).
    deviations : every way in which the run departs from the specification, as printed.
    skipped : tests of the plan that the drive cannot run.
    engine : how the I/Os were carried out: settings of the block layer, buffers, completions.
    certificate : of the host; None where its speed is in no figure, or in runs of earlier versions.
    conditions : of the drive, before the first test and after the last.
    report_date_ns : fixed at the first rendering, so that every further one is byte-identical.
    """

    run_id: str
    identity: DriveIdentity
    platform: Platform
    description: dict[str, str]
    plan: dict[str, Any]
    profile: dict[str, Any]
    deviations: tuple[str, ...]
    started_wall_ns: int
    report_date_ns: int
    tests: tuple[StoredTest, ...]
    skipped: tuple[SkippedTest, ...] = ()
    engine: dict[str, str] = field(default_factory=dict)
    conditions: tuple[DriveCondition, ...] = ()
    certificate: HostCertificate | None = None
