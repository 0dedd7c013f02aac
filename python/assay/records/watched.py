"""What the test system did while a program ran."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRecord:
    """How far this host let the tester run during one program; unknown facts are None.

    span_ns : the time watched. late_ns_p999, late_ns_max : how late a thread that asks to run every millisecond did.
    stalled_ns : sum of the stalls of at least 10 ms. stalls : start on the device's clock and length of each, the first
    thousand. gauge_cpu_ns : CPU time that watching cost.
    cpu_count : processors of the host. steal_ns : time that its hypervisor took from all of them.
    run_ns, wait_ns : CPU time of the tester's threads, and the time that they were ready and had to wait for it.
    switches_involuntary : times that a thread of the tester was taken off its processor.
    """

    span_ns: int
    late_ns_p999: int
    late_ns_max: int
    stalled_ns: int
    stalls: tuple[tuple[int, int], ...] = ()
    gauge_cpu_ns: int
    cpu_count: int
    steal_ns: int | None = None
    run_ns: int | None = None
    wait_ns: int | None = None
    switches_involuntary: int | None = None
