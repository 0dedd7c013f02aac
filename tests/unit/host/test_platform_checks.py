"""Each check of the test system: what passes, what warns, what is invalid, what cannot be told."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from assay.dut.real.surroundings import Surroundings, read_surroundings
from assay.engine.records import DriveCondition, DriveIdentity
from assay.errors import PlanError
from assay.host.audit import judged
from assay.host.checks import CHECKS, Facts
from assay.host.limits import Limits, load_limits
from test_device_condition import drive, put
from test_device_identity import make_disk
from test_host_watch import MS, host

if TYPE_CHECKING:
    from pathlib import Path

GOOD = Surroundings(
    queue={"scheduler": "none", "wbt_lat_usec": "0", "nomerges": "0"},
    commands_offered=32,
    alignment_offset_bytes=0,
    governors=("performance",),
    idle_driver="none",
    power={"ASPM policy": "performance"},
    numa_node=0,
    cpu_nodes=(0,),
    memory_available_bytes=8 << 30,
    swap_in_pages=5,
    other_io_bytes={"sdb": 10**9},
    neighbours=("sdb",),
    clock_source="tsc",
)


def facts(**changes: Any) -> Facts:
    identity = DriveIdentity(
        id="x",
        path="/dev/sda",
        kind="block",
        capacity_bytes=1 << 30,
        logical_block_bytes=512,
        physical_block_bytes=4096,
        write_cache="enabled",
    )
    given: dict[str, Any] = {
        "identity": identity,
        "condition": DriveCondition(link="SATA 6.0 Gbps", temperature_c=40.0),
        "limits": Limits(),
        "clock_ns": 25.0,
        "clock_backward": 0,
        "certificate_days": 1.0,
        "tool_cpu_ns": 700.0,
        "ceiling_iops": 1e6,
        "watched": host(),
        "before": GOOD,
        "after": GOOD,
    }
    return Facts(**{**given, **changes})


def around(**changes: Any) -> Facts:
    return facts(before=replace(GOOD, **changes), after=replace(GOOD, **changes))


def later(**changes: Any) -> Facts:
    return facts(after=replace(GOOD, **changes))


def level(slug: str, given: Facts) -> str:
    return next(one.level for one in judged(given) if one.name == slug)


def test_a_good_host_passes_every_check() -> None:
    assert {one.name: one.level for one in judged(facts())} == {check.name: "pass" for check in CHECKS}


@pytest.mark.parametrize(
    ("slug", "expected", "given"),
    [
        ("clock-source", "invalid", facts(clock_backward=1)),
        ("clock-source", "warn", around(clock_source="hpet")),
        ("clock-cost", "warn", facts(clock_ns=70.0)),
        ("clock-cost", "invalid", facts(clock_ns=1500.0)),
        ("tool-overhead", "unknown", facts(tool_cpu_ns=None)),
        ("tool-overhead", "warn", facts(tool_cpu_ns=2500.0)),
        ("tool-ceiling", "warn", facts(certificate_days=31.0)),
        ("tool-ceiling", "unknown", facts(certificate_days=None)),
        ("host-stalls", "warn", facts(watched=host(late_ns_max=11 * MS))),
        ("host-stalls", "invalid", facts(watched=host(late_ns_max=1500 * MS))),
        ("steal", "warn", facts(watched=host(steal_ns=4 * 600 * MS))),
        ("steal", "invalid", facts(watched=host(steal_ns=4 * 6000 * MS))),
        ("steal", "unknown", facts(watched=host(steal_ns=None))),
        ("write-cache", "unknown", facts(identity=replace(facts().identity, write_cache="unknown"))),
        ("scheduler", "warn", around(queue={"scheduler": "mq-deadline"})),
        ("scheduler", "unknown", around(queue={})),
        ("queue", "warn", around(queue={"wbt_lat_usec": "2000"})),
        ("queue-depth", "warn", around(commands_offered=1)),
        ("alignment", "warn", around(alignment_offset_bytes=512)),
        ("governor", "warn", around(governors=("powersave",))),
        ("governor", "unknown", around(governors=())),
        ("link", "invalid", facts(condition=DriveCondition(link="PCIe 8.0 GT/s x2 of PCIe 16.0 GT/s x4"))),
        ("link", "unknown", facts(condition=DriveCondition())),
        ("temperature", "warn", facts(condition=DriveCondition(temperature_c=70.0))),
        ("temperature", "invalid", facts(condition=DriveCondition(temperature_c=81.0))),
        ("temperature", "unknown", facts(condition=DriveCondition())),
        ("power", "warn", around(power={"SATA link": "med_power_with_dipm"})),
        ("numa", "warn", around(numa_node=1)),
        ("numa", "pass", around(numa_node=None)),
        ("numa", "unknown", around(numa_node=None, cpu_nodes=(0, 1))),
        ("memory", "invalid", later(swap_in_pages=6)),
        ("memory", "warn", later(memory_available_bytes=1 << 20)),
        ("other-io", "warn", later(other_io_bytes={"sdb": 2 * 10**9})),
    ],
)
def test_a_check_answers_by_its_limit(slug: str, expected: str, given: Facts) -> None:
    assert level(slug, given) == expected


def test_what_does_not_pass_has_a_remedy_and_evidence() -> None:
    found = judged(around(queue={"scheduler": "bfq"}, commands_offered=1))
    assert all(bool(one.remedy) == (one.level not in {"pass", "n/a"}) for one in found)
    assert all(one.finding.words and one.check.passes for one in found)


def test_a_neighbour_behind_the_same_controller_is_named() -> None:
    found = judged(later(other_io_bytes={"sdb": 2 * 10**9}))
    assert "sdb on the same controller" in next(one.finding.words for one in found if one.name == "other-io")


def test_other_limits_need_a_reason_and_are_kept_with_it(tmp_path: Path) -> None:
    file = tmp_path / "limits.toml"
    file.write_text('reason = "a virtual machine of the lab"\nlate_ms_max_pass = 50\n')
    limits = load_limits(file)
    assert (limits.late_ms_max_pass, limits.reason) == (50, "a virtual machine of the lab")
    assert level("host-stalls", facts(limits=limits, watched=host(late_ns_max=11 * MS))) == "pass"
    file.write_text("late_ms_max_pass = 50\n")
    with pytest.raises(PlanError, match="reason"):
        load_limits(file)
    file.write_text('reason = "a virtual machine"\nlatems = 50\n')
    with pytest.raises(PlanError, match=r"limits\.toml:2:1 latems"):
        load_limits(file)


def test_surroundings_are_read_from_sysfs_and_proc(tmp_path: Path) -> None:
    sysfs, proc = tmp_path / "sys", tmp_path / "proc"
    place = "pci0000:00/0000:00:17.0/{0}/host{1}/target{1}:0:0/{1}:0:0:0/block"
    make_disk(
        sysfs,
        "sda",
        place.format("ata1", 0),
        device__queue_depth="31",
        alignment_offset="0",
        queue__scheduler="[mq-deadline] none",
    )
    make_disk(sysfs, "sdb", place.format("ata2", 1), stat="1 0 8 0 1 0 16 0 0 0 0")
    make_disk(sysfs, "vda", "pci0000:00/0000:00:02.0/virtio1/block", stat="1 0 2 0 1 0 2 0 0 0 0")
    put(sysfs / "devices/pci0000:00/0000:00:17.0/numa_node", "1")
    put(sysfs / "devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave")
    put(sysfs / "class/scsi_host/host0/link_power_management_policy", "med_power_with_dipm")
    put(sysfs / "module/pcie_aspm/parameters/policy", "[default] performance powersave")
    put(proc / "vmstat", "pswpin 12\npswpout 3")
    found = read_surroundings(drive("sda"), sysfs=sysfs, proc=proc)
    assert (found.commands_offered, found.alignment_offset_bytes, found.numa_node) == (31, 0, 1)
    assert found.queue["scheduler"] == "mq-deadline"
    assert (found.governors, found.swap_in_pages) == (("powersave",), 12)
    assert found.power == {"ASPM policy": "default", "SATA link": "med_power_with_dipm"}
    assert found.other_io_bytes == {"sdb": 24 * 512, "vda": 4 * 512}
    assert found.neighbours == ("sdb",)
