"""Study cell-order.

Question:      Does the order of block sizes in a test loop change the figures?
Purge:         before every variant.
Precondition:  sequential writes over the drive, then four rounds of the loop.
Loop:          a round of 1 min cells of RND writes; variants: block sizes descending as in the specification,
               ascending, and in a fixed shuffled order.
Result:        IOPS per block size and order.
"""

from __future__ import annotations

from dataclasses import replace

from assay.procedures.studies.define import study
from assay.procedures.studies.ground import Ground, Study, prepared
from assay.procedures.studies.settings import StudyPlot, StudyVariant
from assay.spec.units import KIB, kib_label

DESCENDING = (1024.0, 128.0, 64.0, 32.0, 16.0, 8.0, 4.0, 0.5)
SHUFFLED = (8.0, 0.5, 128.0, 4.0, 1024.0, 16.0, 64.0, 32.0)
ROUNDS_BEFORE = 4


def plan_cell_order(ground: Ground) -> Study:
    """Variants by order of the block sizes. Sizes below the drive's block are left out."""
    orders = (("descending", DESCENDING), ("ascending", DESCENDING[::-1]), ("shuffled", SHUFFLED))
    block = ground.drive.logical_block_bytes
    unfit = [size for size in DESCENDING if int(size * KIB) % block]
    return Study(
        variants=tuple(_variant(label, [one for one in order if one not in unfit], ground) for label, order in orders),
        plots=(
            StudyPlot(kind="places", variable="iops", x_title="Block size (KiB)", x_scale="log"),
            StudyPlot(kind="places", variable="response", x_title="Block size (KiB)", x_scale="log"),
        ),
        reading="grid",
        not_run=tuple(
            (f"{kib_label(int(size * KIB))}KiB", f"no multiple of the drive's {block}-byte logical block")
            for size in unfit
        ),
    )


def _variant(label: str, order: list[float], ground: Ground) -> StudyVariant:
    length = ground.share(1.0)
    cells = [replace(ground.cell("random", int(size * KIB), 0, length), place=size) for size in order]
    before = [prepared(cell) for cell in cells] * ROUNDS_BEFORE
    return StudyVariant(label=label, purge=True, steps=(ground.fill(length), *before, *cells))


CELL_ORDER = study(
    "cell-order",
    header=__doc__,
    title="Order of Cells",
    question="Does the order of block sizes in a test loop change the figures?",
    outline="RND writes of 1024 to 0.5KiB, {1} each: descending, ascending, and in a fixed shuffled order.",
    preparation="Purge, sequential writes over the drive and four rounds of the loop, for every variant.",
    plan=plan_cell_order,
)
