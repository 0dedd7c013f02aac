"""Lines, points, bars and heat maps in a plane, with the legend beside or below it."""

from __future__ import annotations

import base64
import itertools
import struct
import zlib
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

import numpy as np

from assay.report.drawing.frame import Axis, spaced
from assay.report.drawing.theme import (
    COVERED_TIMES,
    DASHES,
    LIGHT,
    NAMED_DASHES,
    group,
    length,
    markers,
    path,
    polyline,
    rect,
    series_class,
    text,
    text_width,
)
from assay.summary.pages.figures import labelled_ticks
from assay.summary.pages.model import SPAN_LABEL
from assay.words.digits import si
from assay.words.printed import bar_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from assay.report.drawing.frame import Frame
    from assay.report.drawing.theme import Point, Size
    from assay.summary.pages.model import Figure, Heat, Series


_SIGN, _GAP, _APART, _ENTRY_LINE = 1.9, 0.5, 1.2, 1.45
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
    if not entries or (len(entries) == 1 and figure.room == "front"):
        return Legend(title="", entries=(), rows=(), letters=letters, right=0, below=0)
    widest = max(*(width(entry, letters) for entry in entries), text_width(title, letters)) + letters
    beside = size.beside and figure.room == "page" and widest <= size.width * _BESIDE_SHARE
    tall = (len(entries) + bool(title)) * _ENTRY_LINE * letters <= size.height
    if beside and tall:
        return Legend(title=title, entries=entries, rows=(), letters=letters, right=widest, below=0)
    rows = tuple(_rows(entries, size.width, letters))
    below = (len(rows) + bool(title)) * _ENTRY_LINE * letters + letters * 0.4
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
    if figure.span and figure.room != "front":
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
            yield from _entry(entry, x, y + index * _ENTRY_LINE * letters, letters)
        return
    y = size.height - found.below + letters * 1.2
    widest = max(sum(width(entry, letters) + _APART * letters for entry in row) for row in found.rows)
    begin = left if left + widest <= size.width + letters * _APART else 0
    if found.title:
        yield text((begin, y), found.title)
    for index, row in enumerate(found.rows, bool(found.title)):
        x = begin
        for entry in row:
            yield from _entry(entry, x, y + index * _ENTRY_LINE * letters, letters)
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


_WIDTH, _RADIUS, _DENSE_RADIUS, _MARK_RADIUS = 0.15, 0.33, 0.14, 0.62
"""Of lines and markers, in letters."""
_BAR_SHARE = 0.6
"""Of the distance of two bars."""


def plane_parts(frame: Frame, clip: str) -> Iterator[str]:
    """Every series, those that others hide wider."""
    figure = frame.figure
    covered = figure.covered
    for index, series in enumerate(figure.series):
        if series.x:
            times = COVERED_TIMES if index in covered else 1
            yield group(_series(frame, series, times), series_class(series.colour), clip=clip)


def window(frame: Frame) -> str:
    """The measurement window, which lies behind all; nothing where there is none."""
    span = frame.figure.span
    if not span:
        return ""
    ends = sorted(min(max(frame.x.at(at), frame.x.start), frame.x.end) for at in span)
    return rect(ends[0], frame.y.end, ends[1] - ends[0], frame.y.start - frame.y.end, "w")


def _series(frame: Frame, series: Series, times: float) -> Iterator[str]:
    letters, logs, pairs = frame.letters, (frame.x.log, frame.y.log), zip(series.x, series.y, strict=True)
    # A logarithmic axis has no place for zero.
    points = [(frame.x.at(x), frame.y.at(y)) for x, y in pairs if (x > 0 or not logs[0]) and (y > 0 or not logs[1])]
    if series.mark:
        yield path(markers(points, series.colour, letters * _MARK_RADIUS), "k")
        return
    # A line needs two points; one is shown by its marker.
    if "lines" in series.mode and len(points) > 1:
        line = thinned(points)
        if series.filled:
            area = [(points[0][0], frame.y.start), *line, (points[-1][0], frame.y.start)]
            yield path(f"{polyline(area)}Z", "f")
        yield path(polyline(line), "l", dash=dash_of(frame.figure, series), width=letters * _WIDTH * times)
    if series.dense:
        # Small squares, one where several would cover each other.
        radius, side = letters * _DENSE_RADIUS, length(2 * letters * _DENSE_RADIUS)
        places = dict.fromkeys((round(x * 2) / 2, round(y * 2) / 2) for x, y in points)
        squares = (f"M{length(x - radius)} {length(y - radius)}h{side}v{side}h-{side}Z" for x, y in places)
        yield path("".join(squares), "d")
    elif "markers" in series.mode or len(points) == 1:
        yield path(markers(points, series.colour, letters * _RADIUS * times), "m")


def thinned(points: Sequence[Point]) -> list[Point]:
    """The points of a line without those that nobody can see: of each half unit across its ends and extremes.

    Worked: 10,000 points over 500 units -> at most 4,000, the highest and the lowest among them.
    """
    kept: list[Point] = []
    for _, one in groupby(points, key=lambda point: round(point[0] * 2)):
        column = list(one)
        extremes = {column[0], column[-1], min(column, key=itemgetter(1)), max(column, key=itemgetter(1))}
        kept += [point for point in column if point in extremes] if len(extremes) < len(column) else column
    return kept


def bar_parts(frame: Frame) -> Iterator[str]:
    """A bar from zero for each point, with its value above it where all of them fit."""
    figure, ground = frame.figure, frame.y.at(0)
    half = (frame.x.at(1) - frame.x.at(0)) * _BAR_SHARE / 2
    for series in figure.series:
        bars = [(frame.x.at(x) - half, frame.y.at(y)) for x, y in zip(series.x, series.y, strict=True)]
        drawn = (rect(left, top, 2 * half, ground - top, "b") for left, top in bars)
        yield group(drawn, series_class(series.colour))
    room = (frame.x.at(1) - frame.x.at(0)) - frame.letters * 0.4
    values = [(x, y) for series in figure.series for x, y in zip(series.x, series.y, strict=True)]
    for (x, y), words in zip(values, _bar_texts(figure, room, frame.letters), strict=False):
        yield text((frame.x.at(x), frame.y.at(y) - frame.letters * 0.35), words, anchor="middle")


def _bar_texts(figure: Figure, room: float, letters: float) -> list[str]:
    """The values of all bars in full, else in three digits, else none."""
    values = [y for series in figure.series for y in series.y]
    for printed in (bar_text, si):
        texts = [printed(value) for value in values]
        if max((text_width(one, letters) for one in texts), default=0) <= room:
            return texts
    return []


_STOPS = np.array(
    (
        (71, 45, 123), (62, 73, 137), (49, 104, 142), (38, 130, 142), (31, 158, 137), (53, 183, 121), (110, 206, 88),
        (181, 222, 43), (253, 231, 37),
    ),
    np.float64,
)  # fmt: skip
"""Of the scale from low to high: viridis without its darkest end, which a dark page would hide."""
_RATIO_STOPS = np.array(((230, 97, 1), (253, 184, 99), (240, 240, 240), (178, 171, 210), (94, 60, 153)), np.float64)
"""Of a scale of ratios: orange below 1, grey at it, purple above, which colour-blind readers tell apart."""
_LEAST_SHARE = 0.75
"""The first colour stands for so much of the largest value at most."""
_BRIGHTNESS = np.array((0.2126, 0.7152, 0.0722))
"""Of red, green and blue in what the eye takes for brightness (ITU-R BT.709)."""
_BRIGHT = 0.5 * 255
_SCALE_STEPS, _DOTS = 40, (600, 300)
_ALIKE = 1e-3
"""Fields whose widths differ by less than this share are alike."""
INK = "#111111"


def heat_parts(frame: Frame, heat: Heat) -> Iterator[str]:
    """The fields, and their texts in the colour that shows on each."""
    values = field_values(heat)
    colours = coloured(values, heat.reach)
    if heat.texts:
        yield from _fields(frame, heat, colours)
    else:
        yield _raster(frame, heat, colours)


def field_values(heat: Heat) -> NDArray[np.float64]:
    """The values of the fields as an array of rows and columns, NaN for an empty one."""
    return np.array([[np.nan if value is None else value for value in row] for row in heat.rows], np.float64)


def scale_ends(values: NDArray[np.float64]) -> tuple[float, float]:
    """The values of the first and the last colour; NaN is none.

    They are a quarter apart at least, so that a difference of 1 % looks small. Worked: 1 to 500 -> 1 and 500; 96 to 100
    -> 75 and 100.
    """
    lowest, highest = float(np.nanmin(values)), float(np.nanmax(values))
    return min(lowest, highest * _LEAST_SHARE), highest


def coloured(values: NDArray[np.float64], reach: float = 0.0) -> NDArray[np.uint8]:
    """Red, green, blue and opacity of each value on a logarithmic scale; an empty field is clear.

    reach : of ratios how far the scale goes either side of 1; 0 of other values.
    """
    low, high = (1 / reach, reach) if reach else scale_ends(values)
    known = ~np.isnan(values)
    share = (np.log(np.where(known, values, low)) - np.log(low)) / np.log(high / low)
    stops = _RATIO_STOPS if reach else _STOPS
    return np.dstack((_at(share, stops), np.where(known, 255, 0))).astype(np.uint8)


def _at(share: NDArray[np.float64], stops: NDArray[np.float64] = _STOPS) -> NDArray[np.float64]:
    """Red, green and blue at shares of the scale."""
    places = np.linspace(0, 1, len(stops))
    return np.stack([np.interp(share, places, stops[:, part]) for part in range(3)], axis=-1).round()


def _sides(box: tuple[float, float, float, float]) -> str:
    """Left, top, width and height as attributes."""
    return " ".join(f'{name}="{length(side)}"' for name, side in zip(("x", "y", "width", "height"), box, strict=True))


def _hex(colour: Sequence[int] | NDArray[np.uint8]) -> str:
    return "#" + "".join(f"{int(part):02x}" for part in colour[:3])


def _fields(frame: Frame, heat: Heat, colours: NDArray[np.uint8]) -> Iterator[str]:
    """Rectangles, then the texts on dark, bright and empty ones."""
    across, up = [frame.x.at(edge) for edge in heat.x_edges], [frame.y.at(edge) for edge in heat.y_edges]
    # Every text stands in its field, in two thirds of the others' letters at least.
    room = min(right - left for left, right in itertools.pairwise(across)) - 2
    widest = max((text_width(words, frame.letters) for row in heat.texts for words in row), default=0)
    fitting = frame.letters * room / widest if widest else frame.letters
    letters = max(min(frame.letters, fitting), frame.letters * 2 / 3)
    texts: dict[str, list[str]] = {'class="t"': [], f'fill="{INK}"': [], 'fill="#ffffff"': []}
    for row, words in enumerate(heat.texts):
        for column, word in enumerate(words):
            left, right, low, high = across[column], across[column + 1], up[row], up[row + 1]
            colour = colours[row, column]
            x, top, right_end, bottom = map(length, (left, high, right, low))
            look = f'fill="{_hex(colour)}"' if colour[3] else 'class="e"'
            yield f'<path {look} d="M{x} {top}H{right_end}V{bottom}H{x}Z"/>'
            place = f'x="{length((left + right) / 2)}" y="{length((low + high) / 2 + letters * 0.35)}"'
            if word:
                texts[_ink(colour)].append(f"<text {place}>{escape(word)}</text>")
    for look, written in texts.items():
        yield f'<g {look} text-anchor="middle" font-size="{length(letters)}">{"".join(written)}</g>' if written else ""


def _ink(colour: NDArray[np.uint8]) -> str:
    """How a text shows on a field."""
    if not colour[3]:
        return 'class="t"'
    return f'fill="{INK}"' if float(colour[:3] @ _BRIGHTNESS) > _BRIGHT else 'fill="#ffffff"'


def _raster(frame: Frame, heat: Heat, colours: NDArray[np.uint8]) -> str:
    """All fields as one picture of dots, each of which shows the field that it lies in."""
    columns, rows = _nearest(frame.x, heat.x_edges, _DOTS[0]), _nearest(frame.y, heat.y_edges, _DOTS[1])
    dots = colours[rows[::-1]][:, columns]
    packed = base64.b64encode(_png(dots)).decode("ascii")
    sides = (frame.x.start, frame.y.end, frame.x.end - frame.x.start, frame.y.start - frame.y.end)
    look = 'preserveAspectRatio="none" image-rendering="pixelated"'
    return f'<image {_sides(sides)} {look} href="data:image/png;base64,{packed}"/>'


def _nearest(axis: Axis, edges: Sequence[float], count: int) -> NDArray[np.int64]:
    """Which field each of so many dots along an axis lies in; one dot for each where all are alike."""
    places = np.array([axis.at(edge) for edge in edges])
    apart = np.abs(np.diff(places))
    if float(apart.max() - apart.min()) < _ALIKE * float(apart.mean()):
        return np.arange(len(edges) - 1)
    middles = np.linspace(axis.start, axis.end, 2 * count + 1)[1::2]
    turned = 1 if axis.end > axis.start else -1
    return np.clip(np.searchsorted(places * turned, middles * turned, side="right") - 1, 0, len(edges) - 2)


def _png(dots: NDArray[np.uint8]) -> bytes:
    """A picture of dots with opacity as PNG (W3C, third edition)."""
    height, width = dots.shape[:2]
    rows = b"".join(b"\0" + row.tobytes() for row in dots)

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")


def scale_parts(heat: Heat, left: float, right: float, top: float, letters: float) -> Iterator[str]:
    """What the colours mean, as a bar with its labels; its title stands before it."""
    ends = scale_ends(field_values(heat))
    begin = left + text_width(heat.colour_title, letters) + letters
    yield text((left, top + letters * 0.9), heat.colour_title)
    axis = Axis(low=ends[0], high=ends[1], log=True, start=begin, end=right - letters)
    step = (axis.end - axis.start) / _SCALE_STEPS
    for index, colour in enumerate(_at(np.linspace(0, 1, _SCALE_STEPS))):
        box = (begin + index * step, top, step + 0.4, letters)
        yield f'<rect fill="{_hex(colour)}" {_sides(box)}/>'
    ticks = labelled_ticks(*ends, most=max(int((axis.end - axis.start) / (4 * letters)), 3))
    for tick in spaced(ticks, axis, lambda label: text_width(label, letters), letters * 0.6):
        yield text((axis.at(tick.at), top + letters * 2.1), tick.label, anchor="middle")
