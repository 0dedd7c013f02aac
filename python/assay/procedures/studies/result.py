"""What a study measured: every sample of its variants, the settled value of each stage, and what its reading asks."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from statistics import median
from typing import TYPE_CHECKING

from assay.procedures.studies.readings import Change, Proposal, Stability, changes_of, proposal_of, stability_of
from assay.procedures.studies.settings import StudySettings
from assay.results.ended import stored_error_count
from assay.results.outcome import withheld_reason
from assay.results.step import (
    Samples,
    issued_bytes,
    max_latency_ns,
    ran_whole,
    rate_bytes,
    rate_count,
    window_count,
)
from assay.spec.units import MB, MILLISECOND_NS, SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engine.records import Demand, StepRecord, StoredTest
    from assay.procedures.studies.settings import StudyStep, StudyVariant
    from assay.results.finding import Finding
    from assay.words.coded import Coded


@dataclass(frozen=True, slots=True, kw_only=True)
class StageValues:
    """The mean over the settled samples of a stage; times are None where none completed.

    outstanding : effective total OIO. asked : TC x QD.
    """

    iops: float
    mb_per_s: float
    latency_ms_mean: float | None
    latency_ms_max: float | None
    outstanding: float
    asked: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StageResult:
    """One measured stage of a variant.

    samples : the complete samples, each at its end since the variant's first measured one began.
    seconds, second_iops, latency_ms_max_second : every whole second. second_relative : its IOPS in per cent
    of their median.
    settled : None unless the stage is whole. written_bytes : in all samples.
    place, series : as in ``StudyStep``. demand : what was asked.
    share : settled value over that of the first variant's stage of the same label, None for that one.
    """

    label: str
    place: float | None
    series: str
    demand: Demand
    samples: Samples
    seconds: tuple[float, ...]
    second_iops: tuple[float, ...]
    second_relative: tuple[float, ...]
    latency_ms_max_second: tuple[float | None, ...]
    settled: StageValues | None
    written_bytes: int = 0
    share: float | None = None


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
    error_count: int
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
        error_count=stored_error_count(test),
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
    planned = [step for step in variant.steps if step.role == "measure"]
    ends = [0, *accumulate(step.samples for step in planned)]
    stages: list[StageResult] = []
    begun_ns = 0
    records = []
    for step, first, last in zip(planned, ends, ends[1:], strict=False):
        result = [step for step in steps[first:last] if ran_whole(step)]
        whole = may_print and len(result) == step.samples
        settled = _settled(step, result, settings.settled_share) if whole else None
        stages.append(_stage(step, result, begun_ns, settled, _share(step, settled, reference)))
        begun_ns += sum(one.span_ns for one in result)
        records.append(result if whole else [])
    return VariantResult(
        label=variant.label,
        place=variant.place,
        stages=tuple(stages),
        changes=changes_of(planned, records, settings.recovered_share) if settings.reading == "change" else (),
        stability=tuple(
            stability_of(stage.second_iops, stage.latency_ms_max_second) if record else None
            for stage, record in zip(stages, records, strict=True)
        )
        if settings.reading == "stability"
        else (),
        proposal=_proposal(stages) if settings.reading == "demand" else None,
    )


def _stage(
    step: StudyStep, step_records: Sequence[StepRecord], begun_ns: int, settled: StageValues | None, share: float | None
) -> StageResult:
    ends = [begun_ns + span for span in accumulate(record.span_ns for record in step_records)]
    known = step_records if _have_series(step_records) else ()
    counted = [_seconds(record, end - record.span_ns) for record, end in zip(known, ends, strict=False)]
    whole = [second for seconds in counted for second in seconds]
    middle = median(count for _, count, _ in whole) if whole else 0
    return StageResult(
        label=step.label,
        place=step.place,
        series=step.series,
        demand=step.demand,
        samples=Samples.of(step_records, begun_ns=begun_ns),
        seconds=tuple(second for second, _, _ in whole),
        second_iops=tuple(float(count) for _, count, _ in whole),
        second_relative=tuple(count / middle * 100 if middle else 0.0 for _, count, _ in whole),
        latency_ms_max_second=tuple(largest for _, _, largest in whole),
        settled=settled,
        written_bytes=sum(issued_bytes(record.write) for record in step_records),
        share=share,
    )


def _seconds(record: StepRecord, begun_ns: int) -> list[tuple[float, int, float | None]]:
    """End, completions and largest response time of every whole second of a step, silent ones included."""
    sides, result = (record.read, record.write), []
    for second in range(record.span_ns // SECOND_NS):
        # A series ends with the last second in which an I/O completed.
        both = [side for side in sides if second < len(side.series_io_count)]
        count = sum(side.series_io_count[second] for side in both)
        largest = max((side.series_latency_ns_max[second] for side in both), default=0)
        result.append((begun_ns / SECOND_NS + second + 1, count, _milliseconds(largest or None)))
    return result


def _have_series(records: Sequence[StepRecord]) -> bool:
    """Whether the seconds of these steps were read; they are tables of their own, and left out where nobody asks."""
    sides = [side for record in records for side in (record.read, record.write)]
    return all(side.series_io_count for side in sides if window_count(side))


def settled_count(samples: int, share: float) -> int:
    """How many samples at the end of a stage are settled. Worked: 5 samples and a share of 0.4 -> 2."""
    return max(round(samples * share), 1)


def settled_samples(stage: StageResult, share: float) -> tuple[float, ...]:
    """IOPS of the samples that the settled value is the mean of; none where there is none.

    Worked: samples of 100, 60, 40, 42 and 38 IOPS and a settled share of 0.4 -> 42 and 38.
    """
    rates = stage.samples.iops
    return rates[-settled_count(len(rates), share) :] if stage.settled else ()


def _settled(step: StudyStep, step_records: Sequence[StepRecord], share: float) -> StageValues:
    last = step_records[-settled_count(len(step_records), share) :]
    span_ns = sum(record.span_ns for record in last)
    sides = [side for record in last for side in (record.read, record.write)]
    completed = sum(side.latency_io_count for side in sides)
    largest = [max_latency_ns(record) for record in last]
    return StageValues(
        iops=sum(map(rate_count, last)) * SECOND_NS / span_ns,
        mb_per_s=sum(map(rate_bytes, last)) * SECOND_NS / span_ns / MB,
        latency_ms_mean=sum(side.latency_ns_sum for side in sides) / completed / MILLISECOND_NS if completed else None,
        latency_ms_max=_milliseconds(max((one for one in largest if one is not None), default=None)),
        outstanding=sum(record.outstanding_ns for record in last) / span_ns,
        asked=step.demand.thread_count * step.demand.queue_depth,
    )


def _share(step: StudyStep, settled: StageValues | None, reference: Sequence[StageResult]) -> float | None:
    first = next((stage.settled for stage in reference if stage.label == step.label), None)
    return settled.iops / first.iops if settled and first and first.iops else None


def _proposal(stages: Sequence[StageResult]) -> Proposal | None:
    if not all(stage.settled for stage in stages):
        return None
    values = [(stage.demand, stage.settled) for stage in stages if stage.settled]
    return proposal_of([(demand, one.iops, art) for demand, one in values if (art := one.latency_ms_mean) is not None])


def _milliseconds(time_ns: int | None) -> float | None:
    return None if time_ns is None else time_ns / MILLISECOND_NS
