"""A time axis in the unit that its length asks for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.summary.pages.model import Figure

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
