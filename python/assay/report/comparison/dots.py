"""The figure of a comparison's first page: a row per number that people quote, a dot per drive."""

from __future__ import annotations

import math
from itertools import groupby
from typing import TYPE_CHECKING

from assay.report.comparison.tables import SETTLED, test_states
from assay.report.comparison.words import number_label, order_text
from assay.summary.pages.model import Dot, DotRow, Dots, Figure, Series, Tick
from assay.summary.verdict import STATE_WORDS
from assay.words.digits import times

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.compare.comparison import Comparison
    from assay.compare.sides import Compared, Side
    from assay.report.comparison.tables import TestState

ROWS_MAX = 18
"""Rows of one figure; more follow in another."""
SUBJECTS_MAX = 9
"""Drives in one figure: more have no colour of their own."""
_MARGIN, _LEAST_SPAN = 1.15, 1.25
"""Of the axis beyond its last dot, and at least, as ratios."""
_FAR, _HALVED = 0.1, 2.0
"""A drive with a share below this whose absence makes the axis so many times shorter stands at its border."""
_MS_UNITS = ((0.1, 1e3, "\N{MICRO SIGN}s"), (1e3, 1.0, "ms"), (math.inf, 1e-3, "s"))
"""Up to which slowest value a unit is used, how many there are in a millisecond, and its symbol."""
READING = (
    "Each dot is a drive's share of the best drive, on a logarithmic axis: for times, the best over its time. "
    "Bars are 95 % intervals from rounds or repeats. Hollow: the test is not steady or not settled."
)


def dot_figures(comparison: Comparison) -> Iterator[Figure]:
    """All ranked numbers of all drives; as many figures as they need."""
    numbers = comparison.ranked
    for begin in range(0, len(comparison.subjects), SUBJECTS_MAX):
        for first in range(0, len(numbers), ROWS_MAX):
            part = numbers[first : first + ROWS_MAX]
            yield _figure(comparison, part, begin, f"compare-dots-{begin + 1}-{first + 1}")


def _figure(comparison: Comparison, numbers: Sequence[Compared], begin: int, name: str) -> Figure:
    places = range(begin, min(begin + SUBJECTS_MAX, len(comparison.subjects)))
    states = test_states(comparison)
    rows = tuple(_row(number, [number.sides[place] for place in places], states) for number in numbers)
    letters = tuple(comparison.subjects[place].letter for place in places)
    count = len(rows)
    return Figure(
        name=name,
        kind="dots",
        alt=f"Every drive's share of the best drive in {count} numbers",
        x_title="Share of the best drive",
        y_title="",
        x_scale="log",
        room="figure",
        series=tuple(
            _series(comparison.subjects[place].title, [row.dots[at] for row in rows], at)
            for at, place in enumerate(places)
        ),
        y_ticks=tuple(Tick(at=float(count - at), label=row.label) for at, row in enumerate(rows)),
        dots=Dots(letters=letters, rows=rows, least=_least(rows)),
        reading=READING,
    )


def _series(title: str, dots: Sequence[Dot], index: int) -> Series:
    """The dots of a drive as points: across its shares, up the rows from the last."""
    points = [(dot.at, float(len(dots) - at)) for at, dot in enumerate(dots) if dot.at is not None]
    return Series.through(points, title, index, "markers")


def _row(number: Compared, sides: Sequence[Side], states: dict[str, dict[str, TestState]]) -> DotRow:
    scale, unit = _unit(number)
    dots = tuple(_dot(each, states[each.subject.letter][number.name.test], scale) for each in sides)
    groups = [list(group) for _, group in groupby(number.ranked, key=lambda each: each.order)]
    last = number.ranked[-1]
    return DotRow(
        label=number_label(number.name, unit),
        dots=dots,
        order=""
        if number.name.stat == "maximum"
        else order_text([[each.subject for each in group] for group in groups]),
        behind=f"{last.subject.letter} {times(last.times)}" if last.times and last.order != 1 else "",
    )


def _unit(number: Compared) -> tuple[float, str]:
    """How a row prints its values: times in the unit that suits the slowest. Worked: 0.08 ms -> 1000 and ``µs``."""
    if number.name.unit != "ms":
        return 1.0, number.name.unit
    slowest = max(each.value or 0.0 for each in number.sides)
    return next((scale, unit) for most, scale, unit in _MS_UNITS if slowest < most)


def _dot(side: Side, state: TestState, scale: float) -> Dot:
    return Dot(
        at=side.share,
        value=None if side.value is None else side.value * scale,
        low=side.share_low,
        high=side.share_high,
        words=STATE_WORDS[state.state] if state.state not in SETTLED else "",
        hollow=state.state not in SETTLED,
        best=side.order == 1,
    )


def _least(rows: Sequence[DotRow]) -> float:
    """Where the axis begins. A drive that would stretch it to more than twice its length stands at its border.

    Worked: shares of 0.5 and 0.003 of two of three drives -> 0.43.
    """
    columns = zip(*(row.dots for row in rows), strict=True)
    farthest = [min((dot.at for dot in dots if dot.at), default=1.0) for dots in columns]
    kept = sorted(min(one, 1 / _LEAST_SPAN) for one in farthest)
    # Of two drives either is what the other is compared with.
    while len(kept) > 2 and kept[0] < _FAR and math.log(kept[0]) < _HALVED * math.log(kept[1]):  # noqa: PLR2004
        kept.pop(0)
    return kept[0] / _MARGIN
