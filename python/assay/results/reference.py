"""Whether a reference drive still gives the numbers that it gave: spread within, and change since a baseline."""

from __future__ import annotations

from statistics import fmean, stdev
from typing import TYPE_CHECKING

from assay.engine.records import ReferenceChange, ReferenceDrive, Repeated
from assay.results.finding import Check, Finding, ask_all
from assay.words.coded import Place, coded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engine.records import ReferencePoint
    from assay.results.finding import Checked, Level

SPREAD_MAX = 0.05
"""Spread of IOPS up to which a point is repeatable, inclusive."""

CHANGE_MAX = 0.05
"""Change of mean IOPS since the baseline up to which a drive is where it was, inclusive."""


def repeated(values: Sequence[float]) -> Repeated:
    """Mean, spread and coefficient of variation of a figure measured at least twice; all are positive.

    Worked: 98, 99, 100, 101, 102 -> mean 100, spread 4 / 100 = 0.04, variation sqrt(2.5) / 100 = 0.0158.
    """
    mean = fmean(values)
    return Repeated(
        values=tuple(values), mean=mean, spread=(max(values) - min(values)) / mean, variation=stdev(values) / mean
    )


def reference_changes(
    points: Sequence[ReferencePoint], before: Sequence[ReferencePoint]
) -> tuple[ReferenceChange, ...]:
    """Hold the means of points against those of a baseline with the same labels.

    Worked: 100,000 IOPS before and 92,700 now -> a change of -0.073.
    """
    former = {point.label: point for point in before}
    return tuple(_change(point, former[point.label]) for point in points)


def _change(point: ReferencePoint, before: ReferencePoint) -> ReferenceChange:
    return ReferenceChange(
        label=point.label,
        iops_before=before.iops.mean,
        mean_ns_before=before.mean_ns.mean,
        iops_change=point.iops.mean / before.iops.mean - 1,
        mean_ns_change=point.mean_ns.mean / before.mean_ns.mean - 1,
    )


def worst_spread(reference: ReferenceDrive) -> ReferencePoint:
    """The point whose IOPS spread most."""
    return max(reference.points, key=lambda point: point.iops.spread)


def worst_change(reference: ReferenceDrive) -> ReferenceChange | None:
    """The point whose mean IOPS changed most since the baseline; None where there is no baseline."""
    return max(reference.changes, key=lambda change: abs(change.iops_change), default=None)


def repeatability(reference: ReferenceDrive) -> Finding:
    """How far the IOPS of the worst point spread; up to ``SPREAD_MAX`` a drive repeats itself.

    Decided on IOPS alone: at a constant queue depth the mean response time is their inverse.
    Worked: 97.5 to 102.5 around 100 -> 0.05, ``pass``; 97.4 to 102.5 -> ``warn``.
    """
    worst, values = worst_spread(reference), [point.iops.values for point in reference.points]
    level: Level = "pass" if all(max(value) - min(value) <= SPREAD_MAX * fmean(value) for value in values) else "warn"
    spread, count = worst.iops.spread, len(worst.iops.values)
    reason = coded("spread", spread=spread, count=count, seconds=reference.seconds, iops=worst.iops.mean)
    return Finding(level=level, reason=reason, measured=spread, limit=SPREAD_MAX, where=Place(worst.label))


def drift(reference: ReferenceDrive) -> Finding:
    """How far the mean IOPS of the worst point are off the baseline; beyond ``CHANGE_MAX`` no certificate is valid.

    Worked: 100 before, 105 or 95 now -> ``pass``; 105.1 -> ``invalid``; no baseline -> ``n/a``.
    """
    worst = worst_change(reference)
    if worst is None:
        return Finding(level="n/a", reason=coded("first-reference"))
    now = {point.label: point.iops.mean for point in reference.points}
    gone = any(
        abs(now[change.label] - change.iops_before) > CHANGE_MAX * change.iops_before for change in reference.changes
    )
    return Finding(
        level="invalid" if gone else "pass",
        reason=coded("change", change=worst.iops_change, iops=worst.iops_before),
        measured=worst.iops_change,
        limit=CHANGE_MAX,
        where=Place(worst.label),
    )


def is_repeatable(reference: ReferenceDrive) -> bool:
    """Whether the IOPS of every point spread by ``SPREAD_MAX`` at most."""
    return repeatability(reference).level == "pass"


def has_drifted(reference: ReferenceDrive) -> bool:
    """Whether the mean IOPS of a point are more than ``CHANGE_MAX`` off the baseline; never without one."""
    return drift(reference).level == "invalid"


REFERENCE_CHECKS: tuple[Check[ReferenceDrive], ...] = (
    Check(
        name="repeatability",
        title="Repeatability",
        passes=f"up to {SPREAD_MAX:.0%}",
        answer=repeatability,
        unit="share",
    ),
    Check(name="drift", title="Since its baseline", passes=f"up to {CHANGE_MAX:.0%}", answer=drift, unit="share"),
)
"""The checks in the order in which they are printed."""


def reference_checks(reference: ReferenceDrive | None) -> tuple[Checked, ...]:
    """Hold a reference drive against itself and its baseline; none without one."""
    return () if reference is None else ask_all(REFERENCE_CHECKS, reference)
