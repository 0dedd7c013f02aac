"""Limits and claims as a strip under the tiles, the worst first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.words.coded import coded, quantity
from assay.words.text import text

if TYPE_CHECKING:
    from assay.summary.record import Held, HeldNumber, Level, Outcome
    from assay.words.coded import Coded, Number

LIMITS_MAX = 8
"""So many limits stand in the strip."""

_LEVELS: dict[Outcome, Level] = {"fail": "bad", "not decided": "unknown", "pass": "good"}
_WORDS: dict[Outcome, str] = {"fail": "missed", "not decided": "not decided", "pass": "met"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitView:
    """One limit as printed. outcome : in a word, by which its level can be known without its colour."""

    name: str
    value: str
    bound: str
    outcome: str
    level: Level


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitStrip:
    """The limits. counts : in words. level : of all. more : how many are not among the first."""

    counts: str
    level: Level
    limits: tuple[LimitView, ...]
    more: int


def limit_strip(held: Held | None) -> LimitStrip | None:
    """The strip; None of a run that states no limits.

    Worked: nine limits, one of them missed -> that one first, then seven, and one more.
    """
    if held is None:
        return None
    parts = ((held.missed, "missed"), (held.undecided, "not decided"), (held.met, "met"))
    return LimitStrip(
        counts=", ".join(f"{count} {name}" for count, name in parts if count),
        level="bad" if held.missed else "unknown" if held.undecided else "good",
        limits=tuple(map(_view, held.numbers[:LIMITS_MAX])),
        more=max(len(held.numbers) - LIMITS_MAX, 0),
    )


def _view(held_number: HeldNumber) -> LimitView:
    bound = coded(
        "bound-least" if held_number.is_least else "bound-most", bound=_number(held_number.bound, held_number.unit)
    )
    value = _number(held_number.value, held_number.unit)
    return LimitView(
        name=held_number.name,
        value=text(value) if value else "n/a",
        bound=text(bound),
        outcome=_WORDS[held_number.outcome],
        level=_LEVELS[held_number.outcome],
    )


def _number(value: Number | None, unit: str) -> Coded | None:
    """A number with its unit; a count has none. Worked: 3 findings -> ``"3"``."""
    return quantity(value, unit) if unit or value is None else coded("count", value=float(value))
