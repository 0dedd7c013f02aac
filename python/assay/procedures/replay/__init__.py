"""REPLAY, the I/Os of a trace, issued again on this drive.

Question:      How does the drive serve the recorded I/Os of a host?
Clauses:       no test of the specification; block traces of Linux, fio logs, public traces as CSV, captures of Assay.
Purge:         yes, unless the plan says no.
Precondition:  as many sequential fills as the plan states; default: a single fill.
Loop:          the I/Os of the trace in their order, once: when they are due, at a stated speed, or as fast as possible.
Tracking:      none.
Stop:          when the trace has come to its end.
Result:        rates, response times from when I/Os were issued and from when they were due, and their lateness.
"""

from __future__ import annotations

from assay.plan.procedure import Procedure
from assay.procedures.replay.plan import ReplayOptions, plan_replay
from assay.procedures.replay.run import ReplaySettings
from assay.spec.lazy import later

REPLAY = Procedure(
    name="replay",
    header=__doc__,
    title="Replay",
    question="How the drive serves the recorded I/Os of a host.",
    outline="The I/Os of a trace in their order, once: when they are due, at a stated speed, or as fast as possible.",
    preconditioning="As many sequential fills as the plan states; default: a single fill.",
    kind="study",
    table=None,
    options=ReplayOptions,
    settings=ReplaySettings,
    plan=plan_replay,
    report=later("assay.procedures.replay.record", "replay_shown"),
    departures=lambda *_: iter(("a replayed trace is no test of the specification",)),
)
