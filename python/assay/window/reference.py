"""Whether a reference drive still gives the numbers that it gave: spread within, and change since a baseline."""

from __future__ import annotations

from statistics import fmean, stdev
from typing import TYPE_CHECKING

from assay.records import ReferenceChange, Repeated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.records import ReferenceDrive, ReferencePoint

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


def is_repeatable(reference: ReferenceDrive) -> bool:
    """Whether the IOPS of every point spread by ``SPREAD_MAX`` at most.

    Decided on IOPS alone: at a constant queue depth the mean response time is their inverse.
    Worked: 97.5 to 102.5 around 100 is repeatable, 97.4 to 102.5 is not.
    """
    values = (point.iops.values for point in reference.points)
    return all(max(one) - min(one) <= SPREAD_MAX * fmean(one) for one in values)


def has_drifted(reference: ReferenceDrive) -> bool:
    """Whether the mean IOPS of a point are more than ``CHANGE_MAX`` off the baseline; never without one.

    Worked: 100 before, 105 or 95 now has not drifted; 105.1 has.
    """
    now = {point.label: point.iops.mean for point in reference.points}
    return any(
        abs(now[change.label] - change.iops_before) > CHANGE_MAX * change.iops_before for change in reference.changes
    )
