"""Checks of where I/Os went, on stored steps."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from assay.engine.records import AccessPattern
from assay.results.stimulus_offsets import alignment, place_share, successor_share, successors
from assay.results.stimulus_steps import asked_steps
from test_stimulus_audit import DEMAND, READS, SIZE, WRITES, stored, trace

if TYPE_CHECKING:
    from assay.engine.records import StoredTest
    from assay.results.finding import Finding

COUNT = READS + WRITES


def in_order(random_share: float, *, cursor: Any = "iometer", **first: Any) -> StoredTest:
    """Two steps of which some I/Os follow each other."""
    test = stored(first=first, trace=trace(successors=(None, (COUNT - 9, COUNT))))
    (one, *_) = test.sequences
    asked = tuple(
        replace(spec, pattern=replace(spec.pattern, random_share=random_share, cursor=cursor)) for spec in one.asked
    )
    return replace(test, sequences=(replace(one, asked=asked),))


def found(test: StoredTest) -> list[Finding]:
    return list(successors(tuple(asked_steps(test))))


def test_one_io_off_its_grid_is_a_mark() -> None:
    first, *rest = alignment(tuple(asked_steps(stored(first={"misaligned_io_count": 1}))))
    assert (first.level, first.measured, [one.level for one in rest]) == ("warn", 1, ["pass"] * 3)
    assert "1 of 40,000 I/Os are off their grid" in first.words
    uncounted = stored({"misaligned_io_count": None}, {"misaligned_io_count": None})
    assert len(list(alignment(tuple(asked_steps(uncounted))))) == len(rest) - 1


def test_sequential_ios_follow_each_other_to_the_last() -> None:
    assert found(in_order(0.0, successor_io_count=COUNT))[0].level == "pass"
    short = found(in_order(0.0, successor_io_count=COUNT - 1))[0]
    assert (short.level, short.measured) == ("warn", -1)


@pytest.mark.parametrize(("share", "level"), [(0.7, "pass"), (0.49, "warn"), (0.72, "warn")])
def test_a_mix_follows_by_the_share_that_is_not_random(share: float, level: str) -> None:
    # fio's rule has 70 % of the I/Os follow where 30 % are random; a place that random I/Os do not move has 49 %.
    first = found(in_order(0.3, successor_io_count=round(COUNT * share)))[0]
    assert (first.level, first.limit) == (level, 5.0)


def test_a_cursor_of_several_threads_is_judged_by_captures_alone() -> None:
    first, *rest = found(in_order(0.0, cursor="shared", successor_io_count=None))
    # Of eight slots none of the first I/Os has one before it, nor the first of a pass.
    assert (first.measured, first.level, rest) == (-9, "pass", [])
    test = in_order(0.0, cursor="shared")
    untraced = replace(test, sequences=tuple(replace(one, trace=None) for one in test.sequences))
    assert not found(untraced)


@pytest.mark.parametrize(("cursor", "threads", "reasons"), [("per_thread", 2, 1), ("shared", 1, 1), ("shared", 2, 0)])
def test_streams_that_the_engine_does_not_count_are_not_judged(cursor: str, threads: int, reasons: int) -> None:
    test = in_order(0.3, cursor=cursor, successor_io_count=None)
    demand = replace(DEMAND, thread_count=threads)
    sequences = (
        replace(one, trace=None, asked=tuple(replace(spec, demand=demand) for spec in one.asked))
        for one in test.sequences
    )
    results = found(replace(test, sequences=tuple(sequences)))
    assert [(one.level, one.words) for one in results[:1]] == [
        ("n/a", "too few LBAs to distinguish sequential I/Os from random I/Os")
    ] * reasons


def test_captured_random_ios_that_begin_at_ends_by_chance_are_not_judged() -> None:
    def judged(count: int, hits: int) -> Finding:
        (test,) = (in_order(0.3, cursor="shared", successor_io_count=None),)
        captured = trace(successors=((hits, count), (hits, count)))
        return found(replace(test, sequences=tuple(replace(one, trace=captured) for one in test.sequences)))[0]

    # 0.3 x 2,000 x 2,000 / 262,144 = 4.6 by chance, at a standard deviation of 20.5; of 40,000 1,831 at 91.7.
    assert judged(2_000, 1_400).level == "pass"
    assert judged(2_000, 1_100).level == "warn"
    assert judged(40_000, 28_000).level == "n/a"


def test_chance_has_its_part_in_what_follows() -> None:
    pattern = AccessPattern(sizes=((8 * 1024, 1.0),), read_share=1.0, random_share=0.3, cursor="fio")
    assert successor_share(pattern, 1 << 20) == pytest.approx(0.7 + 0.3 / 128)
    grouped = replace(pattern, random_share=1.0, lba_groups=((0.5, 0.05), (0.5, 0.95)))
    assert successor_share(grouped, 1 << 30) == pytest.approx(8192 * (0.25 / 0.05 + 0.25 / 0.95) / (1 << 30))
    assert successor_share(replace(pattern, cursor="shared"), 1 << 20) == pytest.approx(0.7)
    assert place_share(pattern, 1 << 20) == 1 / 128
    assert (DEMAND.thread_count * DEMAND.queue_depth, SIZE) == (8, 4096)
