"""How a test ended, as findings: failed I/Os, an end before its time, and steps without a completion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.results.finding import Finding, Level
from assay.results.sequence_names import sequence_place
from assay.results.step import error_count
from assay.words.coded import coded
from assay.words.endings import INCOMPLETE, NO_COMPLETIONS, RAN_TO_ITS_END, is_cut_short
from assay.words.location import NOWHERE

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
    failed = (
        sequence_place(sequence) for sequence in test.sequences if any(error_count(step) for step in sequence.steps)
    )
    reason = coded("io-errors", count=errors) if errors else coded("no-io-errors")
    level: Level = "invalid" if errors else "pass"
    return Finding(level=level, reason=reason, measured=errors, limit=0, where=next(failed, NOWHERE))


def ending(test: StoredTest) -> Finding:
    """A test ended by a rule of its own; one that was cut short has no result."""
    if not is_cut_short(test.ended):
        return Finding(level="pass", reason=coded("reason", reason=test.ended))
    issued = test.ended_detail if test.ended == INCOMPLETE else None
    return Finding(level="invalid", reason=coded("not-to-its-end", detail=issued))


def silence(test: StoredTest) -> Finding:
    """Every tracked step had a completion, or the test ended there for the want of one."""
    if test.ended == NO_COMPLETIONS:
        detail = coded("reason", reason=test.ended_detail) if test.ended_detail else coded("no-completion")
        return Finding(level="invalid", reason=detail)
    return Finding(level="pass", reason=coded("all-completed"))
