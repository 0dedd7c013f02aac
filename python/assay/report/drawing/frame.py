"""The frame of a plane: its axes with titles, labels and grid, and the room that is left for what is drawn."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.report.drawing.scale import spaced, ticks_of, x_axis, y_axis
from assay.report.drawing.svg import length, path, text
from assay.report.drawing.theme import text_width

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.report.drawing.scale import Axis
    from assay.report.drawing.theme import Size
    from assay.summary.pages.model import Figure, Tick

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
    y = y_axis(figure, bottom, top)
    most = max(min(round((bottom - top) / letters / _Y_TICK_LETTERS), _Y_TICKS_MAX), 2)
    y_ticks = spaced(ticks_of(y, figure.y_ticks, rounds=False, most=most), y, lambda _: letters, letters * 0.2)
    left = max((text_width(tick.label, letters) for tick in y_ticks), default=0) + letters * 0.8
    end = size.width - right - _overhang(figure, rough, letters)
    x = x_axis(figure, max(left, letters), end)
    return Frame(
        figure=figure,
        x=x,
        y=y,
        letters=letters,
        width=size.width - right,
        x_ticks=_x_ticks(figure, x, lines, letters),
        y_ticks=y_ticks,
        x_lines=lines,
        x_title=tuple(x_title),
        y_title=tuple(y_title),
    )


def _x_ticks(figure: Figure, axis: Axis, lines: dict[str, list[str]], letters: float) -> tuple[Tick, ...]:
    def extent(label: str) -> float:
        return max((text_width(line, letters) for line in lines.get(label, [label])), default=0)

    return spaced(_offered(figure, axis, letters), axis, extent, letters * 0.6)


def _offered(figure: Figure, axis: Axis, letters: float) -> tuple[Tick, ...]:
    room = axis.end - axis.start
    return ticks_of(axis, figure.ticks, rounds=figure.rounds, most=max(int(room / (letters * 4.5)), 2))


def _overhang(figure: Figure, axis: Axis, letters: float) -> float:
    """What the last label across needs beyond the axis."""
    result = _offered(figure, axis, letters)
    over = max((axis.at(tick.at) + text_width(tick.label, letters) / 2 - axis.end for tick in result), default=0)
    return max(min(over, 4 * letters), letters * 0.8)


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


def frame_parts(found: Frame, *, grid: bool = True) -> Iterator[str]:
    """Grid, axes, labels and titles."""
    x, y, letters = found.x, found.y, found.letters
    if grid:
        yield path(_grid(found), "g")
    ends = f"M{length(x.start)} {length(y.end)}V{length(y.start)}H{length(x.end)}"
    marks = "".join(f"M{length(x.at(tick.at))} {length(y.start)}v3" for tick in found.x_ticks)
    yield path(ends + marks, "a")
    for tick in found.y_ticks:
        yield text((x.start - letters * 0.4, y.at(tick.at) + letters * 0.35), tick.label, anchor="end")
    under = y.start + letters * 1.45
    for tick in found.x_ticks:
        yield from _stacked(found.x_lines.get(tick.label, [tick.label]), x.at(tick.at), under, letters, "middle")
    rows = max(map(len, found.x_lines.values()), default=1)
    yield from _stacked(found.x_title, _middle(found), under + rows * letters * _LINE, letters, "middle")
    yield from _stacked(found.y_title, 0, letters, letters, "start")


def _middle(found: Frame) -> float:
    """Where the title across is centred: below the axis, as far as it is not cut there."""
    half = max((text_width(line, found.letters) for line in found.x_title), default=0) / 2
    return max(min((found.x.start + found.x.end) / 2, found.width - half), half)


def _grid(found: Frame) -> str:
    x, y = found.x, found.y
    across = (f"M{length(x.start)} {length(y.at(tick.at))}H{length(x.end)}" for tick in found.y_ticks)
    up = (f"M{length(x.at(tick.at))} {length(y.end)}V{length(y.start)}" for tick in found.x_ticks)
    return "".join((*across, *up))


def _stacked(lines: Sequence[str], x: float, y: float, letters: float, anchor: str) -> Iterator[str]:
    for index, line in enumerate(lines):
        at = (x, y + index * letters * _LINE)
        yield text(at, line, anchor="middle" if anchor == "middle" else "start")
