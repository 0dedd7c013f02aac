"""Study oio.

Question:      How do IOPS and response time depend on the number of outstanding I/Os (throttling of the OIO)?
Purge:         before the first variant.
Precondition:  sequential writes over the drive, then RND 4 KiB writes for 2 hours.
Loop:          RND 4 KiB accesses at 1, 2, 4 ... 256 outstanding, 1 min each: up to 32 by a single thread, then by more
               threads of 32; variants: writes, 65/35, then reads, on the same drive.
Result:        IOPS and average response time over total OIO; how far the effective OIO is from TC x QD.
"""

from __future__ import annotations

from dataclasses import replace

from assay.engine.records import Demand
from assay.procedures.studies.define import study
from assay.procedures.studies.ground import SMALL, Ground, Study, prepared
from assay.procedures.studies.settings import StudyPlot, StudyStep, StudyVariant

OUTSTANDING = tuple(2**power for power in range(9))
MIXES = ((0, "writes"), (65, "65/35"), (100, "reads"))
QUEUE_DEPTH_MAX = 32


def plan_oio(ground: Ground) -> Study:
    """Variants by read/write mix, steps by total OIO. Worked: 64 outstanding are TC 2 x QD 32."""
    return Study(
        variants=tuple(_variant(index, mix, label, ground) for index, (mix, label) in enumerate(MIXES)),
        plots=(
            StudyPlot(kind="places", variable="iops", x_title="Total OIO", x_scale="log"),
            StudyPlot(kind="places", variable="response", x_title="Total OIO", x_scale="log"),
        ),
        reading="grid",
    )


def _variant(index: int, read_pct: int, label: str, ground: Ground) -> StudyVariant:
    length = ground.share(1.0)
    before = () if index else ground.saturated(length)
    # A minute of the same accesses first: what the drive still has to write from before is none of theirs.
    before = (*before, prepared(ground.cell("random", SMALL, read_pct, length)))
    cells = tuple(at_total(ground.cell("random", SMALL, read_pct, length), total) for total in OUTSTANDING)
    return StudyVariant(label=label, purge=not index, steps=(*before, *cells))


def at_total(step: StudyStep, total: int) -> StudyStep:
    """A step with so many outstanding: up to 32 of one thread, then of more threads. Worked: 64 -> TC 2 x QD 32."""
    depth = min(total, QUEUE_DEPTH_MAX)
    demand = Demand(thread_count=total // depth, queue_depth=depth)
    return replace(step, label=f"{step.label} OIO {total}", demand=demand, place=float(total))


OIO = study(
    "oio",
    header=__doc__,
    title="OIO Throttling",
    question="How do IOPS and response time depend on the number of outstanding I/Os?",
    outline="RND 4KiB accesses at 1, 2, 4 to 256 outstanding I/Os, {1} each: writes, 65/35, reads.",
    preparation="Purge, sequential writes over the drive and {120} of RND 4KiB writes, once.",
    plan=plan_oio,
)
