"""Audits the test system before a run: gathers the facts, and lets every check answer."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from assay._native import clock_reads
from assay.dut.real.condition import read_condition
from assay.dut.real.host_watch import HostWatch
from assay.dut.real.preflight import LARGEST_DEMAND, LEAST_DEMAND, host_limit
from assay.dut.real.surroundings import read_surroundings
from assay.host.certificate import kept_certificates
from assay.host.checks import CHECKS, Facts
from assay.results.finding import ask_all
from assay.spec.units import SECOND_NS

if TYPE_CHECKING:
    from assay.engine.records import DriveIdentity
    from assay.host.limits import Limits
    from assay.results.finding import Checked

_CLOCK_READS = 1_000_000
_DAY_S = 86_400


def audit_host(identity: DriveIdentity, limits: Limits, seconds: float = 2.0) -> tuple[Checked, ...]:
    """Audit this host for tests of a drive; nothing is written, and the drive is not opened for writing.

    seconds : that the host is watched, at least 0.1.
    Returns every check with its answer in the order of the table.
    Worked: a simulated drive has no link: that check is ``n/a``.
    """
    return judged(_facts(identity, limits, seconds))


def judged(facts: Facts) -> tuple[Checked, ...]:
    """Let every check answer from given facts; what passes is printed with the limits that were given."""
    values = facts.limits.model_dump()
    return ask_all([replace(check, passes=check.passes.format(**values)) for check in CHECKS], facts)


def _facts(identity: DriveIdentity, limits: Limits, seconds: float) -> Facts:
    cost_ns, backward = clock_reads(_CLOCK_READS)
    before = read_surroundings(identity)
    with HostWatch() as watch:
        time.sleep(seconds)
    after = read_surroundings(identity)
    assert watch.record is not None, "the block ended"  # noqa: S101 - an invariant of HostWatch
    days, cpu_ns, iops = _certified()
    real = identity.kind != "simulated"
    return Facts(
        identity=identity,
        condition=read_condition(identity),
        limits=limits,
        clock_ns=cost_ns,
        clock_backward=backward,
        certificate_days=days,
        tool_cpu_ns=cpu_ns,
        ceiling_iops=iops,
        watched=watch.record,
        before=before,
        after=after,
        host_limit=host_limit(LARGEST_DEMAND, counted=True) if real else None,
        host_limit_least=host_limit(LEAST_DEMAND, counted=True) if real else None,
    )


def _certified() -> tuple[float | None, float | None, float | None]:
    """Age in days, CPU time per I/O and best rate of one thread, of the newest certificate."""
    kept = kept_certificates().certificates
    if not kept:
        return None, None, None
    newest = kept[0]
    best = max((point for point in newest.ceiling if point.thread_count == 1), key=lambda point: point.iops)
    return (time.time_ns() - newest.made_wall_ns) / SECOND_NS / _DAY_S, best.cpu_ns, best.iops
