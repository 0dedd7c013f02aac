"""Runs a crosscheck: the gate, a fill, then every point alternately by both engines."""

from __future__ import annotations

import secrets
import time
from typing import TYPE_CHECKING

from assay.dut.dut import Answers, change_told, hold_drive, overwrite
from assay.dut.ended import check_sequence
from assay.dut.real.command import fio_version
from assay.dut.real.gate import examined
from assay.dut.real.identity import identify
from assay.dut.simulated.model import is_simulated
from assay.errors import UsageError
from assay.host.points import POINTS, Side
from assay.results.histogram import direction_times
from assay.results.step import iops, mean_latency_ns
from assay.spec.units import KIB, MILLISECOND_NS
from assay.tools.crosscheck.compare import Crosscheck
from assay.tools.crosscheck.fio import measure_with_fio

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from assay.engine.records import StepRecord
    from assay.engine.stimulus import Stimulus
    from assay.host.points import CheckPoint

RANGE_BYTES_MAX = 16 << 30
_GRID_BYTES = 128 * KIB


def crosscheck_drive(
    path: str,
    *,
    tool: str,
    confirmation: str | None,
    file_target: bool = False,
    signatures: frozenset[str] = frozenset(),
    acknowledged: frozenset[str] = frozenset(),
    seconds: float = 5.0,
    pairs: int = 5,
    points: Sequence[CheckPoint] = POINTS,
    show: Callable[[str], None] = lambda _: None,
) -> Crosscheck:
    """Measure points alternately by our engine and by fio on the first 16 GiB of a real drive, whose data is lost.

    confirmation : the drive's identity. signatures : types that may be destroyed. acknowledged : words of doubts.
    seconds : of every measurement, at least 0.1. pairs : of every point, at least 2. show : told what runs.
    Raises UsageError for a simulated drive or without fio, GateRefusedError and its kinds, DeviceFailureError.
    """
    if is_simulated(path):
        raise UsageError(path, "cannot be measured by fio", "name a block device, or a file with --file-target")
    version = fio_version()
    drive = examined(identify(path, file_target=file_target), signatures, words=acknowledged)
    range_bytes = min(drive.capacity_bytes, RANGE_BYTES_MAX) // _GRID_BYTES * _GRID_BYTES
    started = time.time_ns()
    with hold_drive(
        drive,
        Answers(confirmation=confirmation, signatures=signatures, acknowledged=acknowledged),
        needed_bytes=_GRID_BYTES,
        thread_count=max(point.demand.thread_count for point in points),
        transfer_bytes_max=max(_GRID_BYTES, *(point.transfer_bytes for point in points)),
        seed=secrets.randbits(32),
        # fio's threads go where the scheduler sends them.
        pin="none",
    ) as (held, stimulus, _):
        with change_told(held.verify):
            show("filling the range")
            overwrite(stimulus, drive, range_bytes)
            result = []
            for point in points:
                measured = []
                for nth in range(1, pairs + 1):
                    show(f"{point.label}: pair {nth} of {pairs}")
                    mine = _ours(stimulus, point, range_bytes, seconds, path)
                    measured.append((mine, measure_with_fio(point, held.fd, range_bytes, seconds)))
                result.append((point, tuple(measured)))
        held.verify()
    return Crosscheck(
        drive=drive,
        tool=tool,
        fio=version,
        range_bytes=range_bytes,
        seconds=seconds,
        started_wall_ns=started,
        pairs=tuple(result),
    )


def _ours(stimulus: Stimulus, point: CheckPoint, range_bytes: int, seconds: float, path: str) -> Side:
    records = stimulus.run([point.step(range_bytes, seconds)])
    check_sequence(records, path)
    return side_of(records[0])


def side_of(record: StepRecord) -> Side:
    """What our engine saw of a point. Of a mix, the larger of both 99th percentiles, as of fio."""
    tails = [direction_times(direction).percentile(0.99) for direction in (record.read, record.write)]
    known = [tail * MILLISECOND_NS for tail in tails if tail is not None]
    return Side(iops=float(iops(record)), mean_ns=float(mean_latency_ns(record) or 0), p99_ns=max(known, default=None))
