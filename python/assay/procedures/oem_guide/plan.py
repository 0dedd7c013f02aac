"""The variants of the OEM guide's method: aligned, off the alignment, and with data that compress."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

from pydantic import Field

from assay.engine.records import IDLE, DataPattern, Demand
from assay.plan.options import Options
from assay.procedures.departures import shortened
from assay.procedures.planned import sector_reason
from assay.procedures.studies.plan import (
    FILL_BYTES,
    SAMPLE_SECONDS,
    SMALL,
    Ground,
    Study,
    prepared,
    purged,
    study_departures,
    variants_planned,
)
from assay.spec.units import HOUR_SECONDS, MIB, SECOND_NS, count_label, duration_label
from assay.words.printed import size_label

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import Access, DriveIdentity, StoredTest
    from assay.plan.procedure import PlannedTest
    from assay.procedures.studies.run import StudySettings, StudyStep

OUTSTANDING = 32
BURN_IN_HOURS = 2.0
"""The guide asks for 2 to 3 hours."""
RUN_SECONDS, RAMP_SECONDS = 30.0, 10.0
"""Of the guide's script: its run time and its ramp-up time."""
IDLE_SECONDS = 10.0
BURN_IN_LABEL = "burn-in SEQ 128KiB 0/100"
IDLE_LABEL = "idle: I/Os of others are counted"
DEPTHS = (1, 2, 4, 8, 16, 32)
"""The guide's queue depth cycling: 1 to 32, exponential by 2."""
OFFSET_BYTES = 63 * 512
"""Where the first partition of a disk began that was laid out by cylinders."""
STORED_SHARE = 0.05
"""The stimulus makes no data that compress further."""
ALIGNED = "entropy 100 % aligned"
OFF = f"entropy 100 % offset {OFFSET_BYTES:,} B"
COMPRESSIBLE = "entropy 0 % aligned"


class GuideOptions(Options):
    """Choices for the OEM guide's method. burn_in_hours : of sequential writes before the first test; 2 to 3."""

    burn_in_hours: float = Field(default=BURN_IN_HOURS, gt=0, le=72)

    def demand(self, _: Demand) -> Demand:
        """The demand of the guide, whatever the edition has: 32 outstanding I/Os of one worker."""
        return Demand(thread_count=1, queue_depth=OUTSTANDING)


@dataclass(frozen=True, slots=True)
class Corner:
    """One of the four tests. name : of the guide's access specification. claim : key of the data sheet's."""

    name: str
    access: Access
    transfer_bytes: int
    read_pct: int
    claim: str

    @property
    def title(self) -> str:
        """Its accesses. Worked: ``"SEQ 128KiB reads"``."""
        order = "SEQ" if self.access == "sequential" else "RND"
        return f"{order} {size_label(self.transfer_bytes)} {'reads' if self.read_pct else 'writes'}"

    @property
    def unit(self) -> str:
        """What people quote of it: MB/s of sequential accesses, IOPS of random ones."""
        return "MB/s" if self.access == "sequential" else "IOPS"


CORNERS = (
    Corner("128k_seq_100rd", "sequential", FILL_BYTES, 100, "seq_read_mb_per_s"),
    Corner("128k_seq_100wr", "sequential", FILL_BYTES, 0, "seq_write_mb_per_s"),
    Corner("4k_ran_100rd", "random", SMALL, 100, "rnd_4k_read_iops"),
    Corner("4k_ran_100wr", "random", SMALL, 0, "rnd_4k_write_iops"),
)
"""The guide's table 3-1 in its order."""


def plan_guide(ground: Ground) -> Study:
    """Burn-in, corner tests and queue depth cycling; then the corner tests off the alignment, and with other data.

    Worked: a drive with blocks of 512 bytes has three variants, one with blocks of 4,096 bytes two.
    """
    burn_in = _burn_in(ground)
    # Nothing is issued, so that whatever the drive's own counters count is the work of others.
    idle = prepared(ground.cell("random", SMALL, 100, ground.share(1.0), seconds=IDLE_SECONDS))
    idle = replace(idle, label=IDLE_LABEL, demand=IDLE)
    other = replace(ground, data=DataPattern(kind="compressible", stored_share=STORED_SHARE))
    variants = {
        ALIGNED: (idle, burn_in, *_corners(ground), *_cycling(ground)),
        # As the burn-in leaves it: what random writes leave would be taken for an effect of the offset or of the data.
        OFF: (ground.fill(ground.share(1.0)), *_corners(ground, OFFSET_BYTES)),
        COMPRESSIBLE: (other.fill(other.share(1.0)), *_corners(other)),
    }
    if unfit := OFFSET_BYTES % ground.drive.logical_block_bytes:
        del variants[OFF]
    return Study(
        variants=[purged(label, *steps) for label, steps in variants.items()],
        plots=(),
        reading="stages",
        not_run=((OFF, f"{OFFSET_BYTES:,} bytes are {sector_reason(ground.drive)}"),) if unfit else (),
        words={
            "burn": duration_label(burn_in.span_ns * burn_in.samples),
            "run": duration_label(ground.span_ns(RUN_SECONDS)),
            "ramp": duration_label(ground.span_ns(RAMP_SECONDS)),
        },
    )


def plan_tests(settings: StudySettings, ground: Ground) -> PlannedTest:
    """What the method does on a drive, counted in runs."""
    planned = variants_planned(settings, ground)
    runs = count_label(sum(len(variant.measured) for variant in settings.variants), "run")
    return replace(planned, outline=replace(planned.outline, steps=runs, step_ns=ground.span_ns(RUN_SECONDS)))


def guide_departures(
    settings: StudySettings, table: object, drive: DriveIdentity, test: StoredTest | None
) -> Iterator[str]:
    """As of every study; beside that a burn-in that is shorter than the guide's."""
    yield from study_departures(settings, table, drive, test)
    # The first variant begins idle, then it is burned in.
    burn_in, asked_s = settings.variants[0].steps[1], BURN_IN_HOURS * HOUR_SECONDS
    span_ns = burn_in.span_ns * burn_in.samples
    if span_ns < asked_s * SECOND_NS:
        yield from shortened("oem-guide: burn-in", span_ns, asked_s)


def _burn_in(ground: Ground) -> StudyStep:
    """SEQ 128 KiB writes over the drive in samples of about a minute, so that they can be watched."""
    seconds = ground.request.options.burn_in_hours * HOUR_SECONDS
    samples = max(round(seconds / SAMPLE_SECONDS), 1)
    cell = ground.cell("sequential", FILL_BYTES, 0, ground.share(1.0), seconds=seconds / samples, samples=samples)
    return replace(prepared(cell), label=BURN_IN_LABEL)


def _corners(ground: Ground, from_bytes: int = 0) -> Iterator[StudyStep]:
    return chain.from_iterable(_run(ground, corner, OUTSTANDING, from_bytes) for corner in CORNERS)


def _cycling(ground: Ground) -> Iterator[StudyStep]:
    """Every corner at every depth, the lowest first, as the guide's script cycles them."""
    for corner in CORNERS:
        for depth in DEPTHS:
            ramp, run = _run(ground, corner, depth)
            yield from (ramp, replace(run, label=f"{run.label} QD {depth}", place=float(depth), series=corner.name))


def _run(ground: Ground, corner: Corner, depth: int, from_bytes: int = 0) -> tuple[StudyStep, StudyStep]:
    """The ramp-up, which is no part of the result, and the run. All have one length, so that only the start differs."""
    length = ground.share(1.0) - MIB
    cell = ground.cell(corner.access, corner.transfer_bytes, corner.read_pct, length, seconds=RUN_SECONDS)
    run = replace(cell, label=corner.name, from_bytes=from_bytes, demand=Demand(thread_count=1, queue_depth=depth))
    ramp = replace(prepared(run), label=f"{corner.name} ramp-up", span_ns=ground.span_ns(RAMP_SECONDS))
    return ramp, run
