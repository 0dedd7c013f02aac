"""Study over-provisioning.

Question:      How much faster do random writes become when part of the drive is left unused?
Purge:         before every variant.
Precondition:  sequential writes over the variant's active range; the rest stays purged and is spare area.
Loop:          RND 4 KiB writes for 2 hours; variants: active ranges of 100, 80, 50, 25, 10 and 5 % of the drive.
Result:        IOPS over time; settled IOPS over active range and over those of the whole drive.
"""

from __future__ import annotations

from assay.procedures.studies.define import study
from assay.procedures.studies.ground import Ground, Study
from assay.procedures.studies.settings import StudyPlot, StudyVariant

SHARES = (1.0, 0.8, 0.5, 0.25, 0.1, 0.05)


def plan_over_provisioning(ground: Ground) -> Study:
    """Variants by active range of preconditioning and test."""
    return Study(
        variants=tuple(_variant(share, ground) for share in SHARES),
        plots=(
            StudyPlot(kind="time", variable="iops"),
            StudyPlot(kind="places", variable="iops", x_title="Active range (% of the drive)"),
        ),
        reading="stages",
        settled_share=0.2,
    )


def _variant(share: float, ground: Ground) -> StudyVariant:
    length = ground.share(share)
    steps = (ground.fill(length), ground.writes(length, 120))
    return StudyVariant(label=f"AR {share * 100:g} %", purge=True, steps=steps, place=share * 100)


OVER_PROVISIONING = study(
    "over-provisioning",
    header=__doc__,
    title="Over-Provisioning",
    question="How much faster do random writes become when part of the drive is left unused?",
    outline="RND 4KiB writes for {120} over 100, 80, 50, 25, 10 and 5 % of the drive.",
    preparation="Purge and sequential writes over the same range only, for every variant.",
    plan=plan_over_provisioning,
)
