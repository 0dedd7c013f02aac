"""WORKLOAD, stages of streams that run side by side, as a plan or a file of another tool states them.

Question:      How does the drive serve a workload that somebody else has written down?
Clauses:       no test of the specification; Iometer access specifications, fio jobs, data-centre workloads.
Purge:         yes, unless the workload says no.
Precondition:  as many sequential fills as the workload states, and its stages that prepare.
Loop:          stages in turn; in each up to 64 streams, each with separate demand or rate, range and operation.
Tracking:      none.
Stop:          when all stages have run.
Result:        I/Os per second, MB/s and response times of every stream and of each stage, offered and achieved rates.
"""

from __future__ import annotations

from assay.plan.procedure import Procedure
from assay.procedures.workload.plan import WorkloadOptions, plan_workload
from assay.procedures.workload.run import WorkloadSettings
from assay.spec.lazy import later

WORKLOAD = Procedure(
    name="workload",
    header=__doc__,
    title="Workload",
    question="How the drive serves a workload of streams that somebody else has written down.",
    outline="Stages in turn, each of parallel streams with separate demand or rate, range and operation.",
    preconditioning="As many sequential fills as the workload states, and its preparation stages.",
    kind="study",
    table=None,
    options=WorkloadOptions,
    settings=WorkloadSettings,
    plan=plan_workload,
    report=later("assay.procedures.workload.record", "workload_shown"),
    departures=lambda *_: iter(("a workload is no test of the specification",)),
)
