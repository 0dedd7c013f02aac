"""How a test ended, and whether its numbers may be printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.errors import VerificationError
from assay.window.disturbed import host_reason
from assay.window.run_checks import check_reason
from assay.window.silent import NO_COMPLETIONS
from assay.window.step import error_count
from assay.window.stimulus_time import impossible_reason

if TYPE_CHECKING:
    from assay.records import MeasurementWindow, StoredTest

_REGULAR_ENDS = {"steady", "round-limit", "time", "amount"}


def stored_error_count(test: StoredTest) -> int:
    """Failed and short I/Os in everything that was stored of a test."""
    return sum(error_count(step) for program in test.programs for step in program.steps)


def withheld_reason(test: StoredTest) -> str | None:
    """Why no result of a test may be printed whatever its steps say, None where it may.

    Worked: one failed I/O -> ``"1 I/O error in the test"``.
    """
    errors = stored_error_count(test)
    if errors:
        return f"{errors} I/O error{'' if errors == 1 else 's'} in the test"
    if test.ended == NO_COMPLETIONS:
        # A host that stood still is why nothing completed, before a slow drive is.
        return host_reason(test) or test.ended_detail or "no I/O of a tracking variable completed within its step"
    if test.ended not in _REGULAR_ENDS:
        return "the test did not run to its end"
    return impossible_reason(test) or host_reason(test) or check_reason(test)


def verify_verdict(stored: MeasurementWindow | None, computed: MeasurementWindow | None) -> None:
    """Hold the verdict of the run folder against the one that its steps give.

    Raises VerificationError where there is a stored one and it differs.
    """
    if stored is not None and stored != computed:
        raise VerificationError("stored verdict", "differs from the one its rounds give", "do not trust this run")
