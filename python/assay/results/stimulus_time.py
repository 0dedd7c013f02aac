"""Checks of the time that I/Os spent on the drive: exact sums, queue depth, Little's law, and how windows opened."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.results.audit import typical_latency_ns
from assay.results.finding import Finding, within
from assay.results.sequence_names import step_places
from assay.results.step import (
    DEPTH_SHARE,
    effective_queue_depth,
    iops,
    latency_count,
    lead_in_latency_ns_max,
    max_latency_ns,
    mean_latency_ns,
    rate_count,
)
from assay.spec.units import SECOND_NS
from assay.words.coded import coded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.engine.records import StepRecord, StoredTest
    from assay.results.stimulus_steps import AskedStep
    from assay.words.coded import Coded, Place

LAW_SHARE = 0.005
"""Little's law against the outstanding I/Os."""
CROSSING_SHARE = 0.005
"""With more of the outstanding time than this across the ends of a window, Little's law cannot be judged."""
LEAD_IN_SHARE, LEAD_IN_RESPONSES = 0.05, 2
"""A lead-in longer than both this share of T and so many mean response times of the step before is marked."""


def imbalance_ns(record: StepRecord) -> int:
    """What the time integral of the outstanding I/Os has more than the times of those I/Os; zero for a true record.

    integral = latencies and failed I/Os of the window + what was carried in - what was carried out (I/O x ns).
    Worked: 4 I/Os of 1 ms each, one of them with 0.4 ms beyond T, and an integral of 3.6 ms -> 0.
    """
    spent = sum(side.latency_ns_sum + side.failed_ns for side in record.sides)
    return record.outstanding_ns - (spent + record.carried_in_ns - record.carried_out_ns)


def balance(test: StoredTest) -> Iterator[Finding]:
    """The exact sum of ``imbalance_ns`` of every whole step; records that contradict themselves cannot be true.

    Worked: latencies of a step divided by ten -> ``invalid``, ``"the times of the I/Os in RND 4KiB 0/100, round 1
    contradict each other: ..."``.
    """
    for sequence in test.sequences:
        for record, where in zip(sequence.steps, step_places(sequence), strict=False):
            if _is_whole(record):
                off = imbalance_ns(record)
                carried = {"in_ns": record.carried_in_ns, "out_ns": record.carried_out_ns}
                times = coded("times-balance", held_ns=record.outstanding_ns, **carried)
                yield Finding(
                    level="invalid" if off else "pass",
                    reason=coded("times-contradict", where=where, times=times) if off else times,
                    measured=off,
                    limit=0,
                    where=where,
                    weight=record.outstanding_ns,
                )


def _is_whole(record: StepRecord) -> bool:
    # Where a run was cut short, its threads may not have stopped at one instant.
    return record.ended == "stop-rule"


def series_counts(steps: Sequence[AskedStep]) -> Iterator[Finding]:
    """The per-second series hold as many completions as the window, where they were read."""
    for step in steps:
        table = step.sequence.series
        if table is not None:
            counted, done = int(table.io_count[table.step == step.place].sum()), rate_count(step.record)
            detail = coded("in-series", counted=counted, done=done)
            yield within(counted - done, 0, detail, where=step.where, weight=done)


def queue_depth(steps: Sequence[AskedStep]) -> Iterator[Finding]:
    """Effective queue depth against TC x QD in a closed loop; preconditioning included."""
    for step in steps:
        pauses = any(line.delay_ns for line in step.pattern.lines)
        if step.demand.arrivals_per_s is None and step.record.span_ns and not pauses:
            asked = step.demand.thread_count * step.demand.queue_depth
            held = effective_queue_depth(step.record)
            detail = coded("depth", held=held, asked=asked)
            yield within(held / asked - 1, float(DEPTH_SHARE), detail, where=step.where)


def littles_law(steps: Sequence[AskedStep]) -> Iterator[Finding]:
    """IOPS x mean response time against the outstanding I/Os, where few of them cross the ends of the window."""
    for step in steps:
        record = step.record
        if not record.outstanding_ns or not record.span_ns:
            continue
        crossing = (record.carried_in_ns + record.carried_out_ns) / record.outstanding_ns
        law = float(iops(record)) * (mean_latency_ns(record) or 0.0) / SECOND_NS
        held = effective_queue_depth(record)
        across = {"count": latency_count(record), "crossing": crossing} if crossing >= CROSSING_SHARE else {}
        detail = coded("law", law=law, held=held, **across)
        result = within(law / held - 1, LAW_SHARE, detail, where=step.where, weight=record.outstanding_ns)
        yield replace(result, level="unknown") if crossing >= CROSSING_SHARE else result


def lead_ins(steps: Sequence[AskedStep]) -> Iterator[Finding]:
    """How long a window waited for the I/Os of the step before; beyond the limit, it misses part of the change.

    Response times before it follow from the completions of its window, which a long lead-in behind it does not change.
    """
    for step in steps:
        record, before = step.record, step.before
        if record.lead_in_ns and before is not None and record.span_ns:
            limit = max(LEAD_IN_SHARE * record.span_ns, LEAD_IN_RESPONSES * typical_latency_ns(before))
            detail = coded("lead-in", lead_in_ns=record.lead_in_ns, span_ns=record.span_ns)
            yield within(record.lead_in_ns, limit, detail, where=step.where)


def larger_lead_ins(steps: Sequence[AskedStep]) -> Coded | None:
    """The largest response time of a lead-in, where any exceeds that of its window; None where none does.

    Worked: 7 ms before a window with 5 ms at most, once -> ``"In 1 window, lead-in I/Os took longer than window I/Os:
    at most 7.000 ms before round 1, step 2, against 5.000 ms in it."``
    """
    pairs = [(lead_in_latency_ns_max(step.record) or 0, max_latency_ns(step.record) or 0, step.where) for step in steps]
    larger = [(before, inside, where) for before, inside, where in pairs if before > inside]
    if not larger:
        return None
    before, inside, where = max(larger, key=lambda one: (*one[:2], str(one[2])))
    return coded("larger-lead-ins", count=len(larger), before_ns=before, where=where, inside_ns=inside)


def short_windows(steps: Sequence[AskedStep]) -> dict[Place, int]:
    """Windows with fewer completions than I/Os outstanding, by place, with their completions.

    Worked: 20 completions in a window of 0.06 s with 32 outstanding -> ``{"round 1, RND 4KiB 0/100": 20}``.
    """
    return {
        step.where: rate_count(step.record)
        for step in steps
        if _is_whole(step.record)
        and not step.pattern.writes_tail
        and rate_count(step.record) < effective_queue_depth(step.record)
    }
