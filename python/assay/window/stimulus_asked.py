"""What was asked of each stored step: its accesses, and how many of them at once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import repeat
from typing import TYPE_CHECKING

from assay.records import CrossStimulusSettings, IdleRecoverySettings, SaturationSettings, StudySettings
from assay.window.demand import POINT_STEP, demand_label
from assay.window.step import cell_label

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.records import (
        AccessPattern,
        Cell,
        Demand,
        DemandSettings,
        LoopSettings,
        StepRecord,
        StoredProgram,
        StoredTest,
        StudyStep,
        StudyVariant,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedStep:
    """One step that issued I/Os, with what was asked of it.

    where : its name on paper. before : the step right before it in the same program, None for the first or behind an
    idle one. sizes : (transfer bytes, share of accesses), shares in [0, 1]. read_share, random_share : in [0, 1].
    aligned : starts lie on a grid of the transfer's own size, uniformly over the range.
    range_bytes : LBAs that it may touch. fill : preconditioning, whose last transfer of a pass may be shorter.
    """

    where: str
    program: StoredProgram
    place: int
    record: StepRecord
    before: StepRecord | None
    demand: Demand
    sizes: tuple[tuple[int, float], ...]
    read_share: float
    random_share: float
    aligned: bool
    range_bytes: int
    fill: bool


def asked_steps(test: StoredTest, capacity_bytes: int) -> Iterator[AskedStep]:
    """Every stored step of a test that issued I/Os, in the order they ran.

    capacity_bytes : of the drive; preconditioning covers a share of it.
    Worked: the first cell of a PTS-C 1.0 round asks for reads only, one size of 1 MiB, TC 1 x QD 8.
    """
    samples = _study_samples(test)
    for program in test.programs:
        before: StepRecord | None = None
        for place, record in enumerate(program.steps):
            sample = next(samples[program.index - 1]) if samples else None
            if record.first_submission_ns is not None and sample:
                yield _asked_of_study(*sample, program, place, before)
            elif record.first_submission_ns is not None:
                yield _asked(test, program, place, before, capacity_bytes)
            before = record if record.first_submission_ns is not None else None


def _study_samples(test: StoredTest) -> list[Iterator[tuple[StudyVariant, StudyStep]]]:
    """What each variant of a study runs, sample by sample; empty for other tests."""
    settings = test.settings
    if not isinstance(settings, StudySettings):
        return []
    return [_variant_samples(variant) for variant in settings.variants]


def _variant_samples(variant: StudyVariant) -> Iterator[tuple[StudyVariant, StudyStep]]:
    for step in variant.steps:
        if step.role != "trim":
            yield from repeat((variant, step), step.samples)


def _asked_of_study(
    variant: StudyVariant, step: StudyStep, program: StoredProgram, place: int, before: StepRecord | None
) -> AskedStep:
    return _asked_of_pattern(
        step.pattern,
        step.demand,
        program,
        place,
        before,
        where=f"{variant.label}: {step.label}",
        range_bytes=step.length_bytes,
        fill=not step.span_ns,
    )


def _is_aligned(pattern: AccessPattern) -> bool:
    uniform = not pattern.lba_groups and pattern.alignment_bytes in {0, *(size for size, _ in pattern.sizes)}
    return uniform and (len(pattern.sizes) == 1 or pattern.alignment_bytes == 0)


def _asked(
    test: StoredTest, program: StoredProgram, place: int, before: StepRecord | None, capacity_bytes: int
) -> AskedStep:
    settings = test.settings
    if settings.kind == "loop":
        return _asked_of_loop(settings, program, place, before, capacity_bytes)
    if isinstance(settings, StudySettings):
        raise TypeError("the steps of a study are asked for by its variants")
    pattern, demand = _pattern(settings, program, place)
    where = f"{program.phase} {program.index or ''}, step {place + 1}".replace(" ,", ",")
    return _asked_of_pattern(
        pattern, demand, program, place, before, where=where, range_bytes=settings.range_amount_bytes
    )


def _asked_of_pattern(
    pattern: AccessPattern,
    demand: Demand,
    program: StoredProgram,
    place: int,
    before: StepRecord | None,
    *,
    where: str,
    range_bytes: int,
    fill: bool = False,
) -> AskedStep:
    return AskedStep(
        where=where,
        program=program,
        place=place,
        record=program.steps[place],
        before=before,
        demand=demand,
        sizes=pattern.sizes,
        read_share=pattern.read_share,
        random_share=pattern.random_share,
        aligned=_is_aligned(pattern),
        range_bytes=range_bytes,
        fill=fill,
    )


def _pattern(
    settings: SaturationSettings | IdleRecoverySettings | CrossStimulusSettings | DemandSettings,
    program: StoredProgram,
    place: int,
) -> tuple[AccessPattern, Demand]:
    match settings:
        case CrossStimulusSettings():
            return settings.groups[program.index - 1].pattern, settings.demand
        case SaturationSettings():
            return settings.pattern, settings.demand
    if program.phase == "sample":
        return settings.preconditioning.pattern, settings.preconditioning.demand
    if isinstance(settings, IdleRecoverySettings):
        return settings.pattern, settings.demand
    return _grid_step(settings, program, place)


def _grid_step(settings: DemandSettings, program: StoredProgram, place: int) -> tuple[AccessPattern, Demand]:
    """Pre-writes come first; an operating point's demand is chosen in the run, and its step is named by it."""
    measured = place - {"round": settings.pre_write_samples, "point": POINT_STEP}.get(program.phase, place + 1)
    if measured < 0:
        return replace(settings.pattern, read_share=0.0), settings.demand
    if program.phase == "round":
        return settings.pattern, settings.grid[measured]
    label = program.steps[place].label
    return settings.pattern, next(one for one in settings.grid if label.endswith(demand_label(settings, one)))


def _asked_of_loop(
    settings: LoopSettings, program: StoredProgram, place: int, before: StepRecord | None, capacity_bytes: int
) -> AskedStep:
    fill = program.phase == "precondition"
    cell: Cell | None = None
    if not fill:
        cell = settings.cells[place] if program.phase == "round" else settings.tracking[0]
    size = cell.transfer_bytes if cell else settings.preconditioning_transfer_bytes
    fill_bytes = round(capacity_bytes * settings.preconditioning_share)
    name = cell_label(cell, settings.access) if cell else "preconditioning"
    return AskedStep(
        where=f"{name}, round {program.index}" if program.phase == "round" else name,
        program=program,
        place=place,
        record=program.steps[place],
        before=before,
        demand=settings.preconditioning_demand if fill else settings.demand,
        sizes=((size, 1.0),),
        read_share=cell.read_pct / 100 if cell else 0.0,
        random_share=1.0 if cell and settings.access == "random" else 0.0,
        aligned=True,
        range_bytes=fill_bytes if fill else settings.range_amount_bytes,
        fill=fill,
    )
