"""What each idle time gives, against the baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.pages.model import Figure, Series

if TYPE_CHECKING:
    from assay.procedures.hir.result import IdleRecoveryResult

_BURST_COLOUR, _EDGE_COLOUR, _BASELINE_COLOUR = 0, 3, 8


def idle_figure(name: str, result: IdleRecoveryResult) -> Figure | None:
    """IOPS of the bursts after each idle time: mean, least and greatest, and the baseline; None without two of them.

    Worked: five wait states and a steady baseline -> four lines, three of five points and one across.
    """
    states = sorted((one for one in result.states if one.mean_iops is not None), key=lambda one: one.idle_s)
    baseline = result.baseline_iops
    if len(states) < 2 or baseline is None:  # noqa: PLR2004 - one point is no line
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
        alt="IOPS of the bursts over the idle time after each, with their least and greatest and the baseline",
        x_title="Idle Time (s)",
        y_title="IOPS",
        series=(
            Series(label="Mean burst", x=idle, y=means, colour=_BURST_COLOUR),
            least,
            greatest,
            Series(
                label="Baseline",
                x=(idle[0], idle[-1]),
                y=(baseline, baseline),
                colour=_BASELINE_COLOUR,
                mode="lines",
                dash="dash",
            ),
        ),
    )
