"""Statements as data: a code in the table of words, and values, exact and unrounded."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

Number = float | Fraction


@dataclass(frozen=True, slots=True)
class Coded:
    """A statement: its code in the table of words, and the values in it.

    A value may be a statement of its own, or a tuple of such. One that is None is left out, with the part of the words
    that it is in.
    """

    code: str
    values: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers from the least to the greatest, which stand for one that differs from place to place."""

    least: Number
    greatest: Number


def coded(code: str, **values: Any) -> Coded:
    """A statement. Worked: ``coded("few-rounds", count=3)``."""
    return Coded(code=code, values=values)


def quantity(value: Number | None, unit: str) -> Coded | None:
    """A number with its unit, as part of a statement; None without one. Worked: 2 ms -> ``"2 ms"``."""
    if value is None:
        return None
    code = _CODES.get(unit, "amount")
    return coded(code, value=value, unit=unit if code == "amount" else None)


_CODES = {"ms": "time", "x": "ratio", "MB/s": "throughput", "LBA": "exact", "sectors": "exact"}
