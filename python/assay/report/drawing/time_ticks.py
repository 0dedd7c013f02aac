"""Labelled instants of an axis of time, in UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from assay.summary.pages.model import Tick

if TYPE_CHECKING:
    from collections.abc import Iterator

DAY_NS = 86_400 * 10**9
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_HOURS = (1 / 3600, 5 / 3600, 15 / 3600, 1 / 60, 5 / 60, 0.25, 1, 3, 6, 12)
_DAYS = (1, 2, 7, 14)
_MONTHS = (1, 3, 6, 12, 24, 60, 120)
_DAYS_MAX = 45
"""A span of so many days has ticks at days, a longer one at months."""
_MINUTE_NS = 60 * 10**9


def days_since(wall_ns: int, first_ns: int) -> float:
    """Where an instant is on an axis that begins with another, in days. Worked: 12 h later -> 0.5."""
    return (wall_ns - first_ns) / DAY_NS


def time_ticks(first_ns: int, last_ns: int, most: int) -> tuple[Tick, ...]:
    """Round instants between two others with their dates, in days since the first.

    first_ns, last_ns : wall clock. most : how many at most, at least 2.
    Worked: 2026-11-22 to 2026-11-30, at most 5 -> 22, 24, 26, 28 and 30 November.
    """
    instants, form = _instants(first_ns, last_ns, most)
    # A short span can lie between two round instants.
    return tuple(
        Tick(at=days_since(at, first_ns), label=_instant(at).strftime(form)) for at in (*instants,) or (first_ns,)
    )


def _instants(first_ns: int, last_ns: int, most: int) -> tuple[Iterator[int], str]:
    """The instants with the form of their labels."""
    span = days_since(last_ns, first_ns)
    if span > _DAYS_MAX:
        return _months(first_ns, last_ns, _step(_MONTHS, span / 30, most)), "%Y-%m"
    if span / _DAYS[0] >= most / 2:
        return _days(first_ns, last_ns, _step(_DAYS, span, most) * DAY_NS), "%Y-%m-%d"
    step_ns = round(_step(_HOURS, span * 24, most) * DAY_NS / 24)
    return _days(first_ns, last_ns, step_ns), "%m-%d %H:%M" if step_ns >= _MINUTE_NS else "%m-%d %H:%M:%S"


def _step(steps: tuple[float, ...] | tuple[int, ...], span: float, most: int) -> int | float:
    """The smallest step that a span has no more than so many of; else the largest."""
    return next((step for step in steps if span / step < most), steps[-1])


def _days(first_ns: int, last_ns: int, step_ns: float) -> Iterator[int]:
    """Multiples of a step since the first midnight."""
    step, begin = round(step_ns), first_ns - first_ns % DAY_NS
    at = begin + -(-(first_ns - begin) // step) * step
    while at <= last_ns:
        yield at
        at += step


def _months(first_ns: int, last_ns: int, step: float) -> Iterator[int]:
    """First days of every so many months, counted from January."""
    first, months = _instant(first_ns), round(step)
    number = -(-(first.year * 12 + first.month - 1) // months) * months
    while (at := _month_ns(number)) <= last_ns:
        if at >= first_ns:
            yield at
        number += months


def _month_ns(number: int) -> int:
    """Begin of a month. number : of months since the year 0."""
    begin = datetime(number // 12, number % 12 + 1, 1, tzinfo=UTC)
    return (begin - _EPOCH) // timedelta(seconds=1) * 10**9


def _instant(wall_ns: int) -> datetime:
    return _EPOCH + timedelta(microseconds=wall_ns // 1000)
