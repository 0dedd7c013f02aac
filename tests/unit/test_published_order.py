"""Kendall's tau of the order of the published drives, and the section of the page that has it."""

from __future__ import annotations

import random
from itertools import combinations
from pathlib import Path

import pytest
from published_order import BEGIN, DRIVES, kendall_tau, order_lines, with_order

PAGE = Path(__file__).parents[2] / "docs/guide/published.md"


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        pytest.param((1, 2, 3, 4), (10, 20, 30, 40), 1, id="one order"),
        pytest.param((1, 2, 3, 4), (4, 3, 2, 1), -1, id="reversed"),
        pytest.param((1, 2, 3, 4), (1, 2, 4, 3), 2 / 3, id="one pair exchanged"),
        # The example of scipy.stats.kendalltau, whose variant b gives -0.47140452079103173.
        pytest.param((12, 2, 1, 12, 2), (1, 4, 7, 1, 0), -0.47140452079103173, id="ties on both sides"),
        pytest.param((1, 1, 1), (1, 2, 3), None, id="nothing but ties"),
    ],
)
def test_tau_is_that_of_the_literature(first: tuple[int, ...], second: tuple[int, ...], expected: float | None) -> None:
    assert kendall_tau(first, second) == (expected if expected is None else pytest.approx(expected))


def test_without_ties_tau_counts_pairs_in_the_same_order() -> None:
    draw = random.Random(1)  # noqa: S311 - the same every time
    first, second = draw.sample(range(100), 12), draw.sample(range(100), 12)
    pairs = list(combinations(zip(first, second, strict=True), 2))
    same = sum((one[0] < other[0]) == (one[1] < other[1]) for one, other in pairs)
    assert kendall_tau(first, second) == pytest.approx((2 * same - len(pairs)) / len(pairs))


def test_the_section_replaces_the_one_of_the_page_and_nothing_else() -> None:
    figures = {drive: {"iops_4_0": float(place), "wsat_fob_iops": float(-place)} for place, drive in enumerate(DRIVES)}
    page = PAGE.read_text("utf-8")
    changed = with_order(page, order_lines(figures, figures))
    assert changed.partition(BEGIN)[0] == page.partition(BEGIN)[0]
    assert changed[changed.index("## What was left out") :] == page[page.index("## What was left out") :]
    assert "The order is the published one in 1 of 1 cells (mean tau 1.00) and 1 of 1 other figures" in changed
    assert with_order(changed, order_lines(figures, figures)) == changed
