"""What was issued against what the drive's own counters say: the one comparison of the two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.results.disturbed import sequence_host
from assay.results.gaps import gap_before_ns, sequence_gap
from assay.results.step import issued_bytes, issued_count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.engine.records import StepRecord, StoredSequence, StoredTest
    from assay.results.finding import Finding


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
