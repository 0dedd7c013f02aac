"""Every check of a test: those of its run, then the audit of what was issued."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.results import run_checks, stimulus_audit
from assay.results.finding import Finding
from assay.words.coded import coded

if TYPE_CHECKING:
    from assay.engine.records import StoredRun, StoredTest
    from assay.results.finding import Checked

_SIMULATED = Finding(level="n/a", reason=coded("simulated"))


def checks_of(run: StoredRun, test: StoredTest) -> tuple[Checked, ...]:
    """Every check of one test: how it ended, host, drive, lengths and gaps, then what was issued to the drive.

    What nobody watches beside a simulated drive does not apply to one; one with faults is watched like a real drive.
    """
    simulated = run.identity.kind == "simulated" and not run.identity.faults
    return (
        *(
            replace(run_check, finding=_SIMULATED)
            if simulated and run_check.check.number and run_check.level == "unknown"
            else run_check
            for run_check in run_checks(test)
        ),
        *stimulus_audit(run, test),
    )
