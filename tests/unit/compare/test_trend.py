"""Changes of a series over time: few false marks, real steps are marked where they are, with their size."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
import pytest
from assay.compare.trend import Trend, TrendPoint, change_text, mean_interval, share_text, trend_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

SERIES, POINTS, NOISE = 200, 12, 0.02


def points_of(values: Sequence[float] | NDArray[np.float64], labels: Sequence[str] = ()) -> list[TrendPoint]:
    names = labels or [""] * len(values)
    return [TrendPoint(time_ns=at, value=float(value), label=names[at]) for at, value in enumerate(values)]


def noisy(random: np.random.Generator, steps: dict[int, float], count: int = POINTS) -> NDArray[np.float64]:
    """A series with normal noise; from each index on it is so many times the level before."""
    values = 100 * (1 + NOISE * random.standard_normal(count))
    for index, factor in steps.items():
        values[index:] *= factor
    return values


def judged(seed: int, steps: dict[int, float], count: int = POINTS) -> list[Trend]:
    random = np.random.default_rng(seed)
    return [trend_of(points_of(noisy(random, steps, count))) for _ in range(SERIES)]


@pytest.mark.parametrize("seed", range(5))
def test_at_most_two_percent_of_unchanged_series_have_a_mark(seed: int) -> None:
    marked = sum(bool(trend.changes) for trend in judged(seed, {}))
    assert marked <= SERIES * 0.02, f"seed {seed}"


@pytest.mark.parametrize(
    "noise",
    [lambda random: random.standard_t(3, POINTS), lambda random: random.exponential(size=POINTS)],
    ids=["heavy tails", "skewed"],
)
def test_noise_that_is_not_normal_gives_few_marks_as_well(
    noise: Callable[[np.random.Generator], NDArray[np.float64]],
) -> None:
    random = np.random.default_rng(5)
    series = [trend_of(points_of(100 * np.exp(NOISE * noise(random)))) for _ in range(SERIES)]
    assert sum(bool(trend.changes) for trend in series) <= SERIES * 0.03


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_a_change_of_ten_percent_at_point_7_is_found(seed: int, factor: float) -> None:
    series = judged(seed, {6: factor})
    indices = [[change.index for change in trend.changes] for trend in series]
    # With this noise a neighbour of the step can lie on the wrong side of it, whatever the method.
    assert sum(len(each) == 1 and abs(each[0] - 6) <= 1 for each in indices) >= SERIES * 0.95, f"seed {seed}"
    assert indices.count([6]) >= SERIES * 0.93
    covered = sum(any(change.low <= factor - 1 <= change.high for change in trend.changes) for trend in series)
    assert covered >= SERIES * 0.9


def test_a_level_that_returns_has_two_changes() -> None:
    series = judged(1, {12: 0.9, 18: 1 / 0.9}, count=30)
    assert sum([change.index for change in trend.changes] == [12, 18] for trend in series) >= SERIES * 0.9


def test_each_step_of_a_staircase_is_a_change() -> None:
    series = judged(2, {6: 0.9, 12: 0.9}, count=18)
    assert sum([change.index for change in trend.changes] == [6, 12] for trend in series) >= SERIES * 0.9


def test_levels_that_alternate_are_changes_as_well() -> None:
    series = judged(3, {6: 0.9, 12: 1 / 0.9, 18: 0.9}, count=24)
    assert sum([change.index for change in trend.changes] == [6, 12, 18] for trend in series) >= SERIES * 0.9
    series = judged(4, {25: 0.9, 50: 1 / 0.9, 75: 0.9, 100: 1 / 0.9, 125: 0.9}, count=150)
    assert sum(len(trend.changes) == 5 for trend in series) >= SERIES * 0.9


def test_a_change_has_its_size_interval_and_label() -> None:
    (change,) = trend_of(points_of([100, 101, 99, 100, 90, 91, 89, 90], list("AAAABBBB"))).changes
    assert (change.index, change.label) == (4, "B")
    assert change_text(change, "firmware") == "firmware B: -10.0 % (-11.3 to -8.6 %)"


def test_a_change_within_one_label_has_no_name() -> None:
    (change,) = trend_of(points_of([100, 101, 99, 100, 90, 91, 89, 90], ["A"] * 8)).changes
    assert change_text(change, "firmware") == "-10.0 % (-11.3 to -8.6 %)"


def test_levels_are_the_geometric_means_between_changes() -> None:
    before, after = trend_of(points_of([50, 200, 50, 200, 9e4, 9e4, 9e4, 9e4])).levels
    assert (before.first, before.last, after.first, after.last) == (0, 3, 4, 7)
    assert before.value == pytest.approx(100)
    assert after.value == pytest.approx(9e4)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([], "fewer than 4 runs"),
        ([100, 50, 50], "fewer than 4 runs"),
        ([100, 0, 100, 0, 100], "a value of zero or below has no ratio"),
        ([100, float("inf"), 100, 100], "a value of zero or below has no ratio"),
        ([100, float("nan"), 100, 100], "a value of zero or below has no ratio"),
    ],
)
def test_what_is_not_judged_has_a_reason(values: list[float], reason: str) -> None:
    assert trend_of(points_of(values)) == Trend(reason=reason)


def test_equal_values_have_no_change_and_exact_steps_have_no_width() -> None:
    assert trend_of(points_of([0.1 + 0.2] * 9)).changes == ()
    (change,) = trend_of(points_of([100.0] * 5 + [90.0] * 5)).changes
    assert change.index == 5
    assert (change.low, change.high) == pytest.approx((-0.1, -0.1))


def test_a_change_below_the_printed_digits_is_none() -> None:
    assert trend_of(points_of([100.0] * 5 + [100.05] * 5)).changes == ()
    assert len(trend_of(points_of([100.0] * 5 + [100.2] * 5)).changes) == 1


def test_a_single_deviating_run_is_no_change() -> None:
    values = noisy(np.random.default_rng(4), {})
    values[5] *= 0.8
    assert trend_of(points_of(values)).changes == ()


def test_many_series_need_stronger_changes() -> None:
    values = [100, 103, 97, 100, 91, 94, 88, 91]
    assert len(trend_of(points_of(values)).changes) == 0
    values = [100, 102, 98, 100, 91, 92, 90, 91]
    assert len(trend_of(points_of(values)).changes) == 1
    assert len(trend_of(points_of(values), series_count=1000).changes) == 0


def test_a_thousand_points_take_less_than_50_ms() -> None:
    points = points_of(noisy(np.random.default_rng(6), {300: 0.9, 600: 1.1, 800: 0.93, 850: 1 / 0.93}, count=1000))
    spans = []
    for _ in range(5):
        begin = time.process_time()
        trend = trend_of(points)
        spans.append(time.process_time() - begin)
    assert [change.index for change in trend.changes] == pytest.approx([300, 600, 800, 850], abs=2)
    assert min(spans) < 0.05


@pytest.mark.parametrize(
    ("share", "expected"), [(-0.1024, "-10.2 %"), (0.05, "+5.0 %"), (-0.0001, "+0.0 %"), (0.0, "+0.0 %")]
)
def test_a_share_has_its_sign(share: float, expected: str) -> None:
    assert share_text(share) == expected


def test_the_interval_of_rounds_is_that_of_student() -> None:
    assert mean_interval([98, 100, 102]) == pytest.approx((95.0317, 104.9683), abs=1e-4)
    assert mean_interval([98]) is None
