"""Watches the host while a sequence runs: stalls, stolen time, waits of the tester's threads."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from assay._native import NativeStallGauge
from assay.dut.real.host import read_host_counters, thread_deltas
from assay.engine.records import HostRecord

if TYPE_CHECKING:
    from assay._native import NativeStalls
    from assay.dut.real.host import HostCounters


@dataclass
class HostWatch:
    """Watches the host as long as the block runs. Use it as a context manager; ``record`` is there afterwards.

    A native thread asks to be woken every millisecond, so that Python's own lock makes nothing late; the kernel's
    counters are read before and after only.
    """

    record: HostRecord | None = None
    _gauge: NativeStallGauge | None = field(default=None, repr=False)
    _before: HostCounters | None = field(default=None, repr=False)

    def __enter__(self) -> Self:
        self._before = read_host_counters()
        self._gauge = NativeStallGauge()
        return self

    def __exit__(self, *_: object) -> None:
        # The gauge's own thread must still be there when the threads are read.
        after = read_host_counters()
        seen = self._gauge.finish() if self._gauge else None
        if seen is not None and self._before is not None:
            self.record = _record(seen, self._before, after)


def _record(seen: NativeStalls, before: HostCounters, after: HostCounters) -> HostRecord:
    times = thread_deltas(before, after)
    stolen = None if before.steal_ns is None or after.steal_ns is None else after.steal_ns - before.steal_ns
    return HostRecord(
        span_ns=seen.span_ns,
        late_ns_p999=seen.late_ns_p999,
        late_ns_max=seen.late_ns_max,
        stalled_ns=seen.stalled_ns,
        stalls=tuple(seen.stalls),
        gauge_cpu_ns=seen.gauge_cpu_ns,
        cpu_count=os.cpu_count() or 1,
        steal_ns=stolen,
        run_ns=times[0] if times else None,
        wait_ns=times[1] if times else None,
        switches_involuntary=after.switches_involuntary - before.switches_involuntary,
    )
