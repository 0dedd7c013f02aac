"""What a quiet host costs a measurement, as its calibration holds it, and whether that counts."""

from __future__ import annotations

from math import log2
from typing import TYPE_CHECKING

from assay.results.step import mean_latency_ns

if TYPE_CHECKING:
    from assay.engine.records import CalibrationPoint, Demand, HostCalibration, StoredSequence

CALM_OTHER_MAX, CALM_STEAL_MAX = 0.01, 0.005
"""Shares of all processors' time that other tasks and the hypervisor may use while a host is calibrated."""


def is_calm(calibration: HostCalibration | None) -> bool:
    """Whether the host was quiet while it was calibrated; what the kernel does not count is not quiet.

    Worked: other tasks 0.4 %, steal 0 -> True; other tasks 1 % -> False.
    """
    if calibration is None or calibration.other_busy_share is None or calibration.steal_share is None:
        return False
    return calibration.other_busy_share < CALM_OTHER_MAX and calibration.steal_share < CALM_STEAL_MAX


def calm_of_step(sequence: StoredSequence, index: int, calibration: HostCalibration | None) -> CalibrationPoint | None:
    """The point of a calibration nearest to a step; None where it does not count."""
    return calm_point(calibration, sequence.asked[index].demand, mean_latency_ns(sequence.steps[index]) or 1.0)


def calm_point(calibration: HostCalibration | None, demand: Demand, mean_ns: float) -> CalibrationPoint | None:
    """The point of a calibration nearest to a demand and a mean response time; None where it does not count.

    Nearest is where the ratios of threads, queue depth and answer time are the fewest octaves apart.
    Worked: 1 x 32 that takes 0.8 ms -> of 1 x 1 and 1 x 32, each of 0.1 and 1 ms, 1 x 32 of 1 ms.
    """
    if calibration is None or not is_calm(calibration):
        return None

    def apart(point: CalibrationPoint) -> float:
        ratios = (
            point.thread_count / demand.thread_count,
            point.queue_depth / demand.queue_depth,
            point.answer_ns / max(mean_ns, 1.0),
        )
        return sum(abs(log2(ratio)) for ratio in ratios)

    return min(calibration.points, key=apart, default=None)
