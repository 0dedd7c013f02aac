"""The findings of a run as people read them: a row for each finding, with all the places where it was found."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


_GATHERED = {"host", "void", "drive event"}
_RANGED = {"host"}
"""Kinds whose texts differ from place to place in nothing but measured figures."""
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_NUMBERED = re.compile(r"(.*\D) (\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One thing found. test : its name, or ``all``. where : a round, a cell; empty for all of the test.

    measured, limit : the figure of which the words are, and the most of it that passes, in ``unit``: ``ms``, ``share``,
    ``count`` and so on; None and empty where there is none.
    """

    test: str
    kind: str
    where: str
    what: str
    measured: float | None = None
    limit: float | None = None
    unit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """One finding with the places where it was found, and how many these are."""

    test: str
    kind: str
    where: str
    count: int
    what: str


def gathered(found: Iterable[Found]) -> list[Gathered]:
    """One row for each finding, in the order in which each was found first.

    Worked: stalls of 12 ms in round 2 and of 30 ms in round 3 -> ``"rounds 2-3"``, ``"the host stalled for 12 to
    30 ms"``.
    """
    groups: dict[tuple[str, ...], list[Found]] = {}
    for one in found:
        told = _NUMBER.sub("0", one.what) if one.kind in _RANGED else one.what
        place = () if one.kind in _GATHERED else (one.where,)
        groups.setdefault((one.test, one.kind, told, *place), []).append(one)
    return [
        Gathered(
            test=same[0].test,
            kind=same[0].kind,
            where=joined_names([one.where for one in same]),
            count=len(same),
            what=ranged([one.what for one in same]),
        )
        for same in groups.values()
    ]


def joined_names(names: Sequence[str]) -> str:
    """Names of places in few words. Worked: round 2, round 3, round 7, group A -> ``"rounds 2-3, 7; group A"``."""
    spans: dict[str, list[int]] = {}
    for name in dict.fromkeys(names):
        numbered = _NUMBERED.fullmatch(name)
        spans.setdefault(numbered[1] if numbered else name, []).extend([int(numbered[2])] if numbered else [])
    return "; ".join(_named(stem, sorted(numbers)) for stem, numbers in spans.items())


def _named(stem: str, numbers: Sequence[int]) -> str:
    if not numbers:
        return stem
    return f"{stem} {numbers[0]}" if len(numbers) == 1 else f"{stem}s {number_spans(numbers)}"


def number_spans(numbers: Sequence[int]) -> str:
    """Ascending numbers in few words. Worked: 1, 2, 3, 7 -> ``"1-3, 7"``."""
    runs = [[number for _, number in run] for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0])]
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def ranged(texts: Sequence[str]) -> str:
    """Texts that differ in numbers alone as one, from the least of each number to the greatest.

    Worked: ``"1 of 5 late, 3 ms"`` and ``"1 of 5 late, 12 ms"`` -> ``"1 of 5 late, 3 to 12 ms"``.
    """
    columns = iter(zip(*map(_NUMBER.findall, texts), strict=True))
    return _NUMBER.sub(lambda _: _span(next(columns)), texts[0])


def _span(numbers: Sequence[str]) -> str:
    ordered = sorted(set(numbers), key=lambda number: float(number.replace(",", "")))
    return ordered[0] if len(ordered) == 1 else f"{ordered[0]} to {ordered[-1]}"
