"""What was stored of a test's settings, or asked of a step, that is well formed and yet can never have been."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from assay.engine.records import IDLE, AccessPattern, ActiveRange, Demand, TestSettings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import StepSpec

_COUNTED = ("_ns", "_bytes", "_count", "_limit", "_samples", "samples", "cycles", "_bursts")


def impossible(record: TestSettings | StepSpec, name: str) -> str | None:
    """What no test can have been set to, or no step asked, with its place; None where there is nothing of that kind.

    name : that the place begins with.
    Worked: settings with a demand of no threads -> ``settings.demand: is no demand``.
    """
    return next((f"{place}: {reason}" for place, reason in _faults(record, name)), None)


def _faults(value: Any, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, tuple):
        for index, part in enumerate(value):
            # Ranges have many segments, which are plain numbers.
            if not isinstance(part, int | float | str):
                yield from _faults(part, f"{place}.{index}")
    if not is_dataclass(value):
        return
    if reason := _reason(value):
        yield place, reason
    for part in fields(value):
        inner, within = getattr(value, part.name), f"{place}.{part.name}"
        if isinstance(inner, int | float) and not _is_inside(part.name, inner):
            yield within, f"{inner} is outside its range"
        yield from _faults(inner, within)


def _is_inside(name: str, number: float) -> bool:
    if name.endswith("_share"):
        return 0 <= number <= 1
    return number >= 0 or not name.endswith(_COUNTED)


def _reason(record: object) -> str | None:
    """What is wrong with a record as a whole."""
    match record:
        case Demand():
            asked = record.thread_count > 0 and record.queue_depth > 0
            return None if asked or record == IDLE else "is no demand"
        case AccessPattern():
            sizes = all(size > 0 and 0 < share <= 1 for size, share in record.sizes)
            return None if record.sizes and sizes else "has no sizes, or sizes of nothing"
        case ActiveRange():
            return None if record.segment_starts and record.segment_bytes > 0 else "covers nothing of the drive"
        case TestSettings():
            return record.fault()
    return None
