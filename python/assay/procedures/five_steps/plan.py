"""The five steps as variants of a study, and the samples until steady of the third."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import Field

from assay.engine.pattern import random_pattern
from assay.engine.records import AccessPattern, Cell, Ending, Purge, TestSettings
from assay.plan.options import DemandOptions
from assay.procedures.families.saturation.result import SaturationSettings
from assay.procedures.families.saturation.run import earliest_steady_ns, saturate, saturation_phase
from assay.procedures.planned import sector_reason
from assay.procedures.studies.plan import (
    SAMPLE_SECONDS,
    SMALL,
    Ground,
    Study,
    at_total,
    prepared,
    variant_phases,
    variants_planned,
)
from assay.procedures.studies.run import StudySettings, StudyVariant, variant_actions
from assay.results.step import cell_label
from assay.spec.units import KIB, MIB, count_label, duration_label, kibibytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import DataPattern
    from assay.plan.procedure import Context, Course, PlannedTest
    from assay.procedures.studies.run import StudyStep

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
LOADS = (1, 4, 8, 64, 256)
"""Outstanding I/Os: linear, very light, light, moderate and heavy.

Source: fio, examples/iometer-file-access-server.fio.
"""


class Composite(NamedTuple):
    """A workload of a whole system. read_pct, random_pct : of the accesses, drawn independently.

    sizes_kib : (KiB, per cent) pairs.
    """

    name: str
    read_pct: int
    random_pct: int
    sizes_kib: tuple[tuple[float, int], ...]

    @property
    def sizes(self) -> tuple[tuple[int, int], ...]:
        """Transfer sizes in bytes with their shares."""
        return tuple((round(size * KIB), pct) for size, pct in self.sizes_kib)

    def pattern(self, alignment_bytes: int, data: DataPattern) -> AccessPattern:
        """Its accesses. alignment_bytes : of random ones; the published rows say 0, which is the sector of the drive.

        Worked: the file server on sectors of 512 bytes -> 60 % of its accesses are of 4 KiB, begun at any sector.
        """
        return AccessPattern(
            sizes=tuple((size, pct / 100) for size, pct in self.sizes),
            read_share=self.read_pct / 100,
            random_share=self.random_pct / 100,
            alignment_bytes=alignment_bytes,
            cursor="iometer",
            data=data,
        )


COMPOSITES = (
    # Intel's, as in Tom's Hardware 2285 page 8 and in fio, examples/iometer-file-access-server.fio.
    Composite("File server", 80, 100, ((0.5, 10), (1, 5), (2, 5), (4, 60), (8, 2), (16, 4), (32, 4), (64, 10))),
    # The same page of Tom's Hardware.
    Composite(
        "Web server",
        100,
        100,
        ((0.5, 22), (1, 15), (2, 8), (4, 23), (8, 15), (16, 2), (32, 6), (64, 7), (128, 1), (512, 1)),
    ),
    # Tom's Hardware and hexus 24329.
    Composite("Database", 67, 100, ((8, 100),)),
    Composite("Workstation", 80, 80, ((8, 100),)),
)


class FiveStepsOptions(DemandOptions):
    """Choices for the five steps; limits are shares. The source states none, so that all of them are ours.

    settled_limit : step 1, by which the halves of the last pass differ at most. hole_share : step 2, of the lower
    neighbour that each block size reaches. score_limit : step 3, of the seconds within 10 % of their median.
    drop_limit : step 4, by which sequential writes are slower after random writes at most. load_share : step 5, of the
    highest IOPS at a lighter load that a heavier load keeps.
    """

    settled_limit: float = Field(default=0.10, gt=0, le=1)
    hole_share: float = Field(default=0.50, gt=0, le=1)
    score_limit: float = Field(default=0.90, gt=0, le=1)
    drop_limit: float = Field(default=0.10, gt=0, le=1)
    load_share: float = Field(default=0.90, gt=0, le=1)


LIMITS = ("settled_limit", "hole_share", "score_limit", "drop_limit", "load_share")


@dataclass(frozen=True, slots=True, kw_only=True)
class FiveStepsSettings(StudySettings):
    """A study whose third variant follows samples until steady.

    variants : one per step, in order. stability : the samples. sizes_bytes, read_pcts : of the surface.
    settled_limit to load_share : of the verdicts, as in ``FiveStepsOptions``.
    """

    stability: SaturationSettings
    sizes_bytes: tuple[int, ...]
    read_pcts: tuple[int, ...]
    settled_limit: float
    hole_share: float
    score_limit: float
    drop_limit: float
    load_share: float

    @property
    def surface(self) -> dict[str, Cell]:
        """The cells of the surface by the label of their step. Worked: ``RND 4KiB 65/35`` -> 65 % reads of 4 KiB."""
        cells = (Cell(read_pct=mix, transfer_bytes=size) for mix in self.read_pcts for size in self.sizes_bytes)
        return {cell_label(cell): cell for cell in cells}

    def fault(self) -> str | None:
        """Steps that the method does not have."""
        labels = [[step.label for step in variant.measured] for variant in self.variants]
        five = (
            len(labels) == len(LABELS) and len(labels[0]) == len(labels[2]) == 1 and set(labels[1]) <= set(self.surface)
        )
        return None if five else "has other steps than the five"


def plan_five_steps(ground: Ground) -> Study:
    """A variant per step. Worked: 84 cells on a drive with blocks of 512 bytes, 63 on one with blocks of 4,096."""
    length, block = ground.share(1.0), ground.drive.logical_block_bytes
    sizes, runnable = (
        surface_sizes(ground),
        [one for one in COMPOSITES if not any(size % block for size, _ in one.sizes)],
    )
    # A cell of a minute per mix and size, in the order of the IOPS test: mixes outside, the largest first.
    surface = [
        replace(ground.cell("random", size, mix, length), place=kibibytes(size), series=f"{mix}/{100 - mix}")
        for mix in MIXES
        for size in sizes
    ]
    # On a drive that random writes have saturated: else the first loads are those of one that is fresh to them.
    composites = (prepared(ground.writes(length, 60)), *(step for one in runnable for step in _composite(ground, one)))
    steps = ((ground.passes(length, PASSES),), surface, (ground.whole("random", SMALL, 0),), (), composites)
    variants = [
        StudyVariant(label=label, purge=not index, steps=tuple(part))
        for index, (label, part) in enumerate(zip(LABELS, steps, strict=True))
    ]
    # Sequential writes behind random ones are no measure of what they were before: this step begins purged.
    variants[INDEPENDENCE] = ground.changing(LABELS[INDEPENDENCE], 1.0)
    reason = sector_reason(ground.drive)
    return Study(
        variants=tuple(variants),
        plots=(),
        reading="stages",
        not_run=(
            *((f"{kibibytes(size):g}KiB", f"is {reason}") for size in SIZES if size not in sizes),
            *((one.name, f"holds sizes that are {reason}") for one in COMPOSITES if one not in runnable),
        ),
        words={"cells": count_label(len(surface), "cell"), "composites": count_label(len(runnable), "workload")},
    )


def surface_sizes(ground: Ground) -> tuple[int, ...]:
    """The block sizes of the surface that the drive can run."""
    return tuple(size for size in SIZES if size % ground.drive.logical_block_bytes == 0)


def _composite(ground: Ground, composite: Composite) -> Iterator[StudyStep]:
    """A minute of the workload first, then five at every load, the lightest first."""
    block = ground.drive.logical_block_bytes
    cell = ground.cell("random", SMALL, composite.read_pct, ground.share(1.0), samples=COMPOSITE_SAMPLES)
    step = replace(cell, pattern=composite.pattern(block, ground.data), label=composite.name, series=composite.name)
    yield replace(prepared(at_total(step, LOADS[0])), samples=1)
    yield from (at_total(step, load) for load in LOADS)


def plan_steps(settings: StudySettings, ground: Ground) -> PlannedTest:
    """What the five steps do on a drive: variants, and before the third one samples until steady."""
    made = FiveStepsSettings(
        **{part.name: getattr(settings, part.name) for part in fields(StudySettings)},
        stability=_stability(settings, ground),
        sizes_bytes=surface_sizes(ground),
        read_pcts=MIXES,
        **{name: getattr(ground.request.options, name) for name in LIMITS},
    )
    planned = variants_planned(made, ground)
    phases = [list(variant_phases(variant)) for variant in made.variants]
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
    known: dict[str, Any] = {part.name: getattr(settings, part.name) for part in fields(TestSettings)}
    known |= {"range_limit": table.range_limit.value, "slope_limit": table.slope_limit.value}
    return SaturationSettings(
        **known,
        pattern=random_pattern(SMALL, 0.0, ground.data),
        label=cell_label(Cell(read_pct=0, transfer_bytes=SMALL)),
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
