"""Our engine and fio in turn on the same devices of known service times: a file, and a loop device over one.

Goal: the ratios of rates and of mean response times, ours over fio's, with 1, 16 and 256 outstanding (loop: 128).
Once as they are, and once after each was divided by what the server's log says of the very same I/Os: an engine that a
busy host lets run late keeps fewer I/Os outstanding, and is then served otherwise. The bar is 0.5 % from equality for
the latter. It is missed where the whole 95 % interval lies beyond, undecided where a part of it does. Non-goal: speed.

Both count from their first I/O on. At its end fio waits for its last I/Os all at once and gives them all the time at
which the last one came in; those, as many as are outstanding, are left out of its mean.
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
from typing import TYPE_CHECKING, Any

import numpy as np
from assay.engine.records import Demand
from assay.host.points import Side
from assay.results.step import iops, mean_latency_ns
from assay.spec.units import MICROSECOND_NS, MILLISECOND_NS, SECOND_NS
from assay.tools.crosscheck import Difference, differences
from direct_run import ahead_of_others, read_cell, run_on
from loop_device import attached
from timed_file import Service, TimedFile, missing, timed_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

FIO = "/usr/bin/fio"
JOB = "--name=job --thread --rw=randread --bs=4096 --direct=1 --norandommap --randrepeat=0 --time_based"
JOB += " --ioengine=io_uring --registerfiles --fixedbufs --output-format=json"
# fio lets its queue run empty whenever its list of times has to grow.
JOB += " --log_entries=262144"
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


FEW = ((1, 2 * MILLISECOND_NS), (16, 500 * MICROSECOND_NS))
# A loop device takes 128 at a time; of more the submission blocks, in each engine at another place.
MANY = {False: (256, 500 * MICROSECOND_NS), True: (128, 500 * MICROSECOND_NS)}
POINTS = tuple(
    Point(loop=loop, outstanding=count, service_ns=service_ns)
    for loop in (False, True)
    for count, service_ns in (*FEW, MANY[loop])
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What an engine saw in a run, and what the log says of the same I/Os."""

    tool: Side
    log: Side

    @property
    def ratio(self) -> Side:
        """The one over the other."""
        iops, mean_ns = self.tool.iops / self.log.iops, self.tool.mean_ns / self.log.mean_ns
        return Side(iops=iops, mean_ns=mean_ns, p99_ns=None)


def main() -> None:
    """Print the ratios of every point with their spread."""
    reason = missing() or (None if Path(FIO).exists() else "needs fio to compare with")
    if reason is not None:
        print(f"skipped: {reason}")
        return
    smoke = "--smoke" in sys.argv
    points, seconds, pairs = (POINTS[1:2], 0.3, 2) if smoke else (POINTS, SECONDS, PAIRS)
    with ahead_of_others():
        verdicts = [verdict for point in points for verdict in compare(point, seconds, pairs)]
    counts = ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in ("held", "undecided", "missed"))
    print(f"bar {BAR:.1%}: {counts}; load average {os.getloadavg()[0]:.1f}")
    if "missed" in verdicts and not smoke:
        sys.exit(1)


def compare(point: Point, seconds: float, count: int) -> list[str]:
    """Print one point; the verdict of both ratios."""
    with timed_file(Service(service_ns=point.service_ns), SIZE) as file, place(point, file) as path:
        pairs = [in_turn(point, file, path, seconds, ours_first=nth % 2 == 0) for nth in range(count)]
    print(point.label)
    for name, side in (("ours", 0), ("fio ", 1)):
        show_engine(name, [pair[side] for pair in pairs])
    as_they_are = [(mine.tool, theirs.tool) for mine, theirs in pairs]
    over_the_log = [(mine.ratio, theirs.ratio) for mine, theirs in pairs]
    show_ratios("as they are", as_they_are)
    return [verdict_of(part) for part in show_ratios("over the log", over_the_log)]


def show_engine(name: str, runs: Sequence[Seen]) -> None:
    """Print the means of an engine's runs."""
    rate, mean_us = fmean(run.tool.iops for run in runs), fmean(run.tool.mean_ns for run in runs) / MICROSECOND_NS
    of_log = [fmean(getattr(run.ratio, name) for run in runs) for name in ("iops", "mean_ns")]
    print(f"  {name}: {rate:.2f} IOPS, {of_log[0]:.4f} of the log; mean {mean_us:.1f} us, {of_log[1]:.4f} of the log")


def show_ratios(what: str, pairs: Sequence[tuple[Side, Side]]) -> Sequence[Difference]:
    """Print both ratios with their interval and spread."""
    found = differences(pairs)
    for part in found:
        ratios = sorted(getattr(ours, part.metric) / getattr(fio, part.metric) for ours, fio in pairs)
        interval = f"95 % {part.low:.4f} to {part.high:.4f}, pairs {ratios[0]:.4f} to {ratios[-1]:.4f}"
        print(f"  ours / fio {what}: {part.metric} {part.ratio:.4f}, {interval}")
    return found


def verdict_of(part: Difference) -> str:
    """Whether a ratio is within the bar, as far as its pairs tell."""
    if part.low >= 1 - BAR and part.high <= 1 + BAR:
        return "held"
    return "missed" if part.low > 1 + BAR or part.high < 1 - BAR else "undecided"


@contextmanager
def place(point: Point, file: TimedFile) -> Iterator[str]:
    """The path that both engines open."""
    if not point.loop:
        yield file.path
        return
    with attached(file.path) as node:
        yield node


def in_turn(point: Point, file: TimedFile, path: str, seconds: float, *, ours_first: bool) -> tuple[Seen, Seen]:
    """What both engines see, one after the other."""
    if ours_first:
        return ours(point, file, path, seconds), fio(point, file, path, seconds)
    theirs = fio(point, file, path, seconds)
    return ours(point, file, path, seconds), theirs


def ours(point: Point, file: TimedFile, path: str, seconds: float) -> Seen:
    """What our engine sees."""
    before = len(file.log())
    demand = Demand(thread_count=1, queue_depth=point.outstanding)
    (record,) = run_on(path, SIZE, [read_cell(SIZE, demand, seconds)])
    tool = Side(iops=float(iops(record)), mean_ns=mean_latency_ns(record) or 0.0, p99_ns=None)
    return Seen(tool=tool, log=logged(file.log()[before:], 0))


def fio(point: Point, file: TimedFile, path: str, seconds: float) -> Seen:
    """What fio sees."""
    before = len(file.log())
    with tempfile.TemporaryDirectory() as folder:
        command = [FIO, *JOB.split(), f"--filename={path}", f"--size={SIZE}", f"--iodepth={point.outstanding}"]
        command += [f"--runtime={seconds * 1000:.0f}ms", f"--write_lat_log={folder}/times"]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder)
        with Path(f"{folder}/times_lat.1.log").open() as lines:
            times_ns = [int(row[1]) for row in csv.reader(lines)]
    read = json.loads(done.stdout)["jobs"][0]["read"]
    rate = read["total_ios"] / read["runtime"] * SECOND_NS / MILLISECOND_NS
    tool = Side(iops=rate, mean_ns=fmean(times_ns[: -point.outstanding]), p99_ns=None)
    return Seen(tool=tool, log=logged(file.log()[before:], point.outstanding))


def logged(log: NDArray[Any], left_out: int) -> Side:
    """The rate of a run from its first arrival to its last answer, and the mean without the last so many."""
    arrival, answered = (log[name].astype(np.int64) for name in ("arrival_ns", "answered_ns"))
    rate = len(log) / (answered[-1] - arrival.min()) * SECOND_NS
    times_ns = (answered - arrival)[: len(log) - left_out]
    return Side(iops=float(rate), mean_ns=float(times_ns.mean()), p99_ns=None)


if __name__ == "__main__":
    main()
