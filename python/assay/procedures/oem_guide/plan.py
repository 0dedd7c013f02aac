"""The variants of the OEM guide's method: aligned, off the alignment, and with data that compress."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.engine.records import IDLE, DataPattern, Demand
from assay.procedures.oem_guide.options import OUTSTANDING
from assay.procedures.planned import sector_reason
from assay.procedures.studies.define import joined_phases, variants_planned
from assay.procedures.studies.ground import FILL_BYTES, SAMPLE_SECONDS, SMALL, Ground, Study, prepared
from assay.procedures.studies.settings import StudyVariant
from assay.spec.units import HOUR_SECONDS, MIB, count_label, duration_label
from assay.words.printed import size_label

if TYPE_CHECKING:
    from assay.engine.records import Access
    from assay.plan.procedure import PlannedTest
    from assay.procedures.studies.settings import StudySettings, StudyStep

RUN_SECONDS, RAMP_SECONDS = 30.0, 10.0
"""Of the guide's script: its run time and its ramp-up time."""
IDLE_SECONDS = 10.0
BURN_IN_LABEL = "burn-in SEQ 128KiB 0/100"
IDLE_LABEL = "idle: I/Os of others are counted"
DEPTHS = (1, 2, 4, 8, 16, 32)
"""The guide's queue depth cycling: 1 to 32, exponential by 2."""
SECTOR_BYTES = 512
OFFSET_BYTES = 63 * SECTOR_BYTES
"""Where the first partition of a disk began that was laid out by cylinders."""
STORED_SHARE = 0.05
"""The stimulus makes no data that compress further."""

ALIGNED = "entropy 100 % aligned"
OFF = f"entropy 100 % offset {OFFSET_BYTES:,} B"
COMPRESSIBLE = "entropy 0 % aligned"


@dataclass(frozen=True, slots=True, kw_only=True)
class Corner:
    """One of the four tests. name : of the guide's access specification. claim : key of the data sheet's."""

    name: str
    title: str
    access: Access
    transfer_bytes: int
    read_pct: int
    claim: str


def _corner(name: str, access: Access, size: int, read_pct: int, claim: str) -> Corner:
    title = f"{'SEQ' if access == 'sequential' else 'RND'} {size_label(size)} {'reads' if read_pct else 'writes'}"
    return Corner(name=name, title=title, access=access, transfer_bytes=size, read_pct=read_pct, claim=claim)


CORNERS = (
    _corner("128k_seq_100rd", "sequential", FILL_BYTES, 100, "seq_read_mb_per_s"),
    _corner("128k_seq_100wr", "sequential", FILL_BYTES, 0, "seq_write_mb_per_s"),
    _corner("4k_ran_100rd", "random", SMALL, 100, "rnd_4k_read_iops"),
    _corner("4k_ran_100wr", "random", SMALL, 0, "rnd_4k_write_iops"),
)
"""The guide's table 3-1 in its order."""


def plan_guide(ground: Ground) -> Study:
    """Burn-in, corner tests and queue depth cycling; then the corner tests off the alignment, and with other data.

    Worked: a drive with blocks of 512 bytes has three variants, one with blocks of 4,096 bytes two.
    """
    burn_in = _burn_in(ground)
    steps = (_idle(ground), burn_in, *_corners(ground), *_cycling(ground))
    aligned = StudyVariant(label=ALIGNED, purge=True, steps=steps)
    # As the burn-in leaves it: what random writes leave would be taken for an effect of the offset or of the data.
    off = StudyVariant(label=OFF, purge=True, steps=(ground.fill(ground.share(1.0)), *_corners(ground, OFFSET_BYTES)))
    other = replace(ground, data=DataPattern(kind="compressible", stored_share=STORED_SHARE))
    steps = (other.fill(other.share(1.0)), *_corners(other))
    compressible = StudyVariant(label=COMPRESSIBLE, purge=True, steps=steps)
    fits = OFFSET_BYTES % ground.drive.logical_block_bytes == 0
    return Study(
        variants=(aligned, off, compressible) if fits else (aligned, compressible),
        plots=(),
        reading="stages",
        not_run=() if fits else ((OFF, f"{OFFSET_BYTES:,} bytes are {sector_reason(ground.drive)}"),),
        words={
            "burn": duration_label(burn_in.span_ns * burn_in.samples),
            "run": duration_label(ground.span_ns(RUN_SECONDS)),
            "ramp": duration_label(ground.span_ns(RAMP_SECONDS)),
        },
    )


def plan_tests(settings: StudySettings, ground: Ground) -> PlannedTest:
    """What the method does on a drive; its many short runs are told as one part."""
    phases = (phase for variant in settings.variants for phase in joined_phases(variant))
    planned = variants_planned(settings, ground)
    runs = sum(step.role == "measure" for variant in settings.variants for step in variant.steps)
    outline = replace(planned.outline, steps=count_label(runs, "run"), step_ns=ground.span_ns(RUN_SECONDS))
    return replace(planned, phases=tuple(phases), outline=outline)


def corner_of(step_label: str) -> Corner | None:
    """The corner that a measured step belongs to. Worked: ``4k_ran_100rd QD 8`` -> that of RND 4 KiB reads."""
    return next((one for one in CORNERS if one.name == step_label.partition(" ")[0]), None)


def _idle(ground: Ground) -> StudyStep:
    """Nothing is issued, so that whatever the drive's own counters count is the work of others."""
    step = prepared(ground.cell("random", SMALL, 100, ground.share(1.0), seconds=IDLE_SECONDS))
    return replace(step, label=IDLE_LABEL, demand=IDLE)


def _burn_in(ground: Ground) -> StudyStep:
    """SEQ 128 KiB writes over the drive in samples of about a minute, so that they can be watched."""
    seconds = ground.request.options.burn_in_hours * HOUR_SECONDS
    samples = max(round(seconds / SAMPLE_SECONDS), 1)
    cell = ground.cell("sequential", FILL_BYTES, 0, ground.share(1.0), seconds=seconds / samples, samples=samples)
    return replace(prepared(cell), label=BURN_IN_LABEL)


def _corners(ground: Ground, from_bytes: int = 0) -> tuple[StudyStep, ...]:
    steps = (_run(ground, corner, OUTSTANDING, from_bytes) for corner in CORNERS)
    return tuple(step for pair in steps for step in pair)


def _cycling(ground: Ground) -> tuple[StudyStep, ...]:
    """Every corner at every depth, the lowest first, as the guide's script cycles them."""
    result = []
    for corner in CORNERS:
        for depth in DEPTHS:
            ramp, run = _run(ground, corner, depth)
            result += [ramp, replace(run, label=f"{run.label} QD {depth}", place=float(depth), series=corner.name)]
    return tuple(result)


def _run(ground: Ground, corner: Corner, depth: int, from_bytes: int = 0) -> tuple[StudyStep, StudyStep]:
    """The ramp-up, which is no part of the result, and the run. All have one length, so that only the start differs."""
    length = ground.share(1.0) - MIB
    cell = ground.cell(corner.access, corner.transfer_bytes, corner.read_pct, length, seconds=RUN_SECONDS)
    run = replace(cell, label=corner.name, from_bytes=from_bytes, demand=Demand(thread_count=1, queue_depth=depth))
    ramp = replace(prepared(run), label=f"{corner.name} ramp-up", span_ns=ground.span_ns(RAMP_SECONDS))
    return ramp, run
