"""Values of a summary as people read them: three significant digits, SI units."""

from __future__ import annotations

from math import floor, log10
from typing import TYPE_CHECKING

from assay.pages.printed import NOT_AVAILABLE

if TYPE_CHECKING:
    from assay.summary.record import Measure, Number

_DIGITS = 3
_PREFIXED = frozenset({"IOPS", "commands/s"})
_THOUSANDS = ((10**9, "G"), (10**6, "M"), (10**3, "k"))
_SHORT_MS, _LONG_MS = 0.1, 1000
_US_PER_MS = 1000


def short(value: Number, unit: str) -> str:
    """A value with its unit, three significant digits.

    Worked: 33,333.3 IOPS -> ``"33.3k IOPS"``, 274.9 MB/s -> ``"275 MB/s"``, 0.0604 ms -> ``"60.4 us"``, 2590 ms ->
    ``"2.59 s"``, a ratio of 0.1604 -> ``"0.16x"``.
    """
    number, shown = parts(value, unit)
    return f"{number}x" if unit == "x" else f"{number} {shown}"


def parts(value: Number, unit: str) -> tuple[str, str]:
    """The same as number and unit, each as printed. Worked: 2590 ms -> ``("2.59", "s")``."""
    number = float(value)
    if unit == "ms":
        return _time(number)
    return (_with_prefix(number) if unit in _PREFIXED else digits(number)), unit


def digits(number: float) -> str:
    """Three significant digits, without a power of ten. Worked: 0.060421 -> ``"0.0604"``, 1234.5 -> ``"1,230"``."""
    if not number:
        return "0"
    places = _DIGITS - 1 - floor(log10(abs(number)))
    rounded = round(number, places)
    # What rounds up to the next power of ten has a digit less behind the point.
    places = _DIGITS - 1 - floor(log10(abs(rounded)))
    return f"{rounded:,.{max(places, 0)}f}"


def _with_prefix(number: float) -> str:
    for size, prefix in _THOUSANDS:
        if abs(float(f"{number:.2e}")) >= size:
            return f"{digits(number / size)}{prefix}"
    return digits(number)


def _time(time_ms: float) -> tuple[str, str]:
    if time_ms and abs(time_ms) < _SHORT_MS:
        return digits(time_ms * _US_PER_MS), "us"
    return (digits(time_ms), "ms") if abs(time_ms) < _LONG_MS else (digits(time_ms / _LONG_MS), "s")


def measure_text(one: Measure | None) -> str:
    """A number of a test with its unit; n/a where there is none."""
    return NOT_AVAILABLE if one is None or one.value is None else short(one.value, one.unit)
