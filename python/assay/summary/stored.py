"""Summaries as JSON and back, exact: equal records come back, fractions and statements included."""

from __future__ import annotations

import json
from dataclasses import fields
from fractions import Fraction
from typing import Any

from assay.engine.records import DriveIdentity, Platform, ReferencePoint, Repeated
from assay.summary.record import (
    Held,
    HeldNumber,
    Measure,
    Missed,
    RunSummary,
    Status,
    TestSummary,
    Tile,
    Verdict,
    Window,
)
from assay.words.coded import Coded, Place, Range, Subject

_RECORDS = {
    record.__name__: record
    for record in (
        RunSummary, TestSummary, Measure, Verdict, Window, Tile, Status, Held, HeldNumber, Missed,
        Coded, Range, Place, Subject, DriveIdentity, Platform, ReferencePoint, Repeated,
    )
}  # fmt: skip
_DEFAULTS = {name: {field.name: field.default for field in fields(record)} for name, record in _RECORDS.items()}
"""What is left out; ``MISSING``, which no value is, where a field has none."""
_FRACTION, _MAP = "/", "{}"


def summary_text(summary: RunSummary) -> str:
    """A summary as JSON. Raises TypeError where it holds something that does not come back equal."""
    return json.dumps(_plain(summary), separators=(",", ":"))


def summary_of(content: str) -> RunSummary:
    """The summary of a text by ``summary_text``. Raises ValueError, KeyError, TypeError of any other text.

    Worked: 100,000 IOPS as ``Fraction(100000, 1)`` come back as that.
    """
    result = _record(json.loads(content))
    if not isinstance(result, RunSummary):
        raise TypeError(f"not a summary: {type(result).__name__}")
    return result


def _plain(value: Any) -> Any:
    """Numbers and texts as they are, tuples as lists, all else as a list under a name."""
    kind = type(value)
    if value is None or kind in (str, int, float, bool):
        return value
    if kind is tuple:
        return [_plain(inner) for inner in value]
    if kind is Fraction:
        return {_FRACTION: [value.numerator, value.denominator]}
    if kind is dict:
        return {_MAP: [[_plain(key), _plain(inner)] for key, inner in value.items()]}
    if _RECORDS.get(kind.__name__) is not kind:
        raise TypeError(f"{kind.__name__} in a summary")
    usual = _DEFAULTS[kind.__name__]
    held = ((name, getattr(value, name)) for name in usual)
    return {kind.__name__: {name: _plain(inner) for name, inner in held if inner is not usual[name]}}


def _record(value: Any) -> Any:
    if isinstance(value, list):
        return tuple([_record(inner) for inner in value])
    if not isinstance(value, dict):
        return value
    ((name, held),) = value.items()
    if name == _FRACTION:
        return Fraction(*held)
    if name == _MAP:
        return {_record(key): _record(inner) for key, inner in held}
    return _RECORDS[name](**{key: _record(inner) for key, inner in held.items()})
