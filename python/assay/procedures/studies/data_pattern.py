"""Study data-pattern.

Question:      What does it change for the drive when the data written are not random?
Source:        Calypso Blind Survey 2010, level II: a non-random file as stimulus.
Purge:         before every variant.
Precondition:  sequential writes of the data of the variant over the drive.
Loop:          SEQ 1024 KiB writes for 10 minutes and RND 4 KiB writes for 2 hours; variants: random, compressible to
               50, 25 and 10 %, and the bytes of a file that the plan names.
Result:        MB/s and IOPS over time; settled values over those of random data.
"""

from __future__ import annotations

from dataclasses import replace

from assay.engine.records import DataPattern
from assay.procedures.studies.define import study
from assay.procedures.studies.ground import LARGE, Ground, Study
from assay.procedures.studies.settings import StudyPlot, StudyVariant

STORED_SHARES = (0.5, 0.25, 0.1)


def plan_data_pattern(ground: Ground) -> Study:
    """Variants by content of the data. Worked: without a file there are four."""
    contents = [("random", DataPattern())]
    contents += [
        (f"compressible to {share * 100:g} %", DataPattern(kind="compressible", stored_share=share))
        for share in STORED_SHARES
    ]
    path = ground.request.options.data_file
    if path:
        contents.append(("file", DataPattern(kind="file", path=path)))
    variants = tuple(_variant(label, replace(ground, data=data)) for label, data in contents)
    reason = "the plan names no file of data in its table [study]"
    return Study(
        variants=variants,
        plots=(
            StudyPlot(kind="time", variable="iops", only="RND 4KiB 0/100"),
            StudyPlot(kind="time", variable="throughput", only="SEQ 1024KiB 0/100"),
        ),
        reading="stages",
        settled_share=0.2,
        not_run=() if path else (("file", reason),),
    )


def _variant(label: str, ground: Ground) -> StudyVariant:
    length = ground.share(1.0)
    steps = (
        ground.fill(length),
        ground.cell("sequential", LARGE, 0, length, samples=10),
        ground.writes(length, 120),
    )
    return StudyVariant(label=label, purge=True, steps=steps)


DATA_PATTERN = study(
    "data-pattern",
    header=__doc__,
    title="Data Pattern",
    question="What does it change when the data written are not random?",
    outline="SEQ 1024KiB writes for {10}, then RND 4KiB writes for {120}, with data of each kind.",
    preparation="Purge and sequential writes of the same data over the drive, for every variant.",
    plan=plan_data_pattern,
)
