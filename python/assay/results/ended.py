"""How a test ended, how far it measured, and the names of its sequences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.results.finding import Finding, Level
from assay.results.sequence_names import sequence_place
from assay.results.stall import void_reason
from assay.results.step import error_count, ran_whole
from assay.spec.units import SECOND_NS, count_label
from assay.words.coded import NOWHERE, coded
from assay.words.outcomes import INCOMPLETE, NO_COMPLETIONS, RAN_TO_ITS_END, is_cut_short

if TYPE_CHECKING:
    from assay.engine.records import StoredRun, StoredSequence, StoredTest


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


_SAMPLE, _ROUND = "sample", "round"
_BESIDE = {_SAMPLE, "histogram"}
"""Stages that are not the main one of a test that measures in any other."""


def measured_extent(test: StoredTest) -> str:
    """Count what a test has measured whole: its rounds, variants and so on, or samples where it has nothing else.

    A sequence that was cut short, saw an I/O fail or is void counts for nothing.
    Worked: an interrupted test with one whole round and half of another -> ``"1 round"``; a study -> ``"6 variants"``;
    one that was cut short while its drive was prepared -> ``"nothing"``.
    """
    measured = [sequence for sequence in test.sequences if sequence.role == "measure"]
    stage = next((one.stage for one in measured if one.stage not in _BESIDE), None)
    if stage is not None:
        return count_label(_whole_places([one for one in measured if one.stage == stage], test), stage)
    samples = [step for one in measured if one.stage == _SAMPLE for step in one.steps if ran_whole(step)]
    return count_label(len(samples), _SAMPLE) if samples else "nothing"


def driven_s(run: StoredRun) -> float:
    """Seconds from the first step of each test to the end of its last, in all, by the drive's clock.

    A simulated drive has a clock of its own. Worked: steps that begin at 10 and 70 s, the last of 60 s -> 120.0.
    """
    return sum(map(_driven_ns, run.tests)) / SECOND_NS


def _driven_ns(test: StoredTest) -> int:
    steps = [step for sequence in test.sequences for step in sequence.steps]
    return max(step.start_ns + step.span_ns for step in steps) - min(step.start_ns for step in steps) if steps else 0


def _whole_places(sequences: list[StoredSequence], test: StoredTest) -> int:
    """How many rounds, variants and so on are whole, all their sequences being so."""
    indexes = {sequence.index for sequence in sequences}
    broken = {sequence.index for sequence in sequences if not _is_whole(sequence, test)}
    # A round is run again under its next number; of others several sequences make one, and the last may lack some.
    if sequences[0].stage != _ROUND and not ran_to_its_end(test):
        broken.add(max(indexes))
    return len(indexes - broken)


def _is_whole(sequence: StoredSequence, test: StoredTest) -> bool:
    ran = len(sequence.steps) == len(sequence.asked) and all(map(ran_whole, sequence.steps))
    return ran and void_reason(sequence.steps, test.settings) is None
