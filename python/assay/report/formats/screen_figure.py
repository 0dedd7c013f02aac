"""Figures on a screen: drawn for a desk and for a phone, with the numbers that a pointer shows and CSV holds."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from assay.report.drawing import Size, figure_svg

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.summary.pages.model import Figure, Heat, Tick

WIDE = Size(width=1200, height=460, letters=13, grows=True)
HALF = Size(width=560, height=320, letters=13, beside=False, grows=True)
PHONE = Size(width=350, height=270, letters=12, beside=False, grows=True)
"""In CSS pixels: over the whole of a page, one of two side by side, and on a phone."""
_DIGITS = 9


def screen_pictures(figure: Figure, *, half: bool = False) -> str:
    """The pictures of a figure, of which a style sheet shows the one that fits. half : it stands beside another."""
    desk = figure_svg(figure, HALF if half else WIDE, paper=False)
    phone = figure_svg(replace(figure, legend_title=""), PHONE, paper=False, name=f"{figure.name}-phone")
    return f'<div class="desk">{desk}</div><div class="phone">{phone}</div>'


def figure_data(figure: Figure) -> dict[str, Any]:
    """The numbers of a figure, ready for JSON: titles, then series or the fields of a heat map.

    Numbers have nine digits. labels : names of places across, by their number.
    Worked: a series of 1.5 at tick ``4`` -> ``{"x": ..., "labels": {"1": "4"}, "series": [["a", [1], [1.5]]]}``.
    """
    facts: dict[str, Any] = {"x": figure.x_label, "y": figure.y_label}
    if figure.heat:
        return {**facts, **_fields(figure, figure.heat)}
    labels = {f"{tick.at:g}": tick.label for tick in figure.ticks}
    across = {"z": figure.z_title} if figure.kind == "columns" else {}
    return {
        **facts,
        **across,
        "labels": labels,
        "series": [[one.label, _short(one.x), _short(one.y)] for one in figure.series],
    }


def _fields(figure: Figure, heat: Heat) -> dict[str, Any]:
    return {
        "value": heat.colour_title,
        "columns": _names(heat.x_edges, figure.ticks),
        "rows": _names(heat.y_edges, figure.y_ticks),
        "edges": [_short(heat.x_edges), _short(heat.y_edges)],
        "fields": [[None if value is None else _shortened(value) for value in row] for row in heat.rows],
    }


def _names(edges: tuple[float, ...], ticks: tuple[Tick, ...]) -> list[str]:
    """What each field along an axis is: the label of the tick in its middle, or from where to where it reaches."""
    labels = {tick.at: tick.label for tick in ticks}
    pairs = list(pairwise(edges))
    names = [labels.get((low + high) / 2, "") for low, high in pairs]
    return names if all(names) else [f"{low:,.4g} - {high:,.4g}" for low, high in pairs]


def _short(values: Iterable[float]) -> list[float]:
    return [_shortened(value) for value in values]


def _shortened(value: float) -> float:
    """A number with nine digits, whole where it is. Worked: 0.00035026562500000005 -> 0.000350265625."""
    short = float(f"{value:.{_DIGITS}g}")
    return int(short) if short.is_integer() else short
