"""What a sequence issued against what the drive counted, and gaps between sequences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.results.finding import Finding, at_most
from assay.results.host import sequence_host
from assay.results.sequence_names import sequence_place
from assay.results.step import group_of, issued_bytes, issued_count, rate_count
from assay.spec.units import MILLISECOND_NS, SECOND_NS
from assay.words.coded import coded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.engine.records import StepRecord, StoredSequence, StoredTest
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """One direction of some steps, tails included.

    direction : ``reads`` or ``writes``. io_count, byte_count : issued. counted_bytes, requests, merges : what the
    kernel counted for the drive; None where it has no counters.
    """

    direction: str
    io_count: int
    byte_count: int
    counted_bytes: int | None
    requests: int | None
    merges: int | None


def counted(steps: Sequence[StepRecord]) -> tuple[Counted, Counted]:
    """Reads and writes that consecutive steps issued, beside what was counted from before the first to the last.

    Worked: 1,000 writes of 4 KiB of which the kernel merged 30 -> 1,000 issued, 970 requests, 30 merges, 4,096,000
    bytes issued and counted.
    """
    before = steps[0].counters_before
    # Of steps side by side, the first has what was counted for all.
    after = next((step.counters_after for step in reversed(steps) if step.counters_after is not None), None)
    result = []
    for direction, prefix in (("reads", "read"), ("writes", "write")):
        sides = [getattr(step, prefix) for step in steps]
        moved_bytes, requests, merges = (
            None if before is None or after is None else getattr(after, name) - getattr(before, name)
            for name in (f"{prefix}_bytes", f"{prefix}_io_count", f"{prefix}_merge_count")
        )
        one = Counted(
            direction=direction,
            io_count=sum(map(issued_count, sides)),
            byte_count=sum(map(issued_bytes, sides)),
            counted_bytes=moved_bytes,
            requests=requests,
            merges=merges,
        )
        result.append(one)
    reads, writes = result
    return reads, writes


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceAudit:
    """What a sequence issued against what the drive's own counters say, over the whole sequence with its tail.

    name : ``preconditioning``, ``round n``, ``samples n`` or ``histogram``.
    read_bytes, write_bytes : issued and counted; counted is None where
    the drive has no counters. gap_ns : time without any submission before the sequence, None for the first;
    beyond_ns : what is left of it beyond the drive's part, in which the I/Os before it come in.
    host : what the test system did meanwhile, the gravest first.
    """

    name: str
    read_bytes: tuple[int, int | None]
    write_bytes: tuple[int, int | None]
    gap_ns: int | None
    beyond_ns: float | None
    host: tuple[Finding, ...]


def sequence_audits(test: StoredTest) -> tuple[SequenceAudit, ...]:
    """Hold every sequence of a test against the drive's counters, in the order they ran.

    Worked: a round of 10 MB written whose counters moved by 10 MB -> ``write_bytes`` is (10000000, 10000000).
    """
    return tuple(_program_audit(sequence, before) for before, sequence in program_pairs(test))


def program_pairs(test: StoredTest) -> Iterator[tuple[StoredSequence | None, StoredSequence]]:
    """Every sequence that has steps, with the one before it; None before the first."""
    before = None
    for sequence in test.sequences:
        if sequence.steps:
            yield before, sequence
            before = sequence


def _program_audit(sequence: StoredSequence, before: StoredSequence | None) -> SequenceAudit:
    reads, writes = counted(sequence.steps)
    result = sequence_gap(before, sequence) if before else None
    return SequenceAudit(
        name=sequence.name,
        read_bytes=(reads.byte_count, reads.counted_bytes),
        write_bytes=(writes.byte_count, writes.counted_bytes),
        gap_ns=gap_before_ns(before, sequence),
        beyond_ns=result.measured if result else None,
        host=sequence_host(sequence),
    )
