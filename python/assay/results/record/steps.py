"""Stored steps with what was asked of them and the step before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.results.sequence_names import step_places
from assay.results.step import goes_on, place_before

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import DirectionRecord, StepRecord, StepSpec, StoredSequence, StoredTest
    from assay.words.coded import Place

SIDES = ("reads", "writes", "trims or flushes")
"""Names of the directions of a step, in their order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One stored step. where : its name on paper. before : the step before it in its sequence, None for the first."""

    where: Place
    sequence: StoredSequence
    place: int
    record: StepRecord
    spec: StepSpec
    before: Step | None

    @property
    def sides(self) -> tuple[tuple[str, DirectionRecord], ...]:
        """What was counted, by name."""
        return tuple(zip(SIDES, self.record.sides, strict=False))

    @property
    def ran_to_its_rule(self) -> bool:
        """Whether its stop rule ended it; the threads of a step that was cut short may have stopped one by one."""
        return self.record.ended == "stop-rule"

    @property
    def is_equal_to_before(self) -> bool:
        """Whether it was asked the same as the step before it, so that both are one stream of I/Os."""
        return goes_on(self.sequence.asked, self.place)


def steps_of_test(test: StoredTest) -> Iterator[Step]:
    """Every stored step of a test in the order they ran."""
    for sequence in test.sequences:
        yield from sequence_steps(sequence)


def sequence_steps(sequence: StoredSequence) -> Iterator[Step]:
    """Every stored step of a sequence."""
    steps: list[Step] = []
    names = step_places(sequence)
    for place, (record, spec) in enumerate(zip(sequence.steps, sequence.asked, strict=False)):
        follows = place_before(sequence.asked, place)
        before = None if follows is None else steps[follows]
        step = Step(where=names[place], sequence=sequence, place=place, record=record, spec=spec, before=before)
        steps.append(step)
    yield from steps
