"""Tests and runs: what they stored, and the verdict on it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from assay.engine.records.drive import DriveCondition, DriveIdentity, Platform, PurgeRecord
from assay.engine.records.host import HostCalibration, HostCertificate
from assay.engine.records.sequence import OnVoid, Role, Stage
from assay.engine.records.settings import TestSettings
from assay.engine.records.stimulus import HistogramTable, SeriesTable, StepRecord, StepSpec, TraceSummary
from assay.engine.records.watched import DataCheck, DriveRecord, HostRecord, LooksRecord, ReadBack
from assay.spec.steady import SteadyVerdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    from numpy.typing import NDArray

Kind = TypeVar("Kind", bound=TestSettings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One pass through the cells of a test loop, in the order they ran; ``index`` counts from 1.

    A round that was cut short has fewer cells, or cells that did not run to their stop rule.
    """

    index: int
    cells: tuple[StepRecord, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasurementWindow:
    """The rounds x-4..x that every result comes from, and the verdict of each tracking variable in them.

    reached : steady state held for all tracking variables at once in the last round.
    """

    rounds: tuple[int, ...]
    verdicts: dict[str, SteadyVerdict]
    reached: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSequence:
    """One sequence of steps as the run folder holds it: what was asked, and what ran.

    name, stage, index, role, on_void, keeps_ios, ramp_up_steps : as in ``StepSequence``. asked : its steps; more than
    ``steps`` where it was cut short.
    histograms : response-time counts of its steps, None where they were not read.
    host : what the test system did meanwhile, None where nobody watched, as with time that is virtual.
    drive : what was seen of the drive out of band, None for one that is simulated or a file.
    intended : the same from when the I/Os were due, None without a stated arrival rate; lateness : how much later than
    that they were issued.
    lead_in : the same of the I/Os that were issued before the windows of their steps opened, None where there are none.
    series : completions per second, None where they were not read.
    replayed : reads the I/Os that it issued again, in batches of ``workloads.traces``; None where it drew its own.
    captured : reads the response times in ns of every I/O that one step (from 0) issued in its window, block by block,
    where an operating point kept them.
    trace : what its captured completions say, None where they were not captured or not read.
    """

    name: str
    stage: Stage
    index: int
    steps: tuple[StepRecord, ...]
    asked: tuple[StepSpec, ...] = field(repr=False)
    role: Role = "measure"
    on_void: OnVoid = "leave-out"
    keeps_ios: bool = False
    ramp_up_steps: int = 0
    histograms: HistogramTable | None = field(default=None, compare=False, repr=False)
    host: HostRecord | None = None
    drive: DriveRecord | None = None
    intended: HistogramTable | None = field(default=None, compare=False, repr=False)
    lead_in: HistogramTable | None = field(default=None, compare=False, repr=False)
    lateness: HistogramTable | None = field(default=None, compare=False, repr=False)
    replayed: Callable[[], Iterator[Any]] | None = field(default=None, compare=False, repr=False)
    series: SeriesTable | None = field(default=None, compare=False, repr=False)
    captured: Callable[[int], Iterator[NDArray[np.int64]]] | None = field(default=None, compare=False, repr=False)
    trace: TraceSummary | None = field(default=None, compare=False, repr=False)

    @property
    def result_steps(self) -> tuple[tuple[int, StepRecord, StepSpec], ...]:
        """Place, record and specification of every step that ran and is no ramp-up."""
        ran = zip(self.steps, self.asked, strict=False)
        return tuple((index, *pair) for index, pair in enumerate(ran) if index >= self.ramp_up_steps)


@dataclass(frozen=True, slots=True, kw_only=True, weakref_slot=True)
class StoredTest:
    """One test of a run as the run folder holds it.

    sequences : what ran, in order. verdict : the last one taken; of the sequences of ``window_stage`` with one of
    ``window_indexes``, none before there is a verdict.
    conditions : of the drive, before the purge and behind the last sequence.
    ended : None while the test runs or after a crash, else ``steady``, ``round-limit``, ``time``, ``amount``,
        ``no-completions`` (no I/O of a tracking cell completed within its step), ``interrupted`` or ``device-failure``.
    ended_detail : more of the reason, in words.
    looks : for other users of a real drive, None where nobody looked.
    calibration : of the host, None in older runs and where time is virtual.
    data_checks : addressed data that were read back whole, in order.
    read_backs : what was read back of a real drive, in order; none of a simulated drive, which holds no data.
    """

    settings: TestSettings
    started_wall_ns: int
    ended_wall_ns: int | None
    purge: PurgeRecord | None
    sequences: tuple[StoredSequence, ...]
    verdict: MeasurementWindow | None
    ended: str | None
    ended_detail: str = ""
    window_stage: Stage = ""
    window_indexes: tuple[int, ...] = ()
    conditions: tuple[DriveCondition, ...] = ()
    looks: LooksRecord | None = None
    calibration: HostCalibration | None = None
    read_backs: tuple[ReadBack, ...] = ()
    data_checks: tuple[DataCheck, ...] = ()

    def settings_as(self, kind: type[Kind]) -> Kind:
        """The settings as those of a kind of test. Raises TypeError for any other test."""
        if not isinstance(self.settings, kind):
            raise TypeError(f"{self.settings.test} has no {kind.__name__}")
        return self.settings

    def stage(self, stage: Stage, index: int | None = None) -> tuple[StoredSequence, ...]:
        """The sequences of one stage in the order they ran; only those of an index where one is given."""
        return tuple(
            sequence for sequence in self.sequences if sequence.stage == stage and index in {None, sequence.index}
        )

    def steps(self, stage: Stage, index: int | None = None) -> tuple[StepRecord, ...]:
        """The steps of the same in the order they ran."""
        return tuple(step for sequence in self.stage(stage, index) for step in sequence.steps)

    @property
    def preconditioning(self) -> tuple[StepRecord, ...]:
        """The steps of workload-independent preconditioning; none where the test has none."""
        return self.steps("precondition")

    @property
    def rounds(self) -> tuple[Round, ...]:
        """The rounds of a test loop in the order they ran."""
        return tuple(Round(index=sequence.index, cells=sequence.steps) for sequence in self.stage("round"))


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedTest:
    """A test of the plan that this drive cannot run, with the reason; reported as N/A.

    procedure : its name in the registry, filled in for all tests alike.
    """

    test: str
    reason: str
    procedure: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalEnd:
    """How the journal of a run ends.

    line_count : its lines. complete : the last one says that the run ended; else the run still goes on, crashed, or was
    cut. hash : SHA-256 of the last line, which through its chain holds all of the run.
    """

    line_count: int
    complete: bool
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOrigin:
    """Where a run comes from that was not measured here.

    level : how far it is vouched for, in words. fingerprint : of the key that signed it. signer : whose key that is, as
    the user has it. checked : whether it keeps all rules, None where it was not checked here; checker : the version of
    Assay that checked. redacted : its maker took names out of it; original_hash : the final hash before.
    exported_by : the tool.
    """

    level: str
    fingerprint: str | None = None
    signer: str | None = None
    checked: bool | None = None
    checker: str | None = None
    redacted: bool = False
    original_hash: str | None = None
    exported_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunBreak:
    """Where a run was cut short and taken up again.

    wall_ns : when it was taken up. last_wall_ns : of the last line before. test : that was cut short, whose sequences
    (``sequence_count``) are in no result and which was run again from its start; None where none was. ended : how,
    None where its process died. torn_bytes : of a last line that was not whole and is left out. changed : what of the
    test system was another from then on, a line each.
    """

    wall_ns: int
    last_wall_ns: int
    test: str | None
    ended: str | None
    sequence_count: int
    torn_bytes: int
    changed: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """A run folder as read: enough to print and recompute everything.

    edition : the edition as it was when the run began, in the form of its file.
    description : texts of the plan by key: objective, sponsor, operator, ``name`` and ``tags`` of the run, and so on.
    deviations : every way in which the run departs from the specification, as printed.
    skipped : tests of the plan that the drive cannot run.
    engine : how the I/Os were carried out: settings of the block layer, buffers, completions.
    certificate : of the host; None where its speed is in no figure.
    conditions : of the drive, before the first test and after the last.
    report_date_ns : fixed at the first rendering, so that every further one is byte-identical.
    journal : how it ends; None where a run is not from a folder. breaks : where it was resumed, in order.
    origin : where an imported run comes from; None for one of this host. seed : that the run drew from.
    digests : SHA-256 of the response times of every sequence long enough that no two runs have the same by chance.
    checked : whether it keeps all rules, as this user's host found; None where it was not checked. In no run folder.
    """

    run_id: str
    identity: DriveIdentity
    platform: Platform
    description: dict[str, str]
    plan: dict[str, Any]
    edition: dict[str, Any]
    deviations: tuple[str, ...]
    started_wall_ns: int
    report_date_ns: int
    tests: tuple[StoredTest, ...]
    skipped: tuple[SkippedTest, ...] = ()
    engine: dict[str, str] = field(default_factory=dict)
    conditions: tuple[DriveCondition, ...] = ()
    certificate: HostCertificate | None = None
    journal: JournalEnd | None = None
    origin: RunOrigin | None = None
    checked: bool | None = None
    breaks: tuple[RunBreak, ...] = ()
    seed: int | None = None
    digests: frozenset[str] = frozenset()
