"""The runs of a test: which specifications, how many workers and how many outstanding I/Os, one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.workloads.iometer.model import Cycling, Setup

STEPS_MAX = 10_000
_OF_WORKERS = {"CYCLE_WORKERS", "CYCLE_WORKERS_AND_TARGETS"}
_OF_QUEUES = {"CYCLE_OUTSTANDING_IOS", "CYCLE_OUTSTANDING_IOS_AND_TARGETS"}
OF_TARGETS = {
    "CYCLE_TARGETS",
    "INCREMENT_TARGETS_PARALLEL",
    "INCREMENT_TARGETS_SERIAL",
    "CYCLE_WORKERS_AND_TARGETS",
    "CYCLE_OUTSTANDING_IOS_AND_TARGETS",
}
"""Types of test that go through numbers of targets; of one drive there is one."""


class CyclingStep(NamedTuple):
    """One run of a specification. worker_count : the first so many. queue_depth : None is what each worker says."""

    worker_count: int
    queue_depth: int | None


def cycling_steps(setup: Setup, worker_count: int) -> list[CyclingStep]:
    """The runs of each specification, in turn. worker_count : workers that there are.

    Raises ValueError where there are more than 10,000. Worked: CYCLE_OUTSTANDING_IOS with 1, 32, 2, EXPONENTIAL ->
    depths 1, 2, 4, 8, 16, 32; with an end of 48 the same; CYCLE_WORKERS of 5 workers with 1, 2, LINEAR -> 1, 3, 5.
    """
    if setup.test_type in _OF_WORKERS:
        return [CyclingStep(count, None) for count in _counts(setup.worker_cycling, worker_count)]
    if setup.test_type in _OF_QUEUES:
        return [CyclingStep(worker_count, depth) for depth in _depths(setup)]
    return [CyclingStep(worker_count, None)]


def _counts(cycling: Cycling, limit: int) -> list[int]:
    """Numbers of workers up to all of them; the last may add fewer than the others."""
    counts: list[int] = []
    for value in _values(cycling):
        counts.append(min(value, limit))
        if value >= limit:
            break
    return counts


def _depths(setup: Setup) -> list[int]:
    """Numbers of outstanding I/Os up to the end, which is not added where the steps leave it out."""
    depths: list[int] = []
    for value in _values(setup.queue_cycling):
        if value > setup.queue_cycling.end:
            break
        if len(depths) == STEPS_MAX:
            raise ValueError
        depths.append(value)
    return depths


def _values(cycling: Cycling) -> Iterator[int]:
    """Without an end: start, then what each step makes of it. A factor of 1 or 0 is a step of as many, as in Iometer.

    A linear step of 0 would stay where it is, so that it gives one value.
    """
    value = cycling.start
    exponential = cycling.kind == "EXPONENTIAL" and cycling.step > 1
    while True:
        yield value
        if not exponential and not cycling.step:
            return
        value = value * cycling.step if exponential else value + cycling.step
