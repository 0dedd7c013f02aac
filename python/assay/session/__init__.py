"""One run from start to end: gate, purge, precondition, rounds or samples, verdict, run folder."""

from __future__ import annotations

from assay.session.progress import Progress
from assay.session.run import Outcome, TestOutcome, plan_run, run_plan

__all__ = ["Outcome", "Progress", "TestOutcome", "plan_run", "run_plan"]
