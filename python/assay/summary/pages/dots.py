"""Rows of dots as data: a number of all drives a row, on one axis of shares of the best."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """A drive in a row of dots.

    at : its share of the best, 1.0 of the best; None for no dot. low, high : the interval of that; None for none.
    value : in the unit of the row; None where there is none, ``words`` then says why in a word or two.
    hollow : its test is not settled. best : it is the best of its row.
    """

    at: float | None
    value: float | None
    low: float | None = None
    high: float | None = None
    words: str = ""
    hollow: bool = False
    best: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DotRow:
    """A number of all drives. label : with its unit. dots : by drive. order : as printed. behind : of the last one."""

    label: str
    dots: tuple[Dot, ...]
    order: str = ""
    behind: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dots:
    """Rows of dots on one axis of shares of the best, which is logarithmic, with a column of values per drive.

    letters : of the drives, in the order of the series of the figure. rows : from the top.
    least : where the axis begins; what is farther from the best stands at its border with its ratio.
    """

    letters: tuple[str, ...]
    rows: tuple[DotRow, ...]
    least: float
