"""Checks of mix, sizes, coverage and threads. Shares are drawn per I/O, so they are held against chance."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING

from assay.results.finding import within
from assay.results.sequence_names import sequence_place
from assay.results.step import completed_count, issued_bytes, issued_count, rate_count
from assay.words.coded import Place, coded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.engine.records import TraceSummary
    from assay.results.finding import Finding
    from assay.results.stimulus_steps import AskedStep

SIGMAS = 5.0
"""A drawn share may be so many standard deviations off: chance does that once in 1.7 million."""

COVERAGE_SHARE = 0.01
"""Of the range: how far the touched part may lie from what chance or the walk in order gives."""

_LEAST_PER_THREAD = 100
_LARGE_VARIANCE = 100.0


def read_share(steps: Sequence[AskedStep]) -> Iterator[Finding]:
    """Reads among all I/Os, in standard deviations of a draw; pure reads or writes exactly."""
    off, spread = 0.0, 0.0
    for one in (step for step in steps if step.has_known_shares):
        count, share = completed_count(one.record), one.pattern.read_share
        reads = issued_count(one.record.read)
        detail = coded("reads-drawn", share=share, reads=reads, count=count)
        variance = count * share * (1 - share)
        difference = reads - count * share
        if variance:
            off, spread = off + difference, spread + variance
            sigmas = draw_sigmas(reads, count, share)
            yield within(sigmas, SIGMAS, detail, where=one.where, weight=count)
        elif count:
            yield within(round(difference), 0, detail, where=one.where, weight=count)
    if spread:
        detail = coded("reads-in-all", off=off, deviation=math.sqrt(spread))
        yield within(off / math.sqrt(spread), SIGMAS, detail, where=Place("all mixed steps together"))


def draw_sigmas(hits: int, count: int, share: float) -> float:
    """How far a draw is off, in standard deviations; a small one by its exact chance, as the normal law has it.

    hits : of count, each with the chance ``share`` in (0, 1). Worked: 60 of 100 at 0.5 -> 1.9; 6,600 of 10,000 at
    0.65 -> 2.10.
    """
    variance = count * share * (1 - share)
    if variance >= _LARGE_VARIANCE:
        return (hits - count * share) / math.sqrt(variance)
    above = hits > count * share
    tail = sum(_chance(result, count, share) for result in (range(hits, count + 1) if above else range(hits + 1)))
    sigmas = max(-NormalDist().inv_cdf(min(max(tail, 1e-300), 0.5)), 0.0)
    return sigmas if above else -sigmas


def _chance(hits: int, count: int, share: float) -> float:
    """Of exactly so many hits, by the binomial law."""
    ways = math.lgamma(count + 1) - math.lgamma(hits + 1) - math.lgamma(count - hits + 1)
    return math.exp(ways + hits * math.log(share) + (count - hits) * math.log1p(-share))


def transfer_sizes(steps: Sequence[AskedStep]) -> Iterator[Finding]:
    """Sizes that were captured by chi-square; else bytes per I/O, exactly where there is one size."""
    for step in steps:
        count = completed_count(step.record)
        captured = step.sequence.trace.sizes[step.place] if step.sequence.trace and step.sequence.trace.sizes else None
        if not count or not step.has_known_shares:
            continue
        if captured is not None and len(step.pattern.sizes) > 1:
            yield _captured_sizes(step, dict(captured))
            continue
        moved = issued_bytes(step.record.read) + issued_bytes(step.record.write)
        yield _one_size(step, count, moved) if len(step.pattern.sizes) == 1 else _mean_size(step, count, moved)


def _one_size(asked_step: AskedStep, count: int, moved: int) -> Finding:
    ((size, _),) = asked_step.pattern.sizes
    detail = coded("one-size", moved=moved, count=count, size=size)
    # A pass of preconditioning ends with what is left of the range, which is less than a transfer and never more. How
    # many passes there were follows from the count of I/Os, not from the bytes that are in question.
    passes = -(-count * size // asked_step.range_bytes) if asked_step.pattern.writes_tail else 0
    limit = passes * size if moved < count * size else 0
    return within(moved - count * size, limit, detail, where=asked_step.where, weight=moved)


def _mean_size(asked_step: AskedStep, count: int, moved: int) -> Finding:
    mean = sum(size * share for size, share in asked_step.pattern.sizes)
    deviation = math.sqrt(sum(size * size * share for size, share in asked_step.pattern.sizes) - mean * mean)
    detail = coded("mean-size", mean=moved / count, count=count, asked=mean)
    return within((moved / count - mean) * math.sqrt(count) / deviation, SIGMAS, detail, where=asked_step.where)


def _captured_sizes(asked_step: AskedStep, captured: dict[int, int]) -> Finding:
    """Chi-square as standard deviations (Wilson and Hilferty, 1931); a size that nobody asked for is a mark."""
    total, asked = sum(captured.values()), dict(asked_step.pattern.sizes)
    strange = sum(count for size, count in captured.items() if size not in asked)
    square = sum(
        (captured.get(size, 0) - total * share) ** 2 / (total * share)
        for size, share in asked_step.pattern.sizes
        if share
    )
    freedom = len(asked) - 1
    sigmas = ((square / freedom) ** (1 / 3) - 1 + 2 / (9 * freedom)) / math.sqrt(2 / (9 * freedom))
    detail = coded("captured-sizes", square=square, freedom=freedom, count=total, strange=strange)
    if strange:
        return within(strange, 0, detail, where=asked_step.where)
    return within(max(sigmas, 0.0), SIGMAS, detail, where=asked_step.where)


def captured_ios(steps: Sequence[AskedStep]) -> Iterator[Finding]:
    """Captured I/Os against completed ones."""
    for result, trace in _traced(steps):
        yield _captured(result, trace)


def coverage(steps: Sequence[AskedStep]) -> Iterator[Finding]:
    """Touched LBAs against what chance or order gives."""
    for result, trace in _traced(steps):
        finding = _touched(result, trace)
        if finding is not None:
            yield finding


def _traced(steps: Sequence[AskedStep]) -> Iterator[tuple[Sequence[AskedStep], TraceSummary]]:
    """The steps of each sequence whose completions were captured."""
    sequences: dict[int, list[AskedStep]] = {}
    for step in steps:
        sequences.setdefault(id(step.sequence), []).append(step)
    for sequence in sequences.values():
        if sequence[0].sequence.trace:
            yield sequence, sequence[0].sequence.trace


def _captured(steps: Sequence[AskedStep], trace: TraceSummary) -> Finding:
    done, kept = sum(completed_count(step.record) for step in steps), sum(trace.io_counts)
    detail = coded("captured", kept=kept, done=done)
    return within(kept - done, 0, detail, where=sequence_place(steps[0].sequence), weight=done)


def _touched(steps: Sequence[AskedStep], trace: TraceSummary) -> Finding | None:
    """None without addresses, or where chance has no simple form: zones, odd grids, random and in order mixed."""
    if trace.touched_bytes is None or any(not step.aligned for step in steps):
        return None
    shares, range_bytes = {step.pattern.random_share for step in steps}, steps[0].range_bytes
    if shares == {1.0}:
        # A block of the grid escapes an aligned transfer of size s with the chance 1 - s / range.
        escapes = sum(
            count * math.log1p(-min(max(size, trace.grid_bytes) / range_bytes, 1 - 1e-12))
            for sizes in trace.sizes
            for size, count in sizes
        )
        expected = 1 - math.exp(escapes)
    elif shares == {0.0}:
        expected = min(1.0, sum(size * count for sizes in trace.sizes for size, count in sizes) / range_bytes)
    else:
        return None
    result = trace.touched_bytes / range_bytes
    # The last transfers of a walk in order may end anywhere, and chance spreads over few blocks.
    largest = max(size for step in steps for size, _ in step.pattern.sizes)
    slack = COVERAGE_SHARE + SIGMAS / math.sqrt(max(range_bytes / largest, 1)) / 2
    detail = coded("touched", share=result, expected=expected)
    return within(result - expected, slack, detail, where=sequence_place(steps[0].sequence))


def thread_shares(steps: Sequence[AskedStep]) -> Iterator[Finding]:
    """The thread with the fewest I/Os has at least half of the mean, once there are a hundred for each."""
    for step in steps:
        fewest, threads = step.record.thread_io_count_min, step.demand.thread_count
        mean = rate_count(step.record) / threads
        if fewest is not None and threads > 1 and mean >= _LEAST_PER_THREAD:
            detail = coded("thread-shares", fewest=fewest, mean=mean)
            yield within(1 - fewest / mean, 0.5, detail, where=step.where)
