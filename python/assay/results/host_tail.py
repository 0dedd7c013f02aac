"""The host's part in percentiles and maxima: wake-ups that were late beside the stimulus, and waits of its threads."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

from assay.spec.units import MILLISECOND_NS, SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.engine.records import CalibrationPoint, HostRecord, StepRecord, StoredSequence

    Wakes = Iterable[tuple[int, int]]

LATE_SHARE = 0.1
"""A wake-up that is later than this share of a response time could have made it."""
_DEVIATIONS = 3
_CALM_AGAIN = 1.5
"""A quiet host's share is this much larger or smaller at another time."""
_UNKEPT_NS = MILLISECOND_NS // 4
"""Below this no lateness of a second is kept."""


def host_excess(host: HostRecord, calm: CalibrationPoint | None, value_ns: float) -> tuple[float, float] | None:
    """The larger of ``late_excess`` and ``wait_excess``, and of what is sure of them; None without wake-ups.

    The scheduler favours a gauge, which mostly sleeps: on a busy host threads of the stimulus wait longer.
    """
    late = late_excess(host.wakes, calm.wakes if calm else (), value_ns)
    waited = wait_excess(host, calm, value_ns)
    return late and (max(late[0], waited[0]), max(late[1], waited[1]))


def wait_excess(host: HostRecord, calm: CalibrationPoint | None, value_ns: float) -> tuple[float, float]:
    """The share of the time in which an I/O had to wait for its thread longer than a tenth of a response time.

    Beyond that of the quiet host; the second is less three standard deviations of the latter.
    Worked: of 60 s, 10 waits in a bucket up to 2.13 ms, a time of 1 ms -> 10 x (2.13 - 0.1) ms / 60 s = 0.00034 twice.
    """
    border_ns = LATE_SHARE * value_ns
    share, _ = _waited(host, border_ns)
    calm_share, deviation = _waited(calm, border_ns) if calm else (0.0, 0.0)
    return share - calm_share, share - calm_share - _DEVIATIONS * deviation


def late_excess(wakes: Wakes, calm: Wakes, value_ns: float) -> tuple[float, float] | None:
    """The share of wake-ups later than a tenth of a response time beyond that of a quiet host, and what of it is sure.

    wakes, calm : (lower border of the lateness in ns, count); a bucket that a tenth of the time lies in counts as late.
    The second is beyond half again that of the quiet host and three standard deviations of its count: what this
    sequence met is no sample. None without wake-ups.
    Worked: of 60,000 wake-ups 600 are later than 0.1 ms, of as many on the quiet host 60 -> 0.009 and 0.0081.
    """
    (late, count), (calm_late, calm_count) = (_late(counts, LATE_SHARE * value_ns) for counts in (wakes, calm))
    if not count:
        return None
    share, calm_share = late / count, calm_late / calm_count if calm_count else 0.0
    deviation = sqrt(calm_share * (1 - calm_share) / calm_count) if calm_count else 0.0
    return share - calm_share, share - _CALM_AGAIN * calm_share - _DEVIATIONS * deviation


def late_ns_near_maximum(sequence: StoredSequence, step: StepRecord) -> int | None:
    """The largest lateness in the seconds around the slowest I/O of a step; None where it cannot be told.

    Where the second is not known, of the whole step.
    Worked: second 3 of a step that began with the watch -> the largest of seconds 3 and 4.
    """
    host = sequence.host
    if host is None or host.began_ns is None:
        return None
    first, last = _seconds(host, step)
    kept = [late for second, late in host.late_ns_by_second if first <= second <= last]
    return max(kept, default=_UNKEPT_NS if host.late_ns_max else 0)


def _seconds(host: HostRecord, step: StepRecord) -> tuple[int, int]:
    """The seconds of the watch that the slowest second of a step lies in."""
    begin_ns, end_ns = step.start_ns - (host.began_ns or 0), step.start_ns + step.span_ns - (host.began_ns or 0)
    slowest = max(step.sides, key=lambda side: side.latency_ns_max or 0).slowest_second
    if slowest is not None:
        begin_ns += slowest * SECOND_NS
        end_ns = min(end_ns, begin_ns + SECOND_NS)
    return begin_ns // SECOND_NS, end_ns // SECOND_NS


def _waited(seen: HostRecord | CalibrationPoint, border_ns: float) -> tuple[float, float]:
    """The share of the watched time in waits, each less the border; its standard deviation, waits coming by chance."""
    beyond = [(max(_upper(lower) - border_ns, 0.0), count) for lower, count in seen.waits]
    watched_ns = max(seen.watched_ns, 1)
    spread = sqrt(sum(count * over**2 for over, count in beyond))
    return sum(count * over for over, count in beyond) / watched_ns, spread / watched_ns


def _late(wakes: Wakes, border_ns: float) -> tuple[int, int]:
    """How many are later, and of how many."""
    pairs = list(wakes)
    return sum(count for lower, count in pairs if _upper(lower) > border_ns), sum(count for _, count in pairs)


def _upper(lower_ns: int) -> int:
    """Where a bucket ends, an eighth of its octave on. Worked: 1,024 -> 1,152."""
    return lower_ns + max(1 << max(lower_ns.bit_length() - 1, 0) >> 3, 1)
