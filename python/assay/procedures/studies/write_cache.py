"""Study write-cache.

Question:      What does the volatile write cache of the drive do for writes?
Purge:         before every variant.
Precondition:  sequential writes over the drive, the write cache already as the variant has it.
Loop:          SEQ 1024 KiB writes for 5 min, RND 4 KiB writes for 30 min, the same with a single outstanding I/O for
               5 min; variants: write cache on and off, set back afterwards.
Result:        IOPS and response time over time; settled values over those with the cache on.
"""

from __future__ import annotations

from dataclasses import replace

from assay.engine.records import CacheState, Demand, SkippedTest
from assay.procedures.studies.define import study
from assay.procedures.studies.ground import LARGE, SMALL, Ground, Study
from assay.procedures.studies.settings import StudyPlot, StudyVariant

ALONE = " one outstanding"


def plan_write_cache(ground: Ground) -> Study | SkippedTest:
    """Variants by write cache; N/A where it cannot be set."""
    if "write-cache" not in ground.drive.controls:
        return SkippedTest(test="study-write-cache", reason="the write cache of this drive cannot be set")
    return Study(
        variants=(_variant("write cache on", "enabled", ground), _variant("write cache off", "disabled", ground)),
        plots=(
            StudyPlot(kind="time", variable="iops", only="RND 4KiB 0/100"),
            StudyPlot(kind="time", variable="response", only=f"RND 4KiB 0/100{ALONE}"),
        ),
        reading="stages",
        settled_share=0.5,
    )


def _variant(label: str, state: CacheState, ground: Ground) -> StudyVariant:
    length = ground.share(1.0)
    alone = ground.cell("random", SMALL, 0, length, samples=5)
    steps = (
        ground.fill(length),
        ground.cell("sequential", LARGE, 0, length, samples=5),
        ground.writes(length, 30),
        replace(alone, label=alone.label + ALONE, demand=Demand(thread_count=1, queue_depth=1)),
    )
    return StudyVariant(label=label, purge=True, steps=steps, write_cache=state)


WRITE_CACHE = study(
    "write-cache",
    header=__doc__,
    title="Write Cache",
    question="What does the volatile write cache of the drive do for writes?",
    outline="SEQ 1024KiB writes for {5}, RND 4KiB writes for {30}, and with one outstanding for {5}.",
    preparation="Purge and sequential writes over the drive, for every variant.",
    plan=plan_write_cache,
)
