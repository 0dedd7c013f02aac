"""Colours and markers shared by the printed and the interactive figures.

The colours stay apart on paper and for colour-blind readers; the markers tell the series apart in grey.
"""

from __future__ import annotations

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5e3c99", "#8c510a", "#222222")
# A point that stands out of all series.
MARK_SIZE, MARK_COLOUR = 13, "#ffe600"
# A line that later ones hide is so much wider, and one of many points is so small.
COVERED_TIMES, DENSE_SHARE = 2.2, 0.55
# A part of an axis behind all series.
SPAN_COLOUR = "#dfe9f3"

_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "h")
_SYMBOLS = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "x", "star", "hexagon")


def colour(index: int) -> str:
    """Return the hex colour of a series. Worked: ``colour(9)`` is ``colour(0)``."""
    return COLOURS[index % len(COLOURS)]


def marker(index: int) -> str:
    """Name the marker of a series as matplotlib does."""
    return _MARKERS[index % len(_MARKERS)]


def symbol(index: int) -> str:
    """Name the same marker as Plotly does."""
    return _SYMBOLS[index % len(_SYMBOLS)]
