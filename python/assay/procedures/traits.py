"""Insights that several tests raise: what they are about, steadiness, queue depths, waits and slow recovery."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.results.histogram import merged
from assay.spec.units import MILLISECOND_NS
from assay.summary.insights import KINDS, insight, is_raised
from assay.words.coded import Subject
from assay.words.printed import outstanding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from assay.engine.records import AccessPattern, Demand, SteadyVerdict, StepRecord
    from assay.results.histogram import ResponseTimes
    from assay.summary.insights import Insight
    from assay.words.coded import Order


_ORDERS: dict[float, Order] = {0.0: "SEQ", 1.0: "RND"}


def pattern_subject(pattern: AccessPattern, demand: Demand | None = None) -> Subject:
    """The accesses of a pattern; a mix of sizes or orders has none. Worked: random writes of 4 KiB, 8 in flight."""
    whole = pattern.operation == "transfer" and not pattern.lines
    return Subject(
        order=_ORDERS.get(pattern.random_share) if whole else None,
        read_pct=round(pattern.read_share * 100) if whole else None,
        size_bytes=pattern.sizes[0][0] if whole and len(pattern.sizes) == 1 else None,
        depth=outstanding(demand) if demand else None,
    )


def not_steady(found: Iterable[tuple[Subject, SteadyVerdict]], count: int) -> Iterator[Insight]:
    """The worst of several tracked variables that are not steady. count : rounds or samples that ran.

    Worked: rounds that lie 31 % of their average apart where 20 % is allowed -> an excursion of 0.31.
    """
    judged = [_unsteady(about, verdict, count) for about, verdict in found if not verdict.steady and verdict.average]
    yield from sorted(judged, key=lambda one: -one.values["worst"])[:1]


def _unsteady(about: Subject, verdict: SteadyVerdict, count: int) -> Insight:
    varied = verdict.excursion_measured > verdict.excursion_allowed
    drifted = not varied and verdict.slope_measured > verdict.slope_allowed
    measured = verdict.excursion_measured if varied else verdict.slope_measured
    return insight(
        "not-steady",
        about,
        rounds=count,
        worst=measured / verdict.average,
        excursion=verdict.excursion_measured / verdict.average if varied else None,
        allowed=verdict.excursion_allowed / verdict.average,
        drift=verdict.slope_measured / verdict.average if drifted else None,
        drift_allowed=verdict.slope_allowed / verdict.average,
    )


Depth = tuple[int, float, float | None]
"""I/Os in flight, IOPS, and mean response time in ms, None where that is not known."""

ENOUGH_SHARE = 0.95
"""A depth that gives so much of the most IOPS is enough."""


def depth_insights(about: Subject, depths: Sequence[Depth]) -> Iterator[Insight]:
    """From which depth on deeper queues only wait, or that no depth brings more than the first.

    depths : ascending. Nothing where the deepest is the first that is enough, as the drive may take more.
    Worked: 8,333 IOPS at QD 1, 33,332 at QD 8, 33,330 at QD 256 -> saturates at QD 8, 4 times QD 1.
    """
    known = [depth for depth in depths if depth[1]]
    if len(known) < 2:  # noqa: PLR2004 - two to compare
        return
    (first, least, _), (deepest, _, wait) = known[0], known[-1]
    most = max(rate for _, rate, _ in known)
    enough, rate, _ = next(one for one in known if one[1] >= ENOUGH_SHARE * most)
    gain = rate / least
    about = replace(about, depth=None)
    if most / least < KINDS["saturates"].least["gain"]:
        yield insight("no-gain-by-depth", about, depth=deepest, shallow=first)
    elif enough < deepest:
        yield insight(
            "saturates", about, depth=enough, rate=rate, gain=gain, shallow=first, deepest=deepest, wait_ms=wait
        )


_MINUTE_MS = 60_000


def restarted(about: Subject, before: Subject, *, kept: float, minutes: float | None, span_ms: float) -> Insight:
    """Accesses that restart behind others.

    kept : of their rate before, a share. minutes : until they are back at it, None where they were not in span_ms.
    Worked: 13 % kept, back after 13 minutes -> it lasts 780,000 ms.
    """
    recovered = None if minutes is None else minutes * _MINUTE_MS
    return insight(
        "slow-recovery",
        about,
        before=before,
        kept=kept,
        lost=1 - kept,
        lasting_ms=span_ms if recovered is None else recovered,
        recovered_ms=recovered,
        within_ms=span_ms if recovered is None else None,
    )


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
