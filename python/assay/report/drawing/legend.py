"""Legends: beside the plot where they are narrow, else below it in rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.report.drawing.svg import group, path, rect, text
from assay.report.drawing.theme import DASHES, LIGHT, NAMED_DASHES, markers, series_class, text_width
from assay.summary.pages.model import SPAN_LABEL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.report.drawing.theme import Size
    from assay.summary.pages.model import Figure, Series

_SIGN, _GAP, _APART, _LINE = 1.9, 0.5, 1.2, 1.45
"""Of an entry, in letters: its sign, what parts sign and words, what parts entries, its height."""
_BESIDE_SHARE = 0.34


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A line of a legend. series : None for the measurement window."""

    label: str
    series: Series | None
    dash: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Legend:
    """Entries with the room that they take on the right of the plot, or below it."""

    title: str
    entries: tuple[Entry, ...]
    rows: tuple[tuple[Entry, ...], ...]
    letters: float
    right: float
    below: float


def legend(figure: Figure, size: Size) -> Legend:
    """Lay out the legend of a figure; one that needs none takes no room."""
    entries, letters = tuple(_entries(figure)), size.letters
    title = figure.legend_title
    if not entries or (len(entries) == 1 and figure.small):
        return Legend(title="", entries=(), rows=(), letters=letters, right=0, below=0)
    widest = max(*(width(entry, letters) for entry in entries), text_width(title, letters)) + letters
    beside = size.beside and not (figure.narrow or figure.beside) and widest <= size.width * _BESIDE_SHARE
    tall = (len(entries) + bool(title)) * _LINE * letters <= size.height
    if beside and tall:
        return Legend(title=title, entries=entries, rows=(), letters=letters, right=widest, below=0)
    rows = tuple(_rows(entries, size.width, letters))
    below = (len(rows) + bool(title)) * _LINE * letters + letters * 0.4
    return Legend(title=title, entries=entries, rows=rows, letters=letters, right=0, below=below)


def width(entry: Entry, letters: float) -> float:
    """How wide an entry is. Worked: ``R`` at 10: a sign of 19, a gap of 5, a letter of about 6."""
    return (_SIGN + _GAP) * letters + text_width(entry.label, letters)


def dash_of(figure: Figure, series: Series) -> str:
    """The dashes of a line. Of lines without markers no two look alike, of others those whose markers come again.

    Worked: an average and its two limits -> solid, ``"7 3"`` and ``"2 2.5"``; a line without a label looks as the one
    before it.
    """
    plain = [one for one in figure.series if one.mode == "lines" and not one.filled]
    if series.mode != "lines" or len(plain) == 1:
        return NAMED_DASHES[series.dash] or DASHES[series.colour // len(LIGHT) % len(DASHES)]
    before = plain[: next((at for at, one in enumerate(plain) if one is series), 0) + 1]
    return DASHES[max(sum(bool(one.label) for one in before) - 1, 0) % len(DASHES)]


def _entries(figure: Figure) -> Iterator[Entry]:
    if figure.span and not figure.small:
        yield Entry(label=SPAN_LABEL, series=None)
    for place in figure.legend_order:
        series = figure.series[place]
        if series.label:
            yield Entry(label=series.label, series=series, dash=dash_of(figure, series))


def _rows(entries: tuple[Entry, ...], room: float, letters: float) -> Iterator[tuple[Entry, ...]]:
    row: list[Entry] = []
    used = 0.0
    for entry in entries:
        wide = width(entry, letters) + _APART * letters
        if row and used + wide > room:
            yield tuple(row)
            row, used = [], 0.0
        row.append(entry)
        used += wide
    yield tuple(row)


def legend_parts(found: Legend, size: Size, left: float) -> Iterator[str]:
    """Draw a legend. left : where the plot begins, so that rows below stand under it where they fit."""
    letters = found.letters
    if not found.rows:
        x, y = size.width - found.right + letters, letters * 2.2
        if found.title:
            yield text((x, y), found.title)
        for index, entry in enumerate(found.entries, bool(found.title)):
            yield from _entry(entry, x, y + index * _LINE * letters, letters)
        return
    y = size.height - found.below + letters * 1.2
    widest = max(sum(width(entry, letters) + _APART * letters for entry in row) for row in found.rows)
    begin = left if left + widest <= size.width + letters * _APART else 0
    if found.title:
        yield text((begin, y), found.title)
    for index, row in enumerate(found.rows, bool(found.title)):
        x = begin
        for entry in row:
            yield from _entry(entry, x, y + index * _LINE * letters, letters)
            x += width(entry, letters) + _APART * letters


def _entry(entry: Entry, x: float, y: float, letters: float) -> Iterator[str]:
    yield from _sign(entry, x, y - letters * 0.35, letters)
    yield text((x + (_SIGN + _GAP) * letters, y), entry.label)


def _sign(entry: Entry, x: float, y: float, letters: float) -> Iterator[str]:
    series, wide = entry.series, _SIGN * letters
    if series is None or series.filled:
        kind = "w" if series is None else f"f {series_class(series.colour)}"
        yield rect(x, y - letters * 0.4, wide, letters * 0.8, kind)
        return
    if not series.x:
        return
    middle = [(x + wide / 2, y)]
    if series.mark:
        yield path(markers(middle, series.colour, letters * 0.5), "k")
        return
    parts = []
    if "lines" in series.mode:
        parts.append(path(f"M{x:.1f} {y:.1f}h{wide:.1f}", "l", dash=entry.dash, width=letters * 0.15))
    if "markers" in series.mode or len(series.x) == 1:
        parts.append(path(markers(middle, series.colour, letters * 0.3), "m"))
    yield group(parts, series_class(series.colour))
