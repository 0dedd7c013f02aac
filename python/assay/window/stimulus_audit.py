"""The stimulus audit: whether what was issued is what was asked, what completed, and what the drive counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.units import MIB
from assay.window.step import error_count, issued_bytes, issued_count
from assay.window.stimulus_asked import asked_steps
from assay.window.stimulus_checks import (
    coverage,
    program_gaps,
    read_share,
    step_gaps,
    submission_gaps,
    thread_shares,
    transfer_sizes,
)
from assay.window.stimulus_finding import AuditRow, Finding, audit_row
from assay.window.stimulus_time import balance, lead_ins, littles_law, queue_depth, series_counts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.records import DirectionRecord, StepRecord, StoredProgram, StoredRun, StoredTest
    from assay.window.stimulus_asked import AskedStep

_NO_COUNTERS = "the drive has no counters of the kernel"

_UNIT_BYTES, _OWN_BYTES = 512_000, 4 * MIB
"""What the health log counts by, and what identification and a proof of purge may move beside the stimulus."""


def stimulus_audit(run: StoredRun, test: StoredTest) -> tuple[AuditRow, ...]:
    """Hold every step of a test against what was asked of it and against the drive's own counters.

    run : that the test is part of; the drive's health log is read before its first test and after its last only.
    Returns one row per check, always the same ones in the same order; what cannot be told is ``n/a`` with the reason.
    The kernel's counters are exact per program, with no I/O outstanding; at a boundary inside one they may differ by
    what is in flight.
    Source: PTS 1.1 section 6 (test tool). Worked: 1000 I/Os issued, 970 requests and 30 merges counted -> ``merges``
    is marked with 30, ``counted-ios`` passes.
    """
    steps = tuple(asked_steps(test))
    programs = [program for program in test.programs if any(one.program is program for one in steps)]
    return (
        audit_row("failed-ios", _failed(steps)),
        audit_row("histogram-counts", _histogram_counts(steps), "no response-time counts are stored or read"),
        audit_row("counted-bytes", _counted_bytes(programs), _NO_COUNTERS),
        audit_row("counted-ios", _counted_ios(programs), _NO_COUNTERS),
        audit_row("merges", _merges(programs), _NO_COUNTERS),
        audit_row("counted-at-boundaries", _boundaries(steps), _NO_COUNTERS),
        audit_row("smart-units", _health(run), "the drive's health log counts no bytes, or the run did not end"),
        audit_row("read-share", read_share(steps)),
        audit_row("transfer-sizes", transfer_sizes(steps)),
        *coverage(steps),
        audit_row("balance", balance(steps)),
        audit_row("series-counts", series_counts(steps), "the per-second series are not stored or not read"),
        audit_row("lead-in", lead_ins(steps), "no step differs from the one before it in its call"),
        audit_row("queue-depth", queue_depth(steps), "open loop: the drive decides how many are outstanding"),
        audit_row("littles-law", littles_law(steps)),
        audit_row("submission-gap", submission_gaps(steps), "open loop: arrivals decide"),
        audit_row("step-gap", step_gaps(steps), "no step follows another without idle time"),
        audit_row("program-gap", program_gaps(programs), "a single program"),
        audit_row("thread-shares", thread_shares(steps), "the threads cannot be told apart, or there is one"),
    )


def _directions(record: StepRecord) -> tuple[DirectionRecord, DirectionRecord]:
    return record.read, record.write


def _failed(steps: Sequence[AskedStep]) -> Iterator[Finding]:
    """Every I/O that was issued completed whole."""
    for one in steps:
        failed = error_count(one.record)
        done = sum(map(issued_count, _directions(one.record)))
        detail = f"{done + failed:,} issued, {done:,} completed"
        yield Finding(where=one.where, found=failed, bound=0, detail=detail, weight=done)


def _histogram_counts(steps: Sequence[AskedStep]) -> Iterator[Finding]:
    """The response times that were counted, in windows and lead-ins, are as many as the I/Os that completed."""
    for one in steps:
        tables = [table for table in (one.program.histograms, one.program.lead_in) if table is not None]
        for write, direction in enumerate(_directions(one.record) if one.program.histograms else ()):
            chosen = [table.count[(table.step == one.place) & (table.write == bool(write))] for table in tables]
            counted, done = sum(int(counts.sum()) for counts in chosen), issued_count(direction)
            detail = f"{counted:,} response times of {done:,} I/Os"
            yield Finding(where=one.where, found=counted - done, bound=0, detail=detail, weight=done)


def _deltas(first: StepRecord, last: StepRecord) -> tuple[tuple[int, int, int], tuple[int, int, int]] | None:
    """Requests, bytes and merges that the kernel counted from one boundary to another: of reads, of writes."""
    before, after = first.counters_before, last.counters_after
    if before is None or after is None:
        return None
    return (
        (
            after.read_io_count - before.read_io_count,
            after.read_bytes - before.read_bytes,
            after.read_merge_count - before.read_merge_count,
        ),
        (
            after.write_io_count - before.write_io_count,
            after.write_bytes - before.write_bytes,
            after.write_merge_count - before.write_merge_count,
        ),
    )


def _program_deltas(
    programs: Sequence[StoredProgram],
) -> Iterator[tuple[str, str, int, int, tuple[int, int, int]]]:
    """Per program and direction: name, direction, I/Os and bytes issued, and what was counted."""
    for program in programs:
        deltas = _deltas(program.steps[0], program.steps[-1])
        for write, name in enumerate(("reads", "writes") if deltas else ()):
            directions = [_directions(step)[write] for step in program.steps]
            io_count, moved = sum(map(issued_count, directions)), sum(map(issued_bytes, directions))
            counted = deltas[write] if deltas else (0, 0, 0)
            yield program.name, name, io_count, moved, counted


def _counted_bytes(programs: Sequence[StoredProgram]) -> Iterator[Finding]:
    for where, name, _, moved, (_, counted, _) in _program_deltas(programs):
        detail = f"{name}: {moved:,} bytes issued, {counted:,} counted"
        yield Finding(where=where, found=counted - moved, bound=0, detail=detail, weight=moved)


def _counted_ios(programs: Sequence[StoredProgram]) -> Iterator[Finding]:
    """Requests and merges together are the I/Os that were issued, unless one was split or somebody else's is among."""
    for where, name, issued, _, (requests, _, merges) in _program_deltas(programs):
        factor = f"{(requests + merges) / issued:.6g} per I/O" if issued else "none issued"
        detail = f"{name}: {issued:,} issued, {requests:,} requests and {merges:,} merges counted, {factor}"
        yield Finding(where=where, found=requests + merges - issued, bound=0, detail=detail, weight=issued)


def _merges(programs: Sequence[StoredProgram]) -> Iterator[Finding]:
    for where, name, issued, _, (_, _, merges) in _program_deltas(programs):
        detail = f"{name}: {merges:,} of {issued:,} merged"
        yield Finding(where=where, found=merges, bound=0, detail=detail, weight=issued)


def _boundaries(steps: Sequence[AskedStep]) -> Iterator[Finding]:
    """At a step's boundaries the counters differ from what it issued by no more than what is in flight."""
    largest = max((size for one in steps for size, _ in one.pattern.sizes), default=0)
    # What the step before had in flight counts, too, and may be more.
    in_flight = largest * max((one.demand.thread_count * one.demand.queue_depth for one in steps), default=0)
    for one in steps:
        deltas = _deltas(one.record, one.record)
        for direction, counted in zip(_directions(one.record), deltas or (), strict=False):
            moved = issued_bytes(direction)
            detail = f"{moved:,} bytes issued, {counted[1]:,} counted"
            yield Finding(where=one.where, found=counted[1] - moved, bound=in_flight, detail=detail)


def _health(run: StoredRun) -> Iterator[Finding]:
    """Bytes by the drive's own health log over the whole run: as many written as issued, and no fewer read.

    Both readings round to a unit of 512,000 bytes; 0.1 % and 4 MiB are left to whatever else is written.
    """
    if len(run.conditions) < 2:  # noqa: PLR2004 - one before, one after
        return
    before, after = run.conditions[0].health, run.conditions[-1].health
    steps = [step for test in run.tests for program in test.programs for step in program.steps]
    purged = sum(run.identity.capacity_bytes for test in run.tests if test.purge and test.purge.method == "overwrite")
    for name, exact in (("host_read_bytes", False), ("host_written_bytes", True)):
        if name not in before or name not in after:
            continue
        moved = sum(issued_bytes(_directions(step)[exact]) for step in steps) + (purged if exact else 0)
        counted = after[name] - before[name]
        off = counted - moved if exact else min(counted - moved, 0)
        detail = f"{'written' if exact else 'read'} in the whole run: {moved:,} bytes issued, {counted:,} counted"
        bound = 2 * _UNIT_BYTES + (_OWN_BYTES + moved / 1000 if exact else 0)
        yield Finding(where="whole run", found=off, bound=bound, detail=detail, weight=moved)
