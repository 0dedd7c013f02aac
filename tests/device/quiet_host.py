"""The command line on a test system that kept still: what was recorded of one stands for what this host does.

As a script it is ``assay`` with that in the place of the watch: ``python quiet_host.py run /dev/loop0 ...``. Its exit
codes are therefore those of the drive and of the program. ``test_host_disturbed`` holds how this host is watched.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass, replace
from typing import Any, Self

from assay import cli
from assay.dut import dut
from assay.dut.real.host_watch import HostWatch
from assay.engine.records import CalibrationPoint, HostCalibration, HostRecord, StepRecord
from assay.engine.stimulus import Stimulus
from assay.results.host import host_findings
from assay.run import run

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
    began_ns=0,
    wakes=((50_000, 60_000),),
    stimulus_cpu_count=os.cpu_count() or 1,
    stimulus_steal_ns=0,
    other_busy_ns=0,
    throttled_ns=0,
)
"""A minute: no thread late by more than 0.9 ms, no time stolen, no wait for a processor."""


CALM = HostCalibration(
    points=(
        CalibrationPoint(thread_count=1, queue_depth=1, answer_ns=100_000, wait_share=0.0, wakes=((50_000, 1_000),)),
    ),
    other_busy_share=0.0,
    steal_share=0.0,
)
"""Of a host that was quiet."""
_LATE_NS, _BUSY_SHARE, _WAITED_SHARE = 1_000_000, 0.01, 0.05


def was_disturbed(record: HostRecord | None) -> bool:
    """Whether anything but the test ran on this host, or anything held its threads up."""
    if record is None or host_findings(record)[0].level != "pass":
        return True
    waited, busy = (record.wait_ns or 0) / record.span_ns, (record.other_busy_ns or 0) / record.span_ns
    return record.late_ns_p999 > _LATE_NS or waited > _WAITED_SHARE or busy > _BUSY_SHARE * record.cpu_count


@dataclass
class QuietWatch:
    """In the place of ``HostWatch``: the record is as long as the block ran, and says that the host kept still."""

    cpus: tuple[int, ...] = ()
    servers: object = None
    record: HostRecord | None = None
    _begun_ns: int = 0

    def __enter__(self) -> Self:
        self._begun_ns = time.monotonic_ns()
        return self

    def __exit__(self, *_: object) -> None:
        span_ns = time.monotonic_ns() - self._begun_ns
        self.record = replace(
            RECORDED, began_ns=self._begun_ns, span_ns=span_ns, run_ns=span_ns, gauge_cpu_ns=span_ns // 200
        )


class QuietStimulus(Stimulus):
    """In the place of ``Stimulus``: none of its threads waited for a processor."""

    def run(self, *arguments: Any) -> list[StepRecord]:
        """The records of the sequence."""
        return [replace(record, wait_ns=0) for record in super().run(*arguments)]


def main() -> None:
    """Run the command line; it ends the process."""
    if dut.HostWatch is not HostWatch:
        sys.exit("assay.dut.dut does not watch the host by the name HostWatch")
    dut.HostWatch = QuietWatch  # type: ignore[assignment, misc]
    dut.Stimulus = QuietStimulus  # type: ignore[misc]
    run.calibrate_host = lambda *_, **__: CALM
    cli.main()


if __name__ == "__main__":
    main()
