"""Watches the host while a sequence runs: stalls, stolen time, waits of threads, other load."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from assay._native import NativeStallGauge
from assay.dut.real.host import read_host_counters, thread_deltas
from assay.engine.records import HostRecord

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from assay._native import NativeStalls
    from assay.dut.real.host import HostCounters


@dataclass
class HostWatch:
    """Watches the host as long as the block runs. Use it as a context manager; ``record`` is there afterwards.

    cpus : that the stimulus is kept on, none where it is free. servers : see ``servers.serving_threads``.
    Native threads ask to be woken every millisecond, so that Python's own lock makes nothing late; the kernel's
    counters are read before and after only.
    """

    cpus: tuple[int, ...] = ()
    servers: Callable[[], Iterable[Path]] | None = None
    record: HostRecord | None = None
    _gauge: NativeStallGauge | None = field(default=None, repr=False)
    _before: HostCounters | None = field(default=None, repr=False)

    def __enter__(self) -> Self:
        self._before = read_host_counters(cpus=self.cpus, servers=self.servers)
        self._gauge = NativeStallGauge(list(self.cpus))
        return self

    def __exit__(self, *_: object) -> None:
        # The gauge's own threads must still be there when the threads are read.
        after = read_host_counters(cpus=self.cpus, servers=self.servers)
        seen = self._gauge.finish() if self._gauge else None
        if seen is not None and self._before is not None:
            self.record = _record(seen, self._before, after, len(set(self.cpus)))


def _record(seen: NativeStalls, before: HostCounters, after: HostCounters, pinned_count: int) -> HostRecord:
    cpu_count = os.cpu_count() or 1
    own, servers = thread_deltas(before.threads, after.threads), thread_deltas(before.servers, after.servers)
    return HostRecord(
        began_ns=seen.began_ns,
        span_ns=seen.span_ns,
        wakes=tuple(seen.wakes),
        waits=tuple(seen.waits),
        watched_ns=seen.watched_ns,
        late_ns_by_second=tuple(seen.late_ns_by_second),
        late_ns_p999=seen.late_ns_p999,
        late_ns_max=seen.late_ns_max,
        stalled_ns=seen.stalled_ns,
        stalls=tuple(seen.stalls),
        gauge_cpu_ns=seen.gauge_cpu_ns,
        cpu_count=cpu_count,
        steal_ns=_grown(before.steal_ns, after.steal_ns),
        stimulus_cpu_count=pinned_count or cpu_count,
        stimulus_steal_ns=_grown(before.stimulus_steal_ns, after.stimulus_steal_ns),
        other_busy_ns=_other_busy(before, after, servers),
        server_run_ns=servers[0] if servers else None,
        server_wait_ns=servers[1] if servers else None,
        throttled_ns=_grown(before.throttled_ns, after.throttled_ns),
        pressure_ns=_grown(before.pressure_ns, after.pressure_ns),
        run_ns=own[0] if own else None,
        wait_ns=own[1] if own else None,
        switches_involuntary=after.switches_involuntary - before.switches_involuntary,
    )


def _grown(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None else max(after - before, 0)


def _other_busy(before: HostCounters, after: HostCounters, servers: tuple[int, int] | None) -> int | None:
    """What neither this process nor the threads that serve its target used; not below zero, since ticks are coarse."""
    busy = _grown(before.busy_ns, after.busy_ns)
    own = after.own_ns - before.own_ns + (servers[0] if servers else 0)
    return None if busy is None else max(busy - own, 0)
