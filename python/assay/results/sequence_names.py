"""What sequences and their steps are called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.words.coded import Place

if TYPE_CHECKING:
    from assay.engine.records import StoredSequence

_STEMS = {"point": "operating point"}
"""Of stages that are not printed by their own name."""


def sequence_place(sequence: StoredSequence) -> Place:
    """A sequence as a place. Worked: round 3 -> ``Place("round", 3)``; samples 1 to 31 have no number of their own."""
    numbered = Place(_STEMS.get(sequence.stage, sequence.stage), sequence.index)
    return numbered if str(numbered) == sequence.name else Place(sequence.name)


def step_places(sequence: StoredSequence) -> list[Place]:
    """The steps of a sequence: by their labels where these tell them apart, else by their numbers.

    Worked: a cell of round 3 -> ``RND 4KiB 0/100, round 3``; the second of 31 samples -> ``samples 1 to 31, step 2``.
    """
    labels, of = [spec.label for spec in sequence.asked], sequence_place(sequence)
    if len(set(labels)) == len(labels):
        return [Place(f"{label}, {of.stem}", of.number) for label in labels]
    return [Place(f"{sequence.name}, step", number) for number in range(1, len(labels) + 1)]
