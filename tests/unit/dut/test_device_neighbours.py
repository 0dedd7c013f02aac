"""Which devices share something with a drive, by sysfs trees made up for the test, and what is counted of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from assay.dut.real.loop import Backing
from assay.dut.real.neighbours import Neighbour, NeighbourWatch, neighbours, read_counts
from assay.dut.real.sysfs import whole_disks
from assay.engine.codec import decode, encode
from assay.engine.records import DriveIdentity, DriveRecord, DriveState, NeighbourRecord, NeighboursRecord
from test_device_identity import make_disk

if TYPE_CHECKING:
    from collections.abc import Mapping

IDLE = "0 0 0 0 0 0 0 0 0 0 0"
PORT, SWITCH = "pci0000:00/0000:00:01.0", "pci0000:00/0000:00:01.0/0000:01:00.0"
AHCI = "pci0000:00/0000:00:17.0/ata{0}/host{0}/target{0}:0:0/{0}:0:0:0/block"
SAS = "pci0000:00/0000:00:03.0/0000:05:00.0/host7/target7:0:{0}/7:0:{0}:{1}/block"
VMD = "pci0000:00/0000:00:0e.0/pci10000:e0/10000:e0:0{0}.0/10000:e{0}:00.0/nvme/nvme{1}"
SUBSYSTEM = "virtual/nvme-subsystem/nvme-subsys0"


def drive(name: str, kind: str = "block") -> DriveIdentity:
    return DriveIdentity(id="x", path=f"/dev/{name}", kind=kind, capacity_bytes=1 << 30, logical_block_bytes=512)  # type: ignore[arg-type]


def settle(sysfs: Path, disks: Mapping[str, str]) -> Path:
    """Disks with nothing done, by name and place."""
    for name, place in disks.items():
        make_disk(sysfs, name, place, stat=IDLE)
    return sysfs


def near(sysfs: Path, name: str, backings: Mapping[str, Backing] | None = None) -> set[tuple[str, str, str]]:
    found = neighbours(drive(name), sysfs=sysfs, backings=(backings or {}).items)
    return {(one.name, one.shared, one.by) for one in found}


def link(sysfs: Path, place: str, speed: str, width: str) -> None:
    (sysfs / "devices" / place / "current_link_speed").write_text(speed + "\n")
    (sysfs / "devices" / place / "current_link_width").write_text(width + "\n")


@pytest.mark.parametrize(
    ("disks", "name", "expected"),
    [
        (
            {"nvme0n1": f"{PORT}/0000:01:00.0/nvme/nvme0", "nvme0n2": f"{PORT}/0000:01:00.0/nvme/nvme0"},
            "nvme0n1",
            {("nvme0n2", "subsystem", "nvme0")},
        ),
        (
            {"nvme0n1": SUBSYSTEM, "nvme0n2": SUBSYSTEM, "nvme1n1": "virtual/nvme-subsystem/nvme-subsys1"},
            "nvme0n2",
            {("nvme0n1", "subsystem", "nvme-subsys0")},
        ),
        (
            {"sda": SAS.format(0, 0), "sdb": SAS.format(0, 1), "sdc": SAS.format(1, 0), "sdd": AHCI.format(1)},
            "sda",
            {("sdb", "target", "target7:0:0"), ("sdc", "controller", "0000:05:00.0")},
        ),
        ({"sda": AHCI.format(1), "sdb": AHCI.format(2)}, "sda", {("sdb", "controller", "0000:00:17.0")}),
        (
            {
                "nvme0n1": f"{SWITCH}/0000:02:00.0/0000:03:00.0/nvme/nvme0",
                "nvme1n1": f"{SWITCH}/0000:02:01.0/0000:04:00.0/nvme/nvme1",
                "nvme2n1": "pci0000:00/0000:00:02.0/0000:06:00.0/nvme/nvme2",
            },
            "nvme0n1",
            {("nvme1n1", "uplink", "0000:01:00.0")},
        ),
        ({"nvme0n1": VMD.format(1, 0), "nvme1n1": VMD.format(2, 1)}, "nvme0n1", set()),
        (
            {
                "sda": "platform/host3/session1/target3:0:0/3:0:0:0/block",
                "sdb": "platform/host3/session2/target3:0:1/x",
            },
            "sda",
            {("sdb", "controller", "host3")},
        ),
        (
            {"vda": "pci0000:00/0000:00:02.0/virtio1/block", "vdb": "pci0000:00/0000:00:03.0/virtio2/block"},
            "vda",
            set(),
        ),
    ],
    ids=["namespaces", "paths", "luns", "ports of a controller", "switch", "vmd", "iscsi", "virtio"],
)
def test_a_neighbour_is_known_by_the_nearest_thing_that_is_shared(
    tmp_path: Path, disks: dict[str, str], name: str, expected: set[tuple[str, str, str]]
) -> None:
    assert near(settle(tmp_path, disks), name) == expected


def test_a_namespace_with_several_paths_shares_the_uplinks_of_its_controllers(tmp_path: Path) -> None:
    way = f"{SWITCH}/0000:02:00.0/0000:03:00.0/nvme/nvme0"
    settle(tmp_path, {"nvme0n1": SUBSYSTEM, "nvme1n1": f"{SWITCH}/0000:02:01.0/0000:04:00.0/nvme/nvme1"})
    make_disk(tmp_path, "nvme0c0n1", way, stat=IDLE, hidden="1")
    (tmp_path / "devices" / way / "transport").write_text("pcie\n")
    (tmp_path / "devices" / SUBSYSTEM / "nvme0").symlink_to(tmp_path / "devices" / way)
    assert near(tmp_path, "nvme0n1") == {("nvme1n1", "uplink", "0000:01:00.0")}


def test_the_link_that_two_drives_use_is_that_of_the_port_above_both(tmp_path: Path) -> None:
    places = {f"nvme{at}n1": f"{SWITCH}/0000:02:0{at}.0/0000:0{at + 3}:00.0/nvme/nvme{at}" for at in (0, 1)}
    link(settle(tmp_path, places), SWITCH, "8.0 GT/s PCIe", "4")
    (found,) = neighbours(drive("nvme0n1"), sysfs=tmp_path, backings=dict)
    assert found == Neighbour("nvme1n1", "uplink", "0000:01:00.0", "PCIe 8.0 GT/s x4")
    link(tmp_path, SWITCH, "Unknown", "0")
    (found,) = neighbours(drive("nvme0n1"), sysfs=tmp_path, backings=dict)
    assert found.link is None


def test_an_empty_slot_and_a_file_have_no_part_in_it(tmp_path: Path) -> None:
    settle(tmp_path, {"sda": AHCI.format(1)})
    make_disk(tmp_path, "sdb", AHCI.format(2), size="0", stat=IDLE)
    assert near(tmp_path, "sda") == set()
    assert neighbours(drive("sda", "file"), sysfs=tmp_path, backings=dict) == ()


def test_a_loop_device_shares_its_disk_and_what_that_shares_but_not_what_it_lies_on(tmp_path: Path) -> None:
    way = f"{PORT}/0000:01:00.0/nvme/nvme0"
    settle(tmp_path, {"nvme0n1": way, "nvme0n2": way, **dict.fromkeys(("loop0", "loop1", "loop2"), "virtual/block")})
    for name, number in (("nvme0n1", "259:0"), ("loop1", "7:1")):
        (tmp_path / "dev/block").mkdir(parents=True, exist_ok=True)
        (tmp_path / "dev/block" / number).symlink_to((tmp_path / "block" / name).resolve())
    on_file = Backing(Path("/a/file"), 259 << 8, 12, 0)
    on_loop = Backing(Path("/dev/loop1"), 6, 13, 7 << 8 | 1)
    found = near(tmp_path, "loop0", {"loop0": on_file, "loop1": on_file, "loop2": on_loop})
    assert found == {("loop1", "disk", "nvme0n1"), ("nvme0n2", "subsystem", "nvme0")}, "loop2 is counted at loop1"


def test_counts_of_paths_stand_in_where_the_namespace_has_none(tmp_path: Path) -> None:
    make_disk(tmp_path, "nvme0n1", SUBSYSTEM, stat=IDLE)
    for at in (0, 1):
        make_disk(tmp_path, f"nvme0c{at}n1", f"x/nvme{at}", hidden="1", stat="2 0 16 0 1 0 8 0 0 0 0")
    make_disk(tmp_path, "sda", stat="2 0 16 0 1 0 8 0 0 0 0", queue__iostats="0")
    assert read_counts(whole_disks(tmp_path)) == {"nvme0n1": (4, 32 * 512, 2, 16 * 512)}


def stat(sysfs: Path, name: str, text: str) -> None:
    (sysfs / "block" / name / "stat").write_text(text + "\n")


def test_what_neighbours_did_meanwhile_is_kept(tmp_path: Path) -> None:
    settle(tmp_path, {f"sd{letter}": AHCI.format(at) for at, letter in enumerate("abcd", 1)})
    stat(tmp_path, "sdb", "10 0 80 0 0 0 0 0 0 0 0")
    make_disk(tmp_path, "sdf", AHCI.format(6), stat=IDLE, queue__iostats="0")
    ticks = iter((5, 1_005))
    watch = NeighbourWatch(drive("sda"), tmp_path, lambda: next(ticks))
    watch.begin()
    stat(tmp_path, "sda", "9 0 72 0 9 0 72 0 0 0 0")
    stat(tmp_path, "sdb", "11 0 88 0 2 0 16 0 0 0 0")
    make_disk(tmp_path, "sde", AHCI.format(5), stat="0 0 0 0 1 0 8 0 0 0 0")
    (tmp_path / "block/sdd").unlink()
    found = watch.finished()
    shared = {"shared": "controller", "by": "0000:00:17.0"}
    moved = (
        NeighbourRecord(name="sdb", **shared, read_count=1, read_bytes=4096, write_count=2, write_bytes=8192),  # type: ignore[arg-type]
        NeighbourRecord(name="sde", **shared, read_count=0, read_bytes=0, write_count=1, write_bytes=4096),  # type: ignore[arg-type]
    )
    assert found == NeighboursRecord(span_ns=1_000, watched_count=3, moved=moved, uncounted=("sdd", "sdf"))
    assert (moved[0].moved_bytes, moved[0].io_count) == (12_288, 3)


def test_a_neighbour_that_was_put_back_counts_from_zero(tmp_path: Path) -> None:
    settle(tmp_path, {"sda": AHCI.format(1), "sdb": AHCI.format(2)})
    stat(tmp_path, "sdb", "10 0 80 0 0 0 0 0 0 0 0")
    watch = NeighbourWatch(drive("sda"), tmp_path)
    watch.begin()
    stat(tmp_path, "sdb", "1 0 8 0 0 0 0 0 0 0 0")
    assert [(one.read_count, one.read_bytes) for one in watch.finished().moved] == [(1, 4096)]


def test_a_record_without_neighbours_is_read_as_not_watched() -> None:
    record = DriveRecord(before=DriveState(), after=DriveState(), log="read")
    kept = encode(record)
    del kept["neighbours"]
    assert decode(DriveRecord, kept, name="drive") == record
    near_by = NeighbourRecord(
        name="sdb", shared="target", by="target0:0:0", read_count=1, read_bytes=2, write_count=3, write_bytes=4
    )
    whole = DriveRecord(
        before=DriveState(),
        after=DriveState(),
        log="read",
        neighbours=NeighboursRecord(span_ns=1, watched_count=1, moved=(near_by,), uncounted=("sdc",)),
    )
    assert decode(DriveRecord, encode(whole), name="drive") == whole
