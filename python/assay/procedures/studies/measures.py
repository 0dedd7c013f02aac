"""The settled numbers of every stage of a study, and what its reading asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.procedures.studies.readings import COUNT_MIN
from assay.procedures.studies.result import settled_samples
from assay.summary.measures import quoted
from assay.summary.record import Measure
from assay.words.coded import coded
from assay.words.printed import outstanding, paragraph

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from assay.procedures.studies.result import StageResult, StudyResult, VariantResult
    from assay.procedures.studies.settings import StudySettings
    from assay.summary.record import Key
    from assay.words.coded import Coded

    _Named = Callable[[VariantResult, StageResult], str]
    _Stage = tuple[VariantResult, StageResult]


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
        yield _quoted_rate(settings, capacity_bytes, variant, stage, named(variant, stage))
    if len(ends) > 1 and (least := _rate(ends[0])):
        yield quoted((), "x", "Fastest variant over slowest", _rate(ends[-1]) / least, coded("two-above"))
    for variant in result.variants:
        yield from _found(variant, named)
    known = [id(stage) for _, stage in ends]
    for variant in result.variants:
        for number, stage in enumerate(variant.stages, 1):
            yield from _stage(variant, number, stage, with_rate=id(stage) not in known)


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
    return sorted((pair for pair in settled if pair[1].label == settled[0][1].label), key=_rate)


def _rate(pair: _Stage) -> float:
    settled = pair[1].settled
    return settled.iops if settled else 0.0


def _quoted_rate(
    settings: StudySettings, capacity_bytes: int, variant: VariantResult, stage: StageResult, name: str
) -> Measure:
    """IOPS of a first stage, with its settled samples."""
    samples = settled_samples(stage, settings.settled_share) if len(stage.samples.iops) > 1 else ()
    cell, label = stage_cell(variant, 1, stage), _label(variant, stage)
    basis = _basis(settings, stage, capacity_bytes)
    return quoted(cell, "IOPS", name, _rate((variant, stage)), basis, label=label, rounds=samples)


def _label(variant: VariantResult, stage: StageResult) -> str:
    return paragraph(f"{variant.label}: {stage.label}")


def _stage(variant: VariantResult, number: int, stage: StageResult, *, with_rate: bool) -> Iterator[Measure]:
    """IOPS and MB/s of a stage that is whole."""
    if stage.settled is None:
        return
    cell, label = stage_cell(variant, number, stage), _label(variant, stage)
    if with_rate:
        yield Measure(cell=cell, key="iops", label=label, unit="IOPS", value=stage.settled.iops, stat="mean")
    yield Measure(cell=cell, key="mb_per_s", label=label, unit="MB/s", value=stage.settled.mb_per_s, stat="mean")


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
