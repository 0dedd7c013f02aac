"""What the test system did to a program: disturbed programs are blamed on the host, not on the drive.

Limits are shares of the program's time, or nanoseconds. In a stall no thread that asked for it
could run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from assay.units import MILLISECOND_NS, milliseconds
from assay.window.measured import counted_programs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.records import HostRecord, StoredProgram, StoredTest

HostLevel = Literal["pass", "warn", "invalid", "unknown"]

LATE_NS_P999_PASS = 1 * MILLISECOND_NS
LATE_NS_MAX_PASS = 10 * MILLISECOND_NS
# Of a minute, the specification's round, one hundredth: no single stall may take more, however long the program is.
LATE_NS_MAX_INVALID = 600 * MILLISECOND_NS
STALLED_SHARE_INVALID = 0.01
# Programs of under ten seconds are scaled ones, which conform to nothing: a stall or two of a busy host is told there.
STALLED_NS_MIN_INVALID = 100 * MILLISECOND_NS
STEAL_SHARE_PASS, STEAL_SHARE_INVALID = 0.005, 0.05
WAIT_SHARE_PASS = 0.05
_ORDER: tuple[HostLevel, ...] = ("pass", "unknown", "warn", "invalid")


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFinding:
    """How far the host kept a program from running.

    level : ``pass``; ``warn`` (the host is visible in the numbers); ``invalid`` (they are the host's, not the drive's);
    ``unknown`` where nobody watched. reasons : one phrase each, the gravest first; empty where the host kept still.
    steal_share : of all processors' time, taken by the hypervisor. wait_share : time that the tester's threads
    were ready to run and had no processor, over that of the stimulus threads; its own few others may lift it above 1.
    """

    level: HostLevel
    reasons: tuple[str, ...]
    steal_share: float | None
    wait_share: float | None


def host_finding(host: HostRecord | None, thread_count: int) -> HostFinding:
    """Judge what the host did during a program.

    thread_count : threads of the stimulus, at least 1.
    Worked: a single stall of 1,502 ms -> ``invalid``, reason ``"the host stalled for 1,502 ms"``; one of 12 ms in a
    minute -> ``warn``.
    """
    if host is None:
        return HostFinding(level="unknown", reasons=(), steal_share=None, wait_share=None)
    span_ns = max(host.span_ns, 1)
    steal = None if host.steal_ns is None else host.steal_ns / (span_ns * host.cpu_count)
    wait = None if host.wait_ns is None else host.wait_ns / (span_ns * thread_count)
    found = sorted([*_stalls(host, span_ns), *_shares(steal, wait)], key=lambda one: -_ORDER.index(one[0]))
    return HostFinding(
        level=max((level for level, _ in found), key=_ORDER.index, default="pass"),
        reasons=tuple(reason for _, reason in found),
        steal_share=steal,
        wait_share=wait,
    )


def program_host(program: StoredProgram) -> HostFinding:
    """Judge what the host did during a stored program."""
    return host_finding(program.host, max(1, *(spec.demand.thread_count for spec in program.asked)))


def host_reason(test: StoredTest) -> str | None:
    """Why no result may be printed because of the host: the first invalid program that results come from, or None.

    Worked: ``"the host stalled for 1,502 ms in round 3; the test system disturbed this, not the drive"``.
    """
    for program in counted_programs(test):
        finding = program_host(program)
        if finding.level == "invalid":
            return f"{finding.reasons[0]} in {program.name}; the test system disturbed this, not the drive"
    return None


def _stalls(host: HostRecord, span_ns: int) -> Iterator[tuple[HostLevel, str]]:
    stalled_max = max(STALLED_SHARE_INVALID * span_ns, STALLED_NS_MIN_INVALID)
    invalid = host.late_ns_max >= LATE_NS_MAX_INVALID or host.stalled_ns > stalled_max
    if host.late_ns_max > LATE_NS_MAX_PASS:
        more = f", {len(host.stalls)} times {milliseconds(host.stalled_ns):,.0f} ms in all" if host.stalls[1:] else ""
        yield ("invalid" if invalid else "warn"), f"the host stalled for {milliseconds(host.late_ns_max):,.0f} ms{more}"
    elif host.late_ns_p999 > LATE_NS_P999_PASS:
        yield "warn", f"the host lets threads run late: 99.9 % within {milliseconds(host.late_ns_p999):.1f} ms"


def _shares(steal: float | None, wait: float | None) -> Iterator[tuple[HostLevel, str]]:
    if steal is not None and steal > STEAL_SHARE_PASS:
        level: HostLevel = "invalid" if steal > STEAL_SHARE_INVALID else "warn"
        yield level, f"the hypervisor took {steal:.1%} of the processors"
    if wait is not None and wait > WAIT_SHARE_PASS:
        yield "warn", f"the tester waited for a processor {wait:.2f} s in each second, per thread"
