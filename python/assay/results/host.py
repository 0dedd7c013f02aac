"""Whether the host could have been what limited a run, by the certificate that it had."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.results.finding import Check, Checked, Finding, ask, at_least, at_most
from assay.results.measured import counted_sequences
from assay.results.sequence_names import step_places
from assay.results.step import iops, issued_bytes, issued_count, latency_count, mean_latency_ns
from assay.spec.units import SECOND_NS
from assay.words.coded import coded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.records import Demand, FillPoint, HostPoint, StepRecord, StepSpec, StoredRun
    from assay.words.location import Place

CEILING_PASS, CEILING_INVALID = 2.0, 1.2
"""Ceiling over measured IOPS: at least the first passes; below the second the tester was the limit."""

COST_PASS, COST_INVALID = 0.02, 0.10
"""Cost of an I/O over its response time: up to the first passes; above the second it is in the figure."""

FILL_PASS, FILL_INVALID = 2.0, 1.0
"""Bytes that the host can make over bytes written: at least the first passes; below the second it could not keep up."""

_MADE = {"random", "compressible"}
"""Kinds of data that are made anew for every write."""


def host_checks(run: StoredRun) -> tuple[Checked, ...]:
    """Hold the measured steps of a run against the certificate of its host; none without a valid one.

    The step with the least head room counts: of IOPS under the ceiling, of cost in the response time, and of data made
    for what was written, if anything was. A certificate without data rates leaves that check out: it is unknown.
    Worked: a ceiling of 500,000 IOPS and at most 200,000 measured -> ratio 2.5, ``pass``; an I/O that costs 600 ns
    and takes 20,000 ns on average -> ratio 0.03, ``warn``; 8 threads on 4 CPUs that each make 5 GB/s, and 25 GB/s
    written -> ratio 0.8, ``invalid``.
    """
    if run.certificate is None or run.certificate.status != "valid":
        return ()
    return tuple(one for one in (ask(check, run) for check in HOST_CHECKS) if one.level != "n/a")


def certified_point(points: tuple[HostPoint, ...], demand: Demand) -> HostPoint | None:
    """What is certified for a demand: the largest that asks for no more threads and no more depth.

    Its ceiling is one that this demand reaches at least. None where even the smallest asks for more.
    Worked: of 1 x 1, 1 x 8 and 1 x 32, a demand of 2 x 16 is held against 1 x 8.
    """
    within = [
        point
        for point in points
        if point.thread_count <= demand.thread_count and point.queue_depth <= demand.queue_depth
    ]
    return max(within, key=lambda point: (point.thread_count, point.queue_depth), default=None)


def _certified(run: StoredRun) -> Iterator[tuple[Place, HostPoint, float, float]]:
    """Every measured step with what is certified for its demand, its IOPS and its mean response time."""
    points = run.certificate.points if run.certificate else ()
    for place, spec, record in _measured(run):
        point = certified_point(points, spec.demand)
        rate, mean_ns = float(iops(record)), mean_latency_ns(record)
        if point is not None and rate and mean_ns:
            yield place, point, rate, mean_ns


def _ceiling(run: StoredRun) -> Iterator[Finding]:
    result = [(point.iops / rate, place, point, rate) for place, point, rate, _ in _certified(run)]
    for ratio, place, point, rate in [min(result, key=lambda one: one[0])] if result else []:
        level = at_least(ratio, CEILING_PASS, CEILING_INVALID)
        reason = coded("ceiling", ratio=ratio, ceiling=point.iops, iops=rate)
        yield Finding(level=level, reason=reason, measured=ratio, limit=CEILING_PASS, where=place)


def _cost(run: StoredRun) -> Iterator[Finding]:
    for place, point, _, mean_ns in _certified(run):
        ratio = point.cpu_ns / mean_ns
        level = at_most(ratio, COST_PASS, COST_INVALID)
        reason = coded("cost", ratio=ratio, cpu_ns=point.cpu_ns, mean_ns=mean_ns)
        yield Finding(level=level, reason=reason, measured=ratio, limit=COST_PASS, where=place)


def fill_point(fills: tuple[FillPoint, ...], transfer_bytes: float) -> FillPoint | None:
    """What is certified for writes of a size: the smallest that is as large, else the largest; None without any.

    Larger writes are made more slowly, since their buffers leave the caches. Worked: of 4, 128 and 1024 KiB, writes of
    8 KiB are held against 128 KiB.
    """
    as_large = [point for point in fills if point.transfer_bytes >= transfer_bytes]
    return min(as_large or fills, key=lambda point: abs(point.transfer_bytes - transfer_bytes), default=None)


def _fills(run: StoredRun) -> Iterator[Finding]:
    fills = list(_made(run))
    for ratio, place, point, cores, rate in [min(fills, key=lambda one: one[0])] if fills else []:
        level = at_least(ratio, FILL_PASS, FILL_INVALID)
        reason = coded("fill", ratio=ratio, each=point.bytes_per_s, cores=cores, written=rate)
        yield Finding(level=level, reason=reason, measured=ratio, limit=FILL_PASS, where=place)


def _made(run: StoredRun) -> Iterator[tuple[float, Place, FillPoint, int, float]]:
    """Every measured step whose data are made anew: head room, place, what is certified, cores, bytes per second."""
    fills = run.certificate.fills if run.certificate else ()
    cpu_count = run.platform.extra.get("logical_cpu_count")
    for place, spec, record in _measured(run):
        write, threads = record.write, spec.demand.thread_count
        moved, span_ns = issued_bytes(write), record.lead_in_ns + record.span_ns
        point = fill_point(fills, moved / max(issued_count(write), 1))
        if point is not None and moved and spec.pattern.data.kind in _MADE:
            cores = min(threads, cpu_count) if isinstance(cpu_count, int) else threads
            rate = moved * SECOND_NS / span_ns
            yield point.bytes_per_s * cores / rate, place, point, cores, rate


def _measured(run: StoredRun) -> Iterator[tuple[Place, StepSpec, StepRecord]]:
    """Every step that a result comes from, with its name and what was asked of it."""
    for test in run.tests:
        for sequence in counted_sequences(test):
            for place, spec, record in zip(step_places(sequence), sequence.asked, sequence.steps, strict=False):
                if latency_count(record):
                    yield replace(place, stem=f"{test.settings.test_label} {place.stem}"), spec, record


HOST_CHECKS: tuple[Check[StoredRun], ...] = (
    Check(name="ceiling", title="Ceiling over highest IOPS", passes="2 or more, invalid below 1.2", answer=_ceiling),
    Check(name="cost", title="Cost over response time", passes="up to 2 %, invalid above 10 %", answer=_cost,
          unit="share"),
    Check(name="fill", title="Data made over written", passes="2 or more, invalid below 1", answer=_fills),
)  # fmt: skip
"""The checks in the order in which they are printed."""
