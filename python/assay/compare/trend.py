"""Changes in a series of repeated measurements, corrected for the number of positions that were tested.

Method: binary segmentation (Scott and Knott 1974; Vostrikova 1981) of the logarithms, so that a change is a ratio. Each
segment is tested in three ways:

- a single step, by Student's t with pooled variance at every split;
- a level that returns, by the two splits of circular binary segmentation (Olshen and others, Biostatistics 5 (2004)
  557);
- up to 120 points, three to six changes at once, by the F test of the partition with least squares (optimal
  partitioning: Auger and Lawrence, Bull. Math. Biol. 51 (1989) 39).

A p-value is multiplied by the number of partitions that were tried (Bonferroni) and divided by the share of the level
that its test has. Changes that are not significant between their neighbours are dropped. The intervals are those of
Student's t on the means of two neighbouring segments, with the variance of all segments.

Rounds of a run are no independent repeats: the variance is that between runs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from assay.compare.interval import CONFIDENCE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    Logs = NDArray[np.float64]

POINTS_MIN = 4
"""Fewer points are not judged."""
LEVEL = 0.005
"""Share of unchanged series that get a mark at most, where logarithms are normal; up to 0.02 of skewed ones."""
CHANGE_MIN = 0.001
"""Smaller changes, as a share, are no changes: reports print three digits."""
_SIDE_MIN = 2
"""Points of a level at least: a single deviating run is no change."""
_STEP_SHARE, _RETURN_SHARE, _SEVERAL_SHARE = 0.55, 0.25, 0.2
"""Of the level, for single steps, levels that return, and several changes: half of it for three, a quarter for four."""
_SEVERAL = range(3, 7)
_SEVERAL_POINTS_MAX = 120
"""Counts of changes that are tested at once, and in how many points: the time grows with their square."""
_NOISE_MIN = 1e-9
"""Standard deviation of logarithms below which values are equal but for the arithmetic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendPoint:
    """One measurement. time_ns : wall clock. value : above zero, any unit. label : of its group, such as a firmware."""

    time_ns: int
    value: float
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """Points without a change between them. first, last : their indices, from 0. value : their geometric mean."""

    first: int
    last: int
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A step between two levels. index : of the first point of the second, from 0.

    size : of the second level against the first, as a share. low, high : its 95 % interval.
    label : of the point at ``index`` where the point before it has another; else empty.
    """

    index: int
    size: float
    low: float
    high: float
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """A judged series. reason : why it is not judged; empty where it is. levels : at least one where it is judged."""

    reason: str = ""
    levels: tuple[Level, ...] = ()
    changes: tuple[Change, ...] = ()


def trend_of(points: Sequence[TrendPoint], *, series_count: int = 1) -> Trend:
    """Levels and changes of a series.

    points : in the order to be judged, the oldest first as a rule. series_count : of the series that are judged
    together, at least 1; the level is divided by it.
    Fewer than four points, and values of zero or below, are not judged; the result has the reason.
    Worked: 100, 101, 99, 100, 90, 91, 89, 90 -> one change at index 4 of -10.0 % (-11.3 to -8.6 %).
    """
    if len(points) < POINTS_MIN:
        return Trend(reason=f"fewer than {POINTS_MIN} runs")
    if not all(0 < point.value < math.inf for point in points):
        return Trend(reason="a value of zero or below has no ratio")
    logs = _logs(points)
    ends = _boundaries(logs, LEVEL / series_count)
    levels = tuple(
        Level(first=first, last=last - 1, value=math.exp(logs[first:last].mean())) for first, last in pairwise(ends)
    )
    return Trend(levels=levels, changes=tuple(_changes(points, logs, ends)))


def share_text(share: float) -> str:
    """A share with its sign and one decimal. Worked: -0.1024 -> ``"-10.2 %"``; -0.0001 -> ``"+0.0 %"``."""
    return f"{share * 100:+z.1f} %"


def change_text(change: Change, kind: str) -> str:
    """A change in words. kind : what labels are, such as ``firmware``; a change without a label has no name.

    Worked: -0.102 with -0.115 to -0.089 and label B -> ``"firmware B: -10.2 % (-11.5 to -8.9 %)"``.
    """
    name = f"{kind} {change.label}: " if change.label else ""
    return f"{name}{share_text(change.size)} ({change.low * 100:+z.1f} to {share_text(change.high)})"


def mean_interval(rounds: Sequence[float]) -> tuple[float, float] | None:
    """The 95 % interval of the mean of the rounds of a run by Student's t; None with fewer than two rounds.

    It says how steady the run was; a repeated run can lie outside it.
    Worked: 98, 100, 102 -> 95.03 to 104.97.
    """
    if len(rounds) < _SIDE_MIN:
        return None
    mean = math.fsum(rounds) / len(rounds)
    squares = math.fsum((value - mean) ** 2 for value in rounds)
    freedom = len(rounds) - 1
    reach = _quantile(freedom) * math.sqrt(squares / freedom / len(rounds))
    return mean - reach, mean + reach


def _logs(points: Sequence[TrendPoint]) -> Logs:
    import numpy as np  # noqa: PLC0415 - heavy

    return np.log([point.value for point in points])


def _quantile(freedom: float) -> float:
    """Of Student's t, two sides. Worked: 2 degrees of freedom -> 4.303."""
    from scipy.special import stdtrit  # noqa: PLC0415 - heavy

    return float(stdtrit(freedom, (1 + CONFIDENCE) / 2))


def _boundaries(logs: Logs, level: float) -> list[int]:
    """The first index of each level, and the count of points."""
    ends = [0, *sorted(_splits(logs, 0, level)), len(logs)]
    ends = [0, *(_refined(logs, *three) for three in zip(ends, ends[1:], ends[2:], strict=False)), len(logs)]
    while (weakest := _weakest(logs, ends, level)) is not None:
        del ends[weakest]
    return ends


def _splits(logs: Logs, first: int, level: float) -> Iterator[int]:
    """Where a segment and its parts change. first : index of the segment in the series."""
    if len(logs) < POINTS_MIN:
        return
    p_step, step = _best_step(logs)
    p, inner = min((p_step, [step]), _best_return(logs), _best_several(logs))
    if p > level:
        return
    yield from (first + index for index in inner)
    for begin, end in pairwise([0, *inner, len(logs)]):
        yield from _splits(logs[begin:end], first + begin, level)


def _best_step(logs: Logs) -> tuple[float, int]:
    """The corrected p-value of the strongest single step, and its index."""
    import numpy as np  # noqa: PLC0415 - heavy

    count = len(logs)
    before = np.arange(_SIDE_MIN, count - _SIDE_MIN + 1)
    sums = np.cumsum(logs - logs.mean())[before - 1]
    between = sums**2 * count / (before * (count - before))
    best = int(between.argmax())
    return _p_value(logs, float(between[best])) * len(before) / _STEP_SHARE, int(before[best])


def _best_return(logs: Logs) -> tuple[float, list[int]]:
    """The corrected p-value of the strongest part that differs from what is before and after it, and its two ends."""
    import numpy as np  # noqa: PLC0415 - heavy

    count, looks, best, ends = len(logs), 0, 0.0, [0]
    sums = np.concatenate(([0.0], np.cumsum(logs - logs.mean())))
    for length in range(_SIDE_MIN, count - 2 * _SIDE_MIN + 1):
        inside = np.abs(
            sums[_SIDE_MIN + length : count - _SIDE_MIN + 1] - sums[_SIDE_MIN : count - _SIDE_MIN + 1 - length]
        )
        at = int(inside.argmax())
        between = float(inside[at]) ** 2 * count / (length * (count - length))
        looks += len(inside)
        if between > best:
            best, ends = between, [_SIDE_MIN + at, _SIDE_MIN + at + length]
    return (_p_value(logs, best) * looks / _RETURN_SHARE if looks else math.inf), ends


def _best_several(logs: Logs) -> tuple[float, list[int]]:
    """The corrected p-value of the best partition with several changes, and where it changes."""
    import numpy as np  # noqa: PLC0415 - heavy

    count = len(logs)
    counts = [changes for changes in _SEVERAL if (changes + 1) * _SIDE_MIN <= count]
    if not counts or count > _SEVERAL_POINTS_MAX:
        return math.inf, []
    cost = _costs(logs)
    best, sources, tested = cost[0], [], []
    for changes in range(1, counts[-1] + 1):
        sums = best[:, None] + cost
        sources.append(sums.argmin(axis=0))
        best = np.take_along_axis(sums, sources[-1][None], axis=0)[0]
        if changes in counts:
            tested.append((_partition_p(logs, float(best[-1]), changes) * 2 ** (changes - 2) / _SEVERAL_SHARE, changes))
    p, changes = min(tested)
    inner = [count]
    for source in reversed(sources[:changes]):
        inner.append(int(source[inner[-1]]))
    return p, sorted(inner[1:])


def _costs(logs: Logs) -> Logs:
    """The sum of squares within each segment, by its begin and end; infinite where it has too few points."""
    import numpy as np  # noqa: PLC0415 - heavy

    centred = logs - logs.mean()
    sums, squares = (np.concatenate(([0.0], np.cumsum(values))) for values in (centred, centred**2))
    index = np.arange(len(logs) + 1)
    lengths = index[None] - index[:, None]
    within = squares[None] - squares[:, None] - (sums[None] - sums[:, None]) ** 2 / np.maximum(lengths, 1)
    return np.where(lengths >= _SIDE_MIN, np.maximum(within, 0), np.inf)


def _partition_p(logs: Logs, within: float, changes: int) -> float:
    """Of the F test of a partition, times the number of partitions with as many changes. within : sum of squares."""
    from scipy.special import fdtrc  # noqa: PLC0415 - heavy

    count, freedom = len(logs), len(logs) - changes - 1
    between = float(logs.var()) * count - within
    ratio = between / changes / ((within + count * _NOISE_MIN**2) / freedom)
    return float(fdtrc(changes, freedom, max(ratio, 0))) * math.comb(
        count - (changes + 1) * (_SIDE_MIN - 1) - 1, changes
    )


def _p_value(logs: Logs, between: float) -> float:
    """Of Student's t of two groups, two sides, before any correction. between : their sum of squares."""
    freedom = len(logs) - 2
    within = max(float(logs.var()) * len(logs) - between, 0.0) + len(logs) * _NOISE_MIN**2
    return _two_sided(math.sqrt(between * freedom / within), freedom)


def _two_sided(t: float, freedom: float) -> float:
    from scipy.special import stdtr  # noqa: PLC0415 - heavy

    return 2 * float(stdtr(freedom, -abs(t)))


def _refined(logs: Logs, begin: int, split: int, end: int) -> int:
    """The best split between two others: the first split was chosen before these were known."""
    if split - begin < _SIDE_MIN or end - split < _SIDE_MIN:
        return split
    return begin + _best_step(logs[begin:end])[1]


def _weakest(logs: Logs, ends: Sequence[int], level: float) -> int | None:
    """The place in ``ends`` of the boundary to drop: too small, or not significant between its neighbours."""
    tests = [(_boundary_p(logs, ends, at), at) for at in range(1, len(ends) - 1)]
    p, at = max(tests, default=(0.0, 0))
    return at if tests and p * max(len(logs) - 2 * _SIDE_MIN + 1, 1) > level else None


def _boundary_p(logs: Logs, ends: Sequence[int], at: int) -> float:
    """The p-value of the boundary between two neighbours; infinite where the change is too small to count."""
    difference, error, freedom = _difference(logs, ends, at)
    if abs(math.expm1(difference)) < CHANGE_MIN:
        return math.inf
    return _two_sided(difference / max(error, _NOISE_MIN), freedom)


def _difference(logs: Logs, ends: Sequence[int], at: int) -> tuple[float, float, int]:
    """Of the means of two neighbouring segments: the difference, its standard error, and the degrees of freedom."""
    segments = [logs[first:last] for first, last in pairwise(ends)]
    freedom = len(logs) - len(segments)
    variance = sum(float(segment.var()) * len(segment) for segment in segments) / freedom
    before, after = segments[at - 1], segments[at]
    error = math.sqrt(variance * (1 / len(before) + 1 / len(after)))
    return float(after.mean() - before.mean()), error, freedom


def _changes(points: Sequence[TrendPoint], logs: Logs, ends: Sequence[int]) -> Iterable[Change]:
    for at in range(1, len(ends) - 1):
        difference, error, freedom = _difference(logs, ends, at)
        reach = _quantile(freedom) * error
        index = ends[at]
        label, before = points[index].label, points[index - 1].label
        yield Change(
            index=index,
            size=math.expm1(difference),
            low=math.expm1(difference - reach),
            high=math.expm1(difference + reach),
            label=label if label != before else "",
        )
