"""Steps that run side by side: which of them go on with which of the group before."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engine.records import StepSpec


def group_of(asked: Sequence[StepSpec], index: int) -> range:
    """Places of the steps that run side by side with one, itself among them.

    Worked: three steps of which the last two are ``beside`` -> ``range(0, 3)`` for each.
    """
    first = index
    while asked[first].beside:
        first -= 1
    end = index + 1
    while end < len(asked) and asked[end].beside:
        end += 1
    return range(first, end)


def place_before(asked: Sequence[StepSpec], index: int) -> int | None:
    """The place of the step of the group before that one follows: the same of it, or its last; None where none is.

    Worked: the second of two streams behind a group of two -> the second of those.
    """
    own = group_of(asked, index)
    if own[0] == 0:
        return None
    earlier = group_of(asked, own[0] - 1)
    return earlier[min(index - own[0], len(earlier) - 1)]


def goes_on(asked: Sequence[StepSpec], index: int) -> bool:
    """Whether the group of a step is equal to the one before it but for the stop rule, so that both are one stream."""
    own = group_of(asked, index)
    if own[0] == 0:
        return False
    earlier = group_of(asked, own[0] - 1)
    pairs = zip(own, earlier, strict=False)
    return len(own) == len(earlier) and all(_stream(asked[one]) == _stream(asked[other]) for one, other in pairs)


def _stream(spec: StepSpec) -> tuple[object, ...]:
    return spec.pattern, spec.demand, spec.active_range
