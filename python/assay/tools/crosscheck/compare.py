"""Differences of two engines from alternating pairs, each with its uncertainty."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean, median, stdev
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engine.records import DriveIdentity
    from assay.host.points import CheckPoint, Side

CONFIDENCE = 0.95
AGREEMENT = 0.05
"""Engines agree where the whole interval is this near to equality."""

Metric = Literal["iops", "mean_ns", "p99_ns"]
Verdict = Literal["agree", "differ", "undecided"]
METRICS: tuple[Metric, ...] = ("iops", "mean_ns", "p99_ns")


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One metric of one point.

    ours, fio : medians. ratio : geometric mean of ours over fio in each pair; low, high : its 95 % interval.
    verdict : ``agree`` where the whole interval lies within 5 % of equality, ``differ`` where equality lies outside it,
    ``undecided`` where the pairs tell neither.
    """

    metric: Metric
    ours: float
    fio: float
    ratio: float
    low: float
    high: float

    @property
    def verdict(self) -> Verdict:
        """Whether the two engines say the same."""
        if self.low >= 1 - AGREEMENT and self.high <= 1 + AGREEMENT:
            return "agree"
        return "undecided" if self.low <= 1 <= self.high else "differ"


@dataclass(frozen=True, slots=True, kw_only=True)
class Crosscheck:
    """A finished comparison. pairs : per point, what our engine and fio saw, in the order they ran."""

    drive: DriveIdentity
    tool: str
    fio: str
    range_bytes: int
    seconds: float
    started_wall_ns: int
    pairs: tuple[tuple[CheckPoint, tuple[tuple[Side, Side], ...]], ...]


def differences(pairs: Sequence[tuple[Side, Side]]) -> tuple[Difference, ...]:
    """Every metric of a point from its pairs (ours, fio), at least two.

    The interval is Student's on the logarithm of the ratios of pairs, so that what both share (a slow minute of the
    host) cancels. Worked: pairs of 110/100 and 90.909/100 IOPS -> ratio 1, and an interval that holds 1.
    """
    known = [metric for metric in METRICS if all(getattr(side, metric) for pair in pairs for side in pair)]
    return tuple(_difference(metric, pairs) for metric in known)


def point_verdict(found: Sequence[Difference]) -> Verdict:
    """One verdict of all metrics of a point: the engines agree where they do in every one.

    Worked: one that agrees, one that is undecided -> ``undecided``; with a third that differs -> ``differ``.
    """
    verdicts = {one.verdict for one in found}
    if "differ" in verdicts:
        return "differ"
    return "agree" if verdicts == {"agree"} else "undecided"


def _difference(metric: Metric, pairs: Sequence[tuple[Side, Side]]) -> Difference:
    from scipy.stats import t  # noqa: PLC0415 - heavy, needed here only

    ours = [getattr(mine, metric) for mine, _ in pairs]
    theirs = [getattr(other, metric) for _, other in pairs]
    logs = [math.log(mine / other) for mine, other in zip(ours, theirs, strict=True)]
    reach = t.ppf((1 + CONFIDENCE) / 2, len(logs) - 1) * stdev(logs) / math.sqrt(len(logs))
    middle = fmean(logs)
    return Difference(
        metric=metric,
        ours=median(ours),
        fio=median(theirs),
        ratio=math.exp(middle),
        low=math.exp(middle - reach),
        high=math.exp(middle + reach),
    )
