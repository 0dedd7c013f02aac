"""Codes as text, and texts of many places as one."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from fractions import Fraction
from string import Formatter
from typing import TYPE_CHECKING, Any

from assay.spec.units import GB, MB, MICROSECOND_NS, MILLISECOND_NS, SECOND_NS, count_label, duration_label, kib_label
from assay.words import digits
from assay.words.coded import Coded, Place, Range, Subject, subject_text
from assay.words.outcomes import OUTCOMES
from assay.words.printed import (
    milliseconds_text,
    minutes_label,
    mix_label,
    one_decimal,
    paragraph,
    percent,
    rounds_label,
    size_label,
)
from assay.words.reasons import REASONS

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence


TEMPLATES: dict[str, str] = {**OUTCOMES, **REASONS}
"""Words by code. A name in braces is a value, behind a colon how it is printed: a name in ``PRINTERS``, a noun that is
counted, a format of Python, before it and a bar the name of a unit in ``SCALES``, or how several are joined. What
stands in brackets is left out where a value in it is missing.
"""


def joined(names: Iterable[str]) -> str:
    """Worked: three names -> ``"Min, Mid and Max"``."""
    *first, last = map(paragraph, names)
    return f"{', '.join(first)} and {last}" if first else last


def sentence(words: str) -> str:
    """Worked: ``"reads stall"`` -> ``"Reads stall."``."""
    return f"{words[:1].upper()}{words[1:]}."


PRINTERS: dict[str, Callable[[Any], str]] = {
    "block": digits.block,
    "change": digits.change,
    "clock": lambda wall_ns: f"{datetime.fromtimestamp(wall_ns // SECOND_NS, UTC):%H:%M:%S}",
    "duration": duration_label,
    "kib": lambda size_bytes: f"{kib_label(size_bytes)} KiB",
    "gb": lambda amount_bytes: f"{amount_bytes / GB:.1f}",
    "list": joined,
    "minutes": minutes_label,
    "mix": mix_label,
    "ms": milliseconds_text,
    "nth": digits.nth,
    "percent": percent,
    "ppm": lambda share: percent(round(share, 6)),
    "rate": one_decimal,
    "rounds": rounds_label,
    "share": digits.share,
    "si": digits.si,
    "size": size_label,
    "span": digits.span,
    "thousands": digits.thousands,
    "times": digits.times,
}
SCALES: dict[str, Callable[[Any], Any]] = {
    "GB": lambda size_bytes: size_bytes / GB,
    "MB": lambda size_bytes: size_bytes / MB,
    "ms": lambda time_ns: time_ns / MILLISECOND_NS,
    "pct": lambda share: share * 100,
    "s": lambda time_ns: time_ns / SECOND_NS,
    "us": lambda time_ns: time_ns / MICROSECOND_NS,
}
"""Exact values in the units that words have them in."""
JOINTS = {"commas": ", ", "semicolons": "; "}
"""What stands between several values."""
_OPTIONAL = re.compile(r"\[([^\[\]]*)\]")
_NOUN = re.compile(r"[a-zI][a-z/O ]+")


def text(said: Coded, templates: Mapping[str, str] = TEMPLATES) -> str:
    """A statement in words.

    Raises KeyError of a code without words, or a value that the words need and that is missing.
    Worked: ``few-rounds`` with a count of 3 -> ``"n/a: 3 complete rounds, a measurement window needs five"``.
    """
    values = {name: value for name, value in said.values.items() if value is not None}

    def part(match: re.Match[str]) -> str:
        return match[1] if values.keys() >= _names(match[1]) else ""

    return _WORDED.vformat(_OPTIONAL.sub(part, templates[said.code]), (), values)


def text_or_none(said: Coded | None) -> str | None:
    """A statement in words, None without one."""
    return None if said is None else text(said)


def _names(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name}


class _Worded(Formatter):
    """Prints values as the words ask for it."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, Coded):
            return text(value)
        if isinstance(value, Subject):
            return subject_text(value)
        if isinstance(value, Range):
            counted = _NOUN.fullmatch(format_spec) and format_spec not in PRINTERS
            first = self.format_field(value.least, "," if counted else format_spec)
            return " to ".join(dict.fromkeys((first, self.format_field(value.greatest, format_spec))))
        if format_spec in JOINTS:
            return JOINTS[format_spec].join(self.format_field(one, "") for one in value)
        unit, _, digits_of = format_spec.rpartition("|")
        if unit:
            return format(SCALES[unit](value), digits_of)
        return self._plain(value, format_spec)

    def _plain(self, value: Any, format_spec: str) -> str:
        if format_spec in PRINTERS:
            return PRINTERS[format_spec](value)
        if _NOUN.fullmatch(format_spec):
            return count_label(value, format_spec)
        return paragraph(value) if isinstance(value, str | Place) else format(value, format_spec)


_WORDED = _Worded()


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
