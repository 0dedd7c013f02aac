"""Sizes and colours of all figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.summary.record import Level

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
