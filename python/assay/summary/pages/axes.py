"""Axes of figures: their rules, logarithms, and minutes that read as seconds."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.summary.pages.model import Tick

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.summary.pages.model import Figure


TICKS_MIN, TICKS_MAX = 4, 9
_EDGE_SHARE, _EDGE_LEAST, _REACH_SHARE = 0.05, 0.02, 0.05
_DECADE = 10
_STEPS = (1.0, 2.0, 2.5, 5.0)


def log_range(values: Sequence[float]) -> tuple[float, float]:
    """The ends of an axis: what its values span and some more on either side.

    values : above zero. It reaches to the next labelled place where that is near, so that the largest lies below one.
    Worked: 10 and 1000 span two decades, so that the axis goes from 7.94 to 1259; 10 and 3200 from 7.49 to 5000.
    """
    low, high = math.log10(min(values)), math.log10(max(values))
    edge = max((high - low) * _EDGE_SHARE, _EDGE_LEAST)
    first, last = 10 ** (low - edge), 10 ** (high + edge)
    power = math.floor(math.log10(last))
    beyond = next(at for at in (float(f"{factor}e{power}") for factor in (1, 2, 5, 10)) if at > last)
    near = math.log10(beyond / last) <= _REACH_SHARE * (high - low)
    return first, beyond if near and beyond in log_ticks(first, beyond) else last


def log_ticks(low: float, high: float, most: int = TICKS_MAX) -> tuple[float, ...]:
    """The labelled places of an axis: powers of ten, with others between them where these are few, else equal steps.

    most : so many if it can be, at least 3. Worked: 1 to 100 -> 1, 2, 5, 10 and so on; 0.02 to 60 -> 0.03, 0.1, 0.3 and
    so on; 240 to 4,000 -> 300, 500, 1,000, 2,000, 3,000; 10.8 to 12.4 -> 11, 11.5, 12.
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    # Equal steps would crowd at one end of more than a decade.
    dense = ((1, 2, 3, 5), (1, 1.5, 2, 3, 5, 7)) if high > _DECADE * low else ()
    for factors in ((1, 2, 5), (1, 3), (1,), *dense):
        result = tuple(float(f"{factor}e{power}") for power in powers for factor in factors)
        ticks = tuple(at for at in result if low <= at <= high)
        if min(TICKS_MIN, most - 2) <= len(ticks) <= most or (factors == (1,) and len(ticks) > most):
            return ticks
    return _equal_steps(low, high)


def labelled_ticks(low: float, high: float, *, most: int = TICKS_MAX) -> tuple[Tick, ...]:
    """The labelled places of an axis, in plain figures.

    Worked: 10 to 3000 -> 10, 20, 50 and so on to 2,000; 0.00001 is not written ``1e-05``.
    """
    return tuple(Tick(at=at, label=_plain(at)) for at in log_ticks(low, high, most))


def _plain(value: float) -> str:
    short = f"{value:,.12g}"
    return f"{value:,.12f}".rstrip("0").rstrip(".") if "e" in short else short


def _equal_steps(low: float, high: float) -> tuple[float, ...]:
    """The fewest multiples of a round step that are enough."""
    power = math.floor(math.log10(high - low))
    for place in (power, power - 1):
        for factor in reversed(_STEPS):
            step = factor * 10.0**place
            ticks = range(math.ceil(low / step), math.floor(high / step) + 1)
            if len(ticks) >= TICKS_MIN:
                return tuple(float(f"{at * step:.12g}") for at in ticks)
    return (low, high)


MINUTES = "Time (Minutes)"
SECONDS = "Time (Seconds)"
_SHORT_MINUTES = 3.0
_MINUTE_S = 60.0


def readable_time(figure: Figure) -> Figure:
    """The same figure, with its minutes as seconds where all of it lasts less than three minutes.

    Worked: samples up to 0.25 minutes -> an axis of seconds up to 15; any other axis is left as it is.
    """
    ends = [*(x for one in figure.series for x in one.x), *(figure.heat.x_edges if figure.heat else ())]
    if not figure.x_title.startswith(MINUTES) or not ends or max(ends) >= _SHORT_MINUTES:
        return figure
    heat = figure.heat
    return replace(
        figure,
        x_title=figure.x_title.replace(MINUTES, SECONDS),
        alt=figure.alt.replace(MINUTES.lower(), SECONDS.lower()),
        series=tuple(replace(one, x=tuple(x * _MINUTE_S for x in one.x)) for one in figure.series),
        span=(figure.span[0] * _MINUTE_S, figure.span[1] * _MINUTE_S) if figure.span else None,
        heat=replace(heat, x_edges=tuple(x * _MINUTE_S for x in heat.x_edges)) if heat else None,
    )
