"""What tests were set to do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from assay.records.settings_base import TestSettings
from assay.records.stimulus import Access, AccessPattern, Demand
from assay.records.study import StudySettings

Variable = Literal["iops", "throughput", "latency"]
SaturationStop = Literal["first", "time", "amount", "steady"]


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Cell:
    """One cell of a test loop: read share in percent (integer, 0 to 100) and transfer size in bytes."""

    read_pct: int
    transfer_bytes: int


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
class PatternSettings(TestSettings):
    """What a test of a single access pattern used. pattern : its accesses; label : their name."""

    pattern: AccessPattern
    label: str

    @property
    def transfer_bytes_max(self) -> int:
        """The largest transfer of the pattern."""
        return max(size for size, _ in self.pattern.sizes)


@dataclass(frozen=True, slots=True, kw_only=True)
class SaturationSettings(PatternSettings):
    """What a write saturation test used.

    sample_ns : length of one sample. samples_per_verdict : every so many samples one enters the five-point rule.
    stop : what ends the test: ``first`` of all three, ``time``, ``amount`` or ``steady`` alone, or ``rounds``, which is
        steady or else time.
    first_verdict_sample : the first one that does, None for the ``samples_per_verdict``-th.
    time_ns, amount_bytes : the limits; the amount counts host bytes written.
    """

    sample_ns: int
    samples_per_verdict: int
    stop: SaturationStop | Literal["rounds"]
    time_ns: int
    amount_bytes: int
    first_verdict_sample: int | None = None
    kind: Literal["saturation"] = "saturation"


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleRecoverySettings(PatternSettings):
    """What a host idle recovery test used.

    preconditioning : write saturation until steady, before the first wait state.
    pattern, label : of every burst. burst_ns : length of one burst.
    wait_states, idles_ns : number of each wait state and the idle time behind its bursts, in the order they run.
    cycles : bursts with an idle time behind each. return_bursts : bursts without, behind them.
    """

    preconditioning: SaturationSettings
    burst_ns: int
    wait_states: tuple[int, ...]
    idles_ns: tuple[int, ...]
    cycles: int
    return_bursts: int
    kind: Literal["idle-recovery"] = "idle-recovery"


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessGroup:
    """One access group of a cross stimulus test: its accesses, their name, and for how long."""

    label: str
    pattern: AccessPattern
    span_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossStimulusSettings(TestSettings):
    """What a cross stimulus recovery test used.

    groups : access groups in the order they run. sample_ns : length of one sample.
    recovered_share : of the mean throughput of the first group, at which the third has recovered.
    """

    groups: tuple[AccessGroup, ...]
    sample_ns: int
    recovered_share: float
    kind: Literal["cross-stimulus"] = "cross-stimulus"

    @property
    def transfer_bytes_max(self) -> int:
        """The largest transfer of all groups."""
        return max(size for group in self.groups for size, _ in group.pattern.sizes)


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
    kind: Literal["demand"] = "demand"

    @property
    def demands(self) -> tuple[Demand, ...]:
        """Every demand that the test makes."""
        return (self.demand, self.preconditioning.demand, *self.grid)


AnySettings = (
    LoopSettings | SaturationSettings | IdleRecoverySettings | CrossStimulusSettings | DemandSettings | StudySettings
)
