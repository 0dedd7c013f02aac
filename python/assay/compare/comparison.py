"""The numbers of several runs side by side: values, ratios to the first with their intervals, and ranks."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass, replace
from itertools import chain
from math import log1p
from typing import TYPE_CHECKING

from assay.compare.conditions import unlike, unlike_error
from assay.compare.interval import Uncertainty, reference_spread, repeats_spread, rounds_spread
from assay.compare.side import side_of
from assay.compare.subject import blinded, check_given_once, check_independent, named, subjects_of
from assay.compare.unverified import unverified_of
from assay.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from assay.compare.conditions import Unlikeness
    from assay.compare.interval import Spread
    from assay.compare.numbers import NumberName
    from assay.compare.side import Side
    from assay.compare.subject import LoadedRun, Subject
    from assay.compare.unverified import Unverified
    from assay.workloads.iometer.results_read import Results

RUNS_MIN, RUNS_MAX = 2, 50
_FLOAT_ERROR = 1e-9
"""Relative difference of two ways to sum up the same numbers."""
NO_INTERVAL = "no uncertainty known"
NOT_REPEATED = "rounds only: how far this moves from run to run is not known"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How runs are compared.

    despite : unlike runs are shown apart instead of refused. repeats : runs of one drive and firmware are repeats of
    one measurement. blind : the key of a blind comparison, None for names.
    """

    despite: bool = False
    repeats: bool = False
    blind: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A side against the first subject. ratio : its value over that; low, high : the 95 % interval.

    None each where there is none; ``uncertainty`` says why. rank : from 1, shared where they cannot be told apart; None
    where it is not known how far a number moves from run to run. order : the place of the value alone.
    apart : it was made under other conditions, so that it has no ratio and no rank.
    """

    side: Side
    ratio: float | None
    uncertainty: Uncertainty
    low: float | None = None
    high: float | None = None
    rank: int | None = None
    order: int | None = None
    apart: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One number of all subjects, in their order."""

    name: NumberName
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Everything that is said of several runs.

    unlike : of subjects, by letter, how they differ from the first. blind : identities are not to be told.
    unverified : files of results that Iometer wrote, which lie beside the subjects.
    """

    subjects: tuple[Subject, ...]
    numbers: tuple[Compared, ...]
    unlike: Mapping[str, tuple[Unlikeness, ...]]
    blind: bool = False
    unverified: tuple[Unverified, ...] = ()

    @property
    def quoted(self) -> tuple[Compared, ...]:
        """The numbers that people quote."""
        return tuple(number for number in self.numbers if number.name.quoted)

    @property
    def tests(self) -> tuple[tuple[str, str], ...]:
        """The tests that any run has, each as its key and as printed."""
        return tuple(dict.fromkeys((number.name.test, number.name.shown) for number in self.numbers))


def compare_runs(
    runs: Sequence[LoadedRun], options: Options = Options(), results: Sequence[Results] = ()
) -> Comparison:
    """Hold 2 to 50 runs against the first of them. results : of Iometer, to lie beside them; then one run is enough.

    Raises UsageError for another number of runs, one that is given twice or repeats that are none; UnlikeRunsError
    where conditions differ and ``despite`` was not asked for; and as ``unverified_of``.
    """
    least = 1 if results else RUNS_MIN
    if not least <= len(runs) <= RUNS_MAX:
        raise UsageError("RUN", f"{len(runs)} given", f"name {least} to {RUNS_MAX} run folders")
    check_given_once(runs)
    groups = subjects_of(runs, repeats=options.repeats)
    for group in groups:
        check_independent(group if len(group) > 1 else ())
    subjects = named(groups) if options.blind is None else blinded(groups, options.blind)
    result = {subject.letter: differences(subjects[0], subject) for subject in subjects}
    if not options.despite:
        refuse_unlike(subjects, result)
    numbers = tuple(compared(name, subjects, result) for name in number_names(subjects))
    return Comparison(
        subjects=subjects,
        numbers=numbers,
        unlike={name: one for name, one in result.items() if one},
        blind=options.blind is not None,
        unverified=unverified_of(results, subjects, despite=options.despite, blind=options.blind is not None),
    )


def differences(first: Subject, other: Subject) -> tuple[Unlikeness, ...]:
    """How the runs of a subject differ from the first run of another; each difference once."""
    return tuple(dict.fromkeys(chain.from_iterable(unlike(first.first, run) for run in other.runs)))


def refuse_unlike(subjects: Sequence[Subject], found: Mapping[str, Sequence[Unlikeness]]) -> None:
    """Raise UnlikeRunsError for the first subject that differs from the first of all. found : by letter."""
    for subject in subjects:
        if found[subject.letter]:
            raise unlike_error(subjects[0].first, subject.first, found[subject.letter])


def number_names(subjects: Sequence[Subject]) -> list[NumberName]:
    """Every number that any subject has, in the order of the first that has it."""
    names: dict[object, NumberName] = {}
    for run in (run for subject in subjects for run in subject.runs):
        for number in run.numbers.values():
            names.setdefault(number.name.key, number.name)
    order = list(dict.fromkeys(name.test for name in names.values()))
    return sorted(names.values(), key=lambda one: (order.index(one.test), not one.quoted))


def compared(name: NumberName, subjects: Sequence[Subject], unlike_by: Mapping[str, Sequence[Unlikeness]]) -> Compared:
    """One number of all subjects against the first."""
    sides = [side_of(subject, name) for subject in subjects]
    apart = [any(one.test in {"", name.shown} for one in unlike_by[each.letter]) for each in subjects]
    entries = [_entry(sides[0], side, name, apart=gone) for side, gone in zip(sides, apart, strict=True)]
    alike = [side for side, gone in zip(sides, apart, strict=True) if not gone]
    orders, ranks = ordered(name, alike), ranked(name, alike)
    letters = [side.subject.letter for side in sides]
    placed = (
        replace(entry, rank=ranks.get(each), order=orders.get(each))
        for entry, each in zip(entries, letters, strict=True)
    )
    return Compared(name=name, entries=tuple(placed))


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
    spreads = tuple(result for result in (repeats, rounds, reference) if result)
    repeatable = repeats is not None or (reference is not None and rounds is not None)
    if not (repeats or rounds):
        # What was measured once has no spread of its own, which a reference drive does not tell either.
        return Uncertainty(spreads=(), reason=NO_INTERVAL)
    host = sum(map(_host_reach, (first, second)))
    return Uncertainty(spreads=spreads, repeatable=repeatable, reason="" if repeatable else NOT_REPEATED, host=host)


def _host_reach(side: Side) -> float:
    """How far the hosts may have moved the numbers of a side, as a logarithm. Worked: a part of 3 % -> 0.0305."""
    return -log1p(-max((number.host_share for number in side.numbers), default=0.0))


def _reference(one: Side, two: Side, name: NumberName) -> Spread | None:
    """The widest that the reference drives of the hosts say; None where a run of a real drive has none."""
    counts = len(one.values), len(two.values)
    result: list[Spread] = []
    for run in (run for side in (one, two) for run in side.subject.runs):
        points = run.run.certificate.reference.points if run.run.certificate and run.run.certificate.reference else ()
        if run.simulated or not points:
            return None
        repeated = [point.mean_ns if name.unit == "ms" else point.iops for point in points]
        result += [reference_spread(each.variation, len(each.values), counts) for each in repeated]
    return max(result, key=lambda each: each.reach(), default=None)


def ratio_of(first: Side, second: Side) -> float | None:
    """The second over the first; None where either does not count or the first is nothing."""
    if not (first.counts and second.counts) or not first.value or second.value is None:
        return None
    return second.value / first.value


def _entry(first: Side, side: Side, name: NumberName, *, apart: bool) -> Entry:
    if apart:
        return Entry(side=side, ratio=None, uncertainty=Uncertainty(reason="made under other conditions"), apart=True)
    known, ratio = uncertainty(first, side, name), ratio_of(first, side)
    reach = known.reach()
    if side is first or ratio is None or reach is None:
        return Entry(side=side, ratio=ratio, uncertainty=known)
    return Entry(side=side, ratio=ratio, uncertainty=known, low=ratio * math.exp(-reach), high=ratio * math.exp(reach))


def ordered(name: NumberName, sides: Sequence[Side]) -> dict[str, int]:
    """The places of the values by letter, the best first; equal values, to a float's error, share one.

    Worked: 3, 5, 5 IOPS -> 3, 1, 1.
    """
    values = [side.value for side in sides if side.counts and side.value is not None]
    if name.better == "neither" or len(values) < RUNS_MIN:
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
    if not best or not all(uncertainty(best[0], one, name).repeatable for one in best[1:]):
        return {}
    return dict(_ranks(name, best))


def _ranks(name: NumberName, best: Sequence[Side]) -> Iterator[tuple[str, int]]:
    leader, rank = best[0], 1
    for index, one in enumerate(best, 1):
        if not told_apart(name, leader, one):
            yield one.subject.letter, rank
        else:
            leader, rank = one, index
            yield one.subject.letter, index


def told_apart(name: NumberName, first: Side, second: Side) -> bool:
    """Whether the interval of the ratio of two sides leaves out equality."""
    ratio, reach = ratio_of(first, second), uncertainty(first, second, name).reach()
    if first is second or not ratio or reach is None or _equal(ratio, 1.0):
        return False
    return abs(math.log(ratio)) > reach


def _equal(one: float, two: float) -> bool:
    return math.isclose(one, two, rel_tol=_FLOAT_ERROR)
