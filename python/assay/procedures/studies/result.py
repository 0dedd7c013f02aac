"""What a study measured: every sample of its variants, the settled value of each stage, and what its reading asks."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean, median, stdev
from typing import TYPE_CHECKING, NamedTuple

from assay.procedures.studies.run import StudySettings
from assay.results.outcome import withheld_reason
from assay.results.step import (
    Samples,
    iops,
    issued_bytes,
    max_latency_ms,
    ran_whole,
    rate_bytes,
    rate_count,
    throughput,
    window_count,
)
from assay.spec.units import MB, MILLISECOND_NS, MINUTE_NS, SECOND_NS
from assay.words.printed import outstanding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engine.records import Demand, StepRecord, StoredTest
    from assay.procedures.studies.run import StudyStep, StudyVariant
    from assay.results.finding import Finding
    from assay.words.coded import Coded

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
class StageValues:
    """The mean over the settled samples of a stage, named as those of a sample; times are None where none completed.

    rates : IOPS of each. outstanding : effective total OIO. asked : TC x QD.
    """

    iops: float
    rates: tuple[float, ...]
    throughput: float
    latency_ms_mean: float | None
    latency_ms_max: float | None
    outstanding: float
    asked: int


class Second(NamedTuple):
    """A whole second of a stage. second : its end since the variant's first measured sample began.

    relative : its IOPS in per cent of the median of all seconds of the stage.
    """

    second: float
    iops: float
    relative: float
    latency_ms_max: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StageResult:
    """One measured stage of a variant.

    samples : the complete samples, each at its end since the variant's first measured one began. seconds : of these.
    settled : None unless the stage is whole. written_bytes : in all samples.
    place, series : as in ``StudyStep``. demand : what was asked.
    share : settled value over that of the first variant's stage of the same label, None for that one.
    """

    label: str
    place: float | None
    series: str
    demand: Demand
    samples: Samples
    seconds: tuple[Second, ...] = ()
    settled: StageValues | None
    written_bytes: int = 0
    share: float | None = None


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


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantResult:
    """One variant: its stages; what came of a stage that comes again; its proposal, where it is a map of demands.

    stability : of each stage, None of one that is not whole or may not be printed.
    """

    label: str
    place: float | None
    stages: tuple[StageResult, ...]
    changes: tuple[Change, ...] = ()
    stability: tuple[Stability | None, ...] = ()
    proposal: Proposal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyResult:
    """All values of the pages of a study. outstanding_error : the largest |effective / asked OIO - 1| of all stages."""

    variants: tuple[VariantResult, ...]
    outstanding_error: float | None
    withheld: Coded | None
    findings: tuple[Finding, ...] = ()


def study_result(test: StoredTest) -> StudyResult:
    """Compute every value that the pages of a study print from its stored steps.

    A stage that was cut short has its samples, but no settled value.
    Worked: samples of 100, 60, 40, 40 and 40 IOPS and a settled share of 0.4 -> 40.
    """
    settings, withheld = test.settings_as(StudySettings), withheld_reason(test)
    variants: list[VariantResult] = []
    for index, variant in enumerate(settings.variants, 1):
        steps = test.steps("variant", index)
        reference = variants[0].stages if variants else ()
        variants.append(_variant(settings, variant, steps, reference, may_print=withheld is None))
    result = [stage.settled for variant in variants for stage in variant.stages if stage.settled]
    return StudyResult(
        variants=tuple(variants),
        outstanding_error=max((abs(one.outstanding / one.asked - 1) for one in result), default=None),
        withheld=withheld,
    )


def _variant(
    settings: StudySettings,
    variant: StudyVariant,
    steps: Sequence[StepRecord],
    reference: Sequence[StageResult],
    *,
    may_print: bool,
) -> VariantResult:
    planned, begun_ns, begun = variant.measured, 0, 0
    stages: list[StageResult] = []
    records: list[list[StepRecord]] = []
    for step in planned:
        result = [record for record in steps[begun : begun + step.samples] if ran_whole(record)]
        whole = may_print and len(result) == step.samples
        settled = _settled(step, result, settings.settled_share) if whole else None
        first = next((stage.settled for stage in reference if stage.label == step.label), None)
        stages.append(
            StageResult(
                label=step.label,
                place=step.place,
                series=step.series,
                demand=step.demand,
                samples=Samples.of(result, begun_ns=begun_ns),
                seconds=_seconds(result, begun_ns),
                settled=settled,
                written_bytes=sum(issued_bytes(record.write) for record in result),
                share=settled.iops / first.iops if settled and first and first.iops else None,
            )
        )
        begun_ns += sum(record.span_ns for record in result)
        begun += step.samples
        records.append(result if whole else [])
    judged = stages if settings.reading == "stability" else ()
    return VariantResult(
        label=variant.label,
        place=variant.place,
        stages=tuple(stages),
        changes=changes_of(planned, records, settings.recovered_share) if settings.reading == "change" else (),
        stability=tuple(stability_of(stage.seconds) if stage.settled else None for stage in judged),
        proposal=_proposal(stages) if settings.reading == "demand" else None,
    )


def _seconds(records: Sequence[StepRecord], begun_ns: int) -> tuple[Second, ...]:
    """Every whole second of steps, silent ones included; none where their seconds were not read.

    These are tables of their own, and left out where nobody asks.
    """
    sides = [side for record in records for side in (record.read, record.write)]
    if not all(side.series_io_count for side in sides if window_count(side)):
        return ()
    counted = []
    for record in records:
        for second in range(record.span_ns // SECOND_NS):
            # A series ends with the last second in which an I/O completed.
            both = [side for side in (record.read, record.write) if second < len(side.series_io_count)]
            largest = max((side.series_latency_ns_max[second] for side in both), default=0)
            count = sum(side.series_io_count[second] for side in both)
            counted.append((begun_ns / SECOND_NS + second + 1, count, largest / MILLISECOND_NS if largest else None))
        begun_ns += record.span_ns
    middle = median(count for _, count, _ in counted) if counted else 0
    return tuple(
        Second(second, float(count), count / middle * 100 if middle else 0.0, largest)
        for second, count, largest in counted
    )


def settled_count(samples: int, share: float) -> int:
    """How many samples at the end of a stage are settled. Worked: 5 samples and a share of 0.4 -> 2."""
    return max(round(samples * share), 1)


def _settled(step: StudyStep, records: Sequence[StepRecord], share: float) -> StageValues | None:
    """The values of the last samples; None where they lasted no time, as a sample of nothing to issue."""
    last = records[-settled_count(len(records), share) :]
    span_ns = sum(record.span_ns for record in last)
    if not span_ns:
        return None
    sides = [side for record in last for side in (record.read, record.write)]
    completed = sum(side.latency_io_count for side in sides)
    largest = map(max_latency_ms, last)
    return StageValues(
        iops=sum(map(rate_count, last)) * SECOND_NS / span_ns,
        rates=tuple(float(iops(record)) for record in last),
        throughput=_mb_per_s(last),
        latency_ms_mean=sum(side.latency_ns_sum for side in sides) / completed / MILLISECOND_NS if completed else None,
        latency_ms_max=max((one for one in largest if one is not None), default=None),
        outstanding=sum(record.outstanding_ns for record in last) / span_ns,
        asked=outstanding(step.demand),
    )


def _mb_per_s(records: Sequence[StepRecord]) -> float:
    return sum(map(rate_bytes, records)) * SECOND_NS / max(sum(record.span_ns for record in records), 1) / MB


def _proposal(stages: Sequence[StageResult]) -> Proposal | None:
    values = [(stage.demand, stage.settled) for stage in stages if stage.settled]
    known = [(demand, one.iops, art) for demand, one in values if (art := one.latency_ms_mean) is not None]
    return proposal_of(known) if len(values) == len(stages) else None


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
        before, after = _mb_per_s(records[first]), _mb_per_s(result[: len(records[first])])
        rates = [float(throughput(record)) for record in result]
        reached = next((end for end, rate in enumerate(rates, 1) if rate >= recovered_share * before), None)
        back = result[:reached] if reached else ()
        changes.append(
            Change(
                label=step.label,
                number=place + 1,
                before=before,
                after=after,
                drop_share=1 - after / before if before else 0.0,
                lowest_share=min(rates) / before if before else 0.0,
                recovery_minutes=sum(record.span_ns for record in back) / MINUTE_NS if back else None,
            )
        )
    return tuple(changes)


def stability_of(seconds: Sequence[Second]) -> Stability | None:
    """Score the seconds of a stage; None without any.

    Worked: 100, 105, 95, 100 and 50 IOPS -> median 100, score 0.8, worst second the fifth.
    """
    rates = [second.iops for second in seconds]
    if not rates:
        return None
    middle, mean, near = median(rates), fmean(rates), BAND_SHARE
    return Stability(
        count=len(rates),
        median=middle,
        score=sum(abs(rate - middle) <= near * middle for rate in rates) / len(rates) if middle >= COUNT_MIN else None,
        variation=stdev(rates) / mean if mean and rates[1:] else 0.0,
        worst=min(rates),
        worst_second=rates.index(min(rates)) + 1,
        latency_ms_max=max((one.latency_ms_max for one in seconds if one.latency_ms_max is not None), default=None),
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
    demand, rate, art = min(good, key=lambda cell: (outstanding(cell[0]), cell[2]))
    return Proposal(demand=demand, iops=rate, latency_ms_mean=art, highest=highest, share=rate / highest)
