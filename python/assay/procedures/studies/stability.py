"""Study stability.

Question:      How steady is the performance of a saturated drive from second to second?
Source:        Spanjer, "What's up with these numbers" (2009): performance stability, performance over time.
Purge:         before the first variant.
Precondition:  sequential writes over the drive, then RND 4 KiB writes for 2 hours; a pass of sequential writes
               before the last variant.
Loop:          20 minutes without a gap; variants: RND 4 KiB writes, 65/35, SEQ 1024 KiB writes. A scaled run keeps at
               least 20 seconds of each.
Result:        IOPS and maximum response time of every second. Score: share of the seconds whose IOPS lie within 10 % of
               their median; also the coefficient of variation and the worst second.
"""

from __future__ import annotations

from dataclasses import replace

from assay.procedures.studies.define import study
from assay.procedures.studies.ground import LARGE, SMALL, Ground, Study, prepared
from assay.procedures.studies.settings import StudyPlot, StudyStep, StudyVariant
from assay.spec.units import MINUTE_NS, SECOND_NS, duration_label

MINUTES = 20
SCALED_SECONDS_MIN = 20


def plan_stability(ground: Ground) -> Study:
    """Variants by workload, each in one step whose seconds are kept."""
    length = ground.share(1.0)
    first = (*ground.saturated(length), whole_step(ground, "random", SMALL, 0))
    sequential = (prepared(ground.passes(length, 1)), whole_step(ground, "sequential", LARGE, 0))
    return Study(
        variants=(
            StudyVariant(label="RND 4KiB writes", purge=True, steps=first),
            StudyVariant(label="RND 4KiB 65/35", purge=False, steps=(whole_step(ground, "random", SMALL, 65),)),
            StudyVariant(label="SEQ 1024KiB writes", purge=False, steps=sequential),
        ),
        plots=(StudyPlot(kind="seconds", variable="relative"), StudyPlot(kind="seconds", variable="largest")),
        reading="stability",
        words={"whole": duration_label(first[-1].span_ns)},
    )


def whole_step(ground: Ground, access: str, size: int, read_pct: int) -> StudyStep:
    """All minutes in one step, so that no second is cut."""
    step = ground.cell("random" if access == "random" else "sequential", size, read_pct, ground.share(1.0))
    span_ns = max(ground.span_ns(MINUTES * 60), SCALED_SECONDS_MIN * SECOND_NS)
    return replace(step, span_ns=span_ns)


STABILITY = study(
    "stability",
    header=__doc__,
    title="Performance Stability",
    question="How steady is the performance of a saturated drive from second to second?",
    outline="{whole} each of RND 4KiB writes, RND 4KiB 65/35 and SEQ 1024KiB writes, second by second.",
    preparation=(
        "Purge, sequential writes over the drive and {120} of RND 4KiB writes, once; before the SEQ 1024KiB writes, "
        "sequential writes over the drive once more."
    ),
    words={"whole": duration_label(MINUTES * MINUTE_NS)},
    plan=plan_stability,
)
