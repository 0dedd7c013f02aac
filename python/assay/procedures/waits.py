"""How long I/Os wait, as insights: tails and stalls, from histograms and stored maxima."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.results import merged
from assay.spec.units import MILLISECOND_NS
from assay.summary.insights import KINDS, insight, is_raised
from assay.words.printed import outstanding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from assay.engine.records import Demand, StepRecord
    from assay.results import ResponseTimes
    from assay.summary.insights import Insight
    from assay.words.subject import Subject

_TAILS = (0.9, 0.99, 0.999)
_MEDIAN, _USUAL = 0.5, 0.99


@dataclass(frozen=True, slots=True, kw_only=True)
class Waited:
    """The response times of steps of one demand. slots : I/Os in flight. span_ms : of all steps."""

    times: ResponseTimes
    slots: int
    span_ms: float


def waited(steps: Sequence[StepRecord], times: Sequence[ResponseTimes], demand: Demand) -> Waited:
    """Steps with their histograms, added. times : one for each step, or none."""
    span_ms = sum(step.span_ns for step in steps) / MILLISECOND_NS
    return Waited(times=merged(times), slots=outstanding(demand), span_ms=span_ms)


def tails(subject: Subject, times: ResponseTimes | None) -> Iterator[Insight]:
    """The lowest percentile that is far above the median; none where none is.

    Worked: a median of 0.06 ms and a p90 of 17.8 ms -> p90, 297 times.
    """
    middle = times.percentile(_MEDIAN) if times else None
    known = [(share, slow) for share in _TAILS if times and middle and (slow := times.percentile(share))]
    result = (
        insight(
            "tail", subject, median_ms=middle, share=share, slow_ms=slow, ratio=slow / middle,
            slowest_ms=_beyond(times, slow),
        )
        for share, slow in known if middle
    )  # fmt: skip
    yield from list(filter(is_raised, result))[:1]


def stalls(subject: Subject, measured: Iterable[Waited]) -> Iterator[Insight]:
    """How often I/Os took far longer than 99 % of their kind: so many beyond the limit, over those in flight at once.

    Worked: eight in flight, 80 I/Os of 400 ms among millions of 0.1 ms in five minutes -> 10 times, 1.3 % of the time.
    """
    all_of_them = tuple(measured)
    result = [one for waits in all_of_them for one in _stalled(waits)]
    if result:
        longest = max(result, key=lambda one: one.longest_ms)
        span = sum(one.span_ms for one in all_of_them)
        yield insight(
            "stalls",
            subject,
            count=sum(one.count for one in result),
            longest_ms=longest.longest_ms,
            share=sum(one.lost_ms for one in result) / span if span else None,
            ratio=longest.ratio,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stalled:
    count: int
    longest_ms: float
    lost_ms: float
    ratio: float


def _stalled(waits: Waited) -> Iterator[_Stalled]:
    """The stalls of one demand; none where a percentile is not known or nothing lies beyond the floors."""
    usual, longest = waits.times.percentile(_USUAL), waits.times.latency_ms_max
    floors = KINDS["stalls"].least
    if not usual or longest is None:
        return
    beyond = waits.times.middles_ms >= max(floors["longest_ms"], floors["ratio"] * usual)
    counts, middles = waits.times.counts[beyond], waits.times.middles_ms[beyond]
    if len(counts):
        yield _Stalled(
            count=max(round(int(counts.sum()) / waits.slots), 1),
            longest_ms=longest,
            lost_ms=float((counts * middles).sum()) / waits.slots,
            ratio=longest / usual,
        )


def _beyond(times: ResponseTimes | None, slow: float) -> float | None:
    """The slowest I/O where it is far beyond a percentile."""
    longest = times.latency_ms_max if times else None
    return longest if longest and longest >= _FAR * slow else None


_FAR = 2
"""So many times the percentile, from which on the slowest I/O is named."""
