"""Colours, letters, markers and SVG elements of drawings. Lengths keep a tenth of their unit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from assay.summary.record import Level


Anchor = Literal["start", "middle", "end"]
Point = tuple[float, float]


def length(value: float) -> str:
    """A length as short as it can be. Worked: 12.04 -> ``"12"``, 0.27 -> ``"0.3"``, -0.01 -> ``"0"``."""
    tenths = round(value * 10)
    return str(tenths // 10) if tenths % 10 == 0 else str(tenths / 10)


def text(at: Point, words: str, *, anchor: Anchor = "start", kind: str = "t", bold: bool = False) -> str:
    """Words with their baseline at a point."""
    side = "" if anchor == "start" else f' text-anchor="{anchor}"'
    weight = ' font-weight="700"' if bold else ""
    return f'<text class="{kind}" x="{length(at[0])}" y="{length(at[1])}"{side}{weight}>{escape(words)}</text>'


def rect(left: float, top: float, width: float, height: float, kind: str) -> str:
    """A rectangle of a class."""
    sides = (("x", left), ("y", top), ("width", max(width, 0)), ("height", max(height, 0)))
    return f'<rect class="{kind}" {" ".join(f"{name}={chr(34)}{length(value)}{chr(34)}" for name, value in sides)}/>'


def path(points: str, kind: str, *, dash: str = "", width: float = 0) -> str:
    """A path of a class; nothing where it has no point."""
    if not points:
        return ""
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    wide = f' stroke-width="{length(width)}"' if width else ""
    return f'<path class="{kind}" d="{points}"{dashed}{wide}/>'


def polyline(points: Iterable[Point]) -> str:
    """The data of a path through points. Worked: (1, 2) and (3.5, 4) -> ``"M1 2L3.5 4"``."""
    data = "L".join(f"{length(x)} {length(y)}" for x, y in points)
    return f"M{data}" if data else ""


def polygon(points: Sequence[Point]) -> str:
    """The data of a closed path, each corner from the one before. Worked: a square of 2 -> ``"M1 1l2 0 0 2-2 0Z"``."""
    tenths = [(round(x * 10), round(y * 10)) for x, y in points]
    steps = [(after - before) / 10 for pair in pairwise(tenths) for before, after in zip(*pair, strict=True)]
    data = "".join(part if part[0] == "-" else f" {part}" for part in map(length, steps))
    return f"M{length(points[0][0])} {length(points[0][1])}l{data}Z"


def group(parts: Iterable[str], kind: str, *, clip: str = "") -> str:
    """Parts of one class. clip : the name of what they are cut by."""
    cut = f' clip-path="url(#{clip})"' if clip else ""
    return f'<g class="{kind}"{cut}>{"".join(parts)}</g>'


LIGHT = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5e3c99", "#8c510a", "#222222")
DARK = ("#4d9de0", "#f07f2e", "#1fbf92", "#e08fc0", "#f0b429", "#9adcff", "#a98ee6", "#cf9450", "#e4e8ec")
"""Of series, by index: apart on paper, on a dark ground and for colour-blind readers."""
DASHES = ("", "7 3", "2 2.5", "9 3 2 3", "12 4", "4 2", "9 2 2 2 2 2")
"""Of lines without markers, by index."""
NAMED_DASHES = {"solid": "", "dash": "7 3", "dot": "2 2.5", "dashdot": "9 3 2 3"}
MARK_LIGHT, MARK_DARK = "#ffe600", "#ffe600"
COVERED_TIMES = 2.2
"""A line that later ones hide is so much wider."""
FAMILY = "IBM Plex Sans, DejaVu Sans"

_PARTS = {
    "t": "fill:{ink};stroke:none",
    "soft": "fill:{soft}",
    "g": "stroke:{grid};stroke-width:.7;fill:none",
    "a": "stroke:{rule};stroke-width:1;fill:none",
    "w": "fill:{span};stroke:none",
    "l": "stroke:currentColor;fill:none;stroke-linejoin:round",
    "f": "fill:currentColor;fill-opacity:.3;stroke:none",
    "m": "fill:currentColor;stroke:{paper};stroke-width:.5",
    "d": "fill:currentColor;stroke:none",
    "o": "fill:{paper};stroke:currentColor;stroke-width:1.6",
    "k": "fill:{mark};stroke:{ink};stroke-width:1.2",
    "b": "fill:currentColor;stroke:{paper};stroke-width:.5",
    "hi": "fill:#fff;fill-opacity:.3;stroke:none",
    "lo": "fill:#000;fill-opacity:.22;stroke:none",
    "e": "fill:none;stroke:{rule};stroke-width:.7",
}
"""What each class of a picture looks like.

Texts, the grid, axes, the window; lines, areas, points, dots, hollow points, marks, bars; the lit and the dark side of
a column; an empty field."""
_COLOURS = {
    "ink": ("#1a1f24", "#e4e8ec"),
    "soft": ("#535c66", "#a4afba"),
    "grid": ("#e1e5e9", "#2b343d"),
    "rule": ("#7d8791", "#7d8791"),
    "span": ("#dfe9f3", "#20303f"),
    "paper": ("#ffffff", "#171c22"),
    "mark": (MARK_LIGHT, MARK_DARK),
}
_LEVELS: dict[Level, tuple[str, str]] = {
    "good": ("#0a6638", "#45c08a"),
    "warn": ("#854600", "#e0a030"),
    "bad": ("#b00020", "#ff7b7b"),
    "unknown": ("#5a5a5a", "#a4afba"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """Width and height of a picture and the size of its letters, in one unit: points on paper, CSS pixels on a screen.

    beside : the legend stands to the right of the plot where that is narrower than a third of it; else below.
    grows : it is as much higher as a legend of several rows or many named rows need.
    """

    width: float
    height: float
    letters: float = 12.0
    beside: bool = True
    grows: bool = False


def paper_rules() -> str:
    """The rules of a picture on paper, which stand in it."""
    return _rules("", lambda light, _: light)


def screen_rules() -> str:
    """The rules of all pictures of a page, which follow its light or dark scheme."""
    return _rules(".fig ", lambda light, dark: f"light-dark({light},{dark})")


def _rules(before: str, pick: Callable[[str, str], str]) -> str:
    colours = {name: pick(*pair) for name, pair in _COLOURS.items()}
    parts = [f"{before}.{name}{{{look.format(**colours)}}}" for name, look in _PARTS.items()]
    series = [f"{before}.s{at}{{color:{pick(*pair)}}}" for at, pair in enumerate(zip(LIGHT, DARK, strict=True))]
    levels = [f"{before}.v-{name}{{color:{pick(*pair)}}}" for name, pair in _LEVELS.items()]
    return "".join((*parts, *series, *levels))


def colour(index: int) -> str:
    """The colour of a series on paper. Worked: ``colour(9)`` is ``colour(0)``."""
    return LIGHT[index % len(LIGHT)]


def series_class(index: int) -> str:
    """The class of a series' colour. Worked: ``series_class(9)`` is ``"s0"``."""
    return f"s{index % len(LIGHT)}"


FONT = Path(__file__).parent.parent / "assets/fonts/IBMPlexSans-Regular.ttf"
_UNKNOWN = 0.6
"""Of a character that the font lacks, in ems."""


def text_width(text: str, letters: float) -> float:
    """Width of a text in the unit of its letters. Worked: ``"1,234"`` at 10 is 26.7: four digits of 6.0, a comma."""
    widths = _advances()
    return sum(widths.get(one, _UNKNOWN) for one in text) * letters


@cache
def _advances() -> dict[str, float]:
    from fontTools.ttLib import TTFont  # noqa: PLC0415 - only those who draw pay for it

    with TTFont(FONT, lazy=True) as font:
        metrics, em = font["hmtx"], font["head"].unitsPerEm
        return {chr(code): metrics[name][0] / em for code, name in font.getBestCmap().items()}


def markers(points: Iterable[Point], index: int, radius: float) -> str:
    """A marker at each point, as one path. index : of the shape.

    Worked: a square of radius 2 at (10, 10) -> ``"M8.2 8.2h3.6v3.6h-3.6Z"``.
    """
    shape = _SHAPES[index % len(_SHAPES)]
    return "".join(shape(x, y, radius) for x, y in points)


def _circle(x: float, y: float, radius: float) -> str:
    # Of a chord that is shorter than its diameter the two arcs would be more than a circle.
    radius = round(radius, 1)
    r, two = length(radius), length(2 * radius)
    return f"M{length(x - radius)} {length(y)}a{r} {r} 0 1 0 {two} 0a{r} {r} 0 1 0 -{two} 0"


def _square(x: float, y: float, radius: float) -> str:
    half, side = radius * 0.9, length(radius * 1.8)
    return f"M{length(x - half)} {length(y - half)}h{side}v{side}h-{side}Z"


def _shape(corners: tuple[tuple[float, float], ...]) -> Callable[[float, float, float], str]:
    """A closed shape. corners : in radii."""

    def drawn(x: float, y: float, radius: float) -> str:
        return f"M{'L'.join(f'{length(x + radius * right)} {length(y + radius * down)}' for right, down in corners)}Z"

    return drawn


_THIN = 0.38
_PLUS = ((-_THIN, -1.1), (_THIN, -1.1), (_THIN, -_THIN), (1.1, -_THIN), (1.1, _THIN), (_THIN, _THIN))
_CROSS = ((0, -0.5), (0.7, -1.1), (1.1, -0.7), (0.5, 0), (1.1, 0.7), (0.7, 1.1))


def _turned(half: tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
    """A shape from its half, which is turned by half a circle."""
    return (*half, *((-right, -down) for right, down in half))


_STAR = (
    (0, -1.2), (0.28, -0.39), (1.14, -0.37), (0.46, 0.15), (0.71, 0.97), (0, 0.48), (-0.71, 0.97), (-0.46, 0.15),
    (-1.14, -0.37), (-0.28, -0.39),
)  # fmt: skip
_HEXAGON = ((0, -1.1), (0.95, -0.55), (0.95, 0.55), (0, 1.1), (-0.95, 0.55), (-0.95, -0.55))
_SHAPES: tuple[Callable[[float, float, float], str], ...] = (
    _circle,
    _square,
    _shape(((0, -1.15), (1.05, 0.8), (-1.05, 0.8))),
    _shape(((0, -1.2), (1.05, 0), (0, 1.2), (-1.05, 0))),
    _shape(((0, 1.15), (1.05, -0.8), (-1.05, -0.8))),
    _shape(_turned(_PLUS)),
    _shape(_turned(_CROSS)),
    _shape(_STAR),
    _shape(_HEXAGON),
)
