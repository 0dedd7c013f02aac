"""The five steps as variants of a study, and the samples until steady of the third."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING

from assay.engine.pattern import random_pattern
from assay.engine.records import Cell, Ending, Purge
from assay.procedures.families.saturation.result import SaturationSettings
from assay.procedures.families.saturation.run import earliest_steady_ns, saturate, saturation_phase
from assay.procedures.five_steps.settings import FiveStepsSettings
from assay.procedures.five_steps.workloads import COMPOSITES, LOADS
from assay.procedures.planned import sector_reason, unfit
from assay.procedures.studies.define import joined_phases, variants_planned
from assay.procedures.studies.ground import SAMPLE_SECONDS, SMALL, Ground, Study, prepared
from assay.procedures.studies.oio import at_total
from assay.procedures.studies.run import variant_actions
from assay.procedures.studies.settings import StudySettings, StudyVariant
from assay.procedures.studies.stability import whole_step
from assay.procedures.studies.workload_dependency import changing_variant
from assay.results import cell_label
from assay.spec.units import KIB, MIB, count_label, duration_label, kibibytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.plan.procedure import Context, Course, PlannedTest
    from assay.procedures.five_steps.workloads import Composite
    from assay.procedures.studies.settings import StudyStep

PASSES = 2
SIZES = tuple(MIB >> power for power in range(12))
"""1 MiB to 512 bytes, the largest first."""
MIXES = (100, 95, 65, 50, 35, 5, 0)
"""Reads in per cent; those of the IOPS test, so that the two can be laid side by side."""
SAMPLES_PER_VERDICT, VERDICTS_MAX = 30, 25
"""As the preconditioning by samples of PTS-E 1.1: minutes 30 apart, at most 25 of them."""
COMPOSITE_SAMPLES = 5
LABELS = ("1 precondition", "2 IOPS surface", "3 stability", "4 workload independence", "5 composite workloads")
PRECONDITION, SURFACE, STABILITY, INDEPENDENCE, COMPOSITE = range(5)


def plan_five_steps(ground: Ground) -> Study:
    """A variant per step. Worked: 84 cells on a drive with blocks of 512 bytes, 63 on one with blocks of 4,096."""
    length, block = ground.share(1.0), ground.drive.logical_block_bytes
    runnable = [one for one in COMPOSITES if not unfit("", one.name, one.pattern(block, ground.data), ground.drive)]
    # On a drive that random writes have saturated: else the first loads are those of one that is fresh to them.
    saturated = (prepared(ground.writes(length, 60)),)
    composites = tuple(step for one in runnable for step in _composite(ground, one))
    steps = (
        (ground.passes(length, PASSES),),
        _surface(ground),
        (whole_step(ground, "random", SMALL, 0),),
        (),
        (*saturated, *composites),
    )
    variants = [
        StudyVariant(label=label, purge=not index, steps=part)
        for index, (label, part) in enumerate(zip(LABELS, steps, strict=True))
    ]
    # Sequential writes behind random ones are no measure of what they were before: this step begins purged.
    variants[INDEPENDENCE] = changing_variant(LABELS[INDEPENDENCE], 1.0, ground)
    return Study(
        variants=tuple(variants),
        plots=(),
        reading="stages",
        not_run=tuple(_not_run(ground)),
        words={"cells": count_label(len(steps[SURFACE]), "cell"), "composites": count_label(len(runnable), "workload")},
    )


def _not_run(ground: Ground) -> Iterator[tuple[str, str]]:
    """Sizes that are no multiple of the drive's block, and workloads that hold one."""
    reason = sector_reason(ground.drive)
    block = ground.drive.logical_block_bytes
    yield from ((f"{kibibytes(size):g}KiB", f"is {reason}") for size in SIZES if size % block)
    for one in COMPOSITES:
        if any(size % block for size, _ in one.sizes):
            yield one.name, f"holds sizes that are {reason}"


def surface_sizes(ground: Ground) -> tuple[int, ...]:
    """The block sizes of the surface that the drive can run."""
    return tuple(size for size in SIZES if size % ground.drive.logical_block_bytes == 0)


def _surface(ground: Ground) -> tuple[StudyStep, ...]:
    """A cell of a minute per mix and size, random, in the order of the IOPS test: mixes outside, the largest first."""
    return tuple(
        replace(ground.cell("random", size, mix, ground.share(1.0)), place=kibibytes(size), series=f"{mix}/{100 - mix}")
        for mix in MIXES
        for size in surface_sizes(ground)
    )


def _composite(ground: Ground, composite: Composite) -> tuple[StudyStep, ...]:
    """A minute of the workload first, then five at every load, the lightest first."""
    block = ground.drive.logical_block_bytes
    cell = ground.cell("random", SMALL, composite.read_pct, ground.share(1.0), samples=COMPOSITE_SAMPLES)
    step = replace(cell, pattern=composite.pattern(block, ground.data), label=composite.name, series=composite.name)
    before = replace(prepared(at_total(step, LOADS[0])), samples=1)
    loads = (replace(at_total(step, load), label=f"{composite.name} OIO {load}", place=float(load)) for load in LOADS)
    return (before, *loads)


def plan_steps(settings: StudySettings, ground: Ground) -> PlannedTest:
    """What the five steps do on a drive: variants, and before the third one samples until steady."""
    base = {part.name: getattr(settings, part.name) for part in fields(StudySettings)}
    options = ground.request.options
    made = FiveStepsSettings(
        **base,
        stability=_stability(settings, ground),
        sizes_bytes=surface_sizes(ground),
        read_pcts=MIXES,
        settled_limit=options.settled_limit,
        hole_share=options.hole_share,
        score_limit=options.score_limit,
        drop_limit=options.drop_limit,
        load_share=options.load_share,
    )
    planned = variants_planned(made, ground)
    phases = [list(joined_phases(variant)) for variant in made.variants]
    phases[STABILITY].insert(0, saturation_phase("stability until steady", made.stability))
    earliest_ns = earliest_steady_ns(made.stability)
    note = f"before {LABELS[STABILITY]}: {made.stability.label} until steady, {duration_label(earliest_ns)} or more"
    return replace(
        planned,
        run=run_five_steps,
        earliest_ns=planned.earliest_ns + earliest_ns,
        latest_ns=None,
        step_count=None,
        phases=tuple(phase for part in phases for phase in part),
        outline=replace(planned.outline, notes=(*planned.outline.notes, note)),
    )


def _stability(settings: StudySettings, ground: Ground) -> SaturationSettings:
    """RND 4 KiB writes in samples of a minute until the five-point rule of the edition holds."""
    table, sample_ns = ground.iops_table, ground.span_ns(SAMPLE_SECONDS)
    return SaturationSettings(
        procedure=settings.procedure,
        test=settings.test,
        edition=settings.edition,
        demand=ground.demand,
        data=ground.data,
        pattern=random_pattern(SMALL, 0.0, ground.data),
        label=cell_label(Cell(read_pct=0, transfer_bytes=4 * KIB)),
        range_amount_bytes=ground.share(1.0),
        segment_count=None,
        range_limit=table.range_limit.value,
        slope_limit=table.slope_limit.value,
        write_cache_required=settings.write_cache_required,
        sample_ns=sample_ns,
        samples_per_verdict=SAMPLES_PER_VERDICT,
        first_verdict_sample=1,
        stop="rounds",
        time_ns=(1 + (VERDICTS_MAX - 1) * SAMPLES_PER_VERDICT) * sample_ns,
        amount_bytes=0,
    )


def run_five_steps(settings: FiveStepsSettings, context: Context) -> Course:
    """Every step in order; the third writes until steady first. One that is not steady goes on: its verdict says so."""
    for index, variant in enumerate(settings.variants):
        if variant.purge:
            yield Purge()
        if index == STABILITY:
            last = yield from saturate(settings.stability, "measure")
            if last.silent:
                return last.ending(reached=False)
        yield from variant_actions(variant, index + 1, context)
    return Ending(reason="time", reached=True)
