"""What the tests of a run say together: one kind of accesses in several tests, and under which conditions."""

from __future__ import annotations

from itertools import groupby, product
from typing import TYPE_CHECKING

from assay.pages.effect import Effect, ranked
from assay.pages.headline import number_text
from assay.pages.label import host_text
from assay.pages.printed import NOT_APPLICABLE, one_decimal, outstanding_label
from assay.results import missed_steady_state

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.pages.headline import Headline
    from assay.pages.model import Entry
    from assay.pages.rate import Rate
    from assay.pages.test_report import TestReport

    _Told = tuple[TestReport, Rate]

_TWO = 2
_RANKED_MAX = 5
"""So many effects are told."""
_NUMBERS_MIN = 3
_DIFFERS = 0.25
"""A share by which two tests may differ in what both measured."""
_OTHER_ORDER = 1.5
"""From so many times on it is told that the order of accesses changes their throughput."""


def standing_out(tests: Sequence[TestReport]) -> Iterator[str]:
    """The largest effects that several tests found, the largest first; none of a single test, whose page has them.

    Worked: reads 10.5 times as fast as writes, and writes that fall to 16 % -> two sentences in this order.
    """
    judged = _judged(tests)
    if len(judged) > 1:
        rates = [(one, rate) for one in judged for rate in one.rates()]
        effects = (*(effect for one in judged for effect in one.effects()), *_effects(rates))
        yield from (f"{text[:1].upper()}{text[1:]}." for text in ranked(effects, _RANKED_MAX))


def together(tests: Sequence[TestReport]) -> Iterator[str]:
    """What more outstanding I/Os and another order of accesses bring, and what two tests give of one thing."""
    judged = _judged(tests)
    rates = [(one, rate) for one in judged for rate in one.rates()]
    yield from _deeper(rates)
    yield from _ordered(rates)
    yield from (text for text, _ in _twice_measured(judged))


def _judged(tests: Sequence[TestReport]) -> list[TestReport]:
    """The tests whose numbers say something of the drive: those that did not miss a required steady state."""
    return [one for one in tests if not missed_steady_state(one.test)]


def _effects(rates: Sequence[_Told]) -> Iterator[Effect]:
    """What more outstanding I/Os and another order of accesses change, as far from what would be expected.

    Worked: writes that have no more IOPS with 8 outstanding than with 1 -> 8 times less than these could bring.
    """
    for same in _by_depth(rates):
        (_, least), (_, most) = same[0], same[-1]
        depths, gain = most.outstanding / max(least.outstanding, 1), most.iops / least.iops
        text = f"{most.what}: {most.outstanding:,} outstanding give no more IOPS than {least.outstanding:,}"
        if most.overlaps(least):
            yield Effect(kind=f"depth {most.what}", times=depths / gain, text=text, expected=True)
    for slow, times, text in _orders(rates):
        yield Effect(kind=f"order {slow.side}", times=times, text=text)


def _by_depth(rates: Sequence[_Told]) -> Iterator[list[_Told]]:
    """The accesses that were measured at several numbers of outstanding I/Os, by these."""
    for size, what in dict.fromkeys((rate.size, rate.what) for _, rate in rates):
        same = sorted((one for one in rates if (one[1].size, one[1].what) == (size, what)), key=_depth)
        if _depth(same[0]) < _depth(same[-1]):
            yield same


def _deeper(rates: Sequence[_Told]) -> Iterator[str]:
    """Accesses that two tests measured at different numbers of outstanding I/Os, reads and writes in one sentence.

    Worked: reads at 33,332 IOPS with 8 and 8,333 with one -> ``"RND 4KiB, 8 outstanding against 1: R 4.00 times the
    IOPS (IOPS 33,332.0, LAT 8,333.0)."``
    """
    told: dict[tuple[str, str], list[str]] = {}
    for same in _by_depth(rates):
        few, many = same[0], same[-1]
        depths = f"{few[1].size}, {_depth(many):,} outstanding against {_depth(few):,}"
        told.setdefault((depths, _apart(many[0], few[0])), []).append(_gain(few, many))
    for (depths, apart), sides in told.items():
        yield f"{depths}: {', '.join(sides)}{apart}."


def _depth(told: _Told) -> int:
    return told[1].outstanding


def _gain(few: _Told, many: _Told) -> str:
    """Worked: 8,333 and 33,332 IOPS of reads -> ``"R 4.00 times the IOPS (IOPS 33,332.0, LAT 8,333.0)"``."""
    least, most = few[1], many[1]
    times = f"{most.iops / least.iops:.2f} times the IOPS"
    if most.overlaps(least):
        times = "no more IOPS beyond the spread of the rounds"
    both = ", ".join(f"{one.label} {one_decimal(rate.iops)}" for one, rate in (many, few))
    return f"{most.side} {times} ({both})"


def _ordered(rates: Sequence[_Told]) -> Iterator[str]:
    """Accesses of one size and direction in sequence and at random places, where one moves far more than the other.

    Worked: 1 MiB writes at 95.2 MB/s in sequence and 13.2 at random -> ``"1024KiB W: SEQ with 1,024 outstanding
    moves 7.2 times the MB/s of RND with 8 (TP-1024 95.2, IOPS 13.2)."``
    """
    yield from (f"{text}." for _, times, text in _orders(rates) if times >= _OTHER_ORDER)


def _orders(rates: Sequence[_Told]) -> Iterator[tuple[Rate, float, str]]:
    """Each pair of one size and direction: the random accesses, how many times as much a sequence moves, in words."""
    for random, sequential in product(_of_order(rates, "RND"), _of_order(rates, "SEQ")):
        (first, slow), (second, fast) = random, sequential
        if fast.what == slow.what:
            times = fast.mb_per_s / slow.mb_per_s
            moves = f"{slow.what}: SEQ with {fast.outstanding:,} outstanding moves {times:.1f} times the MB/s"
            both = f"({_moved(*sequential)}, {_moved(*random)}{_apart(second, first)})"
            yield slow, times, f"{moves} of RND with {slow.outstanding:,} {both}"


def _of_order(rates: Sequence[_Told], order: str) -> list[_Told]:
    return [one for one in rates if one[1].order == order]


def _moved(report: TestReport, rate: Rate) -> str:
    return f"{report.label} {one_decimal(rate.mb_per_s)}"


def in_numbers(tests: Sequence[TestReport]) -> Iterator[str]:
    """What data sheets claim of a drive, as measured, in one line; none of fewer than three such numbers.

    Of what two tests measured it is that of the later. Worked: ``"In numbers: RND 4KiB R 33,333.3, RND 4KiB W
    3,180.1 IOPS; SEQ 1024KiB R 275.0 MB/s; steady in 2 of 3 tests."``
    """
    judged = _judged(tests)
    found = {one.claim: one for test in judged for one in test.headlines() if one.claim and one.value is not None}
    if len(found) >= _NUMBERS_MIN:
        steady = [one.facts.steady for one in tests if one.facts.steady != NOT_APPLICABLE]
        reached = sum(text.startswith("YES") for text in steady)
        by_unit = groupby(found.values(), key=lambda one: one.unit)
        told = (f"{', '.join(map(_in_few_words, same))} {unit}" for unit, same in by_unit)
        disturbed = sum(bool(host_text(one.test)) for one in tests)
        host = f", the host disturbed {disturbed}" if disturbed else ""
        yield f"In numbers: {'; '.join(told)}; steady in {reached} of {len(steady)} tests{host}."


def _in_few_words(one: Headline) -> str:
    """Worked: 0.120 ms of ``RND 4KiB R, 1 outstanding, average`` -> ``"RND 4KiB R, 1 outstanding 0.120"``."""
    return f"{one.item.removesuffix(f', {one.part}')} {one.text}"


def differing(tests: Sequence[TestReport]) -> Iterator[str]:
    """What two tests measured and found to differ by more than a quarter.

    Worked: 18,043.2 and 18,062.2 IOPS -> nothing; 102,304.2 and 62,326.7 -> the sentence on both.
    """
    judged = _judged(tests)
    yield from (text for text, change in _twice_measured(judged) if abs(change) > _DIFFERS)


def _twice_measured(tests: Sequence[TestReport]) -> Iterator[tuple[str, float]]:
    """What two tests give of one claim of a data sheet, and how far apart; of one without a level, its last sample.

    Worked: 18,043.2 IOPS settled and 18,062.2 in the rounds -> ``"Measured twice: ... 18,043.2 IOPS; ... 18,062.2 IOPS
    (+0.1 %)."``
    """
    found: dict[str, list[tuple[TestReport, str, float]]] = {}
    for report in tests:
        for one in report.headlines():
            number = one.value or one.last
            if one.claim and number:
                found.setdefault(one.claim, []).append((report, _as_measured(report, one, number), number))
    for pair in found.values():
        if len(pair) == _TWO:
            (before, first, less), (behind, second, more) = pair
            change = more / less - 1
            yield f"Measured twice: {first}; {second} ({change * 100:+.1f} %{_apart(before, behind)}).", change


def _as_measured(report: TestReport, one: Headline, number: float) -> str:
    demand = outstanding_label(report.test.settings.demand)
    told = f"{report.label} {one.item.partition(',')[0]} {number_text(number, one.unit)} {one.unit} with {demand}"
    return told if one.value else f"{told} in the last sample, not settled"


def _apart(one: TestReport, two: TestReport) -> str:
    """In which conditions beside the demand two tests differ, as the end of a sentence; empty where in none.

    Worked: write saturation and IOPS -> ``"; preconditioning none against 2X SEQ/128KiB, active range 100 % against
    16 GiB in 2,048 segments"``.
    """
    pairs = zip(_conditions(one), _conditions(two), strict=True)
    differing = [f"{name} {first} against {second}" for (name, first), (_, second) in pairs if first != second]
    return f"; {', '.join(differing)}" if differing else ""


def _conditions(report: TestReport) -> tuple[Entry, ...]:
    facts, segments = report.facts, report.test.settings.segment_count
    parts = f" in {segments:,} segments" if segments else ""
    prepared = facts.independent[:1].lower() + facts.independent[1:]
    return ("preconditioning", prepared), ("active range", f"{facts.test_range}{parts}")
