"""What a study says of the drive: its numbers, how response times are spread, and its insights."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from assay.procedures.studies.result import BAND_SHARE, COUNT_MIN, settled_count
from assay.procedures.studies.run import StudySettings
from assay.procedures.traits import depth_insights, pattern_subject, restarted, stalls, tails, waited
from assay.results.histogram import all_step_times, merged
from assay.spec.units import MINUTE_NS
from assay.summary.insights import Insight, insight
from assay.summary.measures import key_of_unit, quoted
from assay.summary.pages.figures import time_heat
from assay.summary.pages.histograms import CURVES_MAX, Distribution, part
from assay.summary.record import Measure
from assay.words.coded import coded
from assay.words.printed import outstanding, paragraph

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from assay.engine.records import StepRecord, StoredTest
    from assay.procedures.studies.result import Change, StageResult, StudyResult, VariantResult
    from assay.procedures.studies.run import StudyStep, StudyVariant
    from assay.procedures.traits import Depth
    from assay.results.histogram import ResponseTimes
    from assay.summary.pages.model import Figure
    from assay.summary.record import Key
    from assay.words.coded import Coded

    _Named = Callable[[VariantResult, StageResult], str]
    _Stage = tuple[VariantResult, StageResult]

_MINUTE_MS = 60_000
_SEVERAL = 2


def study_measures(settings: StudySettings, result: StudyResult, capacity_bytes: int) -> Iterator[Measure]:
    """Slowest and fastest of the variants that begin with the same accesses, their ratio, what the reading found, and
    IOPS and MB/s of every stage that is whole. Response times are those of the study's distribution.

    capacity_bytes : of the drive, at least 1.

    Worked: variants that settle at 2,900 and at 56,700 IOPS -> these two and 19.6.
    """  # noqa: D205 - one sentence
    ranked, named = _ranked(result), _names(result)
    ends = [*ranked[:1], *ranked[1:][-1:]]
    if not ends:
        yield quoted((), "IOPS", settings.title, None, coded("results-withheld" if result.withheld else "no-stage"))
    for variant, stage in ends:
        samples = stage.settled.rates if stage.settled and len(stage.samples.iops) > 1 else ()
        cell, label = stage_cell(variant, 1, stage), _label(variant, stage)
        basis = _basis(settings, stage, capacity_bytes)
        yield quoted(cell, "IOPS", named(variant, stage), _rate(stage), basis, label=label, rounds=samples)
    if len(ends) > 1 and (least := _rate(ends[0][1])):
        yield quoted((), "x", "Fastest variant over slowest", _rate(ends[-1][1]) / least, coded("two-above"))
    for variant in result.variants:
        yield from _found(variant, named)
    known = [id(stage) for _, stage in ends]
    for variant in result.variants:
        for number, stage in enumerate(variant.stages, 1):
            for key, unit in (("iops", "IOPS"), ("throughput", "MB/s")):
                if stage.settled and (key != "iops" or id(stage) not in known):
                    yield Measure(
                        cell=stage_cell(variant, number, stage),
                        key=key_of_unit(unit),
                        label=_label(variant, stage),
                        unit=unit,
                        value=getattr(stage.settled, key),
                        stat="mean",
                    )


def stage_cell(variant: VariantResult, number: int, stage: StageResult) -> Key:
    """The cell of a stage. number : from 1."""
    return (("variant", variant.label), ("stage", number), ("accesses", stage.label))


def fastest_stages(result: StudyResult) -> Iterator[tuple[str, Key]]:
    """Label of each variant and the cell of its fastest stage, of those that settled."""
    for variant in result.variants:
        known = [(stage.settled.iops, number) for number, stage in enumerate(variant.stages, 1) if stage.settled]
        if known:
            number = max(known)[1]
            yield variant.label, stage_cell(variant, number, variant.stages[number - 1])


def _ranked(result: StudyResult) -> list[_Stage]:
    """First stages of the accesses of the first that settled, the slowest first."""
    settled = [
        (variant, variant.stages[0]) for variant in result.variants if variant.stages and variant.stages[0].settled
    ]
    return sorted((pair for pair in settled if pair[1].label == settled[0][1].label), key=lambda pair: _rate(pair[1]))


def _rate(stage: StageResult) -> float:
    return stage.settled.iops if stage.settled else 0.0


def _label(variant: VariantResult, stage: StageResult) -> str:
    return paragraph(f"{variant.label}: {stage.label}")


def _basis(settings: StudySettings, stage: StageResult, capacity_bytes: int) -> Coded:
    share = None if settings.settled_share == 1 else settings.settled_share
    fills = stage.written_bytes / capacity_bytes
    written = coded("gb-written", amount=stage.written_bytes, fills=fills) if stage.written_bytes else None
    code = "all-samples" if share is None else "last-samples"
    return coded(code, share=share, outstanding=outstanding(stage.demand), written=written)


def _found(variant: VariantResult, named: _Named) -> Iterator[Measure]:
    """The demand that is proposed, and how steady each stage is from second to second."""
    if variant.proposal:
        demand = variant.proposal.demand
        name = paragraph(f"{variant.label}, proposed TC {demand.thread_count} x QD {demand.queue_depth}")
        yield quoted((("variant", variant.label),), "IOPS", name, variant.proposal.iops, coded("knee"))
    for number, (stage, stability) in enumerate(zip(variant.stages, variant.stability, strict=False), 1):
        if stability:
            name = f"{named(variant, stage)}, seconds within 10 % of the median"
            score = None if stability.score is None else stability.score * 100
            basis = coded("few-seconds", count=COUNT_MIN) if score is None else coded("seconds", count=stability.count)
            yield quoted(stage_cell(variant, number, stage), "%", name, score, basis, label=_label(variant, stage))


def _names(result: StudyResult) -> _Named:
    """How a stage of a variant is named: by the variant alone, where each has accesses of its own."""
    accesses = [variant.stages[0].label for variant in result.variants if variant.stages]
    single = all(len(variant.stages) <= 1 for variant in result.variants)
    own = single and len(accesses) > 1 and len(set(accesses)) == len(accesses)

    def named(variant: VariantResult, stage: StageResult) -> str:
        same = own or stage.label == variant.label or not stage.label
        return paragraph(variant.label if same else f"{variant.label}, {stage.label}")

    return named


class _Ran(NamedTuple):
    """The steps of a stage of a variant with their counts, which are empty where they were not read."""

    step: StudyStep
    steps: Sequence[StepRecord]
    times: Sequence[ResponseTimes]

    def settled(self, share: float) -> _Ran:
        """Those that its settled value is the mean of."""
        count = settled_count(self.step.samples, share)
        return self._replace(steps=self.steps[-count:], times=self.times[-count:])


def _stages(test: StoredTest, index: int, planned: StudyVariant) -> Iterator[_Ran]:
    """Every stage of a variant as it was set, with what ran of it. index : of the variant, from 1."""
    records, times = test.steps("variant", index), all_step_times(test.stage("variant", index))
    for step, end in zip(planned.measured, accumulate(step.samples for step in planned.measured), strict=True):
        yield _Ran(step, records[end - step.samples : end], times[end - step.samples : end])


def study_distribution(test: StoredTest, result: StudyResult, prefix: str) -> Distribution:
    """Response times of the settled samples of every stage that is whole; none where they are withheld."""
    settings = test.settings_as(StudySettings)
    parts = []
    for index, (planned, variant) in enumerate(zip(settings.variants, result.variants, strict=True), 1):
        ran = _stages(test, index, planned)
        for number, (stage, one) in enumerate(zip(variant.stages, ran, strict=True), 1):
            if stage.settled:
                key = (variant.label, number, stage.label)
                parts.append(part(key, _label(variant, stage), *one.settled(settings.settled_share)[1:]))
    maps = tuple(_maps(test, settings, prefix)) if parts else ()
    return Distribution(
        name=settings.test.replace("-", "_"),
        title=settings.test_label,
        over="the settled samples of each stage",
        prefix=prefix,
        columns=("variant", "stage", "accesses"),
        parts=tuple(parts),
        withheld=result.withheld or coded("no-whole-stage"),
        curves=tuple(range(min(len(parts), CURVES_MAX))),
        rule=f"Drawn are the stages that ran first, up to {CURVES_MAX}.",
        maps=maps,
        printed=maps[0][1].name if maps else "",
    )


def _maps(test: StoredTest, settings: StudySettings, prefix: str) -> Iterator[tuple[str, Figure]]:
    """Every variant over its time, where the study looks at time at all."""
    if all(plot.kind == "places" for plot in settings.plots):
        return
    for index, variant in enumerate(settings.variants, 1):
        ends = accumulate(step.span_ns for step in test.steps("variant", index))
        times, label = all_step_times(test.stage("variant", index)), paragraph(variant.label)
        if figure := time_heat(f"{prefix}-heat-{index}", [end / MINUTE_NS for end in ends], times, label):
            yield f"{label}: I/Os by response time over its time; a field without a colour had none.", figure


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
        yield from _waits(settings, planned, list(_stages(test, index, planned)))


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
    patterns = {step.pattern for step in planned.measured}
    if len(patterns) != 1:
        return
    depths: dict[int, Depth] = {}
    for stage in variant.stages:
        depth = outstanding(stage.demand)
        if stage.settled and stage.settled.iops > depths.get(depth, (0, 0.0, None))[1]:
            depths[depth] = (depth, stage.settled.iops, stage.settled.latency_ms_mean)
    yield from depth_insights(pattern_subject(patterns.pop()), [depths[depth] for depth in sorted(depths)])


def slow_recovery(planned: StudyVariant, stages: Sequence[StageResult], change: Change) -> Insight:
    """A stage that comes again against its first time. Worked: 172.5 then 16.8 MB/s -> 10 % kept."""
    begun, ended = (stage.samples.minutes[-1] for stage in stages[change.number - 2 : change.number])
    before, step = planned.measured[change.number - 2 : change.number]
    return restarted(
        replace(pattern_subject(step.pattern), variant=planned.label),
        pattern_subject(before.pattern),
        kept=1 - change.drop_share,
        minutes=change.recovery_minutes,
        span_ms=(ended - begun) * _MINUTE_MS,
    )


def uneven_seconds(planned: StudyVariant, variant: VariantResult) -> Iterator[Insight]:
    """How many seconds lie near the median. Worked: 62 % within 10 % of it, the worst at half."""
    for step, seconds in zip(planned.measured, variant.stability, strict=False):
        if seconds and seconds.score is not None:
            near, worst = seconds.score, seconds.worst / seconds.median
            about = pattern_subject(step.pattern)
            yield insight("uneven-seconds", about, near=near, uneven=1 - near, band=BAND_SHARE, worst=worst)


def _waits(settings: StudySettings, planned: StudyVariant, stages: Sequence[_Ran]) -> Iterator[Insight]:
    """Tails and stalls of every stage that ran; the variant is named where its accesses are those of another, too."""
    others = {step.pattern for one in settings.variants if one is not planned for step in one.measured}
    name = planned.label if others & {step.pattern for step in planned.measured} else None
    if any(len(stage.times) != len(stage.steps) for stage in stages):
        return
    for stage in stages:
        step = stage.step
        if len(stage.steps) == step.samples and step.pattern.operation == "transfer":
            about = replace(pattern_subject(step.pattern), variant=name)
            settled = merged(stage.settled(settings.settled_share).times)
            yield from tails(replace(about, depth=outstanding(step.demand)), settled)
            yield from stalls(about, [waited(stage.steps, stage.times, step.demand)])
