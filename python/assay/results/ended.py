"""How a test ended, as findings: failed I/Os, an end before its time, and steps without a completion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.endings import INCOMPLETE, NO_COMPLETIONS, RAN_TO_ITS_END, is_cut_short
from assay.finding import Finding
from assay.results.step import error_count

if TYPE_CHECKING:
    from assay.engine.records import StoredTest

_NOT_STEADY = {"round-limit", NO_COMPLETIONS}


def ran_to_its_end(test: StoredTest) -> bool:
    """Whether a rule of its own ended a test. Worked: one that was interrupted -> not."""
    return test.ended in RAN_TO_ITS_END


def missed_steady_state(test: StoredTest) -> bool:
    """Whether steady state was required of a test and not reached before its last round.

    Worked: one that ended by its round limit -> it was missed; a write saturation that ended by time, and a quick look,
    require none.
    """
    return test.ended in _NOT_STEADY and test.settings.requires_steady_state


def stored_error_count(test: StoredTest) -> int:
    """Failed and short I/Os in everything that was stored of a test."""
    return sum(error_count(step) for sequence in test.sequences for step in sequence.steps)


def failed_ios(test: StoredTest) -> Finding:
    """Every I/O completed whole. Worked: one that failed -> ``invalid``, ``"1 I/O error in the test"``."""
    errors = stored_error_count(test)
    where = next((one.name for one in test.sequences if any(error_count(step) for step in one.steps)), "")
    shown = f"{errors or 'no'} I/O error{'' if errors == 1 else 's'} in the test"
    return Finding(level="invalid" if errors else "pass", reason=shown, measured=errors, limit=0, where=where)


def ending(test: StoredTest) -> Finding:
    """A test ended by a rule of its own; one that was cut short has no result."""
    if not is_cut_short(test.ended):
        return Finding(level="pass", reason=test.ended or "")
    issued = f": {test.ended_detail}" if test.ended == INCOMPLETE else ""
    return Finding(level="invalid", reason=f"the test did not run to its end{issued}")


def silence(test: StoredTest) -> Finding:
    """Every tracked step had a completion, or the test ended there for the want of one."""
    if test.ended == NO_COMPLETIONS:
        return Finding(
            level="invalid", reason=test.ended_detail or "no I/O of a tracking variable completed within its step"
        )
    return Finding(level="pass", reason="every tracked step had one")
