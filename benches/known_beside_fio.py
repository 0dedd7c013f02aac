"""Our engine and fio in turn on the same devices of known service times: a file, and a loop device over one.

Goal: the ratios of rates and of mean response times, ours over fio's, with 1, 16 and 256 outstanding; bar 0.5 % from
equality, for the geometric mean of the pairs; and beside them both rates over that of the server's log in the same run.
Both engines count from their first I/O on. At its end fio waits for its last I/Os all at once and gives them all the
time at which the last one came in; those, as many as are outstanding, are left out of its mean. Non-goal: speed.
Needs root, /dev/fuse and fio; exits with 1 where a bar is missed. ``--smoke`` runs two short pairs of one point.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from assay.crosscheck import differences
from assay.crosscheck.points import Side
from assay.records import Demand
from assay.units import MICROSECOND_NS, MILLISECOND_NS, SECOND_NS
from assay.window import iops, mean_latency_ns
from direct_run import read_cell, run_on
from loop_device import attached
from timed_file import Service, TimedFile, missing, timed_file

if TYPE_CHECKING:
    from collections.abc import Iterator

FIO = "/usr/bin/fio"
JOB = "--name=job --thread --rw=randread --bs=4096 --direct=1 --norandommap --randrepeat=0 --time_based"
JOB += " --ioengine=io_uring --registerfiles --fixedbufs --output-format=json"
BAR = 0.005
SECONDS = 4.0
PAIRS = 8
SIZE = 1 << 36


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """So many outstanding on a server of a service time, as a file or as a loop device over it."""

    loop: bool
    outstanding: int
    service_ns: int

    @property
    def label(self) -> str:
        """The point in words."""
        place = "loop device" if self.loop else "file"
        return f"{place}, {self.outstanding} outstanding, service {self.service_ns / MICROSECOND_NS:.0f} us"


POINTS = tuple(
    Point(loop=loop, outstanding=count, service_ns=service_ns)
    for loop in (False, True)
    for count, service_ns in (
        (1, 2 * MILLISECOND_NS),
        (16, 500 * MICROSECOND_NS),
        (256, 500 * MICROSECOND_NS),
    )
)


def main() -> None:
    """Print the ratios of every point with their spread."""
    reason = missing() or (None if Path(FIO).exists() else "needs fio to compare with")
    if reason is not None:
        print(f"skipped: {reason}")
        return
    smoke = "--smoke" in sys.argv
    points, seconds, pairs = (POINTS[1:2], 0.3, 2) if smoke else (POINTS, SECONDS, PAIRS)
    held = [compare(point, seconds, pairs) for point in points]
    print(f"{held.count(False)} of {len(held)} beyond {BAR:.1%}; load average {os.getloadavg()[0]:.1f}")
    if not all(held) and not smoke:
        sys.exit(1)


def compare(point: Point, seconds: float, count: int) -> bool:
    """Print one point; whether both ratios are within the bar."""
    with timed_file(Service(service_ns=point.service_ns), SIZE) as file, place(point, file) as path:
        pairs = [in_turn(point, path, seconds, ours_first=nth % 2 == 0) for nth in range(count)]
    print(point.label)
    for name, side in (("ours", 0), ("fio ", 1)):
        rates, means = ([getattr(pair[side], of) for pair in pairs] for of in ("iops", "mean_ns"))
        print(f"  {name}: {fmean(rates):.2f} IOPS, mean {fmean(means) / MICROSECOND_NS:.1f} us")
    found = differences(pairs)
    for part in found:
        ratios = sorted(getattr(ours, part.metric) / getattr(fio, part.metric) for ours, fio in pairs)
        spread = f"{ratios[0]:.4f} to {ratios[-1]:.4f}"
        print(f"  {part.metric}: ours / fio {part.ratio:.4f}, 95 % {part.low:.4f} to {part.high:.4f}, pairs {spread}")
    return all(abs(part.ratio - 1) <= BAR for part in found)


@contextmanager
def place(point: Point, file: TimedFile) -> Iterator[str]:
    """The path that both engines open."""
    if not point.loop:
        yield file.path
        return
    with attached(file.path) as node:
        yield node


def in_turn(point: Point, path: str, seconds: float, *, ours_first: bool) -> tuple[Side, Side]:
    """What both engines see, one after the other."""
    if ours_first:
        return ours(point, path, seconds), fio(point, path, seconds)
    theirs = fio(point, path, seconds)
    return ours(point, path, seconds), theirs


def ours(point: Point, path: str, seconds: float) -> Side:
    """What our engine sees."""
    demand = Demand(thread_count=1, queue_depth=point.outstanding)
    (record,) = run_on(path, SIZE, [read_cell(SIZE, demand, seconds)])
    return Side(iops=float(iops(record)), mean_ns=mean_latency_ns(record) or 0.0, p99_ns=None)


def fio(point: Point, path: str, seconds: float) -> Side:
    """What fio sees."""
    with tempfile.TemporaryDirectory() as folder:
        command = [FIO, *JOB.split(), f"--filename={path}", f"--size={SIZE}", f"--iodepth={point.outstanding}"]
        command += [f"--runtime={seconds * 1000:.0f}ms", f"--write_lat_log={folder}/times"]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder)
        with Path(f"{folder}/times_lat.1.log").open() as lines:
            times_ns = [int(row[1]) for row in csv.reader(lines)]
    read = json.loads(done.stdout)["jobs"][0]["read"]
    counted = times_ns[: -point.outstanding]
    return Side(
        iops=read["total_ios"] / read["runtime"] * SECOND_NS / MILLISECOND_NS, mean_ns=fmean(counted), p99_ns=None
    )


if __name__ == "__main__":
    main()
