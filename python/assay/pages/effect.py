"""What stands out of the numbers of a test, so that those of several tests can be ranked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

STANDS_OUT = 2.0
"""From so many times on a difference stands out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """A difference between two numbers of a drive.

    kind : what differs; several of one kind are told as one, the largest first.
    times : the larger number over the smaller.
    text : in words, without a full stop. expected : the larger number is one that would be expected and was not found.
    also : the same in few words, to stand behind a larger one of its kind; empty where that says enough.
    """

    kind: str
    times: float
    text: str
    expected: bool = False
    also: str = ""


def ranked(found: Iterable[Effect], most: int) -> list[str]:
    """The texts of the largest effects, a kind in one, none below ``STANDS_OUT``; largest first, then what is missing.

    Worked: reads 10.5 times as fast as writes, and idle time that gains 1.06 times -> the first alone.
    """
    kinds: dict[str, list[Effect]] = {}
    for one in sorted(found, key=lambda one: (one.expected, -one.times)):
        if one.times >= STANDS_OUT:
            kinds.setdefault(one.kind, []).append(one)
    return [_together(same) for same in list(kinds.values())[:most]]


def _together(same: list[Effect]) -> str:
    """The largest of a kind, and the others behind it in few words."""
    others = ", ".join(one.also for one in same[1:] if one.also)
    return f"{same[0].text}; likewise {others}" if others else same[0].text
