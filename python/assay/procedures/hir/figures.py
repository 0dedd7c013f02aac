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
    states = sorted((one for one in result.states if one.mean_iops is not None), key=lambda one: one.idle_s)
    returned = result.return_iops
    if len(states) < 2 or returned is None:  # noqa: PLR2004 - one point is no line
        return None
    idle = tuple(one.idle_s for one in states)
    means = tuple(one.mean_iops or 0.0 for one in states)
    # The first burst of a wait state follows writes without a pause.
    edges = [tuple(pick(one.bursts.iops[1:] or one.bursts.iops) for one in states) for pick in (min, max)]
    least, greatest = (
        Series(label=label, x=idle, y=edge, colour=_EDGE_COLOUR, dash="dot")
        for label, edge in zip(("Least, greatest after idle", ""), edges, strict=True)
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
