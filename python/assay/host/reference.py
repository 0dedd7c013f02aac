"""Repeatability on a reference drive: a few points, each measured five times in turn after a warm-up."""

from __future__ import annotations

import secrets
import time
from typing import TYPE_CHECKING

from assay.dut.dut import change_told, hold_drive, overwrite
from assay.dut.ended import check_sequence
from assay.dut.real.gate import examined
from assay.dut.real.identity import identify
from assay.dut.simulated.model import is_simulated
from assay.engine.records import ReferenceDrive, ReferencePoint
from assay.errors import DeviceFailureError, UsageError
from assay.host.points import CheckPoint, check_point
from assay.results.reference import repeated
from assay.results.step import iops, mean_latency_ns
from assay.spec.units import GIB, KIB

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from assay.dut.dut import Answers
    from assay.engine.records import StepSpec
    from assay.engine.stimulus import Stimulus

RANGE_BYTES_MAX = 4 * GIB
MEASUREMENTS = 5
_GRID_BYTES = 128 * KIB
_Figures = tuple[float, float]


POINTS: Sequence[CheckPoint] = (
    check_point(4, 100, 1),
    check_point(4, 100, 32),
    check_point(4, 0, 32),
    check_point(128, 100, 8, random=False),
)
"""What is measured: random reads at queue depths 1 and 32, random writes, sequential reads."""


def measure_reference(
    path: str,
    answers: Answers,
    *,
    file_target: bool = False,
    seconds: float = 5.0,
    new_baseline: bool = False,
    show: Callable[[str], None] = lambda _: None,
) -> ReferenceDrive:
    """Measure every point five times in turn on the first 4 GiB of a real drive, whose data is lost.

    The range is written once, and a first round warms up and is not counted: five runs after a warm-up are the rule of
    MLPerf Storage (submission guidelines, 2025). answers : the confirmation. seconds : of each measurement, at least
    0.1. new_baseline : later ones are held against this one. show : told what runs.
    Raises UsageError for a simulated drive, GateRefusedError and its kinds, DeviceFailureError.
    Worked: four points of 5 s in six rounds take 120 s.
    """
    if is_simulated(path):
        raise UsageError(
            path, "is simulated and checked in every calibration", "name a block device, or a file with --file-target"
        )
    drive = examined(identify(path, file_target=file_target), answers.signatures, words=answers.acknowledged)
    range_bytes = min(drive.capacity_bytes, RANGE_BYTES_MAX) // _GRID_BYTES * _GRID_BYTES
    with hold_drive(
        drive,
        answers,
        needed_bytes=_GRID_BYTES,
        thread_count=1,
        transfer_bytes_max=_GRID_BYTES,
        seed=secrets.randbits(32),
        written_bytes=range_bytes,
    ) as (held, stimulus, _):

        def measure(point: CheckPoint) -> _Figures:
            return _figures(stimulus, point.step(range_bytes, seconds), drive.path)

        with change_told(held.verify):
            show(f"filling the first {range_bytes / GIB:.3g} GiB of {drive.path}")
            overwrite(stimulus, drive, range_bytes)
            points = _in_turn(measure, show)
        held.verify()
    return ReferenceDrive(
        drive=drive,
        made_wall_ns=time.time_ns(),
        range_bytes=range_bytes,
        seconds=seconds,
        points=points,
        new_baseline=new_baseline,
    )


def _in_turn(measure: Callable[[CheckPoint], _Figures], show: Callable[[str], None]) -> tuple[ReferencePoint, ...]:
    """All points once to warm up, then all of them again and again, so that slow changes meet every point alike."""
    show("reference drive, warming up")
    for point in POINTS:
        measure(point)
    rounds = []
    for nth in range(1, MEASUREMENTS + 1):
        show(f"reference drive, measurement {nth} of {MEASUREMENTS}")
        rounds.append([measure(point) for point in POINTS])
    return tuple(
        ReferencePoint(
            label=point.label,
            iops=repeated([rate for rate, _ in result]),
            mean_ns=repeated([mean_ns for _, mean_ns in result]),
        )
        for point, result in zip(POINTS, zip(*rounds, strict=True), strict=True)
    )


def _figures(stimulus: Stimulus, step: StepSpec, path: str) -> _Figures:
    """IOPS and mean response time in ns."""
    records = stimulus.run([step])
    check_sequence(records, path)
    rate, mean_ns = float(iops(records[0])), mean_latency_ns(records[0])
    if not rate or not mean_ns:
        reason = f"completed no I/O of {step.label}"
        raise DeviceFailureError(path, reason, "raise --reference-seconds, or name a faster drive")
    return rate, float(mean_ns)
