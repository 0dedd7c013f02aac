"""Whether the host could have been what limited a run, by the certificate that it had."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from assay.units import SECOND_NS
from assay.window.measured import counted_programs
from assay.window.step import iops, issued_bytes, issued_count, latency_count, mean_latency_ns
from assay.window.stimulus_asked import step_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.records import Demand, FillPoint, HostPoint, StepRecord, StepSpec, StoredRun

Grade = Literal["pass", "warn", "invalid"]

CEILING_PASS, CEILING_INVALID = 2.0, 1.2
"""Ceiling over measured IOPS: at least the first passes; below the second the tester was the limit."""

COST_PASS, COST_INVALID = 0.02, 0.10
"""Cost of an I/O over its response time: up to the first passes; above the second it is in the figure."""

FILL_PASS, FILL_INVALID = 2.0, 1.0
"""Bytes that the host can make over bytes written: at least the first passes; below the second it could not keep up."""

_MADE = {"random", "compressible"}
"""Kinds of data that are made anew for every write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostCheck:
    """One check of a run against the certificate of its host, where the run came nearest to the limit.

    name : ``ceiling`` (``ratio`` is certified over measured IOPS), ``cost`` (certified CPU time of an I/O over the
    mean response time) or ``fill`` (bytes per second that the host makes over those written).
    step : where. measured : IOPS, mean response time in ns, or bytes written per second.
    point : what it was held against. cores : that made data at a time; 0 of other checks.
    """

    name: Literal["ceiling", "cost", "fill"]
    grade: Grade
    ratio: float
    measured: float
    step: str
    point: HostPoint | FillPoint
    cores: int = 0


def host_checks(run: StoredRun) -> tuple[HostCheck, ...]:
    """Hold the measured steps of a run against the certificate of its host; none without a valid one.

    The step with the least head room counts: of IOPS under the ceiling, of cost in the response time, and of data made
    for what was written, if anything was. A certificate without data rates leaves that check out: it is unknown.
    Worked: a ceiling of 500,000 IOPS and at most 200,000 measured -> ratio 2.5, ``pass``; an I/O that costs 600 ns
    and takes 20,000 ns on average -> ratio 0.03, ``warn``; 8 threads on 4 CPUs that each make 5 GB/s, and 25 GB/s
    written -> ratio 0.8, ``invalid``.
    """
    if run.certificate is None or run.certificate.status != "valid":
        return ()
    points, both = run.certificate.points, []
    for name, spec, record in _measured(run):
        point = certified_point(points, spec.demand)
        rate, mean_ns = float(iops(record)), mean_latency_ns(record)
        if point is not None and rate and mean_ns:
            both.append((_ceiling(name, point, rate), _cost(name, point, mean_ns)))
    fills = min(_fills(run), key=lambda check: check.ratio, default=None)
    least = () if fills is None else (fills,)
    if not both:
        return least
    ceilings, costs = zip(*both, strict=True)
    return min(ceilings, key=lambda check: check.ratio), max(costs, key=lambda check: check.ratio), *least


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


def _ceiling(step: str, point: HostPoint, rate: float) -> HostCheck:
    ratio = point.iops / rate
    grade: Grade = "pass" if ratio >= CEILING_PASS else "invalid" if ratio < CEILING_INVALID else "warn"
    return HostCheck(name="ceiling", grade=grade, ratio=ratio, measured=rate, step=step, point=point)


def _cost(step: str, point: HostPoint, mean_ns: float) -> HostCheck:
    ratio = point.cpu_ns / mean_ns
    grade: Grade = "pass" if ratio <= COST_PASS else "invalid" if ratio > COST_INVALID else "warn"
    return HostCheck(name="cost", grade=grade, ratio=ratio, measured=mean_ns, step=step, point=point)


def fill_point(fills: tuple[FillPoint, ...], transfer_bytes: float) -> FillPoint | None:
    """What is certified for writes of a size: the smallest that is as large, else the largest; None without any.

    Larger writes are made more slowly, since their buffers leave the caches. Worked: of 4, 128 and 1024 KiB, writes of
    8 KiB are held against 128 KiB.
    """
    as_large = [point for point in fills if point.transfer_bytes >= transfer_bytes]
    return min(as_large or fills, key=lambda point: abs(point.transfer_bytes - transfer_bytes), default=None)


def _fills(run: StoredRun) -> Iterator[HostCheck]:
    fills = run.certificate.fills if run.certificate else ()
    cpu_count = run.platform.extra.get("logical_cpu_count")
    for name, spec, record in _measured(run):
        write, threads = record.write, spec.demand.thread_count
        moved, span_ns = issued_bytes(write), record.lead_in_ns + record.span_ns
        point = fill_point(fills, moved / max(issued_count(write), 1))
        if point is not None and moved and spec.pattern.data.kind in _MADE:
            cores = min(threads, cpu_count) if isinstance(cpu_count, int) else threads
            yield _fill(name, point, cores, moved * SECOND_NS / span_ns)


def _fill(step: str, point: FillPoint, cores: int, rate: float) -> HostCheck:
    ratio = point.bytes_per_s * cores / rate
    grade: Grade = "pass" if ratio >= FILL_PASS else "invalid" if ratio < FILL_INVALID else "warn"
    return HostCheck(name="fill", grade=grade, ratio=ratio, measured=rate, step=step, point=point, cores=cores)


def _measured(run: StoredRun) -> Iterator[tuple[str, StepSpec, StepRecord]]:
    """Every step that a result comes from, with its name and what was asked of it."""
    for test in run.tests:
        for program in counted_programs(test):
            names = step_names(program)
            for name, spec, record in zip(names, program.asked, program.steps, strict=False):
                if latency_count(record):
                    yield f"{test.settings.test.upper()} {name}", spec, record
