"""What the five steps measured, and the verdict on each by a rule that is stated beside it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from assay.procedures.families.saturation.result import sampled_result
from assay.procedures.five_steps.plan import (
    COMPOSITE,
    INDEPENDENCE,
    LABELS,
    PRECONDITION,
    STABILITY,
    SURFACE,
)
from assay.procedures.five_steps.settings import FiveStepsSettings
from assay.procedures.studies.readings import COUNT_MIN, changes_of, stability_of
from assay.procedures.studies.result import study_result
from assay.results import ran_whole
from assay.results.finding import Finding
from assay.words.coded import coded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engine.records import Cell, StepRecord, StoredTest
    from assay.procedures.families.saturation.result import SaturationResult
    from assay.procedures.studies.readings import Change, Stability
    from assay.procedures.studies.result import StageResult, StudyResult
    from assay.words.coded import Coded


@dataclass(frozen=True, slots=True, kw_only=True)
class StepVerdict:
    """The verdict on one step. name : of the step. rule : what passes. finding : what was found."""

    name: str
    rule: str
    finding: Finding

    @property
    def word(self) -> str:
        """As printed: pass, fail or n/a."""
        return {"pass": "pass", "warn": "fail"}.get(self.finding.level, "n/a")


@dataclass(frozen=True, slots=True, kw_only=True)
class FiveSteps:
    """All values of the five pages beside those that every study has.

    matrix : IOPS of the surface by cell; empty where it is not whole. saturation : of the third step, until steady.
    stability : of its seconds, change : of the fourth step; None where the step is not whole. verdicts : one per step.
    """

    study: StudyResult
    matrix: dict[Cell, float]
    saturation: SaturationResult
    stability: Stability | None
    change: Change | None
    verdicts: tuple[StepVerdict, ...]


def five_steps_result(test: StoredTest, capacity_bytes: int) -> FiveSteps:
    """Compute every value that the pages print from the stored steps. capacity_bytes : of the drive.

    Raises VerificationError where the stored verdict of the third step is not the one its samples give.
    Source: Spanjer (2009). Worked: sequential writes of 172.5 MB/s before and 16.8 MB/s after random ones -> a drop of
    90 %, and a verdict of fail at a limit of 10 %.
    """
    settings, study = test.settings_as(FiveStepsSettings), study_result(test)
    part = replace(test, settings=settings.stability, sequences=test.stage("sample"))
    saturation = sampled_result(part, capacity_bytes, study.withheld)
    matrix = _matrix(settings, study)
    stability = _stability(study)
    change = _change(test, settings, printed=study.withheld is None)
    verdicts = (
        settled_verdict(_rates(study), settings.settled_limit),
        surface_verdict(matrix, settings.hole_share),
        stability_verdict(saturation, stability, settings.score_limit),
        independence_verdict(change, settings.drop_limit),
        composite_verdict(study.variants[COMPOSITE].stages, settings.load_share),
    )
    return FiveSteps(
        study=study,
        matrix=matrix,
        saturation=saturation,
        stability=stability,
        change=change,
        verdicts=verdicts,
    )


def _matrix(settings: FiveStepsSettings, study: StudyResult) -> dict[Cell, float]:
    stages, cells = study.variants[SURFACE].stages, settings.surface
    result = {cells[stage.label]: stage.settled.iops for stage in stages if stage.settled}
    return result if len(result) == len(stages) else {}


def _stability(study: StudyResult) -> Stability | None:
    (stage,) = study.variants[STABILITY].stages
    return stability_of(stage.second_iops, stage.latency_ms_max_second) if stage.settled else None


def _rates(study: StudyResult) -> tuple[float, ...]:
    """MB/s of every sample of the first step, where all of it may be printed."""
    (stage,) = study.variants[PRECONDITION].stages
    return stage.samples.throughput if stage.settled else ()


def _change(test: StoredTest, settings: FiveStepsSettings, *, printed: bool) -> Change | None:
    """The sequential writes behind the random ones against those before."""
    planned = [step for step in settings.variants[INDEPENDENCE].steps if step.role == "measure"]
    steps = [step for step in test.steps("variant", INDEPENDENCE + 1) if ran_whole(step)]
    if not printed or len(steps) != sum(step.samples for step in planned):
        return None
    records: list[Sequence[StepRecord]] = []
    for step in planned:
        records.append(steps[: step.samples])
        steps = steps[step.samples :]
    return next(iter(changes_of(planned, records, settings.recovered_share)), None)


def settled_verdict(rates: Sequence[float], limit: float) -> StepVerdict:
    """Whether sequential writes go on at one level. rates : MB/s of every sample of two passes.

    Worked: a last pass of 100, 100, 95 and 95 MB/s -> halves that differ by 5 % -> pass.
    """
    rule = f"the two halves of the last pass differ by {limit * 100:g} % at most"
    last = rates[len(rates) // 2 :]
    first, second = last[: len(last) // 2], last[len(last) // 2 :]
    if not first or not second or not sum(first):
        return _not_judged(PRECONDITION, rule, "step-not-whole")
    before, after = sum(first) / len(first), sum(second) / len(second)
    apart = abs(after - before) / before
    reason = coded("halves", before=before, after=after, apart=apart)
    return _judged(PRECONDITION, rule, reason, passes=apart <= limit, measured=apart, limit=limit)


def surface_verdict(matrix: dict[Cell, float], share: float) -> StepVerdict:
    """Whether the surface has no hole: no block size falls below its neighbours.

    Worked: 1,000 IOPS of 4 KiB between 4,000 of 2 KiB and 3,000 of 8 KiB -> a third of the lower -> fail at one half.
    """
    rule = (
        f"no block size has less than {share * 100:g} % of the IOPS of the lower of its two neighbours at the same mix"
    )
    result = []
    for mix in {cell.read_pct for cell in matrix}:
        row = sorted((cell.transfer_bytes, value) for cell, value in matrix.items() if cell.read_pct == mix)
        for (_, left), (size, value), (_, right) in zip(row, row[1:], row[2:], strict=False):
            if min(left, right):
                result.append((value / min(left, right), size, mix))
    if not result:
        return _not_judged(SURFACE, rule, "step-not-whole")
    least, size, mix = min(result)
    reason = coded("lowest-neighbour", cell=coded("cell", size=size, read_pct=mix), share=least)
    return _judged(SURFACE, rule, reason, passes=least >= share, measured=least, limit=share)


def stability_verdict(saturation: SaturationResult, stability: Stability | None, limit: float) -> StepVerdict:
    """Whether random writes become steady, and stay so from second to second."""
    rule = f"the five-point rule holds, and {limit * 100:g} % of the following seconds lie within 10 % of their median"
    if saturation.window is None or stability is None:
        return _not_judged(STABILITY, rule, "step-without-second")
    if stability.score is None:
        return _not_judged(STABILITY, rule, "few-seconds-whole", count=COUNT_MIN)
    state = coded("steady" if saturation.window.reached else "not-steady")
    score = {"near": stability.score, "count": stability.count}
    passes = saturation.window.reached and stability.score >= limit
    return _judged(
        STABILITY,
        rule,
        coded("settled", state=state, minutes=saturation.samples.minutes[-1], **score),
        passes=passes,
        measured=stability.score,
        limit=limit,
    )


def independence_verdict(change: Change | None, limit: float) -> StepVerdict:
    """Whether sequential writes are as fast behind random ones as before.

    Source: Spanjer (2009). Worked: 172.5 before and 16.8 MB/s after -> a drop of 90.3 %, printed there as 90 % -> fail;
    118.3 and 113.3 MB/s -> 4.2 % -> pass.
    """
    rule = f"sequential writes after random writes are at most {limit * 100:g} % slower than before"
    if change is None:
        return _not_judged(INDEPENDENCE, rule, "step-not-whole")
    reason = coded("drop", before=change.before, after=change.after, drop=change.drop_share)
    passes = change.drop_share <= limit
    return _judged(INDEPENDENCE, rule, reason, passes=passes, measured=change.drop_share, limit=limit)


def composite_verdict(stages: Sequence[StageResult], share: float) -> StepVerdict:
    """Whether no workload loses IOPS where its load rises.

    Worked: 100, 300, 290 and 200 IOPS -> the last keeps 67 % of the highest before -> fail at 90 %.
    """
    rule = f"no heavier load has less than {share * 100:g} % of the IOPS of a lighter load"
    rates = [(stage.series, stage.label, stage.settled.iops) for stage in stages if stage.settled]
    kept = []
    highest: dict[str, float] = {}
    for (series, _, before), (following, label, rate) in pairwise(rates):
        highest[series] = max(highest.get(series, 0.0), before)
        if series == following and highest[series]:
            kept.append((rate / highest[series], label))
    if not kept or len(rates) < len(stages):
        return _not_judged(COMPOSITE, rule, "step-without-workload")
    least, where = min(kept)
    reason = coded("lowest-load", label=where, share=least)
    return _judged(COMPOSITE, rule, reason, passes=least >= share, measured=least, limit=share)


def _judged(index: int, rule: str, reason: Coded, *, passes: bool, measured: float, limit: float) -> StepVerdict:
    level = Finding(level="pass" if passes else "warn", reason=reason, measured=measured, limit=limit)
    return StepVerdict(name=LABELS[index], rule=rule, finding=level)


def _not_judged(index: int, rule: str, code: str, **values: int) -> StepVerdict:
    return StepVerdict(name=LABELS[index], rule=rule, finding=Finding(level="n/a", reason=coded(code, **values)))
