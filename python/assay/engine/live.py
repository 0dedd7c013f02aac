"""Seconds of a sequence that runs, as the engine publishes them."""

from __future__ import annotations

from typing import NamedTuple


class LivePoint(NamedTuple):
    """What completed in one second of one step in one direction.

    step : index in the sequence. direction : index in ``DIRECTIONS``. io_count : above 0. transfer_bytes : of these
    I/Os. latency_ns_sum, latency_ns_max : of their response times.
    """

    step: int
    direction: int
    io_count: int
    transfer_bytes: int
    latency_ns_sum: int
    latency_ns_max: int


class LiveSecond(NamedTuple):
    """A second of a step, or of steps that run side by side; all workers have closed it.

    step : index of the step, the first of those side by side. second : from 0, of its window. covered_ns : what of the
    second lies in the window, above 0, at most 1 s. points : empty where nothing completed.
    They are equal to the rows of the stored ``series`` table.
    """

    step: int
    second: int
    covered_ns: int
    points: tuple[LivePoint, ...]


def live_seconds(rows: list[tuple[int, int, int, list[tuple[int, int, int, int, int, int]]]]) -> list[LiveSecond]:
    """The rows of the native module as records.

    Worked: ``[(0, 4, 10**9, [(0, 1, 5, 20480, 900, 300)])]`` -> five writes in the fifth second of the first step.
    """
    return [
        LiveSecond(step, second, covered_ns, tuple(LivePoint(*point) for point in points))
        for step, second, covered_ns, points in rows
    ]
