"""Heat maps: fields with texts as rectangles, many fields as one picture of dots."""

from __future__ import annotations

import base64
import itertools
import struct
import zlib
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

import numpy as np

from assay.report.drawing.scale import Axis, spaced
from assay.report.drawing.svg import length, text
from assay.report.drawing.theme import text_width
from assay.summary.pages.figures import labelled_ticks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from assay.report.drawing.frame import Frame
    from assay.summary.pages.model import Heat

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
    letters = _fitting(heat, across, frame.letters)
    texts: dict[str, list[str]] = {'class="t"': [], f'fill="{INK}"': [], 'fill="#ffffff"': []}
    for row, words in enumerate(heat.texts):
        for column, word in enumerate(words):
            left, right, low, high = across[column], across[column + 1], up[row], up[row + 1]
            yield _field((left, high, right, low), colours[row, column])
            place = f'x="{length((left + right) / 2)}" y="{length((low + high) / 2 + letters * 0.35)}"'
            if word:
                texts[_ink(colours[row, column])].append(f"<text {place}>{escape(word)}</text>")
    for look, written in texts.items():
        yield f'<g {look} text-anchor="middle" font-size="{length(letters)}">{"".join(written)}</g>' if written else ""


def _field(box: tuple[float, float, float, float], colour: NDArray[np.uint8]) -> str:
    left, top, right, bottom = map(length, box)
    look = f'fill="{_hex(colour)}"' if colour[3] else 'class="e"'
    return f'<path {look} d="M{left} {top}H{right}V{bottom}H{left}Z"/>'


def _ink(colour: NDArray[np.uint8]) -> str:
    """How a text shows on a field."""
    if not colour[3]:
        return 'class="t"'
    return f'fill="{INK}"' if float(colour[:3] @ _BRIGHTNESS) > _BRIGHT else 'fill="#ffffff"'


def _fitting(heat: Heat, across: Sequence[float], letters: float) -> float:
    """The size of letters at which every text stands in its field: two thirds of the others' at least."""
    room = min(right - left for left, right in itertools.pairwise(across)) - 2
    widest = max((text_width(words, letters) for row in heat.texts for words in row), default=0)
    return max(min(letters, letters * room / widest), letters * 2 / 3) if widest else letters


def _raster(frame: Frame, heat: Heat, colours: NDArray[np.uint8]) -> str:
    """All fields as one picture of dots, each of which shows the field that it lies in."""
    columns, rows = (
        _nearest(frame.x, heat.x_edges, _DOTS[0]),
        _nearest(frame.y, heat.y_edges, _DOTS[1]),
    )
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
