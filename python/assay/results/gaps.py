"""A gap: a time without a submission, and how much of it the drive itself may have been the reason for.

A thread whose slots are all taken waits for the drive. How long that may be follows from the drive's rate in the window
and from its own silences, in which times are left out when the host did not run. The longest response time would not
do: a host that stands still lengthens it by as much as the gap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.results.finding import Finding, at_most
from assay.results.groups import group_of
from assay.results.sequence_names import sequence_place
from assay.results.step import rate_count
from assay.spec.units import MILLISECOND_NS, SECOND_NS
from assay.words.coded import coded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.engine.records import StepRecord, StoredSequence
    from assay.results.stimulus_steps import AskedStep

GAP_NS_PASS = 100 * MILLISECOND_NS
"""Beyond the drive's part, inside a step and between steps; silences are known to about as much."""
PROGRAM_GAP_NS_PASS, PROGRAM_GAP_NS_INVALID = 1 * SECOND_NS, 5 * SECOND_NS
"""Beyond the drive's part, between sequences."""
WAIT_RESPONSES = 3
"""So many typical response times may a thread wait for a slot."""


def typical_latency_ns(record: StepRecord, gap_ns: int = 0) -> float:
    """Mean response time by Little's law, from the completions of the window and the time in which they came.

    gap_ns : that lies inside the window; in it nothing can have completed. What lies behind the window changes nothing.
    0 for a step without a window. Worked: 8 outstanding for 10 s, 4,000 completions -> 20 ms; with a gap of 5 s in it,
    in which 8 I/Os wait and nothing else is done, 10 ms.
    """
    span_ns = max(record.span_ns, 1)
    return record.outstanding_ns * max(span_ns - gap_ns, 0) / span_ns / max(rate_count(record), 1)


def drive_wait_ns(record: StepRecord, gap_ns: int = 0) -> float:
    """How long a thread may wait for the drive: its longest silence in a step, and three typical response times.

    gap_ns : as above. Worked: 2 s of silence and 1 ms in the mean -> 2.003 s.
    """
    return (record.stall_ns_max or 0) + WAIT_RESPONSES * typical_latency_ns(record, gap_ns)


def submission_gaps(steps: Sequence[AskedStep]) -> Iterator[Finding]:
    """The longest time that a thread of each step went without a submission, in a closed loop."""
    for step in steps:
        if step.demand.arrivals_per_s is None:
            gap_ns = step.record.submission_gap_ns_max
            # The I/Os of the step before hold the slots at first.
            before_ns = drive_wait_ns(step.before) if step.before else 0.0
            yield _short_gap(step, gap_ns, max(drive_wait_ns(step.record, gap_ns), before_ns))


def step_gaps(steps: Sequence[AskedStep]) -> Iterator[Finding]:
    """From the last submission of a step to the first of the next one in the same sequence, in a closed loop."""
    for step in steps:
        if step.before is not None and step.demand.arrivals_per_s is None:
            gap_ns = (step.record.first_submission_ns or 0) - (step.before.last_submission_ns or 0)
            yield _short_gap(step, gap_ns, drive_wait_ns(step.before))


def gap_before_ns(before: StoredSequence | None, sequence: StoredSequence) -> int | None:
    """From the last submission of a sequence to the first of the next; None for the first and where nothing was issued.

    Of steps side by side it is the last, or the first, of any of them.

    Worked: a last submission at 60.0 s and the next at 60.4 s -> 400,000,000.
    """
    if before is None:
        return None
    last, first = group_of(before.asked, len(before.steps) - 1), group_of(sequence.asked, 0)
    ended = [at for step in before.steps[last.start :] if (at := step.last_submission_ns) is not None]
    begun = [at for step in sequence.steps[: first.stop] if (at := step.first_submission_ns) is not None]
    return min(begun) - max(ended) if begun and ended else None


def sequence_gap(before: StoredSequence, sequence: StoredSequence) -> Finding | None:
    """The gap between two sequences beyond the drive's part, in which the I/Os of the first come in; None without one.

    Worked: 8 s behind a step that was silent for 2 s and whose other I/Os take no time -> 6 s, ``invalid``.
    """
    gap_ns = gap_before_ns(before, sequence)
    if gap_ns is None:
        return None
    place, beyond_ns = sequence_place(sequence), max(gap_ns - drive_wait_ns(before.steps[-1]), 0)
    return Finding(
        level=at_most(beyond_ns, PROGRAM_GAP_NS_PASS, PROGRAM_GAP_NS_INVALID),
        reason=coded("gap", beyond_ns=beyond_ns, gap_ns=gap_ns, where=place),
        measured=beyond_ns,
        limit=PROGRAM_GAP_NS_PASS,
        where=place,
    )


def _short_gap(asked_step: AskedStep, gap_ns: int, wait_ns: float) -> Finding:
    limit = wait_ns + GAP_NS_PASS
    level = at_most(gap_ns, limit)
    if level == "warn" and asked_step.record.stall_ns_max is None:
        level = "unknown"
    shown = coded("no-submission", gap_ns=gap_ns, wait_ns=wait_ns)
    return Finding(level=level, reason=shown, measured=gap_ns, limit=limit, where=asked_step.where)
