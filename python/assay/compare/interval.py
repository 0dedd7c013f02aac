"""How sure a ratio of two measurements is: from rounds, from repeated runs, and from the host's reference drive.

The interval is that of Student's t on the difference of mean logarithms, so that ratios and their inverses are treated
alike. Rounds of one run share the drive, its preconditioning and the state of the host: they are no independent
repeats, so their interval alone says nothing of how far the same measurement moves when it is made again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean, variance
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

CONFIDENCE = 0.95
"""Of the intervals that are printed."""
_ROUNDS_MIN = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """The standard error of a difference of two mean logarithms, with its degrees of freedom.

    basis : what it comes from, as printed.
    """

    error: float
    freedom: float
    basis: str

    def reach(self, confidence: float = CONFIDENCE) -> float:
        """Half the width of the interval of the logarithm of the ratio, of two sides.

        Worked: an error of 0.01 with 4 degrees of freedom -> 0.0278 at 95 %.
        """
        from scipy.special import stdtrit  # noqa: PLC0415 - heavy, needed here only

        return float(stdtrit(self.freedom, (1 + confidence) / 2)) * self.error if self.error else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Uncertainty:
    """What is known of how far a ratio may be off.

    spreads : every estimate; the widest holds. repeatable : one of them says how far the measurement moves when it is
    made again. reason : why it is not known, empty where it is. host : half the width that the hosts add, as a
    logarithm.
    """

    spreads: tuple[Spread, ...] = ()
    repeatable: bool = False
    reason: str = ""
    host: float = 0.0

    def widest(self, confidence: float = CONFIDENCE) -> Spread | None:
        """The estimate that gives the widest interval; None without any."""
        return max(self.spreads, key=lambda spread: spread.reach(confidence), default=None)

    @property
    def basis(self) -> str:
        """What the printed interval comes from, or why there is none."""
        widest = self.widest()
        return widest.basis if widest else self.reason

    def reach(self, confidence: float = CONFIDENCE) -> float | None:
        """Half the width of the widest interval of the logarithm; None where there is no estimate.

        Worked: a spread that reaches 0.02, and a host's part of 3 % in one of the runs -> 0.02 + 0.0305.
        """
        widest = self.widest(confidence)
        return widest.reach(confidence) + self.host if widest else None

    def share(self, confidence: float = CONFIDENCE) -> float | None:
        """Half the width of the widest interval as a share of the value. Worked: a reach of 0.0488 -> 0.05."""
        reach = self.reach(confidence)
        return None if reach is None else math.expm1(reach)


def rounds_spread(first: Sequence[float], second: Sequence[float]) -> Spread | None:
    """Welch's spread of the rounds of two windows; None with fewer than two rounds, or a round of nothing.

    Worked: rounds of 98, 100, 102 and of 196, 200, 204 have logarithms of the same spread: error 0.0163, 4 degrees.
    """
    result = _error_part(tuple(first)), _error_part(tuple(second))
    if result[0] is None or result[1] is None:
        return None
    parts = [(one, len(rounds) - 1) for one, rounds in zip(result, (first, second), strict=True) if one is not None]
    whole = sum(part for part, _ in parts)
    # The rule of Welch and Satterthwaite; parts without any spread leave the degrees of both.
    below = sum(part**2 / freedom for part, freedom in parts)
    freedom = whole**2 / below if below else float(sum(freedom for _, freedom in parts))
    return Spread(error=math.sqrt(whole), freedom=freedom, basis=f"rounds ({len(first)} and {len(second)})")


def repeats_spread(first: Sequence[float], second: Sequence[float]) -> Spread | None:
    """The pooled spread of repeated runs of either side; None where neither side has repeats.

    A side of a single run is taken to spread as the other does.
    Worked: five runs around 100 with a deviation of 1 % and a single one -> 0.01 x sqrt(1/5 + 1) = 0.011, 4 degrees.
    """
    sides = [[math.log(value) for value in side] if min(side, default=0.0) > 0 else [] for side in (first, second)]
    freedom = sum(len(side) - 1 for side in sides if side)
    if not all(sides) or freedom < 1:
        return None
    squares = sum(variance(side) * (len(side) - 1) for side in sides if len(side) > 1)
    error = math.sqrt(squares / freedom * sum(1 / len(side) for side in sides))
    return Spread(error=error, freedom=freedom, basis=f"spread of repeats ({len(first)} and {len(second)} runs)")


def reference_spread(variation: float, count: int, runs: tuple[int, int]) -> Spread:
    """What the repeatability of a reference drive says of a ratio of two measurements.

    variation : its coefficient of variation over ``count`` measurements. runs : of either side.
    Worked: a variation of 1 % over five measurements, one run on each side -> 0.01 x sqrt(2), 4 degrees.
    """
    error = variation * math.sqrt(sum(1 / run for run in runs))
    return Spread(
        error=error,
        freedom=count - 1,
        basis=f"reference drive of the host (variation {variation:.2%})".replace("%", " %"),
    )


def middle(values: Sequence[float]) -> float:
    """The mean of values of repeated runs by their logarithms, so that it fits ratios; all are above zero.

    Worked: 50 and 200 -> 100.
    """
    return math.exp(fmean(map(math.log, values)))


@lru_cache(maxsize=1024)
def _error_part(rounds: tuple[float, ...]) -> float | None:
    """The squared standard error of the mean logarithm of some rounds; None as ``rounds_spread``.

    Kept, because every run of a comparison is held against the same first one, and then against its neighbours.
    """
    if len(rounds) < _ROUNDS_MIN or min(rounds) <= 0:
        return None
    return variance(map(math.log, rounds)) / len(rounds)
