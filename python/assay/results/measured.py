"""Which sequences of a test its results come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.results.stall import void_reason

if TYPE_CHECKING:
    from assay.engine.records import StoredSequence, StoredTest


def counted_sequences(test: StoredTest) -> tuple[StoredSequence, ...]:
    """The sequences that the printed results come from, in the order they ran.

    They are those whose role is to measure. Of the stage that the verdict is of, those of its window count; of all
    others, and before there is a verdict, those that are not void.
    Worked: a demand intensity whose window is rounds 1 to 5 -> these rounds and the operating points; its samples,
    which only prepare the drive, are none.
    """
    return tuple(sequence for sequence in test.sequences if sequence.role == "measure" and _counts(sequence, test))


def counted_window(test: StoredTest) -> tuple[StoredSequence, ...]:
    """The counted sequences in the window of the verdict; none before there is one."""
    stage = test.window_stage if test.window_indexes else None
    return tuple(sequence for sequence in counted_sequences(test) if sequence.stage == stage)


def kept_histograms(test: StoredTest) -> tuple[StoredSequence, ...]:
    """The histogram sequences that count: one at most, since it is run again only until it is not void."""
    return tuple(sequence for sequence in counted_sequences(test) if sequence.stage == "histogram")


def _counts(sequence: StoredSequence, test: StoredTest) -> bool:
    if sequence.stage == test.window_stage:
        return sequence.index in test.window_indexes
    return void_reason(sequence.steps, test.settings) is None
