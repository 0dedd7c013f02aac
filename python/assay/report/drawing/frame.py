"""Axes with their ticks, of numbers and of times, and the frame of a plane: titles, labels, grid and room to draw."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from assay.report.drawing.theme import length, path, text, text_width
from assay.summary.pages.figures import labelled_ticks, log_range
from assay.summary.pages.model import Tick

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from assay.report.drawing.theme import Anchor, Size
    from assay.summary.pages.model import Figure


_MARGIN = 0.03
"""Beyond the first and the last labelled place of an axis."""
_ROUND_MARGIN, _BAR_MARGIN = 0.4, 0.7
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_ROUND_STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
_PRECISION = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """A linear or logarithmic axis. low, high : its values at ``start`` and ``end``, which are lengths."""

    low: float
    high: float
    log: bool
    start: float
    end: float

    def at(self, value: float) -> float:
        """Where a value stands. Worked: 10 on a logarithmic axis from 1 to 100 over 0 to 200 -> 100."""
        low, high, value = (self._placed(one) for one in (self.low, self.high, value))
        return self.start + (value - low) / ((high - low) or 1.0) * (self.end - self.start)

    def _placed(self, value: float) -> float:
        return math.log10(value) if self.log else value


def address(x: Axis, y: Axis) -> str:
    """Where both axes of a picture are, for the script of a page, as attributes.

    Worked: 0 to 5 over 10 to 110 -> ``data-box`` from 10 to 110 across, ``data-x="lin 0 5"``.
    """
    box = " ".join(map(length, (x.start, y.end, x.end, y.start)))
    ends = (
        f' data-{name}="{"log" if axis.log else "lin"} {axis.low:.9g} {axis.high:.9g}"'
        for name, axis in (("x", x), ("y", y))
    )
    return f' data-box="{box}"{"".join(ends)}'


def rows_axis(count: int, top: float, bottom: float) -> Axis:
    """The axis up a picture of rows, of which the first has the highest number. Worked: three rows -> 0.5 to 3.5."""
    return Axis(low=0.5, high=count + 0.5, log=False, start=bottom, end=top)


def x_axis(figure: Figure, start: float, end: float) -> Axis:
    """The axis across a figure."""
    low, high = _x_ends(figure)
    return Axis(low=low, high=high, log=figure.x_scale == "log", start=start, end=end)


def _x_ends(figure: Figure) -> tuple[float, float]:
    places = [x for series in figure.series for x in series.x] or [0.0, 1.0]
    if figure.heat:
        return figure.heat.x_edges[0], figure.heat.x_edges[-1]
    if figure.x_range:
        return figure.x_range
    if figure.kind == "bars":
        return min(places) - _BAR_MARGIN, max(places) + _BAR_MARGIN
    if figure.rounds:
        return min(places) - _ROUND_MARGIN, max(places) + _ROUND_MARGIN
    if figure.ticks:
        return widened([*places, *(tick.at for tick in figure.ticks)], log=figure.x_scale == "log")
    return log_range(places) if figure.x_scale == "log" else (min(0.0, *places), max(*places, _PRECISION))


def _y_ends(figure: Figure) -> tuple[float, float]:
    if figure.heat:
        return figure.heat.y_edges[0], figure.heat.y_edges[-1]
    values, log = figure.y_values, figure.y_drawn_scale == "log"
    if figure.y_ticks:
        low, high = widened([*values, *(tick.at for tick in figure.y_ticks)], log=log)
        return low if figure.y_least is None else figure.y_least, high
    if not values:
        return (1.0, 10.0) if log else (0.0, 1.0)
    return log_range(values) if log else figure.y_range


def widened(values: Sequence[float], *, log: bool) -> tuple[float, float]:
    """The ends of an axis and a little more. Worked: 0 to 100 -> -3 to 103; one value of 5 -> 4.5 to 5.5."""
    low, high = min(values), max(values)
    if log:
        edge = (high / low) ** _MARGIN if high > low else 1.1
        return low / edge, high * edge
    edge = (high - low) * _MARGIN or 0.1 * abs(high) or 1.0
    return low - edge, high + edge


def ticks_of(axis: Axis, given: Sequence[Tick], *, rounds: bool, most: int) -> tuple[Tick, ...]:
    """The labelled places of an axis within its ends: those given, whole rounds, or round numbers."""
    if given:
        inside = axis.low - abs(axis.low) * _PRECISION, axis.high + abs(axis.high) * _PRECISION
        return tuple(tick for tick in given if inside[0] <= tick.at <= inside[1])
    if rounds:
        first, last = math.ceil(axis.low), math.floor(axis.high)
        step = next((one for one in _ROUND_STEPS if (last - first) / one < most), _ROUND_STEPS[-1])
        begin = first if step == 1 else math.ceil(first / step) * step
        return tuple(Tick(at=at, label=f"{at:,}") for at in range(begin, last + 1, step))
    return labelled_ticks(axis.low, axis.high, most=max(most, 3)) if axis.log else number_ticks(axis, most)


def number_ticks(axis: Axis, most: int) -> tuple[Tick, ...]:
    """Multiples of a round step, all with the same decimals.

    Worked: 0 to 530, at most 6 -> 0, 100, ... 500; 0 to 1.2 -> 0.0, 0.2, ... 1.2.
    """
    span = axis.high - axis.low
    if not span > 0:
        return (Tick(at=axis.low, label=f"{axis.low:,.6g}"),)
    power = 10.0 ** math.floor(math.log10(span / max(most, 1)))
    step = next(factor * power for factor in _STEPS if span / (factor * power) <= most)
    decimals = next(count for count in range(16) if abs(round(step, count) - step) < step * _PRECISION)
    places = range(math.ceil(axis.low / step - _PRECISION), math.floor(axis.high / step + _PRECISION) + 1)
    return tuple(Tick(at=at * step, label=f"{at * step + 0.0:,.{decimals}f}") for at in places)


def spaced(ticks: Iterable[Tick], axis: Axis, extent: Callable[[str], float], gap: float) -> tuple[Tick, ...]:
    """The labels that do not touch each other: the last, the first, and of those between as many as fit.

    extent : of a label along the axis. Worked: six labels of width 30 on 100 -> the first, one between, the last.
    """
    listed = sorted(ticks, key=lambda tick: tick.at)
    kept: list[Tick] = []

    def clear(tick: Tick, other: Tick) -> bool:
        apart = abs(axis.at(tick.at) - axis.at(other.at))
        return apart >= (extent(tick.label) + extent(other.label)) / 2 + gap

    for tick in (*listed[-1:], *listed[:-1]):
        if all(clear(tick, other) for other in kept):
            kept.append(tick)
    return tuple(sorted(kept, key=lambda tick: tick.at))


DAY_NS = 86_400 * 10**9
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_HOURS = (1 / 3600, 5 / 3600, 15 / 3600, 1 / 60, 5 / 60, 0.25, 1, 3, 6, 12)
_DAYS = (1, 2, 7, 14)
_MONTHS = (1, 3, 6, 12, 24, 60, 120)
_DAYS_MAX = 45
"""A span of so many days has ticks at days, a longer one at months."""
_MINUTE_NS = 60 * 10**9


def days_since(wall_ns: int, first_ns: int) -> float:
    """Where an instant is on an axis that begins with another, in days. Worked: 12 h later -> 0.5."""
    return (wall_ns - first_ns) / DAY_NS


def time_ticks(first_ns: int, last_ns: int, most: int) -> tuple[Tick, ...]:
    """Round instants between two others with their dates, in days since the first.

    first_ns, last_ns : wall clock. most : how many at most, at least 2.
    Worked: 2026-11-22 to 2026-11-30, at most 5 -> 22, 24, 26, 28 and 30 November.
    """
    instants, form = _instants(first_ns, last_ns, most)
    # A short span can lie between two round instants.
    return tuple(
        Tick(at=days_since(at, first_ns), label=_instant(at).strftime(form)) for at in (*instants,) or (first_ns,)
    )


def _instants(first_ns: int, last_ns: int, most: int) -> tuple[Iterator[int], str]:
    """The instants with the form of their labels."""
    span = days_since(last_ns, first_ns)
    if span > _DAYS_MAX:
        return _months(first_ns, last_ns, _step(_MONTHS, span / 30, most)), "%Y-%m"
    if span / _DAYS[0] >= most / 2:
        return _days(first_ns, last_ns, _step(_DAYS, span, most) * DAY_NS), "%Y-%m-%d"
    step_ns = round(_step(_HOURS, span * 24, most) * DAY_NS / 24)
    return _days(first_ns, last_ns, step_ns), "%m-%d %H:%M" if step_ns >= _MINUTE_NS else "%m-%d %H:%M:%S"


def _step(steps: tuple[float, ...] | tuple[int, ...], span: float, most: int) -> int | float:
    """The smallest step that a span has no more than so many of; else the largest."""
    return next((step for step in steps if span / step < most), steps[-1])


def _days(first_ns: int, last_ns: int, step_ns: float) -> Iterator[int]:
    """Multiples of a step since the first midnight."""
    step, begin = round(step_ns), first_ns - first_ns % DAY_NS
    at = begin + -(-(first_ns - begin) // step) * step
    while at <= last_ns:
        yield at
        at += step


def _months(first_ns: int, last_ns: int, step: float) -> Iterator[int]:
    """First days of every so many months, counted from January."""
    first, months = _instant(first_ns), round(step)
    number = -(-(first.year * 12 + first.month - 1) // months) * months
    while (at := _month_ns(number)) <= last_ns:
        if at >= first_ns:
            yield at
        number += months


def _month_ns(number: int) -> int:
    """Begin of a month. number : of months since the year 0."""
    begin = datetime(number // 12, number % 12 + 1, 1, tzinfo=UTC)
    return (begin - _EPOCH) // timedelta(seconds=1) * 10**9


def _instant(wall_ns: int) -> datetime:
    return _EPOCH + timedelta(microseconds=wall_ns // 1000)


_LINE = 1.25
"""Height of a line of text, in letters."""
_Y_TICK_LETTERS, _Y_TICKS_MAX = 3.2, 9
_TICK_LINES_MAX = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """Where a figure is drawn: between the ends of its axes, in so much width. letters : size of its texts."""

    figure: Figure
    x: Axis
    y: Axis
    letters: float
    width: float
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    x_lines: dict[str, list[str]]
    x_title: tuple[str, ...]
    y_title: tuple[str, ...]


def frame(figure: Figure, size: Size, *, right: float = 0, below: float = 0, title: str = "") -> Frame:
    """Lay out the frame of a figure. right, below : room that a legend takes. title : stands above everything."""
    letters = size.letters
    y_title = [*wrapped(title, size.width, letters), *wrapped(figure.y_label, size.width - right, letters)]
    x_title = wrapped(figure.x_label, size.width - right, letters)
    top = len(y_title) * letters * _LINE + letters * 0.7
    # The labels across are laid out before the room on the left is known, for the width that they will about have.
    rough = x_axis(figure, 4 * letters, size.width - right - letters)
    lines = _label_lines(figure, rough, letters)
    rows = max(map(len, lines.values()), default=1)
    bottom = size.height - below - (len(x_title) + rows) * letters * _LINE - letters * 1.1
    low, high = _y_ends(figure)
    y = Axis(low=low, high=high, log=figure.y_drawn_scale == "log", start=bottom, end=top)
    most = max(min(round((bottom - top) / letters / _Y_TICK_LETTERS), _Y_TICKS_MAX), 2)
    y_ticks = spaced(ticks_of(y, figure.y_ticks, rounds=False, most=most), y, lambda _: letters, letters * 0.2)
    left = max((text_width(tick.label, letters) for tick in y_ticks), default=0) + letters * 0.8
    labels = ((rough.at(tick.at), text_width(tick.label, letters)) for tick in _offered(figure, rough, letters))
    # What the last label across needs beyond the axis.
    over = max((at + wide / 2 - rough.end for at, wide in labels), default=0)
    end = size.width - right - max(min(over, 4 * letters), letters * 0.8)
    x = x_axis(figure, max(left, letters), end)

    def extent(label: str) -> float:
        return max((text_width(line, letters) for line in lines.get(label, [label])), default=0)

    return Frame(
        figure=figure,
        x=x,
        y=y,
        letters=letters,
        width=size.width - right,
        x_ticks=spaced(_offered(figure, x, letters), x, extent, letters * 0.6),
        y_ticks=y_ticks,
        x_lines=lines,
        x_title=tuple(x_title),
        y_title=tuple(y_title),
    )


def _offered(figure: Figure, axis: Axis, letters: float) -> tuple[Tick, ...]:
    room = axis.end - axis.start
    return ticks_of(axis, figure.ticks, rounds=figure.rounds, most=max(int(room / (letters * 4.5)), 2))


def _label_lines(figure: Figure, axis: Axis, letters: float) -> dict[str, list[str]]:
    """The lines of each given label: those of words that do not fit side by side stand in several."""
    places = sorted(axis.at(tick.at) for tick in figure.ticks)
    apart = min((second - first for first, second in itertools.pairwise(places)), default=axis.end)
    widest = max((text_width(tick.label, letters) for tick in figure.ticks), default=0)
    if widest + letters * 0.6 <= apart:
        return {}
    return {tick.label: wrapped(tick.label, apart - letters * 0.4, letters)[:_TICK_LINES_MAX] for tick in figure.ticks}


def wrapped(words: str, width: float, letters: float) -> list[str]:
    """A text in lines of at most a width, if its words allow it; none of an empty one.

    Worked: ``"Response time (ms)"`` at 10 in 60 -> ``["Response", "time (ms)"]``.
    """
    lines: list[str] = []
    for word in words.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, letters) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def frame_parts(frame: Frame, *, grid: bool = True) -> Iterator[str]:
    """Grid, axes, labels and titles."""
    x, y, letters = frame.x, frame.y, frame.letters
    if grid:
        across = (f"M{length(x.start)} {length(y.at(tick.at))}H{length(x.end)}" for tick in frame.y_ticks)
        up = (f"M{length(x.at(tick.at))} {length(y.end)}V{length(y.start)}" for tick in frame.x_ticks)
        yield path("".join((*across, *up)), "g")
    ends = f"M{length(x.start)} {length(y.end)}V{length(y.start)}H{length(x.end)}"
    marks = "".join(f"M{length(x.at(tick.at))} {length(y.start)}v3" for tick in frame.x_ticks)
    yield path(ends + marks, "a")
    for tick in frame.y_ticks:
        yield text((x.start - letters * 0.4, y.at(tick.at) + letters * 0.35), tick.label, anchor="end")
    under = y.start + letters * 1.45
    for tick in frame.x_ticks:
        yield from _stacked(frame.x_lines.get(tick.label, [tick.label]), x.at(tick.at), under, letters, "middle")
    rows = max(map(len, frame.x_lines.values()), default=1)
    # The title across is centred below the axis, as far as it is not cut there.
    half = max((text_width(line, letters) for line in frame.x_title), default=0) / 2
    middle = max(min((x.start + x.end) / 2, frame.width - half), half)
    yield from _stacked(frame.x_title, middle, under + rows * letters * _LINE, letters, "middle")
    yield from _stacked(frame.y_title, 0, letters, letters, "start")


def _stacked(lines: Sequence[str], x: float, y: float, letters: float, anchor: Anchor) -> Iterator[str]:
    for index, line in enumerate(lines):
        yield text((x, y + index * letters * _LINE), line, anchor=anchor)
