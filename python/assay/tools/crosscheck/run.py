"""Runs a crosscheck: every point alternately by our engine and by fio, and the differences of the pairs."""

from __future__ import annotations

import json
import math
import secrets
import time
from dataclasses import dataclass
from statistics import fmean, median, stdev
from typing import TYPE_CHECKING, Any, Literal

from assay.dut.dut import Answers, change_told, hold_drive, overwrite
from assay.dut.ended import check_sequence
from assay.dut.real.command import fio_version, run_fio
from assay.dut.real.gate import examined
from assay.dut.real.identity import identify
from assay.dut.simulated.model import is_simulated
from assay.errors import DeviceFailureError, UsageError, errno_label
from assay.host.points import POINTS, Side
from assay.results.histogram import direction_times
from assay.results.step import iops, mean_latency_ns
from assay.spec.units import KIB, MILLISECOND_NS, SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from assay.engine.records import DriveIdentity, StepRecord
    from assay.engine.stimulus import Stimulus
    from assay.host.points import CheckPoint


CONFIDENCE = 0.95
AGREEMENT = 0.05
"""Engines agree where the whole interval is this near to equality."""

Metric = Literal["iops", "mean_ns", "p99_ns"]
Verdict = Literal["agree", "differ", "undecided"]
METRICS: tuple[Metric, ...] = ("iops", "mean_ns", "p99_ns")


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One metric of one point.

    ours, fio : medians. ratio : geometric mean of ours over fio in each pair; low, high : its 95 % interval.
    verdict : ``agree`` where the whole interval lies within 5 % of equality, ``differ`` where equality lies outside it,
    ``undecided`` where the pairs tell neither.
    """

    metric: Metric
    ours: float
    fio: float
    ratio: float
    low: float
    high: float

    @property
    def verdict(self) -> Verdict:
        """Whether the two engines say the same."""
        if self.low >= 1 - AGREEMENT and self.high <= 1 + AGREEMENT:
            return "agree"
        return "undecided" if self.low <= 1 <= self.high else "differ"


@dataclass(frozen=True, slots=True, kw_only=True)
class Crosscheck:
    """A finished comparison. pairs : per point, what our engine and fio saw, in the order they ran."""

    drive: DriveIdentity
    tool: str
    fio: str
    range_bytes: int
    seconds: float
    started_wall_ns: int
    pairs: tuple[tuple[CheckPoint, tuple[tuple[Side, Side], ...]], ...]


def differences(pairs: Sequence[tuple[Side, Side]]) -> tuple[Difference, ...]:
    """Every metric of a point from its pairs (ours, fio), at least two.

    The interval is Student's on the logarithm of the ratios of pairs, so that what both share (a slow minute of the
    host) cancels. Worked: pairs of 110/100 and 90.909/100 IOPS -> ratio 1, and an interval that holds 1.
    """
    known = [metric for metric in METRICS if all(getattr(side, metric) for pair in pairs for side in pair)]
    return tuple(_difference(metric, pairs) for metric in known)


def point_verdict(compared: Sequence[Difference]) -> Verdict:
    """One verdict of all metrics of a point: the engines agree where they do in each.

    Worked: ``agree`` and ``undecided`` -> ``undecided``; with ``differ`` -> ``differ``.
    """
    verdicts = {difference.verdict for difference in compared}
    if "differ" in verdicts:
        return "differ"
    return "agree" if verdicts == {"agree"} else "undecided"


def _difference(metric: Metric, pairs: Sequence[tuple[Side, Side]]) -> Difference:
    from scipy.stats import t  # noqa: PLC0415 - heavy, needed here only

    ours = [getattr(mine, metric) for mine, _ in pairs]
    theirs = [getattr(other, metric) for _, other in pairs]
    logs = [math.log(mine / other) for mine, other in zip(ours, theirs, strict=True)]
    reach = t.ppf((1 + CONFIDENCE) / 2, len(logs) - 1) * stdev(logs) / math.sqrt(len(logs))
    middle = fmean(logs)
    return Difference(
        metric=metric,
        ours=median(ours),
        fio=median(theirs),
        ratio=math.exp(middle),
        low=math.exp(middle - reach),
        high=math.exp(middle + reach),
    )


_ACCESS = {(True, 100): "randread", (True, 0): "randwrite", (False, 100): "read", (False, 0): "write"}


def fio_arguments(point: CheckPoint, range_bytes: int, seconds: float) -> list[str]:
    """The options for a point: the same access, demand, range and time, with every response time counted.

    seconds : to the millisecond. Worked: 0.5 -> ``--runtime=500ms``.
    Response times are fio's ``lat``, which includes the submission, not its default ``clat``.
    """
    access = _ACCESS.get((point.random, point.read_pct), "randrw" if point.random else "rw")
    return [
        "--name=crosscheck",
        "--thread",
        f"--rw={access}",
        f"--rwmixread={point.read_pct}",
        f"--bs={point.transfer_bytes}",
        f"--size={range_bytes}",
        "--ioengine=io_uring",
        "--registerfiles",
        "--fixedbufs",
        "--direct=1",
        f"--iodepth={point.demand.queue_depth}",
        f"--numjobs={point.demand.thread_count}",
        "--group_reporting",
        "--norandommap",
        "--randrepeat=0",
        "--refill_buffers",
        "--time_based",
        # Of a number without a unit fio drops the fraction, and 0 means that there is no limit.
        f"--runtime={round(seconds * SECOND_NS / MILLISECOND_NS)}ms",
        "--lat_percentiles=1",
        "--clat_percentiles=0",
        "--percentile_list=99",
        "--output-format=json",
    ]


def measure_with_fio(point: CheckPoint, descriptor: int, range_bytes: int, seconds: float) -> Side:
    """Run fio on the drive that the gate holds.

    Raises DeviceFailureError as ``device.fio.run_fio``, and where fio counts an error or its answer is no result: it
    may end with exit code 0 all the same.
    """
    text = run_fio(fio_arguments(point, range_bytes, seconds), descriptor, seconds)
    try:
        report = json.loads(text)
        failed = report["jobs"][0]["error"]
        if not failed:
            return read_fio(report)
    except (ValueError, KeyError, IndexError, TypeError, ZeroDivisionError):
        raise DeviceFailureError("fio", "gave no result", f"see what it says: {text[:200]!r}") from None
    raise DeviceFailureError("fio", f"failed I/Os ({errno_label(int(failed))})", "check the drive and the kernel log")


def read_fio(report: dict[str, Any]) -> Side:
    """Rate and response times of both directions together, from fio's JSON.

    Worked: 1,000 reads in 2 s of 1 ms and no write -> 500 IOPS, 1,000,000 ns.
    """
    job = report["jobs"][0]
    sides = [job[name] for name in ("read", "write") if job[name]["total_ios"]]
    total = sum(side["total_ios"] for side in sides)
    mean_ns = sum(side["lat_ns"]["mean"] * side["total_ios"] for side in sides) / total
    # fio keeps no percentile of both directions together.
    p99_ns = max(float(side["lat_ns"]["percentile"]["99.000000"]) for side in sides)
    return Side(iops=sum(side["iops"] for side in sides), mean_ns=mean_ns, p99_ns=p99_ns)


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
    seconds : of every measurement, at least 0.1. pairs : of every point, at least 2. show : called with what runs.
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
    """Rate and response times of a point, by our engine. Of a mix, the larger 99th percentile, as for fio."""
    tails = [direction_times(direction).percentile(0.99) for direction in (record.read, record.write)]
    known = [tail * MILLISECOND_NS for tail in tails if tail is not None]
    return Side(iops=float(iops(record)), mean_ns=float(mean_latency_ns(record) or 0), p99_ns=max(known, default=None))
