"""The checks of the test system, one small function each, in one table.

A check answers from facts that were gathered before, so that it can be tried on any host; ``n/a`` is for what a drive
of this kind cannot have, ``unknown`` for what this host does not tell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.results.finding import Check, Finding, Level, at_least, at_most
from assay.spec.units import MB, MILLISECOND_NS, SECOND_NS, gigabytes
from assay.words.coded import coded

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from assay.dut.real.surroundings import Surroundings
    from assay.engine.records import DriveCondition, DriveIdentity, HostRecord
    from assay.errors import HostLimitError
    from assay.host.limits import Limits
    from assay.words.coded import Coded


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Everything that the checks answer from.

    clock_ns, clock_backward : cost of a reading, and readings that ran back. certificate_days : age of the newest
    certificate of this host, None where there is none; tool_cpu_ns, ceiling_iops : from it. watched : the host during
    the audit. before, after : what surrounds the drive, at the begin and end of it.
    host_limit, host_limit_least : what the largest and the least demand of the editions meet; None: all is there.
    """

    identity: DriveIdentity
    condition: DriveCondition
    limits: Limits
    clock_ns: float
    clock_backward: int
    certificate_days: float | None
    tool_cpu_ns: float | None
    ceiling_iops: float | None
    watched: HostRecord
    before: Surroundings
    after: Surroundings
    host_limit: HostLimitError | None = None
    host_limit_least: HostLimitError | None = None


def banded(value: float | None, good: float, bad: float, shown: Coded) -> Finding:
    """Pass up to ``good``, invalid beyond ``bad``. Worked: 70 between 60 and 80 -> ``warn``."""
    if value is None:
        return _unknown("host-silent")
    return Finding(level=at_most(value, good, bad), reason=shown, measured=value, limit=good)


def _unknown(code: str = "not-told") -> Finding:
    return Finding(level="unknown", reason=coded(code))


def _warned(fits: object, shown: Coded) -> Finding:
    return Finding(level="pass" if fits else "warn", reason=shown)


def _block(answer: Callable[[Facts], Finding]) -> Callable[[Facts], Finding]:
    def guarded(facts: Facts) -> Finding:
        kind = facts.identity.kind
        name = "simulated drive" if kind == "simulated" else kind
        return answer(facts) if kind == "block" else Finding(level="n/a", reason=coded("not-for", kind=name))

    return guarded


def _clock_source(facts: Facts) -> Finding:
    source = facts.before.clock_source
    if facts.clock_backward:
        return Finding(level="invalid", reason=coded("ran-back", count=facts.clock_backward))
    if source is None:
        return _unknown("no-clock-source")
    fit = source in {"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"}
    return _warned(fit, coded("clock-source", source=source))


def _clock_cost(facts: Facts) -> Finding:
    limits, shown = facts.limits, coded("clock-cost", cost_ns=facts.clock_ns)
    return banded(facts.clock_ns, limits.clock_read_ns_pass, limits.clock_read_ns_invalid, shown)


def _tool_overhead(facts: Facts) -> Finding:
    if facts.tool_cpu_ns is None:
        return _unknown("no-certificate")
    shown = coded("tool-cpu", cpu_ns=facts.tool_cpu_ns)
    return _warned(at_most(facts.tool_cpu_ns, facts.limits.tool_cpu_ns_pass) == "pass", shown)


def _tool_ceiling(facts: Facts) -> Finding:
    if facts.ceiling_iops is None or facts.certificate_days is None:
        return _unknown("no-certificate")
    shown = coded("tool-ceiling", iops=facts.ceiling_iops, days=facts.certificate_days)
    return _warned(at_most(facts.certificate_days, facts.limits.certificate_days_pass) == "pass", shown)


def _stalls(facts: Facts) -> Finding:
    seen, limits = facts.watched, facts.limits
    late_ms, max_ms = seen.late_ns_p999 / MILLISECOND_NS, seen.late_ns_max / MILLISECOND_NS
    shown = coded("wakes", late_ns=seen.late_ns_p999, largest_ns=seen.late_ns_max, span_ns=seen.span_ns)
    # A stall makes the audit last longer, and is no part of the time that it is a share of.
    ran_ns = max(seen.span_ns - seen.stalled_ns, 0)
    if max_ms > limits.late_ms_max_invalid or seen.stalled_ns > limits.stalled_share_invalid * ran_ns:
        return Finding(level="invalid", reason=shown)
    return _warned(late_ms <= limits.late_ms_p999_pass and max_ms <= limits.late_ms_max_pass, shown)


def _steal(facts: Facts) -> Finding:
    seen, limits = facts.watched, facts.limits
    share = None if seen.steal_ns is None else seen.steal_ns / (max(seen.span_ns, 1) * seen.cpu_count)
    shown = coded("stolen", share=share or 0, count=seen.switches_involuntary or 0)
    return banded(share, limits.steal_share_pass, limits.steal_share_invalid, shown)


def _write_cache(facts: Facts) -> Finding:
    state = facts.identity.write_cache
    return Finding(level="unknown" if state == "unknown" else "pass", reason=coded("kept", value=state))


def _scheduler(facts: Facts) -> Finding:
    result = facts.before.queue.get("scheduler")
    return _unknown() if result is None else _warned(result == "none", coded("kept", value=result))


def _queue_limits(facts: Facts) -> Finding:
    queue = facts.before.queue
    names = ("wbt_lat_usec", "rq_affinity", "iostats", "nomerges", "read_ahead_kb")
    shown = _named({name: queue[name] for name in names if name in queue})
    throttled = queue.get("wbt_lat_usec", "0") not in {"0", "-1"}
    return _warned(not throttled, shown) if queue.keys() & set(names) else _unknown()


def _depth(facts: Facts) -> Finding:
    count = facts.before.commands_offered
    if count is None:
        return _unknown()
    limit = facts.limits.commands_offered_pass
    return Finding(level=at_least(count, limit), reason=coded("at-once", count=count), measured=count, limit=limit)


def _alignment(facts: Facts) -> Finding:
    offset, physical = facts.before.alignment_offset_bytes, facts.identity.physical_block_bytes
    if offset is None or physical is None:
        return _unknown()
    shown = coded("alignment", offset=offset, logical=facts.identity.logical_block_bytes, physical=physical)
    return _warned(offset == 0, shown)


def _governor(facts: Facts) -> Finding:
    result = facts.before.governors
    idle = facts.before.idle_driver or "none"
    if not result:
        return Finding(level="unknown", reason=coded("no-governor", idle=idle))
    return _warned(result == ("performance",), coded("governors", names=result, idle=idle))


def _link(facts: Facts) -> Finding:
    link = facts.condition.link
    if link is None:
        return _unknown("no-link")
    return Finding(level="invalid" if " of " in link else "pass", reason=coded("kept", value=link))


def _temperature(facts: Facts) -> Finding:
    result, limits = facts.condition.temperature_c, facts.limits
    return banded(
        result, limits.temperature_c_pass, limits.temperature_c_invalid, coded("temperature", celsius=result or 0)
    )


def _power(facts: Facts) -> Finding:
    power = facts.before.power
    awake = {"performance", "on", "max_performance", "0", "default"}
    sleepy = [name for name, text in power.items() if text not in awake]
    return _warned(not sleepy, _named(power)) if power else _unknown("nothing-told")


def _numa(facts: Facts) -> Finding:
    node, nodes = facts.before.numa_node, facts.before.cpu_nodes
    if node is None:
        return _warned(nodes, coded("one-node")) if len(nodes) == 1 else _unknown("no-node")
    shown = coded("nodes", node=node, nodes=nodes or ("unknown",))
    return _warned(nodes == (node,), shown)


def _memory(facts: Facts) -> Finding:
    pages = (facts.before.swap_in_pages, facts.after.swap_in_pages)
    free = facts.after.memory_available_bytes
    if None in pages or free is None:
        return _unknown()
    swapped = (pages[1] or 0) - (pages[0] or 0)
    shown = coded("memory", free_bytes=free, count=swapped)
    level: Level = "invalid" if swapped else at_least(gigabytes(free), facts.limits.memory_gb_pass)
    return Finding(level=level, reason=shown)


def _host_limits(facts: Facts) -> Finding:
    if facts.identity.kind == "simulated":
        return Finding(level="n/a", reason=coded("not-for", kind="simulated drive"))
    met = facts.host_limit_least or facts.host_limit
    if met is None:
        return Finding(level="pass", reason=coded("host-tried"))
    level: Level = "invalid" if facts.host_limit_least else "warn"
    return Finding(level=level, reason=coded("host-limit", thing=met.thing, reason=met.reason, remedy=met.remedy))


def _other_io(facts: Facts) -> Finding:
    seconds = max(facts.watched.span_ns / SECOND_NS, 1e-9)
    rates = {
        name: (count - facts.before.other_io_bytes.get(name, count)) / MB / seconds
        for name, count in facts.after.other_io_bytes.items()
    }
    busy = {name: rate for name, rate in rates.items() if rate > facts.limits.neighbour_mb_per_s_pass}
    rows = tuple(coded("neighbour", name=name, rate=rate) for name, rate in busy.items())
    same = tuple(name for name in busy if name in facts.before.neighbours)
    return _warned(not busy, coded("neighbours", rows=rows, same=same or None) if rows else coded("none"))


def _named(facts: Mapping[str, str]) -> Coded:
    """Facts with their names."""
    rows = tuple(coded("named", name=name, value=value) for name, value in facts.items())
    return coded("facts", rows=rows)


CHECKS: tuple[Check[Facts], ...] = (
    Check(name="clock-source", number="C1", title="Clock source", passes="hardware clock, never runs back",
          remedy="set clocksource=tsc",
          untold="see /sys/devices/system/clocksource/clocksource0", answer=_clock_source),
    Check(name="clock-cost", number="C2", title="Cost of a clock reading",
          passes="at most {clock_read_ns_pass:g} ns, invalid beyond {clock_read_ns_invalid:g} ns",
          remedy="use a clock that needs no system call (tsc)", answer=_clock_cost),
    Check(name="tool-overhead", number="C3", title="Overhead of the tester",
          passes="at most {tool_cpu_ns_pass:g} ns per I/O",
          remedy="use a faster processor; assay calibrate measures it again",
          untold="run assay calibrate",
          answer=_tool_overhead),
    Check(name="tool-ceiling", number="C4", title="Ceiling of the tester",
          passes="certified within {certificate_days_pass} days", remedy="run assay calibrate",
          answer=_tool_ceiling),
    Check(name="host-stalls", number="C5", title="Host stalls",
          passes="99.9 % within {late_ms_p999_pass:g} ms, largest {late_ms_max_pass:g} ms, invalid beyond"
          " {late_ms_max_invalid:g} ms or {stalled_share_invalid:.0%} of the time",
          remedy="stop other work on this host, leave a processor free", answer=_stalls),
    Check(name="steal", number="C6", title="Stolen time",
          passes="at most {steal_share_pass:.1%}, invalid beyond {steal_share_invalid:.0%}",
          remedy="test on a dedicated machine",
          untold="ignore it on a dedicated machine; a hypervisor can hide stolen time", answer=_steal),
    Check(name="write-cache", number="C12", title="Write cache", passes="its state is reported",
          remedy="query the drive with hdparm -W or nvme get-feature", answer=_block(_write_cache)),
    Check(name="scheduler", number="C13", title="I/O scheduler", passes="none",
          remedy="write none to queue/scheduler",
          untold="see queue/scheduler of the drive in /sys/block", answer=_block(_scheduler)),
    Check(name="queue", number="C13", title="Queue settings", passes="writes are not throttled (wbt_lat_usec 0)",
          remedy="write 0 to queue/wbt_lat_usec; merging is off during runs",
          untold="see the folder queue of the drive in /sys/block", answer=_block(_queue_limits)),
    Check(name="queue-depth", title="Queue depth offered", passes="at least {commands_offered_pass} commands",
          remedy="use AHCI mode for NCQ, raise queue_depth; or choose a smaller demand",
          untold="compare with the drive's documentation", answer=_block(_depth)),
    Check(name="alignment", title="Alignment", passes="offset 0", remedy="see the drive's documentation",
          untold="a virtual drive does not report it; compare with the drive's documentation",
          answer=_block(_alignment)),
    Check(name="governor", number="C14", title="CPU governor", passes="performance",
          remedy="cpupower frequency-set -g performance",
          untold="a virtual machine has none: set it on its host", answer=_governor),
    Check(name="link", number="C15", title="Link of the drive", passes="as fast and wide as both ends can",
          remedy="use a faster slot, port or cable",
          untold="compare the drive's data sheet with lspci -vv or smartctl -i", answer=_block(_link)),
    Check(name="temperature", number="C16", title="Temperature",
          passes="at most {temperature_c_pass:g} degrees, invalid beyond {temperature_c_invalid:g}",
          remedy="cool the drive",
          untold="load the kernel module drivetemp for SATA and SAS, or install smartmontools",
          answer=_block(_temperature)),
    Check(name="power", number="C17", title="Power saving", passes="off",
          remedy="pcie_aspm.policy=performance, link power max_performance, power/control on",
          untold="see the folder power of the drive in /sys/block",
          answer=_block(_power)),
    Check(name="numa", title="Processors near the drive", passes="all on the drive's node",
          remedy="start assay with numactl -N NODE",
          untold="see numactl --hardware; a single node needs nothing", answer=_block(_numa)),
    Check(name="memory", number="C26", title="Memory", passes="{memory_gb_pass:g} GB available, no swapping",
          remedy="free memory, swapoff -a",
          untold="see free -h", answer=_memory),
    Check(name="host-limits", title="Limits of the host", passes="TC 32 x QD 32 of 128 KiB is available",
          remedy="raise the limit; with a warning a smaller demand may do", answer=_host_limits),
    Check(name="other-io", number="C26", title="I/O of others",
          passes="at most {neighbour_mb_per_s_pass:g} MB/s on any other disk", remedy="stop what uses these disks",
          answer=_other_io),
)  # fmt: skip
"""The checks in the order in which they are printed; ``passes`` has the names of limits in braces."""
