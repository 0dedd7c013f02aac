"""The figures of a comparison: shares of the best drive, curves, tails and ratios of cells."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from assay.compare.comparison import matrix_numbers
from assay.compare.numbers import NOT_RUN, WITHOUT_RESULT
from assay.report.comparison.tables import SETTLED_STATES, number_label, order_text, test_states
from assay.results.consistency import consistency, seconds_of
from assay.spec.units import KIB, kib_label
from assay.summary.measures import FIRST, LAST, SETTLED
from assay.summary.pages.figures import matrix_heat, tail_figure
from assay.summary.pages.model import Dot, DotRow, Dots, Figure, Series, Table, Tick, with_values
from assay.summary.verdict import STATE_WORDS
from assay.words.digits import brief, share, span, times
from assay.words.printed import NOT_AVAILABLE, mix_label

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from assay.compare.comparison import Comparison
    from assay.compare.sides import Compared, Side
    from assay.compare.subject import Subject
    from assay.report.comparison.tables import TestState
    from assay.summary.pages.histograms import Part
    from assay.summary.pages.model import Block
    from assay.summary.pages.test_record import TestRecord


CURVES_MAX = 9
"""Curves in one figure: more have no colour of their own."""
HALF_ASPECT = 1.02
"""Of a figure that stands beside another."""
Titled = tuple[str, tuple["Block", ...]]
_ROWS_ABOVE = 12
"""Rows of a table above two figures; a longer one has a page."""
_PARTS_MAX = 2
"""Parts of each test whose response times are drawn."""
_LEVELS = {SETTLED: "settled", LAST: "last sample"}
"""What the first sample stands against, the first of them that counts."""
_END_COLOURS = (5, 8)
"""Of the first sample and of the last, which are those of no drive where few are compared."""
_QUOTED = ({"block_kib": 4, "read_pct": 100}, {"block_kib": 4, "read_pct": 0})
"""Cells that are drawn before others."""
_REACH_LEAST = 1.25
"""Of the scale, so that a difference of 1 % looks small."""
_CELLS_MIN = 2
"""Sizes and mixes at least: fewer are no plane."""
_EVEN_COLUMNS = (
    "Cell", "Drive", "Median", "p99.9 over median", "Max over median", "Variation of seconds", "Worst second",
)  # fmt: skip
_SLOW_SHARE = 0.999


def pages_per_test(comparison: Comparison) -> Iterator[Titled]:
    """All pages of all tests, those of one test behind each other, then what is not drawn and why."""
    left_out: list[tuple[str, str]] = []
    for test, shown in comparison.tests:
        curves = [*_fresh(comparison, test), *_curves(comparison, test, shown, left_out)]
        yield from ((f"{shown}: {' and '.join(map(_what, pair))}", pair) for pair in _paired(curves))
        yield from _response_times(comparison, test, shown)
        yield from ((f"{shown}: ratio of every cell", pair) for pair in _paired(list(ratio_maps(comparison, test))))
    if left_out:
        yield "Not drawn", (Table(caption="Not drawn", columns=("Figure", "Why"), rows=tuple(left_out)),)


def _response_times(comparison: Comparison, test: str, shown: str) -> Iterator[Titled]:
    """Two tails a page, the first below how even the drives are; a long table has a page."""
    tails = _tails(comparison, test)
    table = consistency_table(comparison, test, shown, parts_of(comparison, test))
    above = (table,) if table and tails and len(table.rows) <= _ROWS_ABOVE else ()
    for number, pair in enumerate(_paired([figure for _, figure in tails])):
        names = " and ".join(label for label, _ in tails[number * 2 : number * 2 + 2])
        yield f"{shown}: response times of {names}", (*(() if number else above), *pair)
    if table and not above:
        yield f"{shown}: consistency", (table,)


def _what(figure: Figure) -> str:
    """What a curve is, for the title of its page."""
    return (
        f"fresh against {figure.series[-1].label.lower()}"
        if figure.kind == "bars"
        else f"{figure.y_title} over {figure.x_title}"
    )


def _paired(figures: Sequence[Figure]) -> Iterator[tuple[Figure, ...]]:
    """Two figures a page, side by side; one alone has all of it."""
    for pair in (tuple(figures[first : first + 2]) for first in range(0, len(figures), 2)):
        yield pair if len(pair) == 1 else tuple(replace(figure, room="figure", aspect=HALF_ASPECT) for figure in pair)


def _curves(comparison: Comparison, test: str, shown: str, left_out: list[tuple[str, str]]) -> Iterator[Figure]:
    """What a test offers to be laid over others, such as IOPS over time, all subjects on its axes."""
    reports = [(subject, test_of(subject, test)) for subject in in_order(comparison)]
    offered = [(subject, figure) for subject, report in reports if report for figure in report.overlaid]
    for name in dict.fromkeys(figure.name for _, figure in offered):
        curves = [(subject, figure) for subject, figure in offered if figure.name == name]
        if reason := _unlike_amounts(curves):
            left_out.append((f"{shown}: {curves[0][1].y_title} over {curves[0][1].x_title}", reason))
        else:
            yield from _overlaid(comparison, curves)


def _unlike_amounts(curves: Sequence[tuple[Subject, Figure]]) -> str:
    """Why curves over what was written are not drawn; empty where they are."""
    capacities = {subject.capacity for subject, _ in curves}
    if len(capacities) < 2 or not curves[0][1].by_amount:  # noqa: PLR2004 - two to differ
        return ""
    return (
        f"The drives have {', '.join(sorted(capacities))}, so that equal amounts written say nothing of equal states. "
        "Over drive fills they can be compared."
    )


def _overlaid(comparison: Comparison, curves: Sequence[tuple[Subject, Figure]]) -> Iterator[Figure]:
    first = curves[0][1]
    most = max((y for _, figure in curves for y in figure.series[0].y), default=None)
    for begin in range(0, len(curves), CURVES_MAX):
        part = curves[begin : begin + CURVES_MAX]
        series = tuple(_curve(comparison, subject, figure) for subject, figure in part)
        name = f"compare-{first.name}" + (f"-{begin}" if begin else "")
        alt = f"{first.y_title} over {first.x_title.lower()} of {len(part)} drives on the same axes"
        yield replace(first, name=name, alt=alt, series=series, y_most=most)


def _curve(comparison: Comparison, subject: Subject, figure: Figure) -> Series:
    place = comparison.subjects.index(subject)
    label = f"{subject.title} (apart)" if subject.unlike else subject.title
    return replace(figure.series[0], label=label, colour=place, dash="dash" if subject.unlike else "solid")


def _fresh(comparison: Comparison, test: str) -> Iterator[Figure]:
    """The first sample of a write saturation against the settled level, or the last sample where there is none."""
    samples = {
        number.name.cell: number
        for number in comparison.quoted
        if number.name.test == test and number.name.unit == "IOPS"
    }
    if FIRST not in samples:
        return
    ends = zip(*(_ends(comparison, samples.get(cell)) for cell in _LEVELS), strict=True)
    kept = [
        next(((name, end) for name, end in zip(_LEVELS.values(), pair, strict=True) if end and end.counts), None)
        for pair in ends
    ]
    used = {each[0] for each in kept if each}
    if used:
        label = " or ".join(name for name in _LEVELS.values() if name in used).capitalize()
        last = [each and each[1] for each in kept]
        yield _bars(comparison, f"compare-{test}-fresh", label, (_ends(comparison, samples[FIRST]), last))


def _ends(comparison: Comparison, number: Compared | None) -> Sequence[Side | None]:
    return number.sides if number else [None] * len(comparison.subjects)


def _bars(
    comparison: Comparison, name: str, last: str, ends: tuple[Sequence[Side | None], Sequence[Side | None]]
) -> Figure:
    series = [
        Series.through(
            [
                (index * 2.0 + side, each.value)
                for index, each in enumerate(entries)
                if each and each.counts and each.value is not None
            ],
            label,
            _END_COLOURS[side],
        )
        for side, (label, entries) in enumerate(zip(("First sample", last), ends, strict=True))
    ]
    return Figure(
        name=name,
        kind="bars",
        alt="IOPS of the first sample and of the settled state of every drive",
        x_title="Drive",
        y_title="IOPS",
        series=tuple(line for line in series if line.x),
        ticks=tuple(
            Tick(at=index * 2 + 0.5, label=subject.letter) for index, subject in enumerate(comparison.subjects)
        ),
    )


def _tails(comparison: Comparison, test: str) -> list[tuple[str, Figure]]:
    """Response times of the same part of every drive over one another, to the maximum."""
    drawn = []
    for number, (label, curves) in enumerate(parts_of(comparison, test).items(), 1):
        shown = curves[:CURVES_MAX]
        figure = tail_figure(f"compare-{test}-tail-{number}", [(subject.title, part.times) for subject, part in shown])
        if figure and len(curves) > 1:
            places = [comparison.subjects.index(subject) for subject, part in shown if part.times.io_count]
            series = tuple(replace(line, colour=places[line.colour]) for line in figure.series)
            drawn.append((label, replace(figure, series=series, x_title=f"{figure.x_title}, {label}")))
    return drawn


def parts_of(comparison: Comparison, test: str) -> dict[str, list[tuple[Subject, Part]]]:
    """The parts of a test whose response times are drawn, by name, each with those of every subject that has it."""
    drawn = [
        (subject, place, part) for subject in in_order(comparison) for place, part in _drawn(test_of(subject, test))
    ]
    places = sorted({place for _, place, _ in drawn})[:_PARTS_MAX]
    parts = [[(subject, part) for subject, at, part in drawn if at == place] for place in places]
    return {_common_label([part for _, part in same]): same for same in parts}


def _common_label(parts: Sequence[Part]) -> str:
    """The name of a part of all drives. Worked: the last samples 65 and 19 -> ``"Last"``."""
    labels = {part.label for part in parts}
    return parts[0].label if len(labels) == 1 else str(parts[0].key[-1]).capitalize()


def _drawn(report: TestRecord | None) -> list[tuple[int, Part]]:
    """The parts of one test in the order in which they are drawn: quoted cells, or the first of those it draws."""
    spread = report.distribution if report else None
    if spread is None:
        return []
    cells = [dict(zip(spread.columns, part.key, strict=True)) for part in spread.parts]
    quoted = [(index, spread.parts[cells.index(cell)]) for index, cell in enumerate(_QUOTED) if cell in cells]
    return quoted or list(enumerate(spread.drawn[:_PARTS_MAX]))


def in_order(comparison: Comparison) -> list[Subject]:
    """The subjects; those of other conditions come last, so that they stand apart."""
    return sorted(comparison.subjects, key=lambda subject: bool(subject.unlike))


def test_of(subject: Subject, test: str) -> TestRecord | None:
    """A test of a subject; None where nothing of it may be shown."""
    return None if subject.first.states.get(test, NOT_RUN)[0] in WITHOUT_RESULT else subject.first.record(test)


def consistency_table(
    comparison: Comparison, test: str, shown: str, parts: Mapping[str, Sequence[tuple[Subject, Part]]]
) -> Table | None:
    """A row per part and drive; None where no response time is known. Columns without a value are left out.

    Variation of seconds: the standard deviation of the completions per second over their mean. Worst second: the
    fewest completions over those of the median second.
    """
    letters = [subject.letter for subject in comparison.subjects]
    rows = [
        (label, subject.title, *_even_values(subject, test, part))
        for label, listed in parts.items()
        for subject, part in sorted(listed, key=lambda pair: letters.index(pair[0].letter))
    ]
    if not rows:
        return None
    table = Table(caption=f"{shown}: consistency", columns=_EVEN_COLUMNS, rows=tuple(rows), merged=("Cell",))
    return with_values(table, kept=_EVEN_COLUMNS[:3])


def _even_values(subject: Subject, test: str, part: Part) -> tuple[str, ...]:
    middle, slow, most = part.times.percentile(0.5), part.times.percentile(_SLOW_SHARE), part.latency_ms_max
    record = subject.first.record(test)
    even = consistency(seconds_of(record.test, part.label) if record else [])
    return (
        _known(middle, span),
        _known(slow / middle if slow and middle else None, times),
        _known(most / middle if most and middle else None, times),
        _known(even.variation, share),
        _known(even.worst, share),
    )


def _known(value: float | None, printed: Callable[[float], str]) -> str:
    return NOT_AVAILABLE if value is None else printed(value)


def ratio_maps(comparison: Comparison, test: str) -> Iterator[Figure]:
    """A map per subject but the first; none of a test without a plane of cells.

    Worked: 20,000 IOPS of B where A has 10,000 -> a field of ``2``, in the colour of more than A's.
    """
    numbers = matrix_numbers(comparison).get(test, [])
    sizes = sorted({_cell_place(number)[0] for number in numbers})
    mixes = sorted({_cell_place(number)[1] for number in numbers})
    if min(len(sizes), len(mixes)) < _CELLS_MIN:
        return
    cells = {_cell_place(number): number for number in numbers}
    reach = _map_reach(numbers)
    first = comparison.subjects[0]
    for index, subject in enumerate(comparison.subjects[1:], 1):
        rows = [[_cell_ratio(cells.get((size, mix)), index) for size in sizes] for mix in mixes]
        figure = matrix_heat(
            f"compare-{test}-ratio-{subject.letter.lower()}",
            rows,
            [["" if ratio is None else brief(ratio) for ratio in row] for row in rows],
            columns=[kib_label(round(size * KIB)) for size in sizes],
            rows=[mix_label(mix) for mix in mixes],
            titles=("Block Size (KiB)", "R/W Mix", _map_title(numbers, subject.letter, first.letter)),
        )
        if figure and figure.heat:
            yield replace(figure, heat=replace(figure.heat, reach=reach))


def _map_reach(numbers: Sequence[Compared]) -> float:
    """How far from 1 the scale of all maps goes. Worked: ratios from 0.2 to 4 -> 5."""
    ratios = [side.ratio for number in numbers for side in number.sides if side.ratio]
    return max([_REACH_LEAST, *ratios, *(1 / ratio for ratio in ratios)])


def _map_title(numbers: Sequence[Compared], other: str, first: str) -> str:
    """What the fields are. Worked: ``IOPS, B over A``."""
    name = numbers[0].name
    what = "Mean response time" if name.unit == "ms" else name.unit
    return f"{what}, {other} over {first}"


def _cell_place(number: Compared) -> tuple[float, int]:
    cell = dict(number.name.cell)
    return float(cell["block_kib"]), int(cell["read_pct"])


def _cell_ratio(number: Compared | None, index: int) -> float | None:
    return number.sides[index].ratio if number else None


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
        words=STATE_WORDS[state.state] if state.state not in SETTLED_STATES else "",
        hollow=state.state not in SETTLED_STATES,
        best=side.order == 1,
    )


def _least(rows: Sequence[DotRow]) -> float:
    """Where the axis begins. A drive that would stretch it to more than twice its length stands at its border.

    Worked: shares of 0.5 and 0.003 of two of three drives -> 0.43.
    """
    columns = zip(*(row.dots for row in rows), strict=True)
    farthest = [min((dot.at for dot in dots if dot.at), default=1.0) for dots in columns]
    kept = sorted(min(least, 1 / _LEAST_SPAN) for least in farthest)
    # Of two drives either is what the other is compared with.
    while len(kept) > 2 and kept[0] < _FAR and math.log(kept[0]) < _HALVED * math.log(kept[1]):  # noqa: PLR2004
        kept.pop(0)
    return kept[0] / _MARGIN
