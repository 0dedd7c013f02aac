"""Rates of a file whose service times are known, for cells of several lengths and 1 to 256 outstanding I/Os.

Goal: what is counted in a cell's window is what the server's log has in the same window, within one I/O, for the first
cell of a call and for one that follows another; and beside it the nominal rate, 1 / service time, which a server
reaches that is never idle. With one outstanding I/O the transport to the server and back is idle time. Non-goal: speed.
Needs root and /dev/fuse; exits with 1 where a bar is missed. ``--smoke`` runs two short cells.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from assay.engine.records import Demand
from assay.results.step import iops
from assay.spec.units import MICROSECOND_NS, MILLISECOND_NS, SECOND_NS
from direct_run import ahead_of_others, read_cell, run_on
from timed_file import Service, answered_count, missing, seen_count_bounds, timed_file

if TYPE_CHECKING:
    from assay.engine.records import StepRecord
    from timed_file import TimedFile

SERVICES_NS = (2 * MILLISECOND_NS, 500 * MICROSECOND_NS)
SECONDS = (0.5, 2.0, 10.0)
OUTSTANDING = (1, 4, 32, 256)
SIZES = (4096, 8192)
COUNT_BAR = 1


def main() -> None:
    """Print a line per service time, length, demand and cell."""
    if (reason := missing()) is not None:
        print(f"skipped: {reason}")
        return
    smoke = "--smoke" in sys.argv
    services, lengths, demands = (SERVICES_NS[1:], (0.2,), (32,)) if smoke else (SERVICES_NS, SECONDS, OUTSTANDING)
    missed = 0
    for service_ns in services:
        with ahead_of_others(), timed_file(Service(service_ns=service_ns)) as file:
            print(f"service {service_ns / MICROSECOND_NS:.0f} us: nominal {SECOND_NS / service_ns:.0f} IOPS")
            for seconds in lengths:
                missed += sum(not held for count in demands for held in measure(file, service_ns, count, seconds))
    print(f"{missed} cells further than {COUNT_BAR} I/O from the log; load average {os.getloadavg()[0]:.1f}")
    if missed and not smoke:
        sys.exit(1)


def measure(file: TimedFile, service_ns: int, outstanding: int, seconds: float) -> list[bool]:
    """Whether the counts of a first and of a following cell are those of the log."""
    demand = Demand(thread_count=1, queue_depth=outstanding)
    records = run_on(file.path, file.size_bytes, [read_cell(file.size_bytes, demand, seconds, size) for size in SIZES])
    return [
        show(file, f"{seconds:g} s, {outstanding} outstanding, {which}", record, outstanding, service_ns)
        for which, record in zip(("first", "following"), records, strict=True)
    ]


def show(file: TimedFile, what: str, record: StepRecord, outstanding: int, service_ns: int) -> bool:
    """Print one cell; whether its count is one that a client can have seen, as the log tells."""
    log, end_ns = file.log(), record.start_ns + record.span_ns
    count = float(iops(record) * record.span_ns / SECOND_NS)
    answered = answered_count(log, record.start_ns, end_ns)
    least, most = seen_count_bounds(log, record.start_ns, end_ns, outstanding)
    held = least - COUNT_BAR <= count <= most + COUNT_BAR
    share = float(iops(record)) * service_ns / SECOND_NS
    verdict = "" if held else "  MISSED"
    print(f"  {what}: {count:.0f} counted, {answered} in the log, {share:.4f} of nominal{verdict}")
    return held


if __name__ == "__main__":
    main()
