"""How studies read what they measured: the change of a stage that comes again, stability per second, a demand."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean, median, stdev
from typing import TYPE_CHECKING

from assay.results.step import rate_bytes, throughput
from assay.spec.units import MB, MINUTE_NS, SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engine.records import Demand, StepRecord
    from assay.procedures.studies.settings import StudyStep

BAND_SHARE = 0.10
"""The stability score counts the seconds that lie so far from the median at most."""

COUNT_MIN = 100
"""A second with fewer I/Os in the median has no score: a single one would be more than 1 % of it."""

TOO_FEW = f"fewer than {COUNT_MIN} I/Os in the median second, too few to judge seconds by"

SAME_SHARE = 0.01
"""Settled values are told apart where they lie further below the higher one."""

KNEE_SHARE = 0.95
"""A proposed demand reaches so much of the highest IOPS."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A stage against the first one with the same accesses.

    number : of the stage, from 1. before : MB/s of the first; after : of as many first samples of this one.
    drop_share : how far after lies below before, negative where it is faster. lowest_share : the lowest sample over
    before. recovery_minutes : until the end of the first sample at the recovered share of before; None where none is.
    """

    label: str
    number: int
    before: float
    after: float
    drop_share: float
    lowest_share: float
    recovery_minutes: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stability:
    """The seconds of a stage. score : share of them whose IOPS lie within 10 % of the median; None below 100 IOPS.

    variation : sample standard deviation over mean. worst : lowest IOPS of a second; worst_second counts from 1.
    """

    count: int
    median: float
    score: float | None
    variation: float
    worst: float
    worst_second: int
    latency_ms_max: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """The demand that is proposed. highest : IOPS of the best cell. share : of it that the proposed one reaches."""

    demand: Demand
    iops: float
    latency_ms_mean: float
    highest: float
    share: float


def changes_of(
    planned: Sequence[StudyStep], records: Sequence[Sequence[StepRecord]], recovered_share: float
) -> tuple[Change, ...]:
    """Hold every stage that comes again against the first of its label; none where either is not whole.

    Source: Spanjer (2009): 172.5 MB/s before and 16.8 MB/s after random writes are printed as a drop of 90 %.
    Worked: 172.5 then 16.8 -> a drop of 0.9026.
    """
    changes = []
    for place, (step, result) in enumerate(zip(planned, records, strict=True)):
        first = next(index for index, other in enumerate(planned) if other.label == step.label)
        if first == place or not result or not records[first]:
            continue
        before, after = _mean(records[first]), _mean(result[: len(records[first])])
        rates = [float(throughput(record)) for record in result]
        reached = next((index for index, rate in enumerate(rates) if rate >= recovered_share * before), None)
        changes.append(
            Change(
                label=step.label,
                number=place + 1,
                before=before,
                after=after,
                drop_share=1 - after / before if before else 0.0,
                lowest_share=min(rates) / before if before else 0.0,
                recovery_minutes=None
                if reached is None
                else sum(record.span_ns for record in result[: reached + 1]) / MINUTE_NS,
            )
        )
    return tuple(changes)


def stability_of(rates: Sequence[float], latency_ms_max: Sequence[float | None]) -> Stability | None:
    """Score the seconds of a stage; None without any.

    Worked: 100, 105, 95, 100 and 50 IOPS -> median 100, score 0.8, worst second the fifth.
    """
    if not rates:
        return None
    middle, mean = median(rates), fmean(rates)
    worst = min(range(len(rates)), key=lambda index: rates[index])
    return Stability(
        count=len(rates),
        median=middle,
        score=sum(abs(rate - middle) <= BAND_SHARE * middle for rate in rates) / len(rates)
        if middle >= COUNT_MIN
        else None,
        variation=stdev(rates) / mean if mean and rates[1:] else 0.0,
        worst=rates[worst],
        worst_second=worst + 1,
        latency_ms_max=max((one for one in latency_ms_max if one is not None), default=None),
    )


def proposal_of(cells: Sequence[tuple[Demand, float, float]]) -> Proposal | None:
    """Propose a demand: of the cells at 95 % of the highest IOPS that of the lowest total OIO, then of the lowest ART.

    cells : demand, IOPS and average response time in ms. None without any, and where nothing completed.
    Worked: 1 x 1 at 50, 2 x 4 at 96, 4 x 2 at 97 and 8 x 8 at 100 IOPS -> TC 2 x QD 4 where its
    ART is lower than that of 4 x 2.
    """
    highest = max((rate for _, rate, _ in cells), default=0.0)
    if not highest:
        return None
    good = [cell for cell in cells if cell[1] >= KNEE_SHARE * highest]
    demand, rate, art = min(good, key=lambda cell: (cell[0].thread_count * cell[0].queue_depth, cell[2]))
    return Proposal(demand=demand, iops=rate, latency_ms_mean=art, highest=highest, share=rate / highest)


def _mean(records: Sequence[StepRecord]) -> float:
    moved = sum(map(rate_bytes, records))
    return moved * SECOND_NS / max(sum(record.span_ns for record in records), 1) / MB
