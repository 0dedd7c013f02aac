"""What a replay says of the drive: whether it kept up, how long I/Os waited, and whether it was busy at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.procedures.waits import stalls, tails, waited
from assay.procedures.workload.record import far_below, rate_missed
from assay.results import effective_queue_depth, step_times
from assay.words.subject import ALL_IOS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import StoredTest
    from assay.summary.insight import Insight


def replay_insights(test: StoredTest) -> Iterator[Insight]:
    """Everything that its one step says; none where it did not begin."""
    sequence = next(
        (sequence for sequence in test.sequences if sequence.role == "measure" and sequence.result_steps), None
    )
    if sequence is None or not sequence.steps[0].span_ns:
        return
    ((place, step, spec), *_), times = sequence.result_steps, step_times(sequence)
    yield from rate_missed(ALL_IOS, step)
    if times:
        yield from tails(ALL_IOS, times[place])
        yield from stalls(ALL_IOS, [waited([step], times[place : place + 1], spec.demand)])
    yield from far_below([effective_queue_depth(step)])
