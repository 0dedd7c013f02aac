"""Statements of one shape as one: equal values stay, numbers that differ become their range."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from assay.words.coded import Coded, Range

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence


def shape(value: Any) -> Hashable:
    """Equal for statements that differ in numbers alone.

    Worked: stalls of 12 ms and of 30 ms have one shape; of one that befell twice it is another.
    """
    if isinstance(value, Coded):
        return value.code, tuple((name, shape(one)) for name, one in value.values.items())
    if isinstance(value, tuple):
        return tuple(map(shape, value))
    return None if value is None else "number" if isinstance(value, int | float | Fraction) else (value,)


def merged(values: Sequence[Any]) -> Any:
    """One for values of one shape. Worked: late by 12 ms and by 30 ms -> by the range of 12 to 30 ms."""
    first = values[0]
    if isinstance(first, Coded):
        return Coded(first.code, {name: merged([value.values[name] for value in values]) for name in first.values})
    if isinstance(first, tuple):
        return tuple(map(merged, zip(*values, strict=True)))
    return first if all(value == first for value in values) else Range(min(values), max(values))
