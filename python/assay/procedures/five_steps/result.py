"""What the five steps measured, and the verdict on each by a rule that is stated beside it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from assay.procedures.families.saturation.result import sampled_result
from assay.procedures.five_steps.plan import (
    COMPOSITE,
    INDEPENDENCE,
    LABELS,
    LIMITS,
    PRECONDITION,
    STABILITY,
    SURFACE,
    FiveStepsSettings,
)
from assay.procedures.studies.result import COUNT_MIN, changes_of, stability_of, study_result
from assay.results.finding import Finding
from assay.summary.record import Level
from assay.words.coded import coded

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from assay.engine.records import Cell, StoredTest
    from assay.procedures.families.saturation.result import SaturationResult
    from assay.procedures.studies.result import Change, Stability, StageResult, StudyResult
    from assay.words.coded import Coded


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
    verdicts: tuple[StepVerdict, ...] = ()

    @property
    def rates(self) -> tuple[float, ...]:
        """MB/s of every sample of the first step, where all of it may be printed."""
        (stage,) = self.study.variants[PRECONDITION].stages
        return stage.samples.throughput if stage.settled else ()


class Value(NamedTuple):
    """What a rule is held against. reason : the value, or why there is none, in words. holds : what else it asks."""

    reason: Coded
    measured: float | None = None
    holds: bool = True


class Rule(NamedTuple):
    """The rule of a step. title : of its page. words : what passes, with the limit in per cent.

    value : of the five steps. is_least : the limit is one from below.
    """

    title: str
    words: str
    value: Callable[[FiveSteps], Value]
    is_least: bool = False


class StepVerdict(NamedTuple):
    """The verdict on one step. name : of the step. rule : what passes. finding : what was found."""

    name: str
    rule: str
    finding: Finding

    @property
    def word(self) -> str:
        """As printed: pass, fail or n/a."""
        return {"pass": "pass", "warn": "fail"}.get(self.finding.level, "n/a")

    @property
    def level(self) -> Level:
        """What its colour follows."""
        levels: dict[str, Level] = {"pass": "good", "warn": "bad"}
        return levels.get(self.finding.level, "unknown")


def halves(rates: Sequence[float]) -> Value:
    """Whether sequential writes go on at one level. rates : MB/s of every sample of two passes.

    Worked: a last pass of 100, 100, 95 and 95 MB/s -> halves that differ by 5 %.
    """
    last = rates[len(rates) // 2 :]
    first, second = last[: len(last) // 2], last[len(last) // 2 :]
    if not first or not second or not sum(first):
        return Value(coded("step-not-whole"))
    before, after = sum(first) / len(first), sum(second) / len(second)
    apart = abs(after - before) / before
    return Value(coded("halves", before=before, after=after, apart=apart), apart)


def lowest_neighbour(matrix: Mapping[Cell, float]) -> Value:
    """Whether the surface has no hole: no block size falls below its neighbours.

    Worked: 1,000 IOPS of 4 KiB between 4,000 of 2 KiB and 3,000 of 8 KiB -> a third of the lower.
    """
    result = []
    for mix in {cell.read_pct for cell in matrix}:
        row = sorted((cell.transfer_bytes, value) for cell, value in matrix.items() if cell.read_pct == mix)
        for (_, left), (size, value), (_, right) in zip(row, row[1:], row[2:], strict=False):
            if min(left, right):
                result.append((value / min(left, right), size, mix))
    if not result:
        return Value(coded("step-not-whole"))
    least, size, mix = min(result)
    return Value(coded("lowest-neighbour", cell=coded("cell", size=size, read_pct=mix), share=least), least)


def near_median(saturation: SaturationResult, stability: Stability | None) -> Value:
    """Whether random writes become steady, and stay so from second to second."""
    if saturation.window is None or stability is None:
        return Value(coded("step-without-second"))
    if stability.score is None:
        return Value(coded("few-seconds-whole", count=COUNT_MIN))
    state = coded("steady" if saturation.window.reached else "not-steady")
    score = {"near": stability.score, "count": stability.count}
    reason = coded("settled", state=state, minutes=saturation.samples.minutes[-1], **score)
    return Value(reason, stability.score, holds=saturation.window.reached)


def dropped(change: Change | None) -> Value:
    """Whether sequential writes are as fast behind random ones as before.

    Source: Spanjer (2009). Worked: 172.5 before and 16.8 MB/s after -> a drop of 90.3 %, printed there as 90 %;
    118.3 and 113.3 MB/s -> 4.2 %.
    """
    if change is None:
        return Value(coded("step-not-whole"))
    return Value(coded("drop", before=change.before, after=change.after, drop=change.drop_share), change.drop_share)


def lowest_load(stages: Sequence[StageResult]) -> Value:
    """Whether no workload loses IOPS where its load rises.

    Worked: 100, 300, 290 and 200 IOPS -> the last keeps 67 % of the highest before.
    """
    rates = [(stage.series, stage.label, stage.settled.iops) for stage in stages if stage.settled]
    kept = []
    highest: dict[str, float] = {}
    for (series, _, before), (following, label, rate) in pairwise(rates):
        highest[series] = max(highest.get(series, 0.0), before)
        if series == following and highest[series]:
            kept.append((rate / highest[series], label))
    if not kept or len(rates) < len(stages):
        return Value(coded("step-without-workload"))
    least, where = min(kept)
    return Value(coded("lowest-load", label=where, share=least), least)


RULES = (
    Rule(
        "Precondition",
        "the two halves of the last pass differ by {:g} % at most",
        lambda found: halves(found.rates),
    ),
    Rule(
        "IOPS surface",
        "no block size has less than {:g} % of the IOPS of the lower of its two neighbours at the same mix",
        lambda found: lowest_neighbour(found.matrix),
        is_least=True,
    ),
    Rule(
        "Stability",
        "the five-point rule holds, and {:g} % of the following seconds lie within 10 % of their median",
        lambda found: near_median(found.saturation, found.stability),
        is_least=True,
    ),
    Rule(
        "Workload independence",
        "sequential writes after random writes are at most {:g} % slower than before",
        lambda found: dropped(found.change),
    ),
    Rule(
        "Composite workloads",
        "no heavier load has less than {:g} % of the IOPS of a lighter load",
        lambda found: lowest_load(found.study.variants[COMPOSITE].stages),
        is_least=True,
    ),
)
"""A row per step, in order; the limits are ``LIMITS`` of the settings."""


def step_verdict(index: int, value: Value, limit: float) -> StepVerdict:
    """The verdict on a step. index : of the step, from 0."""
    reason, measured, holds = value
    rule = RULES[index]
    finding = Finding(level="n/a", reason=reason)
    if measured is not None:
        passes = holds and (measured >= limit if rule.is_least else measured <= limit)
        finding = Finding(level="pass" if passes else "warn", reason=reason, measured=measured, limit=limit)
    return StepVerdict(LABELS[index], rule.words.format(limit * 100), finding)


def five_steps_result(test: StoredTest, capacity_bytes: int) -> FiveSteps:
    """Compute every value that the pages print from the stored steps. capacity_bytes : of the drive.

    Raises VerificationError where the stored verdict of the third step is not the one its samples give.
    Source: Spanjer (2009). Worked: sequential writes of 172.5 MB/s before and 16.8 MB/s after random ones -> a drop of
    90 %, and a verdict of fail at a limit of 10 %.
    """
    settings, study = test.settings_as(FiveStepsSettings), study_result(test)
    part = replace(test, settings=settings.stability, sequences=test.stage("sample"))
    cells, surface = settings.surface, study.variants[SURFACE].stages
    matrix = {cells[stage.label]: stage.settled.iops for stage in surface if stage.settled}
    (seconds,) = study.variants[STABILITY].stages
    found = FiveSteps(
        study=study,
        matrix=matrix if len(matrix) == len(surface) else {},
        saturation=sampled_result(part, capacity_bytes, study.withheld),
        stability=stability_of(seconds.seconds) if seconds.settled else None,
        change=_change(test, settings, study),
    )
    limits: list[Any] = [getattr(settings, name) for name in LIMITS]
    values = enumerate(zip(RULES, limits, strict=True))
    return replace(
        found, verdicts=tuple(step_verdict(index, rule.value(found), limit) for index, (rule, limit) in values)
    )


def _change(test: StoredTest, settings: FiveStepsSettings, study: StudyResult) -> Change | None:
    """The sequential writes behind the random ones against those before."""
    if not all(stage.settled for stage in study.variants[INDEPENDENCE].stages):
        return None
    planned, steps = settings.variants[INDEPENDENCE].measured, iter(test.steps("variant", INDEPENDENCE + 1))
    records = [list(islice(steps, step.samples)) for step in planned]
    return next(iter(changes_of(planned, records, settings.recovered_share)), None)
