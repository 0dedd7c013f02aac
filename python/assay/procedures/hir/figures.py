"""What each idle time gives, against bursts without."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.summary.pages.model import Figure, Series

if TYPE_CHECKING:
    from assay.procedures.hir.result import IdleRecoveryResult

_BURST_COLOUR, _EDGE_COLOUR, _RETURN_COLOUR = 0, 3, 8


def idle_figure(name: str, result: IdleRecoveryResult) -> Figure | None:
    """IOPS of the bursts after each idle time: mean, least and greatest, and those without; None without two.

    Worked: five wait states -> four lines, three of five points and one across.
    """
    states = sorted((state for state in result.states if state.mean_iops is not None), key=lambda state: state.idle_s)
    returned = result.return_iops
    if len(states) < 2 or returned is None:  # noqa: PLR2004 - one point is no line
        return None
    idle = tuple(state.idle_s for state in states)
    means = tuple(state.mean_iops or 0.0 for state in states)
    edges = [tuple(pick(state.bursts.iops) for state in states) for pick in (min, max)]
    least, greatest = (
        Series(label=label, x=idle, y=edge, colour=_EDGE_COLOUR, dash="dot")
        for label, edge in zip(("Least, greatest burst", ""), edges, strict=True)
    )
    return Figure(
        name=name,
        kind="lines",
        alt="IOPS of the bursts over the idle time after each, with their least and greatest, and without idle",
        x_title="Idle Time (s)",
        y_title="IOPS",
        series=(
            Series(label="Mean burst", x=idle, y=means, colour=_BURST_COLOUR),
            least,
            greatest,
            Series(
                label="Without idle",
                x=(idle[0], idle[-1]),
                y=(returned, returned),
                colour=_RETURN_COLOUR,
                mode="lines",
                dash="dash",
            ),
        ),
    )
