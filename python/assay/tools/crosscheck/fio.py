"""One point as fio measures it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from assay.dut.real.command import run_fio
from assay.errors import DeviceFailureError, errno_label
from assay.host.points import Side
from assay.spec.units import MILLISECOND_NS, SECOND_NS

if TYPE_CHECKING:
    from assay.host.points import CheckPoint

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
    """What fio's JSON says of both directions together.

    Worked: 1,000 reads in 2 s of 1 ms and no write -> 500 IOPS, 1,000,000 ns.
    """
    job = report["jobs"][0]
    sides = [job[name] for name in ("read", "write") if job[name]["total_ios"]]
    total = sum(side["total_ios"] for side in sides)
    mean_ns = sum(side["lat_ns"]["mean"] * side["total_ios"] for side in sides) / total
    # fio keeps no percentile of both directions together.
    p99_ns = max(float(side["lat_ns"]["percentile"]["99.000000"]) for side in sides)
    return Side(iops=sum(side["iops"] for side in sides), mean_ns=mean_ns, p99_ns=p99_ns)
