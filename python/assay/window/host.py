"""Whether the host could have been what limited a run, by the certificate that it had."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from assay.window.step import cell_label, iops, latency_count, mean_latency_ns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.records import Demand, HostPoint, StepRecord, StoredRun, StoredTest

Grade = Literal["pass", "warn", "invalid"]

CEILING_PASS, CEILING_INVALID = 2.0, 1.2
"""Ceiling over measured IOPS: at least the first passes; below the second the tester was the limit."""

COST_PASS, COST_INVALID = 0.02, 0.10
"""Cost of an I/O over its response time: up to the first passes; above the second it is in the figure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostCheck:
    """One check of a run against the certificate of its host, where the run came nearest to the limit.

    name : ``ceiling`` (``ratio`` is certified over measured IOPS) or ``cost`` (certified CPU time of an I/O over the
    mean response time). step : where. measured : IOPS, or mean response time in ns. point : what it was held against.
    """

    name: Literal["ceiling", "cost"]
    grade: Grade
    ratio: float
    measured: float
    step: str
    point: HostPoint


def host_checks(run: StoredRun) -> tuple[HostCheck, ...]:
    """Hold the measured steps of a run against the certificate of its host; none without a valid one.

    The step with the least head room counts: of IOPS under the ceiling, and of cost in the response time.
    Worked: a ceiling of 500,000 IOPS and at most 200,000 measured -> ratio 2.5, ``pass``; an I/O that costs 600 ns
    and takes 20,000 ns on average -> ratio 0.03, ``warn``.
    """
    if run.certificate is None or run.certificate.status != "valid":
        return ()
    points, both = run.certificate.points, []
    for name, demand, record in _measured(run):
        point = certified_point(points, demand)
        rate, mean_ns = float(iops(record)), mean_latency_ns(record)
        if point is not None and rate and mean_ns:
            both.append((_ceiling(name, point, rate), _cost(name, point, mean_ns)))
    if not both:
        return ()
    ceilings, costs = zip(*both, strict=True)
    return min(ceilings, key=lambda check: check.ratio), max(costs, key=lambda check: check.ratio)


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


def _measured(run: StoredRun) -> Iterator[tuple[str, Demand, StepRecord]]:
    """Every step that a result comes from; preconditioning is none."""
    for test in run.tests:
        for program in test.programs:
            if program.phase != "precondition":
                for place, record in enumerate(program.steps):
                    if latency_count(record):
                        yield _name(test, program.phase, program.index, place), test.settings.demand, record


def _name(test: StoredTest, phase: str, index: int, place: int) -> str:
    settings = test.settings
    if phase == "round" and settings.kind == "loop":
        return f"{settings.test.upper()} {cell_label(settings.cells[place], settings.access)}, round {index}"
    return f"{settings.test.upper()} {phase} {index or ''}".strip()
