"""Study trim.

Question:      What does it help when the host tells the drive what it no longer needs?
Purge:         before every variant.
Precondition:  sequential writes over the drive, then RND 4 KiB writes for 2 hours.
Loop:          RND 4 KiB writes to the first half for an hour; variants: the second half trimmed before them, or not.
Result:        IOPS and average response time over time; settled values over those without trim.
"""

from __future__ import annotations

from dataclasses import replace

from assay.engine.records import SkippedTest
from assay.procedures.studies.define import study
from assay.procedures.studies.ground import Ground, Study
from assay.procedures.studies.settings import StudyPlot, StudyVariant


def plan_trim(ground: Ground) -> Study | SkippedTest:
    """Variants with and without trim; N/A where the drive takes none."""
    if "trim" not in ground.drive.controls:
        return SkippedTest(test="study-trim", reason="this drive takes no trim (discard)")
    return Study(
        variants=(_variant("without trim", ground, trims=False), _variant("second half trimmed", ground, trims=True)),
        plots=(StudyPlot(kind="time", variable="iops"), StudyPlot(kind="time", variable="response")),
        reading="stages",
        settled_share=0.2,
    )


def _variant(label: str, ground: Ground, *, trims: bool) -> StudyVariant:
    length, half = ground.share(1.0), ground.share(0.5)
    writes = ground.writes(half, 60)
    given_back = replace(writes, role="trim", label="trim", from_bytes=half, length_bytes=length - half, samples=1)
    return StudyVariant(
        label=label, purge=True, steps=(*ground.saturated(length), *([given_back] if trims else []), writes)
    )


TRIM = study(
    "trim",
    header=__doc__,
    title="Trim",
    question="What does it help when the host tells the drive what it no longer needs?",
    outline="RND 4KiB writes to the first half of the drive for {60}, the second half trimmed before or not.",
    preparation="Purge, sequential writes over the drive and {120} of RND 4KiB writes, for every variant.",
    plan=plan_trim,
)
