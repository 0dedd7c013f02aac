"""What a test will do on a drive, settled before the first I/O, and what all tests settle alike."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from assay.errors import ValueRangeError
from assay.profile import is_shipped
from assay.records import DemandSettings, IdleRecoverySettings, SkippedTest
from assay.units import SECOND_NS, duration_label

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from assay.plan import Plan
    from assay.procedures.until import Action, Records
    from assay.profile import Profile, RangeDatum
    from assay.records import AccessPattern, AnySettings, Demand, DriveIdentity, Ending

    Course = Generator[Action, Records, Ending]

OUTSTANDING_MAX = 65_536
SCALED_STEP_NS_MIN = 50_000_000
VOID_LIMIT = 3
"""Rounds, or samples, that may be void: a drive that stalls more often has a fault, and the test is given up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What a test may know of its run beside its settings. seed : of segment places, 0 to 2**64 - 1."""

    drive: DriveIdentity
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTest:
    """What one test of a plan will do on a drive, and how that departs from the specification.

    run : what it does, from the settings: a generator that yields sequences of steps, acts and verdicts and is sent the
    records of each sequence.
    earliest_ns, latest_ns : device time of the test without purge and preconditioning; latest_ns is None where only the
    drive decides. written_first_bytes : of preconditioning. written_amount_bytes : that end a saturation test.
    kept_bytes : room for the completions that the test always keeps.
    step_count : steps that are stored, where their number is settled beforehand. outline : what is repeated, for the
    eyes of people.
    """

    settings: AnySettings
    run: Callable[[Any, Context], Course]
    deviations: tuple[str, ...]
    earliest_ns: int
    latest_ns: int | None
    written_first_bytes: int = 0
    written_amount_bytes: int = 0
    step_count: int | None = None
    kept_bytes: int = 0
    outline: Outline

    @property
    def written_bytes(self) -> int:
        """What the test is known to write; rounds of a given time write what the drive takes, and are not in it."""
        return self.written_first_bytes + self.written_amount_bytes


def with_stall_policy(test: PlannedTest, plan: Plan) -> PlannedTest:
    """The same test with the plan's limit of silence and what is done beyond it.

    Worked: ``on_stall`` of ``stop`` -> the first void round ends the test; ``continue`` -> the fourth.
    """
    limit_ns = round(plan.stall_limit_seconds * SECOND_NS)
    void_limit = VOID_LIMIT if plan.on_stall == "continue" else 0
    settings = replace(test.settings, stall_limit_ns=limit_ns, void_limit=void_limit)
    if isinstance(settings, IdleRecoverySettings | DemandSettings):
        before = replace(settings.preconditioning, stall_limit_ns=limit_ns, void_limit=void_limit)
        settings = replace(settings, preconditioning=before)
    return replace(test, settings=settings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """What a test repeats. Worked: ``rounds`` of ``56 cells`` of 60 s.

    notes : further lines for people. facts : further facts for programs, JSON values by name.
    """

    what: str
    steps: str
    step_ns: int
    notes: tuple[str, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRun:
    """The tests of a plan on a drive, and those that this drive cannot run. ``tests`` is not empty."""

    tests: tuple[PlannedTest, ...]
    skipped: tuple[SkippedTest, ...] = ()

    @property
    def deviations(self) -> tuple[str, ...]:
        """Every departure from the specification once."""
        return tuple(dict.fromkeys(line for test in self.tests for line in test.deviations))


def scaled_ns(seconds: float, scale: float) -> int:
    """A step's length in ns after scaling; none is shorter than 50 ms. Zero stays zero.

    Worked: 60 s at a scale of 0.5 -> 30000000000.
    """
    asked = round(seconds * SECOND_NS)
    return asked if scale == 1 or not asked else max(round(asked * scale), SCALED_STEP_NS_MIN)


def refuse_deep(name: str, demand: Demand) -> None:
    """Raise ValueRangeError where a test asks for more outstanding I/Os than the engine keeps."""
    outstanding = demand.thread_count * demand.queue_depth
    if outstanding > OUTSTANDING_MAX:
        reason = f"{outstanding} outstanding I/Os (TC x QD) are more than {OUTSTANDING_MAX}"
        raise ValueRangeError(f"demand of {name}", reason, "lower --thread-count or --queue-depth")


def whole_blocks(length: float, drive: DriveIdentity) -> int:
    """A length rounded down to the drive's blocks. Worked: 1000 bytes in blocks of 512 -> 512."""
    return int(length) // drive.logical_block_bytes * drive.logical_block_bytes


def shared_bytes(datum: RangeDatum, drive: DriveIdentity) -> int:
    """The first share of a drive that a test range covers, all of it where none is stated, in whole blocks."""
    return whole_blocks(drive.capacity_bytes * (datum.share or 1.0), drive)


def unfit(test: str, label: str, pattern: AccessPattern, drive: DriveIdentity) -> SkippedTest | None:
    """The test as left out where a transfer of its pattern is no multiple of the drive's block."""
    if all(size % drive.logical_block_bytes == 0 for size, _ in pattern.sizes):
        return None
    return SkippedTest(test=test, reason=f"{label} has transfers {sector_reason(drive)}")


def sector_reason(drive: DriveIdentity) -> str:
    """Why a drive cannot run a transfer size that is no multiple of its block."""
    return f"no multiple of the drive's {drive.logical_block_bytes}-byte logical block"


def histogram_deviation(used_ns: int, asked_ns: int) -> str:
    """Say that the response-time histogram is shorter than the edition's, or missing."""
    if not used_ns:
        return f"no response-time histogram, the edition has one of {duration_label(asked_ns)}"
    return f"response-time histogram of {duration_label(used_ns)} instead of {duration_label(asked_ns)}"


def _data_deviation(kind: str, asked: str) -> str:
    if kind == "stamped":
        made = "16 of every 512 bytes are fresh in each write, the others repeat"
        return f"data pattern stamped: {made}, instead of {asked}"
    return f"data pattern {kind} instead of {asked}"


def common_deviations(settings: AnySettings, profile: Profile, drive: DriveIdentity) -> list[str]:
    """Departures that any test can have: data pattern, write cache, injected faults, a file for a drive."""
    lines = [] if is_shipped(profile) else [f"profile {profile.name} of one's own instead of a shipped edition"]
    if settings.data.kind != profile.data_pattern.value:
        lines.append(_data_deviation(settings.data.kind, profile.data_pattern.value))
    if drive.write_cache != profile.write_cache.value:
        lines.append(f"write cache {drive.write_cache}, the edition asks for {profile.write_cache.value}")
    if drive.faults:
        lines.append(f"injected faults: {drive.faults_label}")
    if drive.kind == "file":
        lines.append("a file on a file system instead of a block device")
    return lines
