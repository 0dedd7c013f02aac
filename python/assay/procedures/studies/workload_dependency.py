"""Study workload-dependency.

Question:      How much slower are sequential writes after random ones, and how soon do they recover?
Source:        Spanjer, "What's up with these numbers" (2009): sequential, random, sequential; 172.5 to 16.8 MB/s is
               printed as a drop of 90 %.
Purge:         before every variant.
Precondition:  sequential writes over the range.
Loop:          a pass of SEQ 128 KiB writes, an hour of RND 4 KiB writes, three passes of SEQ 128 KiB writes;
               variants: the whole drive, and 80 % of it, the rest being spare area.
Result:        MB/s over time; the first pass afterwards in per cent of the pass before, and the recovery time.
"""

from __future__ import annotations

from assay.procedures.studies.define import study
from assay.procedures.studies.ground import Ground, Study
from assay.procedures.studies.settings import StudyPlot, StudyVariant

SHARES = (1.0, 0.8)


def plan_workload_dependency(ground: Ground) -> Study:
    """Variants by over-provisioning; each sequential, random, sequential."""
    return Study(
        variants=tuple(changing_variant(f"AR {share * 100:g} %", share, ground) for share in SHARES),
        plots=(StudyPlot(kind="time", variable="throughput"), StudyPlot(kind="time", variable="response")),
        reading="change",
    )


def changing_variant(label: str, share: float, ground: Ground) -> StudyVariant:
    """Sequential, random, sequential writes over a share of a purged and filled drive."""
    length = ground.share(share)
    steps = (
        ground.fill(length),
        ground.passes(length, 1),
        ground.writes(length, 60),
        ground.passes(length, 3),
    )
    return StudyVariant(label=label, purge=True, steps=steps)


WORKLOAD_DEPENDENCY = study(
    "workload-dependency",
    header=__doc__,
    title="Workload Dependency",
    question="How much slower are sequential writes after random ones, and how soon do they recover?",
    outline="A pass of SEQ 128KiB writes, {60} of RND 4KiB writes, three passes of SEQ 128KiB writes.",
    preparation="Purge and sequential writes over the same range, for every variant.",
    plan=plan_workload_dependency,
)
