"""What a run will take: time, host bytes written, memory and disk, as bounds that are settled before the first I/O."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from assay.dut.needs import memory_bytes
from assay.dut.real.link import link_rate
from assay.plan.phases import SLOWEST_BYTES_PER_S
from assay.spec.units import SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engine.records import DriveIdentity
    from assay.plan.phases import PlannedPhase
    from assay.plan.procedure import PlannedTest
    from assay.run.plan_file import Plan

# A step of a minute takes 1 to 2 KB in the journal and tables, one with full histograms several.
_STEP_BYTES = 8192
_OVERWRITES = ("auto", "overwrite")


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseForecast:
    """One part of a test. amount_bytes : that ends it, None where time does. The others are bounds."""

    name: str
    amount_bytes: int | None
    written_bytes_max: int
    span_ns_least: int
    span_ns_most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TestForecast:
    """One test of a run: its purges and its parts in order."""

    test: str
    purge_count: int
    phases: tuple[PhaseForecast, ...]

    @property
    def written_bytes_max(self) -> int:
        """Host bytes of all parts at most."""
        return sum(phase.written_bytes_max for phase in self.phases)


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """A whole run.

    bytes_per_s, rate_of : that nothing writes faster than, and what sets it.
    overwritten_bytes : of purges, where the drive may have to be overwritten. written_bytes : known to be written.
    written_bytes_max : at most, purges included. span_ns_least, span_ns_most : device time without purges that are the
    drive's own. memory_bytes : of the simulated drive, or of the buffers of a real one. disk_bytes : that the folder of
    the run should find free.
    """

    bytes_per_s: float
    rate_of: str
    tests: tuple[TestForecast, ...]
    overwritten_bytes: int
    written_bytes: int
    written_bytes_max: int
    span_ns_least: int
    span_ns_most: int
    memory_bytes: int
    disk_bytes: int

    @property
    def purge_count(self) -> int:
        """Purges of all tests."""
        return sum(test.purge_count for test in self.tests)


def forecast(plan: Plan, drive: DriveIdentity, tests: Sequence[PlannedTest]) -> Forecast:
    """What the tests of a plan take on a drive. Worked: a minute of writes over a link of 600 MB/s -> 36 GB at most."""
    rate, rate_of = link_rate(drive)
    result = tuple(_test(test, rate) for test in tests)
    phases = [phase for test in result for phase in test.phases]
    overwritten = _overwritten_bytes(plan, drive, result)
    # A file is purged by us, at a rate within the same bounds.
    overwrite_ns = ceil(overwritten * SECOND_NS / rate) if drive.kind == "file" else 0
    return Forecast(
        bytes_per_s=rate,
        rate_of=rate_of,
        tests=result,
        overwritten_bytes=overwritten,
        written_bytes=sum(test.written_bytes for test in tests),
        written_bytes_max=overwritten + sum(phase.written_bytes_max for phase in phases),
        span_ns_least=overwrite_ns + sum(phase.span_ns_least for phase in phases),
        span_ns_most=_longest_ns(overwritten, drive) + sum(phase.span_ns_most for phase in phases),
        memory_bytes=memory_bytes(plan, drive, tests),
        disk_bytes=disk_bytes(tests),
    )


def disk_bytes(tests: Sequence[PlannedTest]) -> int:
    """Free space that a run's folder should have: twice what its steps take, and the completions that it keeps.

    A test that only the drive ends counts as long as it may take.
    """
    steps = sum(test.step_count or _latest_ns(test) / test.outline.step_ns for test in tests)
    return round(2 * steps * _STEP_BYTES) + sum(test.kept_bytes for test in tests)


def _latest_ns(test: PlannedTest) -> int:
    return test.latest_ns or sum(part.span_ns_most() for part in test.parts)


def _test(test: PlannedTest, rate: float) -> TestForecast:
    limit = test.settings.void_limit
    return TestForecast(
        test=test.settings.test,
        purge_count=test.purge_count,
        phases=tuple(_phase(phase, rate, limit) for phase in test.parts),
    )


def _phase(phase: PlannedPhase, rate: float, void_limit: int) -> PhaseForecast:
    return PhaseForecast(
        name=phase.name,
        amount_bytes=phase.amount_bytes or None,
        written_bytes_max=phase.written_bytes_max(rate, void_limit),
        span_ns_least=phase.span_ns_least(rate),
        span_ns_most=phase.span_ns_most(void_limit),
    )


def _overwritten_bytes(plan: Plan, drive: DriveIdentity, tests: Sequence[TestForecast]) -> int:
    """What purges write at most: a drive that offers nothing else is overwritten; only the held drive tells."""
    if drive.kind == "simulated" or plan.purge not in _OVERWRITES:
        return 0
    return drive.capacity_bytes * sum(test.purge_count for test in tests)


def _longest_ns(overwritten: int, drive: DriveIdentity) -> int:
    return ceil(overwritten * SECOND_NS / SLOWEST_BYTES_PER_S) if drive.kind == "file" else 0
