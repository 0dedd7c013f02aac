"""The numbers of a study that people quote: its least and its greatest settled value, or what its reading asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.pages.headline import Headline
from assay.pages.printed import outstanding_label, paragraph, percent
from assay.procedures.studies.readings import TOO_FEW
from assay.procedures.studies.result import settled_samples
from assay.spec.units import GB

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from assay.procedures.studies.result import StageResult, StudyResult, VariantResult
    from assay.procedures.studies.settings import StudySettings

    _Named = Callable[[VariantResult, StageResult], str]


def study_headlines(settings: StudySettings, result: StudyResult, capacity_bytes: int) -> Iterator[Headline]:
    """Slowest and fastest of the variants that begin with the same accesses, their ratio, and what the reading found.

    capacity_bytes : of the drive, at least 1.

    Worked: variants that settle at 2,900 and at 56,700 IOPS -> these two and 19.6.
    """
    part = "all" if settings.settled_share == 1 else f"the last {percent(settings.settled_share)} of the"
    basis = f"mean of {part} samples"
    settled = [(one.stages[0].settled.iops, one) for one in result.variants if one.stages and one.stages[0].settled]
    settled = [pair for pair in settled if pair[1].stages[0].label == settled[0][1].stages[0].label]
    settled.sort(key=lambda pair: pair[0])
    if not settled:
        reason = "n/a: results withheld" if result.withheld else "n/a: no stage ran to its end"
        yield Headline(item=settings.title, unit="IOPS", value=None, basis=reason)
        return
    named = _names(result)
    for rate, variant in settled[:1] + settled[1:][-1:]:
        stage = variant.stages[0]
        samples = settled_samples(stage, settings.settled_share) if len(stage.iops) > 1 else ()
        written = f"; {_written(stage.written_bytes, capacity_bytes)}" if stage.written_bytes else ""
        told = f"{basis}, {outstanding_label(stage.demand)}{written}"
        yield Headline(item=named(variant, stage), unit="IOPS", value=rate, values=samples, basis=told)
    (least, _), (greatest, _) = settled[0], settled[-1]
    if len(settled) > 1 and least:
        yield Headline(item="Fastest variant over slowest", unit="x", value=greatest / least, basis="the two above")
    for variant in result.variants:
        yield from _found(variant, named)


def _written(amount_bytes: int, capacity_bytes: int) -> str:
    """Worked: 1.4 GB written of 4 GB -> ``"1.4 GB written, 0.35 drive fills"``."""
    return f"{amount_bytes / GB:.1f} GB written, {amount_bytes / capacity_bytes:.2f} drive fills"


def _found(variant: VariantResult, named: _Named) -> Iterator[Headline]:
    """The demand that is proposed, and how steady each stage is from second to second."""
    if variant.proposal:
        demand = variant.proposal.demand
        item = paragraph(f"{variant.label}, proposed TC {demand.thread_count} x QD {demand.queue_depth}")
        yield Headline(item=item, unit="IOPS", value=variant.proposal.iops, basis="the knee of its map")
    for stage, stability in zip(variant.stages, variant.stability, strict=False):
        if stability:
            item = f"{named(variant, stage)}, seconds within 10 % of the median"
            score = None if stability.score is None else stability.score * 100
            basis = f"{stability.count:,} seconds" if score is not None else f"n/a: {TOO_FEW}"
            yield Headline(item=item, unit="%", value=score, basis=basis)


def _names(result: StudyResult) -> _Named:
    """How a stage of a variant is named: by the variant alone, where each has accesses of its own."""
    accesses = [one.stages[0].label for one in result.variants if one.stages]
    single = all(len(one.stages) <= 1 for one in result.variants)
    own = single and len(accesses) > 1 and len(set(accesses)) == len(accesses)

    def named(variant: VariantResult, stage: StageResult) -> str:
        same = own or stage.label == variant.label or not stage.label
        return paragraph(variant.label if same else f"{variant.label}, {stage.label}")

    return named
