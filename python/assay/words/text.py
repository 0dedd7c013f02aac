"""The words of every code, in one table, and how values stand in them."""

from __future__ import annotations

import re
from string import Formatter
from typing import TYPE_CHECKING, Any

from assay.spec.units import GB, count_label, duration_label, kib_label
from assay.words import digits
from assay.words.coded import Coded
from assay.words.outcomes import OUTCOMES
from assay.words.printed import (
    milliseconds_text,
    minutes_label,
    one_decimal,
    paragraph,
    percent,
    rounds_label,
    size_label,
)
from assay.words.subject import Subject, subject_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

TEMPLATES: dict[str, str] = {**OUTCOMES}
"""Words by code. A name in braces is a value, behind a colon how it is printed: a name in ``PRINTERS``, a noun that is
counted, or a format of Python. What stands in brackets is left out where a value in it is missing.
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
    "duration": duration_label,
    "kib": lambda size_bytes: f"{kib_label(size_bytes)} KiB",
    "gb": lambda amount_bytes: f"{amount_bytes / GB:.1f}",
    "list": joined,
    "minutes": minutes_label,
    "ms": milliseconds_text,
    "nth": digits.nth,
    "percent": percent,
    "rate": one_decimal,
    "rounds": rounds_label,
    "share": digits.share,
    "si": digits.si,
    "size": size_label,
    "span": digits.span,
    "times": digits.times,
}
_OPTIONAL = re.compile(r"\[([^\[\]]*)\]")
_NOUN = re.compile(r"[a-z][a-z ]+")


def text(said: Coded, templates: Mapping[str, str] = TEMPLATES) -> str:
    """A statement in words.

    Raises KeyError of a code without words, or a value that the words need and that is missing.
    Worked: ``few-rounds`` with a count of 3 -> ``"n/a: 3 complete rounds, a measurement window needs five"``.
    """
    values = {name: value for name, value in said.values.items() if value is not None}

    def part(match: re.Match[str]) -> str:
        return match[1] if values.keys() >= _names(match[1]) else ""

    return _WORDED.vformat(_OPTIONAL.sub(part, templates[said.code]), (), values)


def _names(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name}


class _Worded(Formatter):
    """Prints values as the words ask for it."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, Coded):
            return text(value)
        if isinstance(value, Subject):
            return subject_text(value)
        if format_spec in PRINTERS:
            return PRINTERS[format_spec](value)
        if _NOUN.fullmatch(format_spec):
            return count_label(value, format_spec)
        return paragraph(value) if isinstance(value, str) else format(value, format_spec)


_WORDED = _Worded()
