"""The one rule for the axes of all figures, on paper and on the screen.

- A linear axis of values begins at zero. Where all values are within 15 % of the largest, or a box with the verdict
  stands beside, it is cut to them and its title says so; it still spans a tenth of the largest value at least, so that
  a difference of 1 % looks small. Values that are the same to 0.2 % are shown from zero, as one level.
- An axis is logarithmic where its values span nearly a decade or more (a factor of 8); where they span less, it is
  linear. Axes with labelled places of their own (block sizes, counts, nines) and those that the title of a page names
  logarithmic stay so.
- Axes of time and of rounds begin with the first point that is shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

CUT_BELOW = 0.15
"""Values that differ by less than this share of the largest are shown on an axis of their own range."""
SAME_BELOW = 0.002
"""Values that differ by less than this share of the largest are one level."""
SPAN_MIN = 0.1
"""A cut axis spans this share of its largest value at least."""
LOG_FROM = 8.0
"""A logarithmic axis needs values of which the largest is so many times the smallest."""
_EDGE = 0.06


def spans_decade(values: Sequence[float]) -> bool:
    """Whether values are far enough apart for a logarithmic axis. Worked: 3 to 5 are not, 1 to 10 are."""
    return bool(values) and min(values) > 0 and max(values) / min(values) >= LOG_FROM


def is_close(values: Sequence[float]) -> bool:
    """Whether values differ too little to be told apart from zero on. Worked: 3,250 to 3,470 differ by 6 %."""
    if not values or min(values) <= 0:
        return False
    return SAME_BELOW <= (max(values) - min(values)) / max(values) < CUT_BELOW


def linear_range(values: Sequence[float], *, cut: bool) -> tuple[float, float]:
    """Where a linear axis begins and ends.

    Worked: 40 to 100 -> 0 to 106; 98 to 100, cut -> 93.4 to 104.6, which is a tenth of 100 and some more on each side.
    """
    low, high = min(values), max(values)
    if not cut:
        return min(low, 0.0), (1 + _EDGE) * high or 1.0
    span = max(high - low, SPAN_MIN * high)
    middle = (low + high) / 2
    half = span * (0.5 + _EDGE)
    return max(middle - half, 0.0) if low > 0 else middle - half, middle + half
