"""Study alignment.

Question:      What do 4 KiB accesses cost that miss the internal alignment of the drive?
Purge:         before the first variant.
Precondition:  sequential writes over the drive, then RND 4 KiB writes for 2 hours.
Loop:          RND 4 KiB accesses for 5 minutes each, begun 0, 512, 1024, 2048 and 4096 bytes off a grid of 4 KiB;
               variants: writes, then reads, on the same drive.
Result:        IOPS and average response time over the offset.
"""

from __future__ import annotations

from dataclasses import replace

from assay.procedures.studies.define import study
from assay.procedures.studies.ground import SMALL, Ground, Study, prepared
from assay.procedures.studies.settings import StudyPlot, StudyVariant
from assay.spec.units import MIB

OFFSETS = (0, 512, 1024, 2048, 4096)


def plan_alignment(ground: Ground) -> Study:
    """Variants by direction, steps by offset. Offsets inside the drive's block are left out."""
    block = ground.drive.logical_block_bytes
    offsets = [offset for offset in OFFSETS if offset % block == 0]
    return Study(
        variants=tuple(
            _variant(label, mix, offsets, ground, first=not mix) for mix, label in ((0, "writes"), (100, "reads"))
        ),
        plots=(
            StudyPlot(kind="places", variable="iops", x_title="Offset (bytes)"),
            StudyPlot(kind="places", variable="response", x_title="Offset (bytes)"),
        ),
        reading="grid",
        not_run=tuple(
            (f"offset {offset}", f"no multiple of the drive's {block}-byte logical block")
            for offset in OFFSETS
            if offset not in offsets
        ),
    )


def _variant(label: str, read_pct: int, offsets: list[int], ground: Ground, *, first: bool) -> StudyVariant:
    length = ground.share(1.0)
    before = ground.saturated(length) if first else ()
    # The same length at every offset, so that only the beginning differs.
    cell = ground.cell("random", SMALL, read_pct, length - MIB, samples=5)
    before = (*before, prepared(replace(cell, samples=1)))
    cells = tuple(
        replace(cell, label=f"{cell.label} offset {offset}", from_bytes=offset, place=float(offset))
        for offset in offsets
    )
    return StudyVariant(label=label, purge=first, steps=(*before, *cells))


ALIGNMENT = study(
    "alignment",
    header=__doc__,
    title="Alignment",
    question="What do 4KiB accesses cost that miss the internal alignment of the drive?",
    outline="RND 4KiB accesses for {5} each, begun 0, 512, 1024, 2048 and 4096 bytes off a grid of 4KiB.",
    preparation="Purge, sequential writes over the drive and {120} of RND 4KiB writes, once.",
    plan=plan_alignment,
)
