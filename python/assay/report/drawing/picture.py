"""A figure as one SVG picture."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

from assay.report.drawing.changes import changes_height, changes_picture
from assay.report.drawing.columns import column_parts
from assay.report.drawing.dots import dots_height, dots_picture
from assay.report.drawing.frame import address, frame, frame_parts
from assay.report.drawing.plane import bar_parts, heat_parts, legend, legend_parts, plane_parts, scale_parts, window
from assay.report.drawing.theme import FAMILY, length, paper_rules

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.report.drawing.theme import Size
    from assay.summary.pages.model import Figure, Heat

_ROW_LETTERS, _AROUND_LETTERS = 1.4, 8.0
"""Height of a named row, and of what stands around all of them, in letters."""
_SCALE_LETTERS = 3.0
"""Height of the colour scale below a heat map, in letters."""


def figure_svg(figure: Figure, size: Size, *, paper: bool, name: str = "") -> str:
    """Draw a figure. paper : with colours of its own, as a file; else as part of a page that has ``screen_rules``.

    name : unique in a page; of the figure where it is empty. Returns SVG without a date, equal for equal figures.
    """
    name = name or figure.name
    size = _grown(figure, size) if size.grows else size
    place, parts = _drawn(figure, size, name)
    box = f'viewBox="0 0 {length(size.width)} {length(size.height)}" font-size="{length(size.letters)}"'
    if paper:
        sides = f'width="{length(size.width)}" height="{length(size.height)}" font-family="{FAMILY}"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {sides} {box}><style>{paper_rules()}</style>'
    else:
        head = f'<svg class="fig" role="img" aria-label={quoteattr(figure.alt)} {box}{place}>'
    return f"{head}{''.join(parts)}</svg>"


def _grown(figure: Figure, size: Size) -> Size:
    """The size with a line more for each row of its legend behind the first, and for each named row one of its own."""
    if figure.changes:
        return replace(size, height=changes_height(figure.changes, size))
    if figure.dots:
        return replace(size, height=dots_height(figure, figure.dots, size))
    letters = size.letters
    rows = max(legend(figure, size).below - 2 * letters, 0) if figure.kind == "lines" else 0
    named = len(figure.y_ticks) * letters * _ROW_LETTERS + _AROUND_LETTERS * letters if figure.heat else 0
    return replace(size, height=max(size.height + rows, named))


def _drawn(figure: Figure, size: Size, name: str) -> tuple[str, list[str]]:
    """Where its axes are, and the parts of a figure."""
    if figure.kind == "columns":
        return "", list(column_parts(figure, size))
    if figure.changes:
        return changes_picture(figure.changes, size)
    if figure.dots:
        return dots_picture(figure, figure.dots, size)
    if figure.heat:
        return _heat(figure, figure.heat, size)
    entries = legend(figure, size)
    result = frame(figure, size, right=entries.right, below=entries.below)
    drawn, clip, bounds = bar_parts(result), "", ""
    # Points may lie beyond the axes; markers at the edge have room.
    if figure.x_range or figure.y_least is not None:
        clip = f"{name}-c"
        left, right = length(result.x.start - 3), length(result.x.end + 3)
        top, bottom = length(result.y.end - 3), length(result.y.start + 3)
        bounds = f'<clipPath id="{clip}"><path d="M{left} {top}H{right}V{bottom}H{left}Z"/></clipPath>'
    if figure.kind != "bars":
        drawn = plane_parts(result, clip)
    return address(result.x, result.y), [
        bounds,
        window(result),
        *frame_parts(result),
        *drawn,
        *legend_parts(entries, size, result.x.start),
    ]


def _heat(figure: Figure, heat: Heat, size: Size) -> tuple[str, list[str]]:
    below = 0.0 if heat.texts else _SCALE_LETTERS * size.letters
    result = frame(figure, size, below=below, title=heat.colour_title if heat.texts else "")
    parts: Iterator[str] = heat_parts(result, heat)
    scale = () if heat.texts else scale_parts(heat, result.x.start, result.x.end, size.height - below, size.letters)
    return address(result.x, result.y), [*parts, *frame_parts(result, grid=False), *scale]
