"""Whether a stated arrival rate was kept up, and how long I/Os took from when they were due."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from assay.procedures.families.loop.settings import LoopSettings
from assay.results.finding import Finding, Level, at_least
from assay.results.histogram import BEYOND_MIN, intended_times, merged, percentiles, step_times
from assay.results.step import latency_count, max_latency_ns, rate_count
from assay.spec.units import MILLISECOND_NS, SECOND_NS
from assay.words.coded import coded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engine.records import Cell, Demand, StepRecord, StoredSequence, StoredTest
    from assay.procedures.families.loop.values import LoopResult
    from assay.results.histogram import ResponseTimes

ACHIEVED_PASS, ACHIEVED_INVALID = Fraction(99, 100), Fraction(95, 100)
"""Share of the offered I/Os: from the first on a cell passes; below the second it shows another load than asked for."""

IN_FLIGHT_ALLOWED = Fraction(3, 2)
"""Of the mean outstanding I/Os, at the end of each step; a growing backlog ends at twice its mean or more."""

OPEN_LOOP_SHARES = (0.99, 0.999, 0.9999)
"""Percentiles that are given of both latencies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedRate:
    """What was offered to a cell over the measurement window, and what of it was carried out.

    offered_per_s : I/Os that were due. achieved_per_s : completed, as IOPS count them. share : of the offered.
    level : ``unknown`` where the step is too short to tell: fewer than ten I/Os are missing, or fewer than 1.5 times
    the mean of those outstanding, which a rate that is kept up leaves in flight at the end. (A backlog that grows
    evenly ends at twice its mean.)
    """

    offered_per_s: float
    achieved_per_s: float
    share: float
    level: Level


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyTimes:
    """Latencies in ms over the measurement window, as ``WindowTimes`` has them; None where no I/O completed."""

    latency_ms_mean: float | None
    percentiles_ms: dict[float, float | None]
    latency_ms_max: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenLoopTimes:
    """Latencies of the same I/Os of a cell: service from submission, intended from when they were due."""

    service: LatencyTimes
    intended: LatencyTimes


def offered_rates(test: StoredTest, result: LoopResult) -> dict[Cell, OfferedRate]:
    """The rate of every cell over the measurement window; empty in a closed loop and without a result.

    Worked: 300,000 offered in 60 s and 290,000 completed at 8 outstanding -> share 0.967, ``warn``.
    """
    demand = test.settings.demand
    if demand.arrivals_per_s is None:
        return {}
    sequences = window_sequences(test, result)
    return {
        cell: _rate([sequence.steps[index] for sequence in sequences], demand)
        for index, cell in enumerate(test.settings_as(LoopSettings).cells)
        if sequences
    }


def open_loop_times(test: StoredTest, result: LoopResult) -> dict[Cell, OpenLoopTimes]:
    """Both latencies of every cell over the measurement window; empty in a closed loop and without a result.

    Worked: an I/O due at 0, issued at 2 ms and back at 3 ms has a service latency of 1 ms and an intended one of 3 ms.
    """
    if test.settings.demand.arrivals_per_s is None:
        return {}
    sequences = window_sequences(test, result)
    service, intended = ([take(sequence) for sequence in sequences] for take in (step_times, intended_times))
    return {
        cell: _times(
            [sequence.steps[index] for sequence in sequences], _placed(service, index), _placed(intended, index)
        )
        for index, cell in enumerate(test.settings_as(LoopSettings).cells)
        if sequences
    }


def missed_rates(test: StoredTest, result: LoopResult) -> tuple[Finding, ...]:
    """The cells that show another load than was asked for, as one finding; none where every rate was kept up.

    Worked: 2 of 9 cells below 95 % -> ``"OFFERED RATE NOT REACHED in 2 of 9 cells"``.
    """
    rates = offered_rates(test, result).values()
    missed = sum(rate.level == "invalid" for rate in rates)
    reason = coded("offer-missed", missed=missed, count=len(rates))
    return (Finding(level="warn", reason=reason),) if missed else ()


def window_sequences(test: StoredTest, result: LoopResult) -> list[StoredSequence]:
    """The rounds of the measurement window; none where there is no result."""
    if not result.matrix or result.window is None:
        return []
    return [sequence for sequence in test.stage("round") if sequence.index in result.window.rounds]


def _rate(steps: Sequence[StepRecord], demand: Demand) -> OfferedRate:
    offered = sum(_offered(step, demand) for step in steps)
    completed = sum(rate_count(step) for step in steps)
    achieved = min(completed, offered)
    span = Fraction(max(sum(step.span_ns for step in steps), 1), SECOND_NS)
    in_flight = sum((Fraction(step.outstanding_ns, max(step.span_ns, 1)) for step in steps), Fraction(0))
    share = Fraction(achieved, offered) if offered else Fraction(1)
    return OfferedRate(
        offered_per_s=float(offered / span),
        achieved_per_s=float(achieved / span),
        share=float(share),
        level=_level(share, offered - achieved, in_flight),
    )


def _offered(step: StepRecord, demand: Demand) -> int:
    """I/Os due in [0, T); one that is due at T sharp has no time left."""
    due = step.offered_io_count or 0
    if demand.arrival_process == "poisson" or demand.arrivals_per_s is None:
        return due
    before_end = -(-Fraction(demand.arrivals_per_s) * step.span_ns // SECOND_NS)
    return min(due, int(before_end))


def _level(share: Fraction, missing: int, in_flight: Fraction) -> Level:
    level = at_least(share, ACHIEVED_PASS, ACHIEVED_INVALID)
    told = missing >= BEYOND_MIN and missing >= IN_FLIGHT_ALLOWED * in_flight
    return level if told or level == "pass" else "unknown"


def _placed(sequences: list[list[ResponseTimes]], index: int) -> ResponseTimes | None:
    """One cell's counts, merged over the rounds; None where they were not read."""
    result = [steps[index] for steps in sequences if steps]
    return merged(result) if result else None


def _times(steps: Sequence[StepRecord], service: ResponseTimes | None, intended: ResponseTimes | None) -> OpenLoopTimes:
    both = [direction for step in steps for direction in step.sides]
    count = sum(latency_count(step) for step in steps)
    issued = [largest for step in steps if (largest := max_latency_ns(step)) is not None]
    due = [largest for one in both if (largest := one.intended_ns_max) is not None]
    return OpenLoopTimes(
        service=_latency(sum(one.latency_ns_sum for one in both), count, issued, service),
        intended=_latency(sum(one.intended_ns_sum or 0 for one in both), count, due, intended),
    )


def _latency(sum_ns: int, count: int, maxima_ns: Sequence[int], times: ResponseTimes | None) -> LatencyTimes:
    return LatencyTimes(
        latency_ms_mean=sum_ns / count / MILLISECOND_NS if count else None,
        percentiles_ms=percentiles(times, OPEN_LOOP_SHARES) if times else {},
        latency_ms_max=max(maxima_ns) / MILLISECOND_NS if maxima_ns else None,
    )
