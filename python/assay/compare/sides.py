"""One number of several subjects side by side: its value, its ratio to the first with an interval, and its rank."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass, field, replace
from math import log1p
from typing import TYPE_CHECKING

from assay.compare.interval import Uncertainty, middle, reference_spread, repeats_spread, rounds_spread
from assay.compare.numbers import COUNTED, NOT_RUN, WITHOUT_RESULT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.compare.interval import Spread
    from assay.compare.numbers import Number, NumberName, State
    from assay.compare.subject import Subject

_COMPARED_MIN = 2
"""Sides that count: fewer have no order."""
_FLOAT_ERROR = 1e-9
"""Relative difference of two ways to sum up the same numbers."""
NO_INTERVAL = "no uncertainty known"
NOT_REPEATED = "rounds only: how far this moves from run to run is not known"


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One number of one subject, of a run or of all its repeats together, and how it compares with the others.

    value : None where no run may give it. values, numbers : of each of its runs that counts, the latter with rounds.
    ratio : its value over that of the first subject. low, high : the 95 % interval of the ratio. None each where there
    is none, and ``uncertainty`` says why. apart : it was made under other conditions and has no ratio and no rank.
    rank : from 1, shared where they cannot be told apart; None where it is not known how far a number moves from run to
    run. order : its rank by the value alone, shared where values are equal; None where it does not count.
    share : of a quoted number its share of the best, 1.0 of the best itself; it may be above 1 of one that does not
    count. share_low, share_high : the 95 % interval of the share.
    """

    subject: Subject
    state: State
    reason: str
    value: float | None
    values: tuple[float, ...] = ()
    numbers: tuple[Number, ...] = ()
    ratio: float | None = None
    uncertainty: Uncertainty = field(default_factory=Uncertainty)
    low: float | None = None
    high: float | None = None
    apart: bool = False
    rank: int | None = None
    order: int | None = None
    share: float | None = None
    share_low: float | None = None
    share_high: float | None = None

    @property
    def counts(self) -> bool:
        """Whether it may be compared."""
        return self.state in COUNTED and self.value is not None

    @property
    def times(self) -> float | None:
        """How many times the best is ahead of it. Worked: a share of 0.25 -> 4."""
        return 1 / self.share if self.share else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One number of all subjects, in their order."""

    name: NumberName
    sides: tuple[Side, ...]

    @property
    def ranked(self) -> tuple[Side, ...]:
        """Those that have a place by their value, the best first."""
        placed = (side for side in self.sides if side.order is not None)
        return tuple(sorted(placed, key=lambda side: side.order or 0))


def compared(name: NumberName, subjects: Sequence[Subject]) -> Compared:
    """One number of all subjects against the first, and of a quoted number against the best."""
    sides = [side_of(subject, name) for subject in subjects]
    sides = [_against_first(sides[0], side, name) for side in sides]
    alike = [side for side in sides if not side.apart]
    orders, ranks = ordered(name, alike), ranked(name, alike)
    letters = [subject.letter for subject in subjects]
    number = Compared(
        name=name,
        sides=tuple(
            replace(side, rank=ranks.get(letter), order=orders.get(letter))
            for side, letter in zip(sides, letters, strict=True)
        ),
    )
    if not name.quoted or not number.ranked:
        return number
    best = number.ranked[0]
    return replace(number, sides=tuple(_against_best(best, side, name) for side in number.sides))


def side_of(subject: Subject, name: NumberName) -> Side:
    """A number of a subject; of repeats the mean by logarithms, of percentiles the middle one, of maxima the largest.

    A single run whose number does not count decides for all its repeats.
    """
    numbers = tuple(run.numbers[name.key] for run in subject.runs if name.key in run.numbers)
    if len(numbers) < len(subject.runs):
        return _absent(subject, name)
    bad = next((number for number in numbers if number.state not in COUNTED), None)
    if bad:
        # What is not steady is shown as such; what is withheld is in no output.
        shown = bad.value if bad.state == "not steady" and len(numbers) == 1 else None
        return Side(subject=subject, state=bad.state, reason=bad.reason, value=shown, numbers=numbers)
    values = tuple(number.value for number in numbers if number.value is not None)
    state: State = "ok" if all(number.state == "ok" for number in numbers) else "not settled"
    value = _of_repeats(values, name)
    return Side(subject=subject, state=state, reason="", value=value, values=values, numbers=numbers)


def _absent(subject: Subject, name: NumberName) -> Side:
    """A number that a run lacks: its test was cut short or withheld before it had one, or did not run at all."""
    missing = next(run for run in subject.runs if name.key not in run.numbers)
    state, reason = missing.states.get(name.test, NOT_RUN)
    if state not in WITHOUT_RESULT:
        state, reason = NOT_RUN
    return Side(subject=subject, state=state, reason=reason, value=None)


def _of_repeats(values: tuple[float, ...], name: NumberName) -> float:
    if len(values) == 1:
        return values[0]
    if name.stat == "maximum":
        return max(values)
    if name.stat == "percentile" or min(values) <= 0:
        return sorted(values)[len(values) // 2]
    return middle(values)


def uncertainty(first: Side, second: Side, name: NumberName) -> Uncertainty:
    """What is known of how far the ratio of two sides may be off.

    Repeated runs say it instead of rounds. A reference drive of the host widens it where the drives are real; that of
    a simulated one is known from repeats with other seeds alone. A maximum has none.
    """
    if name.stat == "maximum" or not (first.counts and second.counts):
        return Uncertainty(reason=NO_INTERVAL)
    repeats = repeats_spread(first.values, second.values)
    rounds = None if repeats else rounds_spread(first.numbers[0].rounds, second.numbers[0].rounds)
    reference = None if name.stat == "percentile" else _reference(first, second, name)
    if not (repeats or rounds):
        # A single measurement has no spread, and a reference drive cannot replace it.
        return Uncertainty(reason=NO_INTERVAL)
    spreads = tuple(spread for spread in (repeats, rounds, reference) if spread)
    repeatable = bool(repeats or reference)
    host = sum(map(_host_reach, (first, second)))
    return Uncertainty(spreads=spreads, repeatable=repeatable, reason="" if repeatable else NOT_REPEATED, host=host)


def _host_reach(side: Side) -> float:
    """How far the hosts may have moved the numbers of a side, as a logarithm. Worked: a part of 3 % -> 0.0305."""
    return -log1p(-max((number.host_share for number in side.numbers), default=0.0))


def _reference(one: Side, two: Side, name: NumberName) -> Spread | None:
    """The widest that the reference drives of the hosts say; None where a run of a real drive has none."""
    counts = len(one.values), len(two.values)
    summaries = [run.summary for side in (one, two) for run in side.subject.runs]
    if any(summary.is_simulated or not summary.reference for summary in summaries):
        return None
    points = (point for summary in summaries for point in summary.reference)
    repeated = (point.mean_ns if name.unit == "ms" else point.iops for point in points)
    spreads = (reference_spread(each.variation, len(each.values), counts) for each in repeated)
    return max(spreads, key=lambda spread: spread.reach())


def ratio_of(first: Side, second: Side) -> float | None:
    """The second over the first; None where either does not count or the first is nothing."""
    if not (first.counts and second.counts) or not first.value or second.value is None:
        return None
    return second.value / first.value


def _against_first(first: Side, side: Side, name: NumberName) -> Side:
    """A side with its ratio to the first."""
    if side.subject.unlike_in(name.shown):
        return replace(side, apart=True, uncertainty=Uncertainty(reason="made under other conditions"))
    known, ratio = uncertainty(first, side, name), ratio_of(first, side)
    low, high = (None, None) if side is first else _interval(ratio, known)
    return replace(side, ratio=ratio, uncertainty=known, low=low, high=high)


def _against_best(best: Side, side: Side, name: NumberName) -> Side:
    """A side with its share of the best. Worked: a share of 0.5 and a reach of 0.1 -> 0.452 to 0.553."""
    share = None if side.apart else share_of_best(name, side.value, best.value)
    known = side is not best and ratio_of(best, side) is not None
    low, high = _interval(share, uncertainty(best, side, name)) if share and known else (None, None)
    return replace(side, share=share, share_low=low, share_high=high)


def _interval(ratio: float | None, known: Uncertainty) -> tuple[float | None, float | None]:
    reach = known.reach()
    return (None, None) if ratio is None or reach is None else (ratio * math.exp(-reach), ratio * math.exp(reach))


def share_of_best(name: NumberName, value: float | None, best: float | None) -> float | None:
    """A value as a share of the best one, whatever the better direction; None where either is nothing.

    Worked: 25 of 100 IOPS -> 0.25; 4 ms where the best has 1 ms -> 0.25.
    """
    if not value or not best:
        return None
    return value / best if name.better == "higher" else best / value


def ordered(name: NumberName, sides: Sequence[Side]) -> dict[str, int]:
    """The places of the values by letter, the best first; equal values, to a float's error, share one.

    Worked: 3, 5, 5 IOPS -> 3, 1, 1.
    """
    values = [side.value for side in sides if side.counts and side.value is not None]
    if name.better == "neither" or len(values) < _COMPARED_MIN:
        return {}
    better = operator.gt if name.better == "higher" else operator.lt
    return {
        side.subject.letter: 1 + sum(better(value, side.value) and not _equal(value, side.value) for value in values)
        for side in sides
        if side.counts and side.value is not None
    }


def ranked(name: NumberName, sides: Sequence[Side]) -> dict[str, int]:
    """Ranks by letter, the best first. Who cannot be told apart from the first of a rank shares it.

    None of a maximum, and none where it is not known how far the number moves from run to run: rounds of unchanged
    drives differ by less than their runs do, so that ranks by rounds would tell equal drives apart.
    Worked: 100, 99 and 90 IOPS, each within 2 % -> ranks 1, 1 and 3.
    """
    places = ordered(name, sides)
    best = sorted(
        (side for side in sides if side.subject.letter in places), key=lambda side: places[side.subject.letter]
    )
    if not best or not all(uncertainty(best[0], side, name).repeatable for side in best[1:]):
        return {}
    ranks: dict[str, int] = {}
    leader, rank = best[0], 1
    for index, side in enumerate(best, 1):
        if _differ(name, leader, side):
            leader, rank = side, index
        ranks[side.subject.letter] = rank
    return ranks


def _differ(name: NumberName, first: Side, second: Side) -> bool:
    """Whether the interval of the ratio of two sides leaves out equality."""
    ratio, reach = ratio_of(first, second), uncertainty(first, second, name).reach()
    if first is second or not ratio or reach is None or _equal(ratio, 1.0):
        return False
    return abs(math.log(ratio)) > reach


def _equal(one: float, two: float) -> bool:
    return math.isclose(one, two, rel_tol=_FLOAT_ERROR)
