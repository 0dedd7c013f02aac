"""How amounts, times and figures of a running test are printed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol

from assay.spec.units import MINUTE_NS, SECOND_NS, gigabytes, gigabytes_label, rate_label

if TYPE_CHECKING:
    from assay.run.progress import Progress

_HOUR_NS, _DAY_NS = 60 * MINUTE_NS, 24 * 60 * MINUTE_NS


def stamp() -> str:
    """Now, as ISO 8601 has it, with date and zone. Worked: ``2026-11-22T16:40:03+00:00``."""
    return time_label(time.time_ns())


def time_label(wall_ns: int) -> str:
    """An instant in the zone of this host, likewise."""
    text = time.strftime("%Y-%m-%dT%H:%M:%S%z", time.localtime(wall_ns // SECOND_NS))
    return f"{text[:-2]}:{text[-2:]}"


def span_label(time_ns: int) -> str:
    """A time of the clock, as exact as one wants it, rounded up.

    Worked: 44.2 s -> ``"45 s"``, 67.2 s -> ``"1 min 8 s"``, 44.2 min -> ``"45 min"``, 90 min -> ``"1 h 30 min"``,
    50 h 1 min -> ``"2 d 3 h"``.
    """
    if time_ns <= 10 * MINUTE_NS:
        seconds = -(-time_ns // SECOND_NS)
        return _two(seconds // 60, "min", seconds % 60, "s") if seconds >= 60 else f"{seconds} s"  # noqa: PLR2004
    minutes = -(-time_ns // MINUTE_NS)
    if minutes < 60:  # noqa: PLR2004 - minutes of an hour
        return f"{minutes} min"
    if time_ns < 2 * _DAY_NS:
        return _two(minutes // 60, "h", minutes % 60, "min")
    hours = -(-time_ns // _HOUR_NS)
    return _two(hours // 24, "d", hours % 24, "h")


class Left(Protocol):
    """Between what a time lies; the latest is None where nobody knows."""

    @property
    def earliest_ns(self) -> int:
        """At least."""

    @property
    def latest_ns(self) -> int | None:
        """At most."""


def left_label(left: Left | None) -> str:
    """Between what the time left lies. Worked: ``"44 min"``, ``"5 h to 18 h"``, ``"5 h or more"``, ``"unknown"``."""
    if left is None:
        return "unknown"
    first = span_label(left.earliest_ns)
    if left.latest_ns is None:
        return f"{first} or more" if left.earliest_ns else "unknown"
    last = span_label(left.latest_ns)
    return first if first == last else f"{first} to {last}"


def still_left(left: Left | None) -> str:
    """The same in a line. Worked: ``"5 h to 18 h left"``, ``"time left unknown"``."""
    label = left_label(left)
    return "time left unknown" if label == "unknown" else f"{label} left"


def percent_label(share: float | None) -> str:
    """A share as whole percent, never 100 before the end. Worked: 0.996 -> ``"99 %"``, None -> the empty text."""
    return "" if share is None else f"{min(int(share * 100), 100)} %"


def shares_label(progress: Progress) -> str:
    """Between what the share of the run lies that is done. Worked: ``"25 to 50 %"``; equal ones -> ``"25 %"``."""
    if progress.run_shares is None:
        return ""
    first, last = map(percent_label, progress.run_shares)
    return last if first == last else f"{first.removesuffix(' %')} to {last}"


def figures_label(progress: Progress) -> str:
    """What the drive does now. Worked: 29,876.4 IOPS at 0.2677 ms -> ``"29,876 IOPS, 0.268 ms"``."""
    if progress.iops is None:
        return ""
    latency = "" if progress.latency_ms is None else f", {progress.latency_ms:.3f} ms"
    return f"{progress.iops:,.0f} IOPS{latency}"


def extent_label(progress: Progress) -> str:
    """How much of a sequence is done, of how much. Worked: ``"16.0 of 64.0 GB"``, ``"12 min of 56 min"``.

    Of simulated drives the time is the drive's own, which is said.
    """
    whole, done = progress.whole, progress.done
    if whole.amount_bytes:
        return f"{gigabytes(done.amount_bytes):,.1f} of {gigabytes_label(whole.amount_bytes, 1)}"
    if whole.time_ns:
        own = " simulated" if progress.virtual else ""
        return f"{span_label(done.time_ns)} of {span_label(whole.time_ns)}{own}"
    return ""


def phase_rate_label(progress: Progress) -> str:
    """The rate of an amount so far, in the drive's time. Worked: 16 GB in 32 s -> ``"500 MB/s"``."""
    if progress.whole.time_ns or not progress.done.amount_bytes or not progress.device_ns:
        return ""
    return rate_label(progress.done.amount_bytes * SECOND_NS / progress.device_ns)


def _two(large: int, unit: str, small: int, part: str) -> str:
    return f"{large} {unit}" + (f" {small} {part}" if small else "")
