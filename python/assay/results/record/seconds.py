"""The seconds of a window against the window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.results.record.contradiction import Contradiction
from assay.results.record.steps import sequence_steps
from assay.results.record.totals import side_sums
from assay.results.step import window_count
from assay.words.coded import coded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import StoredSequence, StoredTest


def second_counts(test: StoredTest) -> Iterator[Contradiction]:
    """The seconds of a window hold its I/Os and bytes, in each direction, where they were read.

    Worked: 60 seconds of 100 reads each in a window of 12,000 reads -> ``6,000 I/Os of reads in its seconds``.
    """
    for sequence in test.sequences:
        yield from _of_sequence(sequence)


def _of_sequence(sequence: StoredSequence) -> Iterator[Contradiction]:
    table = sequence.series
    if table is None or table.direction is None or table.byte_count is None:
        return
    counts, moved = (side_sums(table.step, table.direction, values) for values in (table.io_count, table.byte_count))
    for step in sequence_steps(sequence):
        for direction, (name, side) in enumerate(step.sides):
            place = (step.place, direction)
            pairs = {
                "bytes": (moved.get(place, 0), side.window_bytes + side.carried_in_bytes),
                "I/Os": (counts.get(place, 0), window_count(side)),
            }
            for noun, (summed, due) in pairs.items():
                if summed != due:
                    stored = coded("record-seconds", count=summed, noun=noun, side=name)
                    yield Contradiction(where=step.where, stored=stored, expected=coded("record-exactly", count=due))
