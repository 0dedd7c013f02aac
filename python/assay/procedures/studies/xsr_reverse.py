"""Study xsr-reverse.

Question:      How does a drive take the change between sequential and random writes, in either order?
Source:        Calypso Blind Survey 2010, level II: cross stimulus recovery RND-SEQ-RND and SEQ-RND-SEQ. The survey's
               durations are open; they are those of XSR in PTS-E 1.1.
Purge:         before every variant.
Precondition:  none.
Loop:          SEQ 1024 KiB writes for 8 hours and RND 8 KiB writes for 6 hours in one-minute samples; variants:
               SEQ-RND-SEQ and RND-SEQ-RND.
Result:        MB/s and average response time over time; the stage that comes again against the first, recovery time.
"""

from __future__ import annotations

from assay.procedures.studies.define import study
from assay.procedures.studies.ground import LARGE, Ground, Study
from assay.procedures.studies.settings import StudyPlot, StudyVariant
from assay.units import KIB

SEQUENTIAL_HOURS, RANDOM_HOURS = 8, 6


def plan_xsr_reverse(ground: Ground) -> Study:
    """Variants by order of the access groups."""
    length = ground.share(1.0)
    sequential = ground.cell("sequential", LARGE, 0, length, samples=SEQUENTIAL_HOURS * 60)
    random = ground.cell("random", 8 * KIB, 0, length, samples=RANDOM_HOURS * 60)
    return Study(
        variants=(
            StudyVariant(label="SEQ-RND-SEQ", purge=True, steps=(sequential, random, sequential)),
            StudyVariant(label="RND-SEQ-RND", purge=True, steps=(random, sequential, random)),
        ),
        plots=(StudyPlot(kind="time", variable="throughput"), StudyPlot(kind="time", variable="response")),
        reading="change",
    )


XSR_REVERSE = study(
    "xsr-reverse",
    title="Cross Stimulus Recovery in Both Orders",
    question="How does a drive take the change between sequential and random writes, in either order?",
    outline="SEQ 1024KiB writes for 8 hours and RND 8KiB writes for 6 hours: SEQ-RND-SEQ, then RND-SEQ-RND.",
    preparation="Purge only, for every variant.",
    plan=plan_xsr_reverse,
)
