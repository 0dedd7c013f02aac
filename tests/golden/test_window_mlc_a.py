"""The Steady State Determination Data box of drive MLC-A.

Source: "Understanding SSD Performance Using the SNIA SSS PTS" (SSSI, 2012), Client IOPS Report Page 3 of 6, rounds 1-5.
The five values are constructed so that all printed figures come out; the deck plots the real ones without numbers.
"""

from fractions import Fraction

import pytest
from assay.spec.steady import steady_state
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

ROUNDS = (1, 2, 3, 4, 5)
VALUES = (3445.45, 3011.86, 3147.05, 2903.05, 3227.82)


def test_the_printed_box_comes_out_to_the_last_digit() -> None:
    verdict = steady_state(ROUNDS, VALUES)
    printed = {
        "average": ("3147.0", f"{verdict.average:.1f}"),
        "allowed data excursion": ("629.4", f"{verdict.excursion_allowed:.1f}"),
        "measured data excursion": ("542.4", f"{verdict.excursion_measured:.1f}"),
        "allowed slope excursion": ("314.7", f"{verdict.slope_allowed:.1f}"),
        "measured slope excursion": ("217.6", f"{verdict.slope_measured:.1f}"),
        "fit": ("-54.407 * R + 3310.267", f"{verdict.slope:.3f} * R + {verdict.intercept:.3f}"),
    }
    assert {name: pair[1] for name, pair in printed.items()} == {name: pair[0] for name, pair in printed.items()}
    assert verdict.steady


def test_the_fit_is_printed_in_real_round_numbers() -> None:
    verdict = steady_state((4, 5, 6, 7, 8), VALUES)
    assert f"{verdict.slope:.3f}" == "-54.407"
    assert verdict.intercept == pytest.approx(3310.267 + 3 * 54.407, abs=1e-3)


@pytest.mark.parametrize(
    ("values", "steady"),
    [
        pytest.param((90, 110, 100, 90, 110), True, id="range of exactly 20 %"),
        pytest.param((90, 110, 100, 90, Fraction(1100001, 10000)), False, id="range just above 20 %"),
        pytest.param((95, Fraction(195, 2), 100, Fraction(205, 2), 105), True, id="slope of exactly 10 %"),
        pytest.param((Fraction(9499, 100), Fraction(195, 2), 100, Fraction(205, 2), 105), False, id="slope just above"),
        pytest.param((0.0200, 0.0209, 0.0218, 0.0227, 0.0236), False, id="a drift that rounding would hide"),
        pytest.param((0, 0, 0, 0, 0), False, id="an average of zero"),
        pytest.param((100, 100, 100, 100, 100), True, id="flat"),
    ],
)
def test_bounds_are_allowed_values_and_nothing_is_rounded(values: tuple[float, ...], steady: bool) -> None:
    assert steady_state(ROUNDS, values).steady is steady


@given(st.lists(st.floats(min_value=1e-3, max_value=1e7), min_size=5, max_size=5), st.integers(1, 21))
@settings(max_examples=300, deadline=None)
def test_scipy_agrees_with_every_figure(values: list[float], first: int) -> None:
    rounds = tuple(range(first, first + 5))
    verdict = steady_state(rounds, values)
    fit = stats.linregress(rounds, values)
    scale = max(values)
    assert verdict.slope == pytest.approx(fit.slope, rel=1e-9, abs=1e-9 * scale)
    assert verdict.intercept == pytest.approx(fit.intercept, rel=1e-9, abs=1e-7 * scale)
    assert verdict.slope_measured == pytest.approx(4 * abs(fit.slope), rel=1e-9, abs=1e-9 * scale)
