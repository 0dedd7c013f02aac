"""The frozen nouns that every room shares. They hold; they do not compute.

Time is integer nanoseconds, size is bytes, shares are fractions in [0, 1].
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

DriveKind = Literal["block", "file", "simulated"]
CacheState = Literal["enabled", "disabled", "unknown"]
Access = Literal["random", "sequential"]
Variable = Literal["iops", "throughput", "latency"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DataPattern:
    """Content of the data written.

    kind : ``random`` (a fresh stamp in every 512 bytes), ``compressible`` (to ``stored_share`` of its size),
        ``repeating`` (a pool of ``pool_bytes`` written again and again) or ``file`` (the bytes of ``path``).
    stored_share : what a perfect compressor keeps, in (0, 1]; 1 unless kind is ``compressible``.
    """

    kind: Literal["random", "compressible", "repeating", "file"] = "random"
    stored_share: float = 1.0
    pool_bytes: int = 0
    path: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessPattern:
    """What the next I/O looks like.

    sizes : (transfer bytes, share of accesses) pairs; shares sum to 1.
    read_share, random_share : fractions of the accesses, in [0, 1], drawn independently per I/O.
    alignment_bytes : grid of random starts; 0 means the transfer size itself.
    lba_groups : (share of accesses, share of the range) pairs in LBA order; empty means uniform.
    cursor : ``shared`` by all outstanding I/Os, or one ``per_thread``, started apart by an equal share of the range.
    writes_tail : a sequential pass also covers the part of the range that is shorter than one transfer.
    """

    sizes: tuple[tuple[int, float], ...]
    read_share: float
    random_share: float
    alignment_bytes: int = 0
    lba_groups: tuple[tuple[float, float], ...] = ()
    cursor: Literal["shared", "per_thread"] = "shared"
    writes_tail: bool = False
    data: DataPattern = field(default_factory=DataPattern)


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """Thread count TC and outstanding I/Os per thread QD, both at least 1; total OIO is their product."""

    thread_count: int
    queue_depth: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveRange:
    """The LBAs a step may touch: equal, disjoint segments in ascending order.

    segment_starts : first byte of each segment. segment_bytes : size of every segment.
    """

    segment_starts: tuple[int, ...]
    segment_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StopRule:
    """When submission ends: after a time, an amount or a count; exactly one is set."""

    time_ns: int | None = None
    amount_bytes: int | None = None
    io_count: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSpec:
    """One access pattern at one demand on one range until one stop rule. ``label`` names the cell."""

    label: str
    pattern: AccessPattern
    demand: Demand
    active_range: ActiveRange
    stop: StopRule


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectionRecord:
    """Everything counted in one direction (read or write) of one step.

    window_* : completions within [0, T]. tail_* : completions of this step's I/Os after T.
    latency_ns_* : over window and tail; sum is exact, min and max are None where no I/O completed.
    errors : failed or short I/Os by errno; they enter nothing else.
    histogram : (bucket, count) pairs in ascending order; 512 buckets per octave, exact below 1,024 ns.
    series_* : one value per second of the window.
    """

    window_io_count: int
    window_bytes: int
    tail_io_count: int
    tail_bytes: int
    latency_ns_sum: int
    latency_ns_min: int | None
    latency_ns_max: int | None
    errors: dict[int, int]
    histogram: tuple[tuple[int, int], ...] = ()
    series_io_count: tuple[int, ...] = ()
    series_bytes: tuple[int, ...] = ()
    series_latency_ns_sum: tuple[int, ...] = ()
    series_latency_ns_max: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelCounters:
    """The device's own cumulative counters: completed I/Os, bytes and merges per direction."""

    read_io_count: int
    read_bytes: int
    read_merge_count: int
    write_io_count: int
    write_bytes: int
    write_merge_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRecord:
    """What one step did.

    span_ns : T, the length of the measured window.
    start_ns : start on the device's monotonic clock. start_wall_ns : the same instant since the Unix epoch.
    outstanding_ns : time integral of the I/Os outstanding on the drive over [0, T] (unit: I/O x ns).
    submission_gap_ns_max : longest time that a thread went without a submission.
    first_submission_ns, last_submission_ns : on the device's clock; None where nothing was submitted.
    cpu_ns : host CPU time of the stimulus threads, None where it cannot be told.
    counters_before, counters_after : at the step's two boundaries, None where the drive has none.
    ended : ``stop-rule``, or why the step ended early: ``interrupted``, ``errors`` or ``hung``.
    """

    label: str
    span_ns: int
    start_ns: int
    start_wall_ns: int
    read: DirectionRecord
    write: DirectionRecord
    outstanding_ns: int
    submission_gap_ns_max: int
    first_submission_ns: int | None
    last_submission_ns: int | None
    cpu_ns: int | None
    counters_before: KernelCounters | None
    counters_after: KernelCounters | None
    ended: str


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
class DriveIdentity:
    """Who the drive is. Unknown facts are None and printed as unknown.

    id : the text that confirms a destructive act: serial, WWN, ``loop:<inode>:<diskseq>``, real path, or ``sim:...``.
    refusals : reasons why the gate would refuse it now, one line each; empty means it may be tested.
    """

    id: str
    path: str
    kind: DriveKind
    capacity_bytes: int
    logical_block_bytes: int
    physical_block_bytes: int | None = None
    model: str | None = None
    serial: str | None = None
    firmware: str | None = None
    wwn: str | None = None
    interface: str | None = None
    media: str | None = None
    diskseq: int | None = None
    write_cache: CacheState = "unknown"
    refusals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgeRecord:
    """How the drive was purged and what proves it.

    method : ``simulated purge``, ``discard`` or ``overwrite``, as printed.
    proof : one sentence saying what was checked. deviation : why this is less than a purge, or None.
    """

    method: str
    proof: str
    deviation: str | None
    span_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """The test system as it describes itself; unknown facts are None."""

    system: str | None
    motherboard: str | None
    cpu: str | None
    memory_bytes: int | None
    operating_system: str | None
    kernel: str | None
    clock_source: str | None
    tool: str
    tool_version: str
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Cell:
    """One cell of a test loop: read share in percent (integer, 0 to 100) and transfer size in bytes."""

    read_pct: int
    transfer_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopSettings:
    """What a test loop used, after profile, plan, scale and drive were taken into account.

    test : ``iops``, ``tp-128``, ``tp-1024`` or ``lat``. variable : what is tracked and reported per cell: IOPS, MB/s
        or average response time in ms.
    read_pcts, sizes_bytes : outer and inner loop values in the order they run.
    preconditioning_bytes : host bytes written before the loop, in transfers of ``preconditioning_transfer_bytes``
        over the first ``preconditioning_share`` of the drive, at ``preconditioning_demand``.
    range_amount_bytes, segment_count : the test ActiveRange; segment_count is None where the range is contiguous.
    tracking : the cells whose variable decides steady state, all at once.
    not_applicable : sizes of the specification that this drive cannot run, with the reason.
    """

    test: str
    access: Access
    variable: Variable
    profile: str
    demand: Demand
    data: DataPattern
    read_pcts: tuple[int, ...]
    sizes_bytes: tuple[int, ...]
    step_ns: int
    round_limit: int
    tracking: tuple[Cell, ...]
    range_limit: float
    slope_limit: float
    preconditioning_bytes: int
    preconditioning_transfer_bytes: int
    preconditioning_share: float
    preconditioning_demand: Demand
    range_amount_bytes: int
    segment_count: int | None
    write_cache_required: CacheState
    not_applicable: dict[int, str] = field(default_factory=dict)

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells of one round in loop order: read share outside, transfer size inside."""
        return tuple(Cell(read_pct=r, transfer_bytes=b) for r in self.read_pcts for b in self.sizes_bytes)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTest:
    """One test of a run as the run folder holds it.

    ended : None while the test runs or after a crash, else ``steady``, ``round-limit``, ``interrupted`` or
        ``device-failure``.
    """

    settings: LoopSettings
    started_wall_ns: int
    ended_wall_ns: int | None
    purge: PurgeRecord | None
    preconditioning: tuple[StepRecord, ...]
    rounds: tuple[Round, ...]
    verdict: MeasurementWindow | None
    ended: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """A run folder as read: enough to print and recompute everything.

    profile : the edition as it was when the run began, in the form of its file.
    description : objective, baseline, samples, sponsor, auditor and notes of the plan (text by key).
    deviations : every way in which the run departs from the specification, as printed.
    engine : how the I/Os were carried out: settings of the block layer, buffers, completions.
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
    engine: dict[str, str] = field(default_factory=dict)
