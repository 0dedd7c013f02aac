"""HIR, host idle recovery.

Question:      How much do idle periods of the host speed up small random writes of a saturated drive?
Clauses:       PTS-E 1.1 and PTS 2.0 clause 11.
Purge:         yes.
Precondition:  RND 4 KiB writes over the whole drive in samples without a gap until steady.
Loop:          five wait states: 360 bursts of 5 s, each followed by 5, 10, 15, 25 or 50 s of idle; then 1,800 s of
               bursts without idle time. A sequence of steps per wait state, without purge in between.
Tracking:      IOPS of every 30th preconditioning sample; the bursts need none.
Stop:          when all wait states have run.
Result:        IOPS of every burst over time; mean burst IOPS per wait state over the baseline, gain per second of idle.
"""

from __future__ import annotations

from assay.plan.options import DemandOptions
from assay.plan.procedure import Procedure
from assay.procedures.hir.plan import IdleRecoveryTable, hir_departures, plan_hir
from assay.procedures.hir.run import IdleRecoverySettings
from assay.spec.lazy import later

HIR = Procedure(
    name="hir",
    header=__doc__,
    title="Host Idle Recovery (HIR)",
    question="What idle periods of the host do for small random writes of a saturated drive.",
    outline="Five wait states: bursts of 5 s with 5 to 50 s of idle after each, then half an hour of bursts without.",
    preconditioning="Random writes in samples without a gap until steady.",
    table=IdleRecoveryTable,
    options=DemandOptions,
    settings=IdleRecoverySettings,
    plan=plan_hir,
    report=later("assay.procedures.hir.record", "hir_shown"),
    departures=hir_departures,
)
