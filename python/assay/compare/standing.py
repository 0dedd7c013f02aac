"""Where each subject stands in each number that people quote: its share of the best, with the interval of that."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.compare.comparison import ratio_of, told_apart, uncertainty

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.compare.comparison import Compared, Comparison, Entry
    from assay.compare.numbers import NumberName
    from assay.compare.side import Side
    from assay.compare.subject import Subject

_COUNT_MIN = 2
"""Fewer that count are no comparison."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One subject in one number.

    share : of the best, 1.0 of the best itself; None where it has no value, or was made under other conditions. It may
    be above 1 of one that does not count. low, high : its 95 % interval; None where none is known.
    order : its place by value, shared where values are equal; None where it does not count.
    """

    subject: Subject
    value: float | None
    share: float | None = None
    low: float | None = None
    high: float | None = None
    order: int | None = None

    @property
    def times(self) -> float | None:
        """How many times the best is ahead of it. Worked: a share of 0.25 -> 4."""
        return 1 / self.share if self.share else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """One number of all subjects, in their order.

    best : the first of those whose value is the best. ahead : whether its interval leaves out equality with the next;
    None where no uncertainty is known.
    """

    name: NumberName
    standings: tuple[Standing, ...]
    best: Standing
    ahead: bool | None

    @property
    def counted(self) -> tuple[Standing, ...]:
        """Those that are ranked, the best first."""
        return tuple(
            sorted(
                (standing for standing in self.standings if standing.order is not None),
                key=lambda standing: standing.order or 0,
            )
        )


def ranked_numbers(comparison: Comparison) -> Iterator[Ranked]:
    """The quoted numbers that can be better or worse and of which at least two subjects have one that counts."""
    for one in comparison.quoted:
        counted = [entry for entry in one.entries if entry.order is not None]
        if len(counted) >= _COUNT_MIN:
            yield _ranked(one, counted)


def share_of_best(name: NumberName, value: float | None, best: float | None) -> float | None:
    """A value as a share of the best one, whatever the better direction; None where either is nothing.

    Worked: 25 of 100 IOPS -> 0.25; 4 ms where the best has 1 ms -> 0.25.
    """
    if not value or not best:
        return None
    return value / best if name.better == "higher" else best / value


def _ranked(number: Compared, counted: Sequence[Entry]) -> Ranked:
    first, second, *_ = sorted(counted, key=lambda entry: entry.order or 0)
    standings = tuple(_standing(number.name, entry, first.side) for entry in number.entries)
    known = uncertainty(first.side, second.side, number.name).reach() is not None
    return Ranked(
        name=number.name,
        standings=standings,
        best=standings[number.entries.index(first)],
        ahead=told_apart(number.name, first.side, second.side) if known else None,
    )


def _standing(name: NumberName, entry: Entry, best: Side) -> Standing:
    side = entry.side
    share = None if entry.apart else share_of_best(name, side.value, best.value)
    ends = _interval(name, side, best, share) if share else (None, None)
    return Standing(subject=side.subject, value=side.value, share=share, low=ends[0], high=ends[1], order=entry.order)


def _interval(name: NumberName, side: Side, best: Side, share: float) -> tuple[float | None, float | None]:
    """The ends of a share. Worked: a share of 0.5 and a reach of 0.1 -> 0.452 to 0.553."""
    reach = uncertainty(best, side, name).reach()
    if side is best or reach is None or ratio_of(best, side) is None:
        return None, None
    return share * math.exp(-reach), share * math.exp(reach)
