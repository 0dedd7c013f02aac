"""Where threads go on a machine of two NUMA nodes, each with two cores of two threads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from assay.dut.real.placement import drive_node, parse_cpus, place_threads
from assay.engine.records import DriveIdentity
from assay.errors import ValueRangeError
from assay.run.plan_file import load_plan

if TYPE_CHECKING:
    from pathlib import Path

# Core 0 is CPUs 0 and 4, and so on, as many machines number them.
NODES = {0: "0-1,4-5", 1: "2-3,6-7"}
ALL = range(8)
PCI = "devices/pci0000:80/0000:80:01.0"


def drive(path: str = "/dev/nvme0n1", kind: str = "block") -> DriveIdentity:
    return DriveIdentity(id="x", path=path, kind=kind, capacity_bytes=1, logical_block_bytes=512)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n")


@pytest.fixture
def sysfs(tmp_path: Path) -> Path:
    """Its NVMe drive is at node 1; the disk sda hangs upon something that knows no node."""
    for node, cpus in NODES.items():
        write(tmp_path / f"devices/system/node/node{node}/cpulist", cpus)
    # Memory without CPUs.
    write(tmp_path / "devices/system/node/node2/cpulist", "")
    for cpu in ALL:
        write(tmp_path / f"devices/system/cpu/cpu{cpu}/topology/thread_siblings_list", f"{cpu % 4},{cpu % 4 + 4}")
    write(tmp_path / PCI / "numa_node", "1")
    write(tmp_path / "devices/pci0000:00/0000:00:02.0/numa_node", "-1")
    (tmp_path / "block").mkdir()
    for name, place in (("nvme0n1", f"{PCI}/nvme/nvme0"), ("sda", "devices/pci0000:00/0000:00:02.0/host0")):
        (tmp_path / place / name).mkdir(parents=True)
        (tmp_path / "block" / name).symlink_to(tmp_path / place / name)
    return tmp_path


@pytest.mark.parametrize(
    ("count", "cpus", "text"),
    [
        (1, (2,), "pinned to CPU 2 of NUMA node 1"),
        (2, (2, 3), "pinned to CPUs 2-3 of NUMA node 1"),
        (4, (2, 3, 6, 7), "pinned to CPUs 2-3,6-7 of NUMA node 1"),
        (5, (2, 3, 6, 7, 0), "pinned to CPU 0 of NUMA node 0 and CPUs 2-3,6-7 of NUMA node 1"),
        (8, (2, 3, 6, 7, 0, 1, 4, 5), "pinned to CPUs 0-1,4-5 of NUMA node 0 and CPUs 2-3,6-7 of NUMA node 1"),
        (9, (), "not pinned: 9 threads on 8 CPUs"),
    ],
)
def test_threads_go_to_the_node_of_the_drive_first(sysfs: Path, count: int, cpus: tuple[int, ...], text: str) -> None:
    placed = place_threads(drive(), count, sysfs=sysfs, allowed=ALL)
    assert (placed.cpus, placed.text) == (cpus, text)


def test_a_drive_of_no_known_node_takes_whole_cores_first(sysfs: Path) -> None:
    for unknown in (drive("/dev/sda"), drive("/srv/file", "file")):
        assert drive_node(unknown, sysfs=sysfs) is None
        assert place_threads(unknown, 5, sysfs=sysfs, allowed=ALL).cpus == (0, 1, 2, 3, 4)


def test_only_cpus_that_the_process_may_use_are_taken(sysfs: Path) -> None:
    placed = place_threads(drive(), 3, sysfs=sysfs, allowed={0, 4, 7})
    assert placed.cpus == (7, 0, 4)
    assert place_threads(drive(), 4, sysfs=sysfs, allowed={0, 4, 7}).cpus == ()
    assert place_threads(drive(), 2, sysfs=sysfs, allowed={0}).text == "not pinned: 2 threads on 1 CPU"


def test_a_namespace_of_several_paths_is_at_the_node_of_its_controller(sysfs: Path) -> None:
    subsystem = sysfs / "devices/virtual/nvme-subsystem/nvme-subsys1"
    (subsystem / "nvme1n1").mkdir(parents=True)
    write(sysfs / PCI / "nvme/nvme1/transport", "pcie")
    (subsystem / "nvme1").symlink_to(sysfs / PCI / "nvme/nvme1")
    (sysfs / "block/nvme1n1").symlink_to(subsystem / "nvme1n1")
    assert drive_node(drive("/dev/nvme1n1"), sysfs=sysfs) == 1


def test_a_list_is_used_in_its_order_however_many_threads_there_are(sysfs: Path) -> None:
    placed = place_threads(drive(), 32, "5,0-1", sysfs=sysfs, allowed=ALL)
    assert (placed.cpus, placed.text) == ((5, 0, 1), "pinned to CPUs 0-1,5 of NUMA node 0")
    free = place_threads(drive(), 1, "none", sysfs=sysfs, allowed=ALL)
    assert (free.cpus, free.text) == ((), "not pinned: left to the scheduler")


@pytest.mark.parametrize(
    ("pin", "reason"),
    [
        ("0,9", "CPU 9 is not among those that this process may use (0-1)"),
        ("1-0", "'1-0' is no CPU and no range of CPUs"),
        ("", "'' is no CPU"),
        ("0,x", "'x' is no CPU"),
    ],
)
def test_a_list_that_cannot_be_used_is_refused_with_the_reason(sysfs: Path, pin: str, reason: str) -> None:
    with pytest.raises(ValueRangeError) as caught:
        place_threads(drive(), 1, pin, sysfs=sysfs, allowed={0, 1})
    assert reason in str(caught.value)
    assert str(caught.value).startswith("--pin: ")


def test_a_kernel_without_nodes_leaves_them_out(tmp_path: Path) -> None:
    assert place_threads(drive(), 2, sysfs=tmp_path, allowed={0, 1}).text == "pinned to CPUs 0-1"
    assert parse_cpus("0,2,4-7") == [0, 2, 4, 5, 6, 7]


@pytest.mark.parametrize("pin", ["", "both", "0;1", "0,", "-1", "100000"])
def test_a_plan_names_auto_none_or_cpus(pin: str) -> None:
    with pytest.raises(ValueRangeError, match=r"--pin: .*give auto, none, or CPUs such as 0,2,4-7"):
        load_plan(None, {"drive": "sim:x", "pin": pin})
    assert load_plan(None, {"drive": "sim:x", "pin": "0,2,4-7"}).pin == "0,2,4-7"
