"""XSR, cross stimulus recovery.

Question:      How does a drive take the change between large sequential and small random writes, and how soon does it
               recover?
Clauses:       PTS-E 1.1 and PTS 2.0 clause 12.
Purge:         yes.
Precondition:  none: the first access group begins on the fresh drive.
Loop:          SEQ 1024 KiB writes for 8 h, RND 8 KiB writes for 6 h, SEQ 1024 KiB writes for 8 h; in 1 min samples
               without a gap; the order and the hours are the edition's.
Tracking:      none.
Stop:          when all access groups have run.
Result:        throughput, average and maximum response time over time; minutes until the last group is back at the
               first.
"""

from __future__ import annotations

from assay.plan.options import DemandOptions
from assay.plan.procedure import Procedure
from assay.procedures.xsr.plan import CrossStimulusTable, plan_xsr, xsr_departures
from assay.procedures.xsr.run import CrossStimulusSettings
from assay.spec.lazy import later

XSR = Procedure(
    name="xsr",
    header=__doc__,
    title="Cross Stimulus Recovery (XSR)",
    question="How a drive takes the change between large sequential and small random writes, and when it recovers.",
    outline="Sequential, random and again sequential writes for hours each, in 1 min samples without a gap.",
    preconditioning="None; the drive is purged and fresh out of the box.",
    table=CrossStimulusTable,
    options=DemandOptions,
    settings=CrossStimulusSettings,
    plan=plan_xsr,
    report=later("assay.procedures.xsr.record", "xsr_shown"),
    departures=xsr_departures,
)
