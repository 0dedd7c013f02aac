"""Numbers as a summary prints them: three significant digits, SI prefixes, no more."""

from __future__ import annotations

import math

from assay.spec.units import KIB

_DIGITS, _BRIEF_MAX = 3, 4
_WHOLE_FROM = 100
_PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"))
_SHORT_MS, _SECOND_MS, _MINUTE_MS, _HOUR_MS = 0.1, 1e3, 60e3, 3600e3
_UNITS = (
    (2 * _HOUR_MS, _HOUR_MS, "h"),
    (2 * _MINUTE_MS, _MINUTE_MS, "min"),
    (_SECOND_MS, _SECOND_MS, "s"),
    (_SHORT_MS, 1.0, "ms"),
)
"""From where on a unit is used, how long it is, both in ms, and its symbol."""
_WHOLE_SHARE, _WHOLE_TIMES = 0.1, 10


def three_digits(value: float) -> str:
    """Worked: 274.96 -> ``"275"``, 3953.2 -> ``"3950"``, 0.0612 -> ``"0.0612"``, 0 -> ``"0"``."""
    if not value:
        return "0"
    decimals = _DIGITS - 1 - math.floor(math.log10(abs(value)))
    text = f"{round(value, decimals):.{max(decimals, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def thousands(value: float) -> str:
    """Three digits without a prefix, as of MB/s. Worked: 6,798 -> ``"6,800"``, 274.96 -> ``"275"``."""
    rounded = float(three_digits(value))
    return f"{rounded:,.0f}" if abs(rounded) >= _WHOLE_FROM else three_digits(value)


def si(value: float) -> str:
    """A rate with its prefix. Worked: 33,332 -> ``"33.3k"``, 275 -> ``"275"``, 999,900 -> ``"1M"``."""
    rounded = float(three_digits(value))
    scale, prefix = next(((scale, prefix) for scale, prefix in _PREFIXES if abs(rounded) >= scale), (1.0, ""))
    return f"{three_digits(rounded / scale)}{prefix}"


def brief(value: float) -> str:
    """A number in at most four characters, for narrow columns. Worked: 93,333 -> ``"93k"``, 9,333 -> ``"9.3k"``.

    275.4 -> ``"275"``, 27.54 -> ``"27.5"``, 2.588 -> ``"2.59"``, 0.0802 -> ``"0.08"``.
    """
    if abs(value) < 1:
        return f"{value:.2f}".rstrip("0").rstrip(".") or "0"
    long = si(value)
    if len(long) <= _BRIEF_MAX:
        return long
    scale = next(scale for scale, _ in _PREFIXES if abs(float(three_digits(value))) >= scale)
    tenths = f"{value / scale:.1f}".removesuffix(".0")
    return f"{tenths if len(tenths) < _BRIEF_MAX else f'{value / scale:.0f}'}{long[-1]}"


def span(time_ms: float) -> str:
    """A time in the unit that suits it. Worked: 0.06 -> ``"60 µs"``, 2,588 -> ``"2.59 s"``, 780,000 -> ``"13 min"``."""
    return " ".join(span_parts(time_ms))


def span_parts(time_ms: float) -> tuple[str, str]:
    """A time as number and unit. Worked: 0.06 -> ``("60", "µs")``."""
    rounded = float(three_digits(time_ms))
    scale, unit = next(((scale, unit) for least, scale, unit in _UNITS if rounded >= least), (1e-3, "\N{MICRO SIGN}s"))
    return three_digits(rounded / scale), unit


def share(value: float) -> str:
    """A share in percent, a decimal below ten. Worked: 0.1605 -> ``"16 %"``, 0.0491 -> ``"4.9 %"``."""
    percent = abs(value) * 100
    decimals = 0 if round(percent, 1) >= _WHOLE_SHARE * 100 else 1
    text = f"{percent:.{decimals}f}" if percent >= _SHORT_MS or not percent else f"{percent:.1g}"
    return f"{text.removesuffix('.0')} %"


def change(value: float) -> str:
    """A share with its sign. Worked: 0.05 -> ``"+5 %"``, -0.002 -> ``"\N{MINUS SIGN}0.2 %"``."""
    return f"{'+' if value >= 0 else chr(0x2212)}{share(value)}"


def times(value: float) -> str:
    """A ratio. Worked: 4.94 -> ``"4.9x"``, 297.2 -> ``"297x"``."""
    return f"{value:.1f}x".replace(".0x", "x") if round(value, 1) < _WHOLE_TIMES else f"{value:,.0f}x"


def nth(value: float) -> str:
    """A percentile by its share, with all its nines. Worked: 0.999 -> ``"p99.9"``, 0.9999999 -> ``"p99.99999"``."""
    return f"p{value * 100:.10g}"


def block(size_bytes: int) -> str:
    """A transfer size. Worked: 512 -> ``"0.5 KiB"``, 1,048,576 -> ``"1 MiB"``."""
    kib = size_bytes / KIB
    return f"{kib / KIB:g} MiB" if kib >= KIB and not kib % KIB else f"{kib:g} KiB"
