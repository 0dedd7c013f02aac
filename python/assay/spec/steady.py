"""The steady-state verdict: exact arithmetic on a list of five numbers.

Every float is a rational number, so the decision is taken on exact rationals: a value exactly on the
20 % or 10 % bound is allowed and nothing is rounded before the decision.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from assay.errors import ValueRangeError

if TYPE_CHECKING:
    from collections.abc import Sequence

WINDOW_ROUNDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class SteadyVerdict:
    """The five-round decision with every number a report prints. Unit: that of the tracking variable.

    rounds : the real round numbers of the window. values : the tracking variable in them.
    steady : excursion_measured <= excursion_allowed and slope_measured <= slope_allowed, decided exactly.
    fit : ``slope * R + intercept`` with R the real round number.
    """

    rounds: tuple[int, ...]
    values: tuple[float, ...]
    average: float
    excursion_allowed: float
    excursion_measured: float
    slope_allowed: float
    slope_measured: float
    slope: float
    intercept: float
    steady: bool


def steady_state(
    rounds: Sequence[int],
    values: Sequence[float | Fraction],
    *,
    range_limit: Fraction = Fraction(1, 5),
    slope_limit: Fraction = Fraction(1, 10),
) -> SteadyVerdict:
    """Decide whether the last five rounds of a tracking variable are steady.

    rounds : the five real round numbers, ascending by one.
    values : tracking variable per round, oldest first, any one unit (IOPS, MB/s or ms).
    range_limit, slope_limit : fractions of the window average, in (0, 1]; the specification uses 0.20 and 0.10.
    Returns the verdict with every number a report prints. The slope excursion is |slope| x 4 because five
    rounds span four steps. An average of zero or below is never steady.
    Raises ValueRangeError when there are not five values or one is not finite.
    Source: PTS 2.0.2 section 2.1.24; 2012 deck "Understanding SSD Performance Using the SNIA SSS PTS",
    Steady State Determination Data.
    Worked: 3445.45, 3011.86, 3147.05, 2903.05, 3227.82 -> average 3147.0, allowed range 629.4, measured 542.4;
    allowed slope 314.7, measured 217.6; fit -54.407 * R + 3310.267 -> steady.
    """
    exact = _exact_window(rounds, values)
    average = sum(exact, Fraction(0)) / WINDOW_ROUNDS
    slope = sum(((index - 2) * value for index, value in enumerate(exact)), Fraction(0)) / 10
    excursion = max(exact) - min(exact)
    slope_excursion = abs(slope) * (WINDOW_ROUNDS - 1)
    inside = excursion <= range_limit * average and slope_excursion <= slope_limit * average
    return SteadyVerdict(
        rounds=tuple(rounds),
        values=tuple(float(value) for value in exact),
        average=float(average),
        excursion_allowed=float(range_limit * average),
        excursion_measured=float(excursion),
        slope_allowed=float(slope_limit * average),
        slope_measured=float(slope_excursion),
        slope=float(slope),
        intercept=float(average - slope * rounds[2]),
        steady=average > 0 and inside,
    )


def exact_limit(share: float) -> Fraction:
    """A limit as it is written: 0.20 in an edition means one fifth, not the nearest binary fraction.

    Worked: ``exact_limit(0.2)`` is ``Fraction(1, 5)``.
    """
    return Fraction(str(share))


def _exact_window(rounds: Sequence[int], values: Sequence[float | Fraction]) -> list[Fraction]:
    if len(values) != WINDOW_ROUNDS or list(rounds) != list(range(rounds[0], rounds[0] + WINDOW_ROUNDS)):
        raise ValueRangeError(
            f"steady-state window of rounds {list(rounds)}",
            f"needs {WINDOW_ROUNDS} consecutive rounds with a value each, got {len(values)} values",
            "run more rounds",
        )
    if not all(math.isfinite(value) for value in values):
        raise ValueRangeError("steady-state window", "holds a value that is not finite", "discard the round")
    return [Fraction(value) for value in values]
