"""The tails of the streams of a workload."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.results import step_times

if TYPE_CHECKING:
    from assay.engine.records import StoredTest
    from assay.results import ResponseTimes

TAILS_MAX = 8
"""More curves than this cannot be told apart."""


def stream_tails(test: StoredTest, stage: int) -> list[tuple[str, ResponseTimes]]:
    """The response times of each stream of a stage, the first eight; none where they were not read.

    stage : its place among those that measured, from 0.
    """
    sequence = [sequence for sequence in test.sequences if sequence.role == "measure"][stage]
    times = step_times(sequence)
    return [(spec.label, times[place]) for place, _, spec in sequence.result_steps if times][:TAILS_MAX]
