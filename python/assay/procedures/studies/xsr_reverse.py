"""Study xsr-reverse.

Question:      How does a drive take the change between sequential and random writes, in either order?
Source:        Calypso Blind Survey 2010, level II: cross stimulus recovery RND-SEQ-RND and SEQ-RND-SEQ. The survey's
               durations are open; they are those of XSR in PTS-E 1.1.
Purge:         before every order.
Precondition:  none.
Loop:          SEQ 1024 KiB writes for 8 hours and RND 8 KiB writes for 6 hours in 1 min samples: SEQ-RND-SEQ, then
               RND-SEQ-RND, each a separate run as in cross stimulus recovery.
Result:        as cross stimulus recovery, for each order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.plan.procedure import Procedure
from assay.procedures.studies.define import study_departures
from assay.procedures.studies.ground import LARGE, SAMPLE_SECONDS, Ground
from assay.procedures.studies.options import StudyOptions
from assay.procedures.xsr.plan import plan_groups
from assay.procedures.xsr.record import xsr_report
from assay.procedures.xsr.run import CrossStimulusSettings
from assay.spec.units import KIB

if TYPE_CHECKING:
    from assay.engine.records import SkippedTest
    from assay.plan.procedure import PlannedTest, Request
    from assay.procedures.xsr.plan import Group
    from assay.spec.datum import Strict

RECOVERED_SHARE = 0.95
_SEQUENTIAL: Group = ("sequential", LARGE, 8)
_RANDOM: Group = ("random", 8 * KIB, 6)
ORDERS = {
    "seq-rnd-seq": (_SEQUENTIAL, _RANDOM, _SEQUENTIAL),
    "rnd-seq-rnd": (_RANDOM, _SEQUENTIAL, _RANDOM),
}


def plan_xsr_reverse(request: Request[Strict, StudyOptions]) -> list[PlannedTest | SkippedTest]:
    """A run of access groups per order. Worked: two runs, of 22 and of 20 hours."""
    ground = Ground.of(request)
    return [
        plan_groups(
            "xsr-reverse",
            f"study-xsr-{order}",
            groups,
            demand=ground.demand,
            range_amount_bytes=ground.share(1.0),
            sample_seconds=SAMPLE_SECONDS,
            recovered_share=RECOVERED_SHARE,
            request=request,
        )
        for order, groups in ORDERS.items()
    ]


XSR_REVERSE = Procedure(
    name="xsr-reverse",
    header=__doc__,
    title="Cross Stimulus Recovery in Both Orders",
    question="How does a drive take the change between sequential and random writes, in either order?",
    outline="SEQ 1024KiB writes for 8 hours and RND 8KiB writes for 6 hours: SEQ-RND-SEQ, then RND-SEQ-RND.",
    preconditioning="Purge only, for either order.",
    kind="study",
    table=None,
    options=StudyOptions,
    options_name="study",
    settings=CrossStimulusSettings,
    plan=plan_xsr_reverse,
    report=xsr_report,
    departures=study_departures,
)
