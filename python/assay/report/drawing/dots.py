"""Rows of dots: a number of all drives a row, on one axis of shares of the best.

```
                  3 %    10 %    30 %   best     A      B      C    order   behind
                                  A  C  B
  random read       D 348x// ------o--o--o    24.6k  93.3k  81.0k   B C A   A 3.8x
```
Where a picture is too narrow for that, each row has its label above the dots and its values below them.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from assay.report.drawing.frame import Axis, address, rows_axis
from assay.report.drawing.plane import legend, legend_parts
from assay.report.drawing.theme import group, length, markers, path, series_class, text, text_width
from assay.summary.pages.model import Tick
from assay.words.digits import brief, si, three_digits, times

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from assay.report.drawing.theme import Anchor, Point, Size
    from assay.summary.pages.model import Dot, DotRow, Dots, Figure


def spread_out(wanted: Sequence[float], widths: Sequence[float], gap: float, ends: tuple[float, float]) -> list[float]:
    """The middles of texts of some widths, each as near as can be to where it is wanted, none touching another.

    ends : of the room for all; they begin at the first even where they do not fit.
    Worked: two texts of width 10 that are wanted at 50, with a gap of 2 -> 44 and 56.
    """
    order = sorted(range(len(wanted)), key=lambda place: wanted[place])
    offsets, offset = list[float](), 0.0
    for place in order:
        offsets.append(offset + widths[place] / 2)
        offset += widths[place] + gap
    result = _rising([wanted[place] - own for place, own in zip(order, offsets, strict=True)])
    last = ends[1] - offset + gap
    placed = [0.0] * len(wanted)
    for place, own, start in zip(order, offsets, result, strict=True):
        placed[place] = max(min(start, last), ends[0]) + own
    return placed


def _rising(values: Sequence[float]) -> list[float]:
    """The nearest values that never fall: what falls is pooled. Worked: 3, 1, 5 -> 2, 2, 5."""
    pools: list[tuple[float, int]] = []
    for value in values:
        pools.append((value, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (second, more), (first, count) = pools.pop(), pools.pop()
            pools.append(((first * count + second * more) / (count + more), count + more))
    return [value for value, count in pools for _ in range(count)]


NONE = "\N{EN DASH}"
BEST = "best"
_ROW, _STACKED_ROW, _HEAD = 2.1, 4.6, 1.9
"""Heights of a row, of one with its label above and its values below, and of the labels of the axis, in letters."""
_PLOT_LEAST, _GAP, _BORDER, _RADIUS, _INTERVAL = 15.0, 0.9, 1.1, 0.36, 0.22
"""In letters: width of the axis at least, what parts columns, where dots beyond the axis stand, and sizes of marks."""
_TICKS = (1.0, 0.1, 0.01, 0.001, 0.5, 0.3, 0.03, 0.003, 0.7, 0.2, 0.9, 0.8, 0.6, 0.4, 0.05, 0.02, 0.95, 0.85)
"""Shares that are labelled, the more important first."""


_Kind = Literal["plain", "best", "soft"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Column:
    """Texts beside the dots, one a row, and how each looks, plain where nothing is said. right : where it ends."""

    title: str
    texts: tuple[str, ...]
    right: float
    kinds: tuple[_Kind, ...] = ()
    series: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """Where everything stands. columns : none where labels and values are lines of the rows."""

    dots: Dots
    axis: Axis
    letters: float
    width: float
    top: float
    row: float
    columns: tuple[_Column, ...]

    def middle(self, place: int) -> float:
        """Where the dots of a row stand."""
        above = 0.66 if self.columns else 0.6
        return self.top + (place + above) * self.row

    @property
    def address(self) -> str:
        """Where the axes are, for the script of a page."""
        half, count = self.row / 2, len(self.dots.rows)
        return address(self.axis, rows_axis(count, self.middle(0) - half, self.middle(count) - half))


def dots_height(figure: Figure, dots: Dots, size: Size) -> float:
    """How high a picture of its width has to be."""
    row = _ROW if _columns(dots, size) else _STACKED_ROW
    return (len(dots.rows) * row + _HEAD) * size.letters + legend(figure, size).below


def dots_picture(figure: Figure, dots: Dots, size: Size) -> tuple[str, list[str]]:
    """Where the axes are, and the parts of the picture."""
    entries = legend(figure, size)
    plan = _plan(dots, size, entries.below)
    rows = (part for index, row in enumerate(dots.rows) for part in _row(plan, index, row))
    return plan.address, [*_heads(plan), *rows, *legend_parts(entries, size, 0)]


def _plan(dots: Dots, size: Size, below: float) -> _Plan:
    letters, columns = size.letters, _columns(dots, size)
    left = columns[0].right + letters if columns else letters * 0.6
    taken = sum(_width(column, letters) for column in columns[1:])
    border = _BORDER * letters if any(_is_beyond(dots, dot) for row in dots.rows for dot in row.dots) else 0
    high = max([1.0, *(dot.at for row in dots.rows for dot in row.dots if dot.at)])
    end = size.width - taken - letters * 1.4
    axis = Axis(low=dots.least, high=high, log=True, start=left + border + letters * 0.4, end=end)
    top = _HEAD * letters
    row = (size.height - top - below) / max(len(dots.rows), 1)
    return _Plan(dots=dots, axis=axis, letters=letters, width=size.width, top=top, row=row, columns=columns)


def _columns(dots: Dots, size: Size) -> tuple[_Column, ...]:
    """The columns that leave room for the axis: the labels, values, order and the last one's distance, or fewer."""
    order = ("order", tuple(row.order for row in dots.rows))
    behind = ("behind", tuple(row.behind for row in dots.rows))
    for words, more in itertools.product((True, False), ((order, behind), (order,), ())):
        columns = _placed(dots, size, more, words=words)
        room = size.width - columns[0].right - sum(_width(column, size.letters) for column in columns[1:])
        if room >= _PLOT_LEAST * size.letters:
            return columns
    return ()


def _placed(dots: Dots, size: Size, more: Sequence[tuple[str, tuple[str, ...]]], *, words: bool) -> tuple[_Column, ...]:
    labels = tuple(row.label for row in dots.rows)
    widest = max((text_width(label, size.letters) for label in labels), default=0)
    named = _Column(title="", texts=labels, right=widest)
    values = []
    for series, letter in enumerate(dots.letters):
        own = [row.dots[series] for row in dots.rows]
        texts = tuple(_printed(dot, si if words else brief, words=words) for dot in own)
        values.append(_Column(title=letter, texts=texts, kinds=tuple(map(_kind, own)), right=0, series=series))
    others = [_Column(title=title, texts=texts, right=0) for title, texts in more]
    placed, right = [], size.width
    for other in reversed((*values, *others)):
        placed.append(replace(other, right=right))
        right -= _width(other, size.letters)
    return (named, *reversed(placed))


def _kind(dot: Dot) -> _Kind:
    """How a value looks: one that has no dot is in the colour of what counts less."""
    return "best" if dot.best else "plain" if dot.at is not None else "soft"


def _printed(dot: Dot, printed: Callable[[float], str], *, words: bool) -> str:
    if dot.value is not None:
        return printed(dot.value)
    return dot.words if words and dot.words else NONE


def _width(column: _Column, letters: float) -> float:
    return max(text_width(one, letters * 1.05) for one in (column.title, *column.texts)) + _GAP * letters


def _is_beyond(dots: Dots, dot: Dot) -> bool:
    return dot.at is not None and dot.at < dots.least


def _heads(plan: _Plan) -> Iterator[str]:
    """A line at each labelled share, from the first row to the last; above the rows shares and titles of columns."""
    ticks, y, end = _ticks(plan), plan.letters * 1.1, plan.top + len(plan.dots.rows) * plan.row
    lines = (f"M{length(plan.axis.at(tick.at))} {length(plan.top)}V{length(end)}" for tick in ticks)
    yield path("".join(lines), "g")
    for tick in ticks:
        yield text((plan.axis.at(tick.at), y), tick.label, anchor="middle", kind="t soft")
    for column in plan.columns[1:]:
        yield text((column.right, y), column.title, anchor="end", bold=column.series is not None)


def _ticks(plan: _Plan) -> list[Tick]:
    """As many labelled shares as stand apart, the more important first."""
    axis, kept = plan.axis, list[Tick]()
    for share in _TICKS:
        tick = Tick(at=share, label=BEST if share == 1 else f"{three_digits(share * 100)} %")
        room = (text_width(tick.label, plan.letters) + text_width("00 %", plan.letters)) / 2 + plan.letters
        inside = axis.low * 0.999 <= share <= axis.high
        if inside and all(abs(axis.at(share) - axis.at(other.at)) >= room for other in kept):
            kept.append(tick)
    return kept


def _row(plan: _Plan, index: int, row: DotRow) -> Iterator[str]:
    y, letters = plan.middle(index), plan.letters
    yield from _line(plan, row, y)
    for series, dot in enumerate(row.dots):
        if dot.at is not None:
            yield group(_marked(plan, dot, series, y), series_class(series))
    yield from _named(plan, row, y)
    if plan.columns:
        for column in plan.columns:
            at = (column.right, y + letters * 0.2)
            kind = column.kinds[index] if column.kinds else "plain"
            yield _written(at, column.texts[index], kind, anchor="end")
    else:
        yield text((0, y - letters * 1.55), row.label)
        # The values of the row as a line, each behind its letter.
        step = plan.width / max(len(row.dots), 1)
        for place, (dot, letter) in enumerate(zip(row.dots, plan.dots.letters, strict=True)):
            shown = f"{letter} {_printed(dot, brief, words=False)}"
            yield _written((place * step, y + letters * 1.5), shown, _kind(dot), anchor="start")


def _at(plan: _Plan, dot: Dot) -> float:
    """Where a dot stands: before the axis where it is beyond its end."""
    if _is_beyond(plan.dots, dot):
        return plan.axis.start - _BORDER * plan.letters
    return plan.axis.at(dot.at or plan.axis.low)


def _line(plan: _Plan, row: DotRow, y: float) -> Iterator[str]:
    """From the last to the best, broken where the last is beyond the axis."""
    places = [_at(plan, dot) for dot in row.dots if dot.at is not None]
    if not places:
        return
    low, letters = max(min(places), plan.axis.start), plan.letters
    line = f"M{length(low)} {length(y)}H{length(max(places))}"
    up, aside = letters * 0.35, letters * 0.15
    cut = f"M{length(plan.axis.start - aside)} {length(y + up)}l{length(2 * aside)} {length(-2 * up)}"
    yield path(line + (cut if min(places) < plan.axis.start else ""), "a")


def _marked(plan: _Plan, dot: Dot, series: int, y: float) -> Iterator[str]:
    """The interval and the dot."""
    letters = plan.letters
    if dot.low and dot.high and not _is_beyond(plan.dots, dot):
        ends = [plan.axis.at(min(max(end, plan.axis.low), plan.axis.high)) for end in (dot.low, dot.high)]
        yield path(f"M{length(ends[0])} {length(y)}H{length(ends[1])}", "l", width=_INTERVAL * letters)
    yield path(markers([(_at(plan, dot), y)], series, _RADIUS * letters), "o" if dot.hollow else "m")


def _named(plan: _Plan, row: DotRow, y: float) -> Iterator[str]:
    """The letters above the dots, moved aside where they would touch; of one beyond the axis with its ratio."""
    shown = [(dot, letter) for dot, letter in zip(row.dots, plan.dots.letters, strict=True) if dot.at]
    names = [
        f"{letter} {times(1 / dot.at)}" if dot.at and _is_beyond(plan.dots, dot) else letter for dot, letter in shown
    ]
    widths = [text_width(name, plan.letters * 1.05) for name in names]
    wanted = [_at(plan, dot) for dot, _ in shown]
    ends = plan.axis.start - (_BORDER + 0.4) * plan.letters, plan.axis.end + plan.letters * 1.2
    for name, x in zip(names, spread_out(wanted, widths, plan.letters * 0.15, ends), strict=True):
        yield text((x, y - plan.letters * 0.55), name, anchor="middle", bold=True)


def _written(at: Point, words: str, kind: _Kind, anchor: Anchor) -> str:
    return text(at, words, anchor=anchor, kind="t soft" if kind == "soft" else "t", bold=kind == "best")
