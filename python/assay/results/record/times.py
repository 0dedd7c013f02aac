"""The time of I/Os in flight against the step that carries it, and against the queue depth (Little's law)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.results.record.contradiction import Contradiction
from assay.results.record.steps import sequence_steps, steps_of_test
from assay.results.step import effective_queue_depth, ran_whole
from assay.words.coded import coded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import StoredSequence, StoredTest


def depth(test: StoredTest) -> Iterator[Contradiction]:
    """No more I/Os are outstanding than were asked for.

    Worked: 12 in the mean of a step of 2 threads with a queue depth of 4 -> ``at most 8``.
    """
    for step in steps_of_test(test):
        asked = step.spec.demand.thread_count * step.spec.demand.queue_depth
        if step.ran_to_its_rule and step.record.outstanding_ns > asked * step.record.span_ns:
            stored = coded("record-depth", held=effective_queue_depth(step.record))
            yield Contradiction(where=step.where, stored=stored, expected=coded("record-at-most", count=asked))


def carried(test: StoredTest) -> Iterator[Contradiction]:
    """What equal steps carry into a window is what the steps before it had in flight.

    Worked: 9 I/Os carried in behind a tail of 8 -> ``at most 8 in flight before it``.
    """
    for sequence in test.sequences:
        yield from _carried_counts(sequence)
    for step in steps_of_test(test):
        before = step.before
        if before is None or not (ran_whole(step.record) and ran_whole(before.record) and step.is_equal_to_before):
            continue
        if before.record.carried_out_ns != step.record.carried_in_ns:
            stored = coded("record-carried-ns", time_ns=step.record.carried_in_ns)
            expected = coded("record-carried-out-ns", time_ns=before.record.carried_out_ns)
            yield Contradiction(where=step.where, stored=stored, expected=expected)


def _carried_counts(sequence: StoredSequence) -> Iterator[Contradiction]:
    """An I/O that equal steps carry in is in the tail of an earlier step, and counts once in each of them."""
    in_flight: dict[tuple[int, str], int] = {}
    for step in sequence_steps(sequence):
        follows = step.before.place if step.before and step.is_equal_to_before else None
        for name, side in step.sides:
            left = 0 if follows is None else in_flight.get((follows, name), 0)
            if side.carried_in_io_count > left:
                stored = coded("record-carried", count=side.carried_in_io_count, side=name)
                expected = coded("record-in-flight", count=left)
                yield Contradiction(where=step.where, stored=stored, expected=expected)
            in_flight[step.place, name] = max(left - side.carried_in_io_count, 0) + side.tail_io_count
