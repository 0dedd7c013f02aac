"""Axes, legends and number formats of figures on the screen, as Plotly has them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from assay.pages.log_axis import labelled_ticks, log_range

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.pages.model import Figure, Scale, Tick

MAX_ROUND_TICKS = 26
DECADE = 10
SIGNIFICANT_DIGITS = 5
MOST_DECIMALS = 9
_FEW_DECIMALS, _ROUNDED_DIGITS = 5, 6
_STORED_DIGITS = 9


def plane_layout(figure: Figure) -> dict[str, Any]:
    """What all figures of a plane have: room at the sides, a legend, and the nearest point below the pointer."""
    return {
        "margin": {"l": 80, "r": 20, "t": 15, "b": 60},
        "legend": _legend(figure),
        "showlegend": True,
        "hovermode": "closest",
    }


def _legend(figure: Figure) -> dict[str, Any]:
    if figure.narrow or figure.beside:
        return {"orientation": "h", "y": -0.2}
    return {"title": {"text": figure.legend_title or figure.z_title}}


def number_format(values: Iterable[float]) -> str:
    """The d3 format in which the smallest of some values still shows five significant digits.

    Where that would be many decimals, each has six significant digits instead, if none has more before its point.
    Worked: 0.307 and 12.5 give ``,.5~f``, so that they show as 0.307 and 12.5; 24632 and 3000 give ``,.1~f``; 0.0003
    and 1.5 give ``,.6~r``.
    """
    sizes = [abs(value) for value in values if value and math.isfinite(value)]
    smallest = min(sizes, default=1.0)
    decimals = SIGNIFICANT_DIGITS - 1 - math.floor(math.log10(smallest))
    if _FEW_DECIMALS < decimals <= MOST_DECIMALS and max(sizes, default=0.0) < 10**_ROUNDED_DIGITS:
        return f",.{_ROUNDED_DIGITS}~r"
    return f",.{min(max(decimals, 0), MOST_DECIMALS)}~f"


def x_axis(figure: Figure) -> dict[str, Any]:
    """The axis across, with the labels that the figure asks for."""
    axis = {**axis_of(figure.x_label), "type": figure.x_scale}
    if figure.x_drawn_range:
        axis["range"] = placed(figure.x_drawn_range, figure.x_scale)
    values = [x for series in figure.series for x in series.x]
    if figure.ticks:
        return {**axis, **labelled(figure.ticks)}
    if figure.rounds:
        return {**axis, "tick0": 0, "dtick": 1 + int(max(values) - min(values)) // MAX_ROUND_TICKS}
    return {**axis, **_scale(figure.x_scale, values)}


def y_axis(figure: Figure) -> dict[str, Any]:
    """The axis up, with the labels that the figure asks for."""
    axis = {**axis_of(figure.y_label), "type": figure.y_drawn_scale}
    if not figure.y_ticks:
        ends = {"range": list(figure.y_range)} if figure.y_drawn_scale == "linear" and figure.y_values else {}
        return {**axis, **_scale(figure.y_drawn_scale, figure.y_values), **ends}
    if figure.y_least is not None:
        axis["range"] = [*placed((figure.y_least,), figure.y_scale), None]
    return {**axis, **labelled(figure.y_ticks)}


def _scale(scale: Scale, values: list[float]) -> dict[str, Any]:
    """Where an axis without ticks of its own begins and what it labels, as on paper.

    Labels below a decade are fixed; above, finer ones come as the reader looks closer.
    """
    if scale == "linear" or not values:
        return {"tickformat": ",~r", "rangemode": "tozero"}
    low, high = log_range(values)
    ticks = labelled_ticks(low, high)
    if high / low < DECADE:
        return {"range": placed((low, high), scale), **labelled(ticks)}
    powers = all(math.log10(tick.at).is_integer() for tick in ticks)
    return {"range": placed((low, high), scale), "tickformat": ",~r", "dtick": 1 if powers else "D2"}


def placed(places: Iterable[float], scale: Scale) -> list[float]:
    """Where an axis has values: Plotly wants the logarithms. Worked: 100 on a logarithmic axis -> 2."""
    return [math.log10(place) for place in places] if scale == "log" else list(places)


def axis_of(title: str) -> dict[str, Any]:
    """An axis with a title and a line."""
    return {
        "title": {"text": title, "standoff": 12},
        "showline": True,
        "ticks": "outside",
        "zeroline": False,
        "automargin": True,
    }


def labelled(ticks: Iterable[Tick]) -> dict[str, Any]:
    """What labels an axis at ticks."""
    return tick_labels([tick.at for tick in ticks], [tick.label for tick in ticks])


def tick_labels(values: list[float], labels: list[str]) -> dict[str, Any]:
    """What labels an axis at values."""
    return {"tickmode": "array", "tickvals": values, "ticktext": labels}


def short(values: Iterable[float]) -> list[float]:
    """Numbers as ``stored``."""
    return [stored(value) for value in values]


def stored(value: float) -> float:
    """A number with nine digits: more are no longer seen, and take half of a large report.

    Worked: 0.00035026562500000005 -> 0.000350265625.
    """
    return value if isinstance(value, int) else float(f"{value:.{_STORED_DIGITS}g}")


def labels_at(ticks: tuple[Tick, ...], places: Iterable[float]) -> list[str]:
    """The labels of places that all stand on a tick, or none."""
    names = {tick.at: tick.label for tick in ticks}
    found = [names.get(place, "") for place in places]
    return found if all(found) else []
