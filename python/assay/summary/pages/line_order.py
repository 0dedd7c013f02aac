"""Which lines of a figure others hide, and in which order a legend lists them."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from assay.summary.pages.axis_rule import CUT_BELOW

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    _Line = tuple[tuple[float, ...], tuple[float, ...]]

HIDDEN_SHARE = 0.01
"""Share of an axis below which two lines are one to the eye."""
_HIDDEN_MAX = 2


def covered(lines: Mapping[int, _Line], ends: tuple[float, float]) -> frozenset[int]:
    """Places of the lines that later ones hide; none where they are many, as wider ones would be a blot.

    lines : x and y of each, by its place. ends : of the axis up.
    Worked: lines of 6.30 and 6.31 ms over the same rounds, on an axis up to 32 -> the first.
    """
    near = (ends[1] - ends[0]) * HIDDEN_SHARE
    result = {place for (place, one), (_, other) in combinations(lines.items(), 2) if _are_one(one, other, near)}
    return frozenset(result) if len(result) <= _HIDDEN_MAX else frozenset()


def as_they_end(ends: Sequence[float]) -> tuple[int, ...]:
    """Places of lines as they end, the highest first; as they are where they end close to each other.

    Worked: lines that end at 10, 300 and 2,000 -> 2, 1, 0; at 2,630, 2,625 and 2,635 -> 0, 1, 2.
    """
    places = range(len(ends))
    if min(ends, default=0.0) >= (1 - CUT_BELOW) * max(ends, default=0.0):
        return tuple(places)
    return tuple(sorted(places, key=lambda place: -ends[place]))


def _are_one(line: _Line, other: _Line, near: float) -> bool:
    """Whether both have the same points, none further up or down than ``near``."""
    (places, rates), (others, seconds) = line, other
    return places == others and all(abs(rate - second) < near for rate, second in zip(rates, seconds, strict=True))
