"""The command line on a test system that kept still: what was recorded of one stands for what this host does.

As a script it is ``assay`` with that in the place of the watch: ``python quiet_host.py run /dev/loop0 ...``. Its exit
codes are therefore those of the drive and of the program. ``test_host_disturbed`` holds how this host is watched.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass, replace
from typing import Self

from assay import cli
from assay.dut import dut
from assay.dut.real.host_watch import HostWatch
from assay.engine.records import HostRecord

QUIET_ASSAY = (sys.executable, __file__)
"""How a test starts it."""
RECORDED = HostRecord(
    span_ns=60 * 10**9,
    late_ns_p999=70_000,
    late_ns_max=900_000,
    stalled_ns=0,
    gauge_cpu_ns=300 * 10**6,
    cpu_count=os.cpu_count() or 1,
    steal_ns=0,
    run_ns=60 * 10**9,
    wait_ns=0,
    switches_involuntary=3,
)
"""A minute: no thread late by more than 0.9 ms, no time stolen, no wait for a processor."""


@dataclass
class QuietWatch:
    """In the place of ``HostWatch``: the record is as long as the block ran, and says that the host kept still."""

    record: HostRecord | None = None
    _begun_ns: int = 0

    def __enter__(self) -> Self:
        self._begun_ns = time.monotonic_ns()
        return self

    def __exit__(self, *_: object) -> None:
        span_ns = time.monotonic_ns() - self._begun_ns
        self.record = replace(RECORDED, span_ns=span_ns, run_ns=span_ns, gauge_cpu_ns=span_ns // 200)


def main() -> None:
    """Run the command line; it ends the process."""
    if dut.HostWatch is not HostWatch:
        sys.exit("assay.dut.dut does not watch the host by the name HostWatch")
    dut.HostWatch = QuietWatch  # type: ignore[assignment, misc]
    cli.main()


if __name__ == "__main__":
    main()
