"""Checks of where I/Os went: their grid, and whether one goes on where the one before it ended.

The engine counts both from the offsets that the drive is handed and from what the step states.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from assay.results.finding import Finding, within
from assay.results.step import submitted_count
from assay.results.stimulus_checks import SIGMAS, draw_sigmas
from assay.results.stimulus_steps import goes_on_by_draw
from assay.words.coded import coded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.engine.records import AccessPattern
    from assay.results.stimulus_steps import AskedStep


def alignment(steps: Sequence[AskedStep]) -> Iterator[Finding]:
    """I/Os off the grid of their step, of all that were issued."""
    for step in steps:
        count = step.record.misaligned_io_count
        if count is not None:
            issued = submitted_count(step.record)
            detail = coded("off-grid", count=count, issued=issued, origin=step.pattern.alignment_origin)
            yield within(count, 0, detail, where=step.where, weight=issued)


def successors(steps: Sequence[AskedStep]) -> Iterator[Finding]:
    """I/Os that go on where the one before ended, against the share that is not random, in standard deviations."""
    for step in steps:
        if not goes_on_by_draw(step.pattern):
            continue
        if step.record.successor_io_count is not None:
            issued = submitted_count(step.record)
            yield _followed(step, step.record.successor_io_count, issued, 0)
        elif _has_few_places(step):
            yield Finding(level="n/a", reason=coded("few-places"), where=step.where)
        elif result := _captured(step):
            # What has none before it: the first I/O of each slot, and the first of each pass through a segment.
            segment_bytes = step.spec.active_range.segment_bytes
            passes = result[1] * max(size for size, _ in step.pattern.sizes) // segment_bytes + 1
            yield _followed(step, *result, step.demand.thread_count * step.demand.queue_depth + passes)


def _has_few_places(asked_step: AskedStep) -> bool:
    """Whether sequential I/Os are not told from random ones: by chance too many begin where others end.

    Where each thread has a cursor, the engine says so: it counts none. Of captured I/Os, these are within one standard
    deviation. Worked: of 10,000 half random I/Os of 4 KiB on 1 TB 0.2 begin at one of 10,000 ends, on 1 GB 190 > 50.
    """
    pattern, result = asked_step.pattern, _captured(asked_step)
    if result:
        return _by_chance(pattern, asked_step.range_bytes, result[1]) > _deviation(pattern, result[1])
    counts = asked_step.record.misaligned_io_count is not None
    return (
        counts and pattern.random_share > 0 and (asked_step.demand.thread_count == 1 or pattern.cursor == "per_thread")
    )


def _by_chance(pattern: AccessPattern, range_bytes: int, count: int) -> float:
    return count * pattern.random_share * min(count * place_share(pattern, range_bytes), 1.0)


def _deviation(pattern: AccessPattern, count: int) -> float:
    return math.sqrt(count * pattern.random_share * (1 - pattern.random_share))


def _captured(asked_step: AskedStep) -> tuple[int, int] | None:
    trace = asked_step.sequence.trace
    return trace.successors[asked_step.place] if trace and trace.sizes and trace.successors else None


def _followed(asked_step: AskedStep, hits: int, count: int, loose: int) -> Finding:
    share = successor_share(asked_step.pattern, asked_step.range_bytes)
    detail = coded("followed", hits=hits, count=count, share=share, cursor=asked_step.pattern.cursor)
    if share >= 1:
        return within(hits - count, loose, detail, where=asked_step.where, weight=count)
    low, high = min(hits + loose, count), hits
    sigmas = draw_sigmas(low, count, share) if low < count * share else max(draw_sigmas(high, count, share), 0.0)
    return within(sigmas, SIGMAS, detail, where=asked_step.where, weight=count)


def successor_share(pattern: AccessPattern, range_bytes: int) -> float:
    """Share of the I/Os that go on where another ended: those that are not random, and random ones by chance.

    range_bytes : that random I/Os lie in. A cursor that random I/Os do not move has no part in chance: the engine
    counts the I/Os of its stream. Worked: 30 % random 8 KiB on 1 MiB -> 0.7 + 0.3 / 128 = 0.70234; ``shared`` -> 0.7.
    """
    random = pattern.random_share
    chance = 0.0 if pattern.cursor in {"shared", "per_thread"} else place_share(pattern, range_bytes)
    return 1 - random + random * chance


def place_share(pattern: AccessPattern, range_bytes: int) -> float:
    """Share of the random I/Os that lie at one place, in [0, 1]. Worked: 8 KiB on 1 MiB -> 1 / 128."""
    smallest = min(size for size, _ in pattern.sizes)
    grids = [line.alignment_bytes or line.transfer_bytes for line in pattern.lines]
    grid = min(grids, default=pattern.alignment_bytes or smallest)
    crowding = sum(share * share / part for share, part in pattern.lba_groups) or 1.0
    return min(grid * crowding / range_bytes, 1.0)
