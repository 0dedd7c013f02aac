"""What a study says of the drive: how far a setting moves it, how deep it saturates, how even and how soon back."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING

from assay.procedures.depths import depth_insights
from assay.procedures.slow_recovery import restarted
from assay.procedures.studies.readings import BAND_SHARE
from assay.procedures.studies.settings import StudySettings
from assay.procedures.subjects import pattern_subject
from assay.procedures.waits import stalls, tails, waited
from assay.results import all_step_times, merged
from assay.summary.insight import Insight, insight
from assay.words.printed import outstanding

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from assay.engine.records import StoredTest
    from assay.procedures.depths import Depth
    from assay.procedures.studies.readings import Change
    from assay.procedures.studies.result import StageResult, StudyResult, VariantResult
    from assay.procedures.studies.settings import StudyStep, StudyVariant

_MINUTE_MS = 60_000
_SEVERAL = 2


def study_insights(test: StoredTest, result: StudyResult) -> Iterator[Insight]:
    """Everything that its variants say; none of what may not be printed or did not run to its end."""
    if result.withheld:
        return
    settings = test.settings_as(StudySettings)
    yield from setting_effect(settings, result)
    for index, (planned, variant) in enumerate(zip(settings.variants, result.variants, strict=True), 1):
        yield from _depths(planned, variant)
        yield from (slow_recovery(planned, variant.stages, change) for change in variant.changes)
        yield from uneven_seconds(planned, variant)
        yield from _waits(test, index, planned, _named(settings, planned), settings.settled_share)


def setting_effect(settings: StudySettings, result: StudyResult) -> Iterator[Insight]:
    """The best and the worst variant at the accesses where they lie farthest apart; none of what has another reading.

    Worked: 18,900 IOPS with half the drive trimmed, 2,900 without -> 6.5 times.
    """
    if settings.reading not in {"stages", "grid"}:
        return
    results = {
        variant.label: {at.label: at.settled.iops for at in variant.stages if at.settled} for variant in result.variants
    }
    shared = set.intersection(*map(set, results.values())) if len(results) >= _SEVERAL else set[str]()
    apart = [_apart({label: rates[at] for label, rates in results.items()}) for at in sorted(shared)]
    yield from sorted((one for one in apart if one), key=lambda one: -one.values["times"])[:1]


def _apart(rates: Mapping[str, float]) -> Insight | None:
    best, worst = max(rates, key=rates.__getitem__), min(rates, key=rates.__getitem__)
    high, low = rates[best], rates[worst]
    return insight("setting-effect", best=best, worst=worst, times=high / low, high=high, low=low) if low else None


def _depths(planned: StudyVariant, variant: VariantResult) -> Iterator[Insight]:
    """Where a variant saturates whose stages differ in their demand alone."""
    steps = _measured(planned)
    if len({step.pattern for step in steps}) != 1:
        return
    depths: dict[int, Depth] = {}
    for stage in variant.stages:
        depth = outstanding(stage.demand)
        if stage.settled and stage.settled.iops > depths.get(depth, (0, 0.0, None))[1]:
            depths[depth] = (depth, stage.settled.iops, stage.settled.latency_ms_mean)
    yield from depth_insights(pattern_subject(steps[0].pattern), [depths[depth] for depth in sorted(depths)])


def slow_recovery(planned: StudyVariant, stages: Sequence[StageResult], change: Change) -> Insight:
    """A stage that comes again against its first time. Worked: 172.5 then 16.8 MB/s -> 10 % kept."""
    ended, begun = (stages[place].samples.minutes[-1] for place in (change.number - 1, change.number - 2))
    steps = _measured(planned)
    step, before = steps[change.number - 1], steps[change.number - 2]
    return restarted(
        replace(pattern_subject(step.pattern), variant=planned.label),
        pattern_subject(before.pattern),
        kept=1 - change.drop_share,
        minutes=change.recovery_minutes,
        span_ms=(ended - begun) * _MINUTE_MS,
    )


def uneven_seconds(planned: StudyVariant, variant: VariantResult) -> Iterator[Insight]:
    """How many seconds lie near the median. Worked: 62 % within 10 % of it, the worst at half."""
    for step, seconds in zip(_measured(planned), variant.stability, strict=False):
        if seconds and seconds.score is not None:
            near, worst = seconds.score, seconds.worst / seconds.median
            about = pattern_subject(step.pattern)
            yield insight("uneven-seconds", about, near=near, uneven=1 - near, band=BAND_SHARE, worst=worst)


def _named(settings: StudySettings, planned: StudyVariant) -> str | None:
    """The variant's name where its accesses are those of another, too."""
    own = {step.pattern for step in _measured(planned)}
    others = {step.pattern for variant in settings.variants if variant is not planned for step in _measured(variant)}
    return planned.label if own & others else None


def _waits(
    test: StoredTest, index: int, planned: StudyVariant, name: str | None, settled_share: float
) -> Iterator[Insight]:
    records, times = test.steps("variant", index), all_step_times(test.stage("variant", index))
    if len(times) != len(records):
        return
    steps = _measured(planned)
    for step, end in zip(steps, accumulate(step.samples for step in steps), strict=True):
        own = slice(end - step.samples, end)
        last = slice(end - max(round(step.samples * settled_share), 1), end)
        if len(records) >= end and step.pattern.operation == "transfer":
            about = replace(pattern_subject(step.pattern), variant=name)
            yield from tails(replace(about, depth=outstanding(step.demand)), merged(times[last]))
            yield from stalls(about, [waited(records[own], times[own], step.demand)])


def _measured(planned: StudyVariant) -> Sequence[StudyStep]:
    return [step for step in planned.steps if step.role == "measure"]
