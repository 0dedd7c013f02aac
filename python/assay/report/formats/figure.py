"""Figures on paper: which size each has, and its picture as a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.report import drawing
from assay.report.drawing import Size
from assay.report.formats.glyphs import spelled_out

if TYPE_CHECKING:
    from assay.summary.pages.model import Figure

_HEIGHT_PT = {"lines": 374, "bars": 374, "columns": 430, "heat": 374}
_LOW_PT, _SMALL_WIDTH_PT = 180, 385
"""A small picture is as wide as half of a sheet, so that its letters are as large there."""
_LETTERS, _SMALL_LETTERS = 10.5, 8.0
_DOTS_WIDTH_PT, _DOTS_LETTERS = 780, 9.0


def figure_svg(figure: Figure) -> bytes:
    """Draw a figure as an SVG file, UTF-8, without a date: equal for equal figures."""
    return drawing.figure_svg(spelled_out(figure), _size(figure), paper=True).encode("utf-8")


def _size(figure: Figure) -> Size:
    """In points. Worked: a figure of its own page with an aspect of 2 -> 748 x 374."""
    if figure.dots or figure.changes:
        return Size(width=_DOTS_WIDTH_PT, height=0, letters=_DOTS_LETTERS, beside=False, grows=True)
    if figure.small:
        height = _SMALL_WIDTH_PT / figure.aspect
        return Size(width=_SMALL_WIDTH_PT, height=height, letters=_SMALL_LETTERS, beside=False)
    height = _LOW_PT if figure.low else _HEIGHT_PT[figure.kind]
    letters = _SMALL_LETTERS if figure.low else _LETTERS
    return Size(width=height * figure.aspect, height=height, letters=letters, beside=not figure.low)
