"""WSAT, write saturation.

Question:      How do the random writes of a fresh drive develop over time and data written?
Clauses:       PTS-C 1.0 clause 7; PTS-E 1.0, 1.1 and PTS 2.0 clause 10.
Purge:         yes.
Precondition:  none: the drive is fresh out of the box.
Loop:          RND 4 KiB writes over the whole drive in 1 min samples, without a gap.
Tracking:      IOPS of every 31st sample: minutes 31, 62, 93 and so on; the earliest verdict is at minute 155.
Stop:          first of time limit, amount written and five-point rule, or a single criterion.
Result:        IOPS over time and data written; peak, peak drop, steady state; in 2.0 a final 20-minute histogram.
"""

from __future__ import annotations

from assay.plan.procedure import Procedure
from assay.procedures.families.saturation.result import SaturationSettings
from assay.procedures.wsat.plan import SaturationOptions, SaturationTable, wsat_departures
from assay.procedures.wsat.run import plan_wsat
from assay.spec.lazy import later

WSAT = Procedure(
    name="wsat",
    header=__doc__,
    title="Write Saturation (WSAT)",
    question="How random writes develop from the fresh drive on, over time and data written.",
    outline="Continuous accesses over the whole drive in 1 min samples, ended by time, amount or five-point rule.",
    preconditioning="None; the drive is purged and fresh out of the box.",
    table=SaturationTable,
    options=SaturationOptions,
    settings=SaturationSettings,
    plan=plan_wsat,
    report=later("assay.procedures.wsat.record", "wsat_shown"),
    departures=wsat_departures,
)
