"""What is asked of a drive, and what one step of it recorded."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from assay.engine.records.watched import DriveEvent
from assay.spec.demand import Demand

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Access = Literal["random", "sequential"]

Cursor = Literal["shared", "per_thread", "fio", "iometer", "per_direction"]

IoPath = Literal["interrupt", "synchronous", "polled", "kernel-thread", "passthrough"]
"""The way that I/Os take into the kernel: over a ring with interrupts, one system call each, over a ring whose thread
looks for completions itself, over a ring that a thread of the kernel watches, or as NVMe commands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Where the stimulus threads run.

    cpus : thread n stays on the n-th, from the first again after the last; empty leaves them to the scheduler.
    text : the same for the report.
    """

    cpus: tuple[int, ...] = ()
    text: str = "not pinned"


@dataclass(frozen=True, slots=True, kw_only=True)
class DataPattern:
    """Content of the data written.

    kind : ``random`` (made anew for every write, does not compress), ``compressible`` (to ``stored_share`` of its
        size), ``stamped`` (16 of every 512 bytes are fresh in each write, the others the same in all of a buffer),
        ``repeating`` (a pool of ``pool_bytes`` written again and again), ``addressed`` (16 of every 512 bytes name
        address, run, worker and write, and the others follow from these) or ``file`` (the bytes of ``path``).
    stored_share : what gzip -1 and zstd -3 keep of any 4 KiB and of the whole run, to within 0.02; 0.05 to 0.95 where
        kind is ``compressible``, else 1.
    """

    kind: Literal["random", "compressible", "stamped", "repeating", "addressed", "file"] = "random"
    stored_share: float = 1.0
    pool_bytes: int = 0
    path: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessLine:
    """One kind of access of a pattern that has several.

    share : of the bursts of each thread; those of all lines sum to 1. read_share, random_share, alignment_bytes : as of
    a pattern. burst_io_count : I/Os of a burst. delay_ns : pause before each burst; what is outstanding goes on.
    """

    share: float
    transfer_bytes: int
    read_share: float
    random_share: float
    alignment_bytes: int = 0
    burst_io_count: int = 1
    delay_ns: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessPattern:
    """What the next I/O looks like.

    sizes : (transfer bytes, share of accesses) pairs; shares sum to 1.
    read_share, random_share : fractions of the accesses, in [0, 1], drawn independently per I/O.
    alignment_bytes : grid of starts; 0 means the transfer size itself.
    alignment_origin : the grid is counted from the first byte of each segment of the ``range``, or of the ``drive``.
    lba_groups : (share of accesses, share of the range) pairs in LBA order; empty means uniform.
    cursor : rule of continuation, where an I/O that is not random begins. ``shared``: one place for all outstanding
        I/Os; ``per_thread``: one each, started apart by an equal share of the range; only sequential I/Os move either.
        ``fio``: one per thread and direction, ``iometer``: one per thread; every I/O moves either. ``per_direction`` is
        in older runs only.
    writes_tail : a sequential pass also covers the part of the range that is shorter than one transfer.
    operation : ``transfer`` (reads and writes), ``trim``, ``flush``, which has neither place nor size, or ``replay``:
        the I/Os are those of a file, whose largest read or write is the only size.
    lines : where there are any, they say what sizes, shares and alignment say of others.
    """

    sizes: tuple[tuple[int, float], ...]
    read_share: float
    random_share: float
    alignment_bytes: int = 0
    alignment_origin: Literal["range", "drive"] = "range"
    lba_groups: tuple[tuple[float, float], ...] = ()
    cursor: Cursor = "shared"
    writes_tail: bool = False
    data: DataPattern = field(default_factory=DataPattern)
    operation: Literal["transfer", "trim", "flush", "replay"] = "transfer"
    lines: tuple[AccessLine, ...] = ()


IDLE = Demand(thread_count=0, queue_depth=0)
"""Nothing is issued, for the time that the step states."""


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
    """One access pattern at one demand on one range until one stop rule. ``label`` names the cell.

    beside : it runs side by side with the step before it, whose stop rule it has; at most 64 such steps are a group.
    Window and end are one for all of a group, and each is recorded as a step.
    """

    label: str
    pattern: AccessPattern
    demand: Demand
    active_range: ActiveRange
    stop: StopRule
    beside: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectionRecord:
    """Everything counted in one direction (read or write) of one step.

    Own I/Os by where they completed: lead_in_* before the window opened, window_* within (0, T], tail_* after T.
    carried_in_* : completions within (0, T] of I/Os that earlier, equal steps of the call issued; rates and series
    count them, all else leaves them with the step that issued them.
    latency_* : of the own I/Os that were issued within [0, T), wherever they completed; sum is exact, min and max are
    None where there are none. lead_in_latency_* : the same of those issued before the window opened.
    errors : failed or short I/Os by errno; they enter nothing else. failed_ns : the time that those of them took that
    were issued within [0, T).
    histogram : (bucket, count) pairs in ascending order; 512 buckets per octave, exact below 1,024 ns.
    series_* : one value per second of the window, for own completions and those carried in. slowest_second : the first
    of those with the largest latency; None where nothing completed, and in older runs.
    intended_* : with a stated arrival rate, the same I/Os from when they were due, their wait to be issued included.
    late_* : of the same I/Os, how much later they were issued than they were due.
    """

    window_io_count: int
    window_bytes: int
    tail_io_count: int
    tail_bytes: int
    latency_io_count: int
    latency_ns_sum: int
    latency_ns_min: int | None
    latency_ns_max: int | None
    errors: dict[int, int]
    histogram: tuple[tuple[int, int], ...] = ()
    series_io_count: tuple[int, ...] = ()
    series_bytes: tuple[int, ...] = ()
    series_latency_ns_sum: tuple[int, ...] = ()
    series_latency_ns_max: tuple[int, ...] = ()
    intended_ns_sum: int | None = None
    intended_ns_min: int | None = None
    intended_ns_max: int | None = None
    intended_histogram: tuple[tuple[int, int], ...] = ()
    late_ns_sum: int | None = None
    late_ns_min: int | None = None
    late_ns_max: int | None = None
    late_histogram: tuple[tuple[int, int], ...] = ()
    lead_in_io_count: int = 0
    lead_in_bytes: int = 0
    carried_in_io_count: int = 0
    carried_in_bytes: int = 0
    carried_in_latency_ns_sum: int = 0
    failed_ns: int = 0
    lead_in_latency_ns_sum: int | None = None
    lead_in_latency_ns_min: int | None = None
    lead_in_latency_ns_max: int | None = None
    lead_in_histogram: tuple[tuple[int, int], ...] = ()
    slowest_second: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelCounters:
    """The device's own cumulative counters: completed I/Os, bytes and merges per direction; discards are trims."""

    read_io_count: int
    read_bytes: int
    read_merge_count: int
    write_io_count: int
    write_bytes: int
    write_merge_count: int
    discard_io_count: int = 0
    discard_bytes: int = 0


DIRECTIONS = ("read", "write", "other")
"""What an I/O does, as tables of the run folder name it; trims and flushes are ``other``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRecord:
    """What one step did.

    A step whose accesses, demand or range differ from those of the step before has a lead-in: its window opens when the
    last I/O of that one is in, and lasts the full T from there. Equal steps in a row have none.

    span_ns : T, the length of the window; 0 where the step ended before it opened, which leaves no value.
    start_ns : where the window opened, on the device's monotonic clock. start_wall_ns : the same since the Unix epoch.
    lead_in_ns : from the end of the step before to ``start_ns``.
    offered_io_count : with a stated arrival rate, I/Os that were due in [0, T), also those that could not be issued.
    misaligned_io_count : issued off the grid of the step; None for flushes, replays and older runs.
    successor_io_count : issued where the I/O before ended, by the step's rule of continuation; None where all are
        random, several threads take places from one cursor, or random I/Os do not move it and the range has fewer than
        1,000 places for each random I/O between two sequential ones (80 % random: 4,000 places).
    outstanding_ns : time integral of the I/Os outstanding on the drive over [0, T] (unit: I/O x ns).
    carried_in_ns, carried_out_ns : time that the I/Os in flight at 0 still had to run, and that those in flight at T
        ran beyond it; outstanding_ns = latencies and failed_ns of both directions + carried_in_ns - carried_out_ns.
    submission_gap_ns_max : longest time that a thread went without a submission, lead-in included.
    stall_ns_max : longest time without any completion while I/Os were outstanding, to about 0.1 s, lead-in included;
        times in which the host did not run are left out. Exact on a simulated drive with faults, None on one without.
    first_submission_ns, last_submission_ns : on the device's clock; None where nothing was submitted.
    cpu_ns : host CPU time of the stimulus threads, lead-in included; None where it cannot be told. wait_ns : the time
        that they were ready and waited for a processor; None where the kernel does not count it, and in older runs.
    counters_before, counters_after : before the lead-in and at T, None where the drive has none.
    thread_io_count_min, thread_io_count_max : completions within (0, T] of the thread with the fewest and of that with
        the most; None where the threads cannot be told apart, as on a simulated drive with more than one.
    other : trims or flushes, as the pattern of the step says. Steps that run side by side have one start and span; CPU
        time, stalls and the drive's counters are those of all of them, recorded with the first.
    drive_events : what the kernel's log said of the drive meanwhile, at most the 16 gravest, to about half a second.
    ended : ``stop-rule``, or why the step ended early: ``interrupted``, ``errors``, ``hung``, ``late-boundary`` (a
        thread had counted past an opening or an end before it learned of it) or ``clock`` (one ended before it began).
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
    lead_in_ns: int = 0
    carried_in_ns: int = 0
    carried_out_ns: int = 0
    offered_io_count: int | None = None
    misaligned_io_count: int | None = None
    successor_io_count: int | None = None
    thread_io_count_min: int | None = None
    thread_io_count_max: int | None = None
    stall_ns_max: int | None = None
    other: DirectionRecord | None = None
    drive_events: tuple[DriveEvent, ...] = ()
    wait_ns: int | None = None

    @property
    def sides(self) -> tuple[DirectionRecord, ...]:
        """What was counted, by direction: reads, writes and, where there are any, trims or flushes."""
        return (self.read, self.write) if self.other is None else (self.read, self.write, self.other)

    @property
    def named_sides(self) -> tuple[tuple[str, DirectionRecord], ...]:
        """Each direction with its name in the tables of the run folder."""
        return tuple(zip(DIRECTIONS, self.sides, strict=False))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HistogramTable:
    """Response-time counts of a sequence's steps, as equally long columns.

    step : index in the sequence. direction : place in ``DIRECTIONS``. bucket : as in ``DirectionRecord``.
    count : I/Os in it, at least 1. A run has half a million of such rows, so that they are no wider than they must be.
    """

    step: NDArray[np.uint32]
    direction: NDArray[np.int8]
    bucket: NDArray[np.uint32]
    count: NDArray[np.uint64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SeriesTable:
    """Completions per second of a sequence's steps, as equally long columns.

    step : index in the sequence. io_count : completions in one second of its window, in one direction.
    second : which second of the window, from 0; None where nobody asks. direction : place in ``DIRECTIONS``,
    byte_count : bytes of the same completions; None where a table was put together without them.
    """

    step: NDArray[np.uint64]
    io_count: NDArray[np.uint64]
    second: NDArray[np.uint64] | None = None
    direction: NDArray[np.int8] | None = None
    byte_count: NDArray[np.uint64] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceSummary:
    """What the captured completions of one sequence say.

    io_counts : captured I/Os of each step. sizes : (transfer bytes, I/Os) of each step, empty without addresses.
    touched_bytes : of the drive, on a grid of ``grid_bytes``; None without addresses.
    successors : (I/Os that begin where another of the step ended, I/Os) of each step, None where that was not asked.
    """

    io_counts: tuple[int, ...]
    sizes: tuple[tuple[tuple[int, int], ...], ...]
    touched_bytes: int | None
    grid_bytes: int
    successors: tuple[tuple[int, int] | None, ...] = ()
