"""How the response times of a study are spread: the settled part of every stage, and every variant over time."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from assay.procedures.studies.result import settled_count
from assay.procedures.studies.settings import StudySettings
from assay.results import all_step_times
from assay.spec.units import MINUTE_NS
from assay.summary.pages.distribution import CURVES_MAX, Distribution, part
from assay.summary.pages.heat_figures import time_heat
from assay.words.coded import coded
from assay.words.printed import paragraph

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.engine.records import StepRecord, StoredTest
    from assay.procedures.studies.result import StageResult, StudyResult, VariantResult
    from assay.procedures.studies.settings import StudyVariant
    from assay.results import ResponseTimes
    from assay.summary.pages.distribution import Part
    from assay.summary.pages.model import Figure


class _Measured(NamedTuple):
    """Steps of a variant or of a stage of it with their counts, which are empty where they were not read."""

    steps: Sequence[StepRecord]
    times: Sequence[ResponseTimes]


def study_distribution(test: StoredTest, result: StudyResult, prefix: str) -> Distribution:
    """Response times of the settled samples of every stage that is whole; none where they are withheld."""
    settings = test.settings_as(StudySettings)
    parts = tuple(
        one
        for index, (planned, variant) in enumerate(zip(settings.variants, result.variants, strict=True), 1)
        for one in _parts(settings.settled_share, planned, variant, _measured(test, index))
    )
    maps = tuple(_maps(test, result, prefix)) if parts else ()
    return Distribution(
        name=settings.test.replace("-", "_"),
        title=settings.test_label,
        over="the settled samples of each stage",
        prefix=prefix,
        columns=("variant", "stage", "accesses"),
        parts=parts,
        withheld=result.withheld or coded("no-whole-stage"),
        curves=tuple(range(min(len(parts), CURVES_MAX))),
        rule=f"Drawn are the stages that ran first, up to {CURVES_MAX}.",
        maps=maps,
        printed=maps[0][1].name if maps else "",
    )


def _parts(share: float, planned: StudyVariant, variant: VariantResult, measured: _Measured) -> Iterator[Part]:
    """The settled samples of every whole stage. share : of its samples that are settled."""
    ends = accumulate(step.samples for step in planned.steps if step.role == "measure")
    for number, (stage, last) in enumerate(zip(variant.stages, ends, strict=False), 1):
        if stage.settled:
            first = last - settled_count(len(stage.samples.iops), share)
            yield part((variant.label, number, stage.label), _label(variant, stage), *_cut(measured, first, last))


def _maps(test: StoredTest, result: StudyResult, prefix: str) -> Iterator[tuple[str, Figure]]:
    """Every variant over its time, where the study looks at time at all."""
    if all(plot.kind == "places" for plot in test.settings_as(StudySettings).plots):
        return
    for index, variant in enumerate(result.variants, 1):
        measured = _measured(test, index)
        minutes = [span / MINUTE_NS for span in accumulate(step.span_ns for step in measured.steps)]
        label = paragraph(variant.label)
        if figure := time_heat(f"{prefix}-heat-{index}", minutes, measured.times, label):
            yield f"{label}: I/Os by response time over its time; a field without a colour had none.", figure


def _measured(test: StoredTest, index: int) -> _Measured:
    return _Measured(test.steps("variant", index), all_step_times(test.stage("variant", index)))


def _cut(measured: _Measured, first: int, last: int) -> _Measured:
    return _Measured(measured.steps[first:last], measured.times[first:last])


def _label(variant: VariantResult, stage: StageResult) -> str:
    return paragraph(f"{variant.label}: {stage.label}")
