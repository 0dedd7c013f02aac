"""Where something was found: a stem and a number, and many such places in few words."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass(frozen=True, slots=True)
class Place:
    """One place. stem : in the singular where there is a number, as ``round``. number : None where there is none.

    Worked: ``Place("round", 3)`` is printed ``"round 3"``, ``Place("whole run")`` as it is.
    """

    stem: str
    number: int | None = None

    def __str__(self) -> str:
        """As printed."""
        return self.stem if self.number is None else f"{self.stem} {self.number}"


NOWHERE = Place("")
"""Of the whole test or host."""


def joined_places(places: Iterable[Place]) -> str:
    """Places in few words. Worked: round 2, round 3, round 7, group A -> ``"rounds 2-3, 7; group A"``."""
    numbers: dict[str, list[int]] = {}
    for one in dict.fromkeys(places):
        numbers.setdefault(one.stem, []).extend([] if one.number is None else [one.number])
    return "; ".join(_joined(stem, sorted(result)) for stem, result in numbers.items())


def _joined(stem: str, numbers: Sequence[int]) -> str:
    if not numbers:
        return stem
    return f"{stem} {numbers[0]}" if len(numbers) == 1 else f"{stem}s {number_spans(numbers)}"


def number_spans(numbers: Sequence[int]) -> str:
    """Ascending numbers in few words. Worked: 1, 2, 3, 7 -> ``"1-3, 7"``."""
    runs = [[number for _, number in run] for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0])]
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
