"""The stimulus audit: whether what was issued is what was asked, what completed, and what the drive counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.results.audit import counted, program_pairs, step_gaps, submission_gaps
from assay.results.finding import Check, ask_all, within
from assay.results.sequence_names import sequence_place
from assay.results.step import issued_bytes, issued_count
from assay.results.stimulus_checks import captured_ios, coverage, read_share, thread_shares, transfer_sizes
from assay.results.stimulus_offsets import alignment, successors
from assay.results.stimulus_steps import asked_steps
from assay.results.stimulus_time import lead_ins, littles_law, queue_depth, series_counts
from assay.spec.units import MIB
from assay.words.coded import Place, coded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import StoredRun, StoredTest
    from assay.results.audit import Counted
    from assay.results.finding import Checked, Finding
    from assay.results.stimulus_steps import AskedStep

_NO_COUNTERS = "no-counters"

_UNIT_BYTES, _OWN_BYTES = 512_000, 4 * MIB
"""What the health log counts by, and what identification and a proof of purge may move beside the stimulus."""


@dataclass(frozen=True, slots=True)
class Issued:
    """What the audit is of: a test of a run, with the steps of it that issued I/Os."""

    run: StoredRun
    test: StoredTest
    steps: tuple[AskedStep, ...]


def stimulus_audit(run: StoredRun, test: StoredTest) -> tuple[Checked, ...]:
    """Hold every step of a test against what was asked of it and against the drive's own counters.

    run : that the test is part of; the drive's health log is read before its first test and after its last only.
    Returns one row per check, always the same ones in the same order; what cannot be told is ``n/a`` with the reason.
    The kernel's counters are exact per sequence, with no I/O outstanding; at a boundary inside one they may differ by
    what is in flight.
    Source: PTS 1.1 section 6 (test tool). Worked: 1000 I/Os issued, 970 requests and 30 merges counted -> ``merges``
    is marked with 30, ``counted-ios`` passes.
    """
    return ask_all(AUDIT, Issued(run, test, tuple(asked_steps(test))))


def _histogram_counts(issued: Issued) -> Iterator[Finding]:
    for step in issued.steps:
        tables = [table for table in (step.sequence.histograms, step.sequence.lead_in) if table is not None]
        for direction, side in enumerate(step.record.sides if step.sequence.histograms else ()):
            chosen = [table.count[(table.step == step.place) & (table.direction == direction)] for table in tables]
            count, done = sum(int(counts.sum()) for counts in chosen), issued_count(side)
            reason = coded("times-of", count=count, done=done)
            yield within(count - done, 0, reason, where=step.where, weight=done)


def _programs(issued: Issued) -> Iterator[tuple[Place, Counted]]:
    """Reads and writes of every sequence, where the drive has counters."""
    for _, sequence in program_pairs(issued.test):
        for one in counted(sequence.steps):
            if one.counted_bytes is not None and any(step.first_submission_ns is not None for step in sequence.steps):
                yield sequence_place(sequence), one


def _counted_bytes(issued: Issued) -> Iterator[Finding]:
    for where, one in _programs(issued):
        yield _bytes_off(one, where, 0, one.direction)


def _bytes_off(one: Counted, where: Place, limit: float, direction: str | None = None) -> Finding:
    counted_bytes = one.counted_bytes or 0
    reason = coded("bytes-counted", direction=direction, issued=one.byte_count, counted=counted_bytes)
    return within(counted_bytes - one.byte_count, limit, reason, where=where, weight=one.byte_count)


def _counted_ios(issued: Issued) -> Iterator[Finding]:
    """Requests and merges together are the I/Os that were issued, unless one was split or somebody else's is among."""
    for where, one in _programs(issued):
        requests, merges = one.requests or 0, one.merges or 0
        factor = coded("per-io", factor=(requests + merges) / one.io_count) if one.io_count else coded("none-issued")
        counts = {"issued": one.io_count, "requests": requests, "merges": merges}
        reason = coded("ios-counted", direction=one.direction, factor=factor, **counts)
        yield within(requests + merges - one.io_count, 0, reason, where=where, weight=one.io_count)


def _merges(issued: Issued) -> Iterator[Finding]:
    for where, one in _programs(issued):
        reason = coded("merged", direction=one.direction, merges=one.merges or 0, issued=one.io_count)
        yield within(one.merges or 0, 0, reason, where=where, weight=one.io_count)


def _boundaries(issued: Issued) -> Iterator[Finding]:
    """At a step's boundaries the counters differ from what it issued by no more than what is in flight."""
    steps = issued.steps
    largest = max((size for step in steps for size, _ in step.pattern.sizes), default=0)
    # What the step before had in flight counts, too, and may be more.
    groups = [[step.sequence.asked[place].demand for place in step.group] for step in steps]
    in_flight = largest * max((sum(one.thread_count * one.queue_depth for one in group) for group in groups), default=0)
    for one in steps:
        # What runs side by side is counted together, with the first of it.
        ran = one.sequence.steps[one.group.start : one.group.stop]
        for side in counted(ran) if one.place == one.group.start else ():
            if side.counted_bytes is not None:
                yield _bytes_off(side, one.where, in_flight)


def _health(issued: Issued) -> Iterator[Finding]:
    """Bytes by the drive's own health log over the whole run: as many written as issued, and no fewer read.

    Both readings round to a unit of 512,000 bytes; 0.1 % and 4 MiB are left to whatever else is written.
    """
    run = issued.run
    # What a sequence wrote that a break cut short is in no record.
    if len(run.conditions) < 2 or run.breaks:  # noqa: PLR2004 - one before, one after
        return
    before, after = run.conditions[0].health, run.conditions[-1].health
    steps = [step for test in run.tests for sequence in test.sequences for step in sequence.steps]
    purged = sum(run.identity.capacity_bytes for test in run.tests if test.purge and test.purge.method == "overwrite")
    for name, exact in (("host_read_bytes", False), ("host_written_bytes", True)):
        if name not in before or name not in after:
            continue
        moved = sum(issued_bytes(step.write if exact else step.read) for step in steps) + (purged if exact else 0)
        count = after[name] - before[name]
        off = count - moved if exact else min(count - moved, 0)
        code = "bytes-written-in-run" if exact else "bytes-read-in-run"
        reason = coded(code, issued=moved, counted=count)
        limit = 2 * _UNIT_BYTES + (_OWN_BYTES + moved / 1000 if exact else 0)
        yield within(off, limit, reason, where=Place("whole run"), weight=moved)


AUDIT: tuple[Check[Issued], ...] = (
    Check(name="histogram-counts", title="Response times less completions", passes="0", unit="count",
          answer=_histogram_counts, absent="no-times"),
    Check(name="counted-bytes", title="Bytes counted by the kernel less issued", passes="0", unit="count",
          answer=_counted_bytes, absent=_NO_COUNTERS),
    Check(name="counted-ios", title="Requests + merges less I/Os issued (splits)", passes="0", unit="count",
          answer=_counted_ios, absent=_NO_COUNTERS),
    Check(name="merges", title="I/Os merged by the kernel", passes="0", unit="count", answer=_merges,
          absent=_NO_COUNTERS),
    Check(name="counted-at-boundaries", title="Bytes counted less issued, per step", unit="count",
          passes="at most what is in flight", answer=_boundaries, absent=_NO_COUNTERS),
    Check(name="smart-units", title="Bytes of the health log less issued", unit="count", answer=_health,
          passes="at most two units; written, 0.1 % and 4 MiB more",
          absent="no-health"),
    Check(name="read-share", title="Reads among all I/Os, off by", passes="at most 5 standard deviations",
          unit="sigma", answer=lambda issued: read_share(issued.steps)),
    Check(name="transfer-sizes", title="Transfer sizes, off by", passes="0; drawn, 5 standard deviations",
          unit="size", answer=lambda issued: transfer_sizes(issued.steps)),
    Check(name="alignment", title="I/Os off their grid", passes="0", unit="count",
          answer=lambda issued: alignment(issued.steps), absent="no-grid"),
    Check(name="successors", title="I/Os that follow the one before, off by", unit="sigma",
          passes="0; drawn, 5 standard deviations", answer=lambda issued: successors(issued.steps),
          absent="all-random"),
    Check(name="captured-ios", title="Captured I/Os less completed", passes="0", unit="count",
          answer=lambda issued: captured_ios(issued.steps), absent="not-captured"),
    Check(name="lba-coverage", title="LBAs touched, less expected", passes="at most 1 %, and chance", unit="share",
          answer=lambda issued: coverage(issued.steps), absent="no-addresses"),
    Check(name="series-counts", title="Completions per second less those of windows", passes="0", unit="count",
          answer=lambda issued: series_counts(issued.steps),
          absent="no-series"),
    Check(name="lead-in", title="Longest lead-in", passes="at most 5 % of T or 2 response times", unit="ms",
          answer=lambda issued: lead_ins(issued.steps), absent="equal-steps"),
    Check(name="queue-depth", title="Queue depth against TC x QD", passes="at most 0.5 %", unit="share",
          answer=lambda issued: queue_depth(issued.steps),
          absent="open-depth"),
    Check(name="littles-law", title="Little's law against outstanding I/Os", passes="at most 0.5 %", unit="share",
          answer=lambda issued: littles_law(issued.steps)),
    Check(name="submission-gap", title="Longest time without a submission", unit="ms",
          passes="at most 100 ms beyond the drive's part", answer=lambda issued: submission_gaps(issued.steps),
          absent="open-arrivals"),
    Check(name="step-gap", title="Gap between steps", passes="at most 100 ms beyond the drive's part", unit="ms",
          answer=lambda issued: step_gaps(issued.steps), absent="no-steps-in-a-row"),
    Check(name="thread-shares", title="Thread with the fewest, below the mean", passes="at most 50 %", unit="share",
          answer=lambda issued: thread_shares(issued.steps),
          absent="no-threads"),
)  # fmt: skip
"""The checks in the order in which they are printed."""
