"""Five Steps.

Question:      Does the drive keep what it does: preconditioned, at any block size, over time, between workloads?
Source:        Spanjer, "What's up with these numbers" (2009): precondition; a 3D view of IOPS, 512 B to 1 MB over the
               entire range of mixes; stability over time; workload independence; composite benchmarks. Composite
               workloads as published for Iometer, see the file of their figures. Durations, limits and the rules of the
               verdicts are not from the source.
Preparation:   Purge and two passes of sequential writes, which are step 1; the same before step 4; {60} of RND 4KiB
               writes before step 5.
Loop:          A surface of {cells} of {1}, RND 4KiB writes until steady, sequential writes before and after {60} of
               random ones, {composites} of whole systems.
Steps:         2: random accesses of 1 MiB to 512 bytes at 100/0 to 0/100, a minute each; 3: RND 4 KiB writes in
               samples of a minute until steady, then 20 minutes second by second; 4: a pass of SEQ 128 KiB writes, an
               hour of RND 4 KiB writes, three passes of SEQ 128 KiB writes; 5: file server, web server, database and
               workstation at 1, 4, 8, 64 and 256 outstanding I/Os, five minutes each. Sizes that are no multiple of the
               drive's block, and workloads that contain such sizes, are left out.
Result:        a page and a verdict per step. 1: the halves of the last pass differ by 10 % at most. 2: no block size
               has less than half of the IOPS of the lower of its neighbours. 3: steady by the five-point rule, and 90 %
               of the seconds within 10 % of their median. 4: sequential writes drop by 10 % at most. 5: no heavier load
               has less than 90 % of the IOPS of a lighter load. The limits are settings.
"""

from __future__ import annotations

from assay.procedures.five_steps.plan import FiveStepsOptions, FiveStepsSettings, plan_five_steps, plan_steps
from assay.procedures.studies.plan import study
from assay.spec.lazy import later

FIVE_STEPS = study(
    "five-steps",
    header=__doc__,
    words={"cells": "84 cells", "composites": "4 workloads"},
    plan=plan_five_steps,
    planned=plan_steps,
    settings=FiveStepsSettings,
    options=FiveStepsOptions,
    options_name="five_steps",
    report=later("assay.procedures.five_steps.record", "five_steps_shown"),
)
