"""The sequences of steps that several tests ask for alike, and how parts of one are numbered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engine.records import StepSequence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engine.records import StepSpec


def one_round(index: int, steps: Sequence[StepSpec]) -> StepSequence:
    """Round ``index``, from 1, of a test that repeats them until steady."""
    return StepSequence(
        name=f"round {index}", stage="round", index=index, steps=tuple(steps), role="measure", on_void="leave-out"
    )


def histogram(step: StepSpec) -> StepSequence:
    """The step behind a test whose response times are counted."""
    return StepSequence(name="histogram", stage="histogram", index=0, steps=(step,), role="measure", on_void="repeat")


def numbered(what: str, first: int, count: int) -> str:
    """What so many steps from a number on are called; ``what`` is in the plural.

    Worked: 31 samples from the first -> ``samples 1 to 31``; one from the fourth -> ``sample 4``.
    """
    return f"{what} {first} to {first + count - 1}" if count > 1 else f"{what.removesuffix('s')} {first}"
