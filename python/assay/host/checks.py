"""The checks of the test system, one small function each, in one table.

A check answers from facts that were gathered before, so that it can be tried on any host; ``n/a`` is for what a drive
of this kind cannot have, ``unknown`` for what this host does not tell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from assay.units import MB, MILLISECOND_NS, SECOND_NS, gigabytes

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.device.surroundings import Surroundings
    from assay.host.limits import Limits
    from assay.records import DriveCondition, DriveIdentity, HostRecord

Level = Literal["pass", "warn", "invalid", "unknown", "n/a"]
Answer = tuple[Level, str]
"""The level, and what was found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Everything that the checks answer from.

    clock_ns, clock_backward : cost of a reading, and readings that ran back. certificate_days : age of the newest
    certificate of this host, None where there is none; tool_cpu_ns, ceiling_iops : from it. watched : the host during
    the audit. before, after : what surrounds the drive, at the begin and end of it.
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


@dataclass(frozen=True, slots=True)
class Check:
    """One check. number : of the integrity check that it belongs to, or None.

    limit : what passes, as printed, with the names of limits in braces. remedy : what to do where it does not.
    """

    slug: str
    number: str | None
    title: str
    limit: str
    remedy: str
    answer: Callable[[Facts], Answer]


def banded(value: float | None, good: float, bad: float, shown: str) -> Answer:
    """Pass up to ``good``, invalid beyond ``bad``. Worked: 70 between 60 and 80 -> ``warn``."""
    if value is None:
        return "unknown", "this host does not tell"
    return ("pass" if value <= good else "invalid" if value > bad else "warn"), shown


def _block(answer: Callable[[Facts], Answer]) -> Callable[[Facts], Answer]:
    def guarded(facts: Facts) -> Answer:
        kind = facts.identity.kind
        name = "simulated drive" if kind == "simulated" else kind
        return answer(facts) if kind == "block" else ("n/a", f"does not apply to a {name}")

    return guarded


def _clock_source(facts: Facts) -> Answer:
    source = facts.before.clock_source
    if facts.clock_backward:
        return "invalid", f"{facts.clock_backward} readings ran back"
    if source is None:
        return "unknown", "no clock source named"
    fit = source in {"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"}
    return ("pass" if fit else "warn"), f"{source}, no reading ran back"


def _clock_cost(facts: Facts) -> Answer:
    limits = facts.limits
    return banded(
        facts.clock_ns, limits.clock_read_ns_pass, limits.clock_read_ns_invalid, f"{facts.clock_ns:.1f} ns a reading"
    )


def _tool_overhead(facts: Facts) -> Answer:
    if facts.tool_cpu_ns is None:
        return "unknown", "no certificate of this host"
    shown = f"{facts.tool_cpu_ns:.0f} ns of CPU per I/O on a device that answers at once"
    return ("pass" if facts.tool_cpu_ns <= facts.limits.tool_cpu_ns_pass else "warn"), shown


def _tool_ceiling(facts: Facts) -> Answer:
    if facts.ceiling_iops is None or facts.certificate_days is None:
        return "unknown", "no certificate of this host"
    shown = f"{facts.ceiling_iops:,.0f} IOPS of one thread, certified {facts.certificate_days:.0f} days ago"
    return ("pass" if facts.certificate_days <= facts.limits.certificate_days_pass else "warn"), shown


def _stalls(facts: Facts) -> Answer:
    seen, limits = facts.watched, facts.limits
    late_ms, max_ms = seen.late_ns_p999 / MILLISECOND_NS, seen.late_ns_max / MILLISECOND_NS
    shown = f"99.9 % of wakes within {late_ms:.2f} ms, largest {max_ms:.1f} ms, over {seen.span_ns / SECOND_NS:.1f} s"
    if max_ms > limits.late_ms_max_invalid or seen.stalled_ns > limits.stalled_share_invalid * seen.span_ns:
        return "invalid", shown
    return ("pass" if late_ms <= limits.late_ms_p999_pass and max_ms <= limits.late_ms_max_pass else "warn"), shown


def _steal(facts: Facts) -> Answer:
    seen, limits = facts.watched, facts.limits
    share = None if seen.steal_ns is None else seen.steal_ns / (max(seen.span_ns, 1) * seen.cpu_count)
    shown = f"{share or 0:.2%} stolen, {seen.switches_involuntary or 0} involuntary switches"
    return banded(share, limits.steal_share_pass, limits.steal_share_invalid, shown)


def _write_cache(facts: Facts) -> Answer:
    state = facts.identity.write_cache
    return ("unknown" if state == "unknown" else "pass"), state


def _scheduler(facts: Facts) -> Answer:
    found = facts.before.queue.get("scheduler")
    return ("unknown" if found is None else "pass" if found == "none" else "warn"), found or "not told"


def _queue_limits(facts: Facts) -> Answer:
    queue = facts.before.queue
    names = ("wbt_lat_usec", "rq_affinity", "iostats", "nomerges", "read_ahead_kb")
    shown = ", ".join(f"{name} {queue[name]}" for name in names if name in queue)
    throttled = queue.get("wbt_lat_usec", "0") not in {"0", "-1"}
    return ("unknown" if not shown else "warn" if throttled else "pass"), shown or "not told"


def _depth(facts: Facts) -> Answer:
    count = facts.before.commands_offered
    if count is None:
        return "unknown", "not told"
    return ("pass" if count >= facts.limits.commands_offered_pass else "warn"), f"{count} commands at once"


def _alignment(facts: Facts) -> Answer:
    offset, physical = facts.before.alignment_offset_bytes, facts.identity.physical_block_bytes
    if offset is None or physical is None:
        return "unknown", "not told"
    shown = f"offset {offset}, blocks {facts.identity.logical_block_bytes} logical and {physical} physical"
    return ("pass" if offset == 0 else "warn"), shown


def _governor(facts: Facts) -> Answer:
    found = facts.before.governors
    idle = f"; idle driver {facts.before.idle_driver or 'none'}"
    if not found:
        return "warn", "no governor can be read" + idle
    return ("pass" if found == ("performance",) else "warn"), ", ".join(found) + idle


def _link(facts: Facts) -> Answer:
    link = facts.condition.link
    if link is None:
        return "unknown", "no link is told"
    return ("invalid" if " of " in link else "pass"), link


def _temperature(facts: Facts) -> Answer:
    found, limits = facts.condition.temperature_c, facts.limits
    return banded(found, limits.temperature_c_pass, limits.temperature_c_invalid, f"{found or 0:.0f} degrees Celsius")


def _power(facts: Facts) -> Answer:
    power = facts.before.power
    awake = {"performance", "on", "max_performance", "0", "default"}
    sleepy = [name for name, text in power.items() if text not in awake]
    shown = ", ".join(f"{name} {text}" for name, text in power.items())
    return ("unknown" if not power else "warn" if sleepy else "pass"), shown or "nothing told"


def _numa(facts: Facts) -> Answer:
    node, nodes = facts.before.numa_node, facts.before.cpu_nodes
    if node is None:
        return ("pass", "one node") if len(nodes) == 1 else ("unknown", "the drive's node is not told")
    shown = f"drive on node {node}, processors of node {', '.join(map(str, nodes)) or 'unknown'}"
    return ("pass" if nodes == (node,) else "warn"), shown


def _memory(facts: Facts) -> Answer:
    pages = (facts.before.swap_in_pages, facts.after.swap_in_pages)
    free = facts.after.memory_available_bytes
    if None in pages or free is None:
        return "unknown", "not told"
    swapped = (pages[1] or 0) - (pages[0] or 0)
    shown = f"{gigabytes(free):.1f} GB to be had, {swapped} pages swapped in meanwhile"
    return ("invalid" if swapped else "pass" if gigabytes(free) >= facts.limits.memory_gb_pass else "warn"), shown


def _other_io(facts: Facts) -> Answer:
    seconds = max(facts.watched.span_ns / SECOND_NS, 1e-9)
    rates = {
        name: (count - facts.before.other_io_bytes.get(name, count)) / MB / seconds
        for name, count in facts.after.other_io_bytes.items()
    }
    busy = {name: rate for name, rate in rates.items() if rate > facts.limits.neighbour_mb_per_s_pass}
    shown = ", ".join(f"{name} {rate:.1f} MB/s" for name, rate in busy.items()) or "none"
    same = [name for name in busy if name in facts.before.neighbours]
    return ("warn" if busy else "pass"), shown + (f"; {', '.join(same)} behind the same controller" if same else "")


CHECKS = (
    Check("clock-source", "C1", "Clock source", "hardware clock, never runs back", "set clocksource=tsc",
          _clock_source),
    Check("clock-cost", "C2", "Cost of a clock reading", "at most {clock_read_ns_pass:g} ns, invalid beyond"
          " {clock_read_ns_invalid:g} ns", "use a clock that needs no system call (tsc)", _clock_cost),
    Check("tool-overhead", "C3", "Overhead of the tester", "at most {tool_cpu_ns_pass:g} ns per I/O",
          "run assay calibrate; use a faster processor", _tool_overhead),
    Check("tool-ceiling", "C4", "Ceiling of the tester", "certified within {certificate_days_pass} days",
          "run assay calibrate", _tool_ceiling),
    Check("host-stalls", "C5", "Host stalls", "99.9 % within {late_ms_p999_pass:g} ms, largest {late_ms_max_pass:g} ms,"
          " invalid beyond {late_ms_max_invalid:g} ms or {stalled_share_invalid:.0%} of the time",
          "stop other work on this host, leave a processor free", _stalls),
    Check("steal", "C6", "Stolen time", "at most {steal_share_pass:.1%}, invalid beyond {steal_share_invalid:.0%}",
          "test on a machine of its own", _steal),
    Check("write-cache", "C12", "Write cache", "its state is told", "ask the drive with hdparm -W or nvme get-feature",
          _block(_write_cache)),
    Check("scheduler", "C13", "I/O scheduler", "none", "write none to queue/scheduler", _block(_scheduler)),
    Check("queue", "C13", "Queue settings", "writes are not throttled (wbt_lat_usec 0)",
          "write 0 to queue/wbt_lat_usec; merging is off during runs", _block(_queue_limits)),
    Check("queue-depth", None, "Queue depth offered", "at least {commands_offered_pass} commands",
          "use AHCI mode for NCQ, raise queue_depth; or choose a smaller demand", _block(_depth)),
    Check("alignment", None, "Alignment", "offset 0", "see the drive's documentation", _block(_alignment)),
    Check("governor", "C14", "CPU governor", "performance", "cpupower frequency-set -g performance", _governor),
    Check("link", "C15", "Link of the drive", "as fast and wide as both ends can", "use a faster slot, port or cable",
          _block(_link)),
    Check("temperature", "C16", "Temperature", "at most {temperature_c_pass:g} degrees, invalid beyond"
          " {temperature_c_invalid:g}", "cool the drive", _block(_temperature)),
    Check("power", "C17", "Power saving", "off",
          "pcie_aspm.policy=performance, link power max_performance, power/control on",
          _block(_power)),
    Check("numa", None, "Processors near the drive", "all on the drive's node", "start assay with numactl -N NODE",
          _block(_numa)),
    Check("memory", "C26", "Memory", "{memory_gb_pass:g} GB to be had, no swapping", "free memory, swapoff -a",
          _memory),
    Check("other-io", "C26", "I/O of others", "at most {neighbour_mb_per_s_pass:g} MB/s on any other disk",
          "stop what uses these disks", _other_io),
)  # fmt: skip
"""The checks in the order in which they are printed."""
