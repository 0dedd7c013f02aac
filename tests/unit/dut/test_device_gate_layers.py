"""What lies beneath a path and who uses a disk, read from trees of sysfs and proc that are made up for the test."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from assay.dut.real.gate import contents, files, holders, levels, mounts, system
from assay.dut.real.gate.facts import Request, check_sequence, refuse_zoned
from assay.dut.real.gate.levels import DiskLevel, File, FileLevel
from assay.dut.real.loop import Backing
from assay.dut.real.sysfs import Disk, disk_at
from assay.engine.records import DriveIdentity
from assay.errors import IdentityError

NUMBERS = {"sda": (8, 0), "sda1": (8, 1), "sda2": (8, 2), "sdb": (8, 16), "dm-0": (252, 0), "loop5": (7, 5)}


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Sda with two partitions, dm-0 upon sda2, sdb, and loop5; device numbers in place of nodes."""
    block = tmp_path / "sys/block"
    for name, (major, minor) in NUMBERS.items():
        folder = block / "sda" / name if name in {"sda1", "sda2"} else block / name
        folder.mkdir(parents=True)
        (folder / "dev").write_text(f"{major}:{minor}\n")
        if name in {"sda1", "sda2"}:
            (folder / "partition").write_text(name[-1])
    slaves = block / "dm-0/slaves"
    slaves.mkdir()
    (slaves / "sda2").symlink_to(block / "sda/sda2")
    by_number = {
        os.makedev(*number): Disk(name, next(block.rglob(f"{name}/dev")).parent) for name, number in NUMBERS.items()
    }
    monkeypatch.setattr(system, "disk_of", by_number.get)
    return block


def disk(host: Path, name: str) -> Disk:
    return Disk(name, next(host.rglob(f"{name}/dev")).parent)


def test_a_mapped_device_lies_on_its_slave_and_that_ones_disk(host: Path) -> None:
    assert system._below(disk(host, "dm-0")) == {"dm-0", "sda2", "sda"}
    assert system._below(disk(host, "sda1")) == {"sda1", "sda"}
    assert system._below(disk(host, "sdb")) == {"sdb"}


def mount(point: str, source: str, options: str = "rw", *, number: str = "0:40") -> mounts.Mount:
    return mounts.Mount(number, point, source, options, own=True)


def lies_on(monkeypatch: pytest.MonkeyPatch, path: str, table: list[mounts.Mount], real: dict[str, str]) -> set[str]:
    """Disks beneath a path, where ``real`` says which paths lie on a device of their own."""

    def devices(place: Path, passed: frozenset[str] = frozenset()) -> list[Disk]:
        if str(place) in real:
            return [Disk(real[str(place)], Path("/none"))]
        return system._devices_of_mount(place, passed)

    monkeypatch.setattr(system, "_devices", devices)
    monkeypatch.setattr(mounts, "mounts", lambda **_: table)
    return {found.name for found in devices(Path(path))}


def test_a_btrfs_lies_on_all_its_members(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("sda2", "sdb"):
        (tmp_path / "f00d/devices" / name).mkdir(parents=True)
    (tmp_path / "other/devices/sdc").mkdir(parents=True)
    monkeypatch.setattr(holders, "BTRFS", tmp_path)
    table = [mount("/", "/dev/sda2")]
    real = {"/dev/sda2": "sda2", "/dev/sdb": "sdb", "/dev/sdc": "sdc"}
    assert lies_on(monkeypatch, "/home/anybody", table, real) == {"sda2", "sdb"}


def test_an_overlay_lies_on_its_layers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holders, "BTRFS", tmp_path)
    table = [mount("/", "overlay", "rw,lowerdir=/lower/a:/lower/b,upperdir=/upper,workdir=/work")]
    real = {"/lower/a": "sda", "/lower/b": "sdb", "/upper": "sdc", "/work": "sdd"}
    assert lies_on(monkeypatch, "/srv", table, real) == {"sda", "sdb", "sdc"}


def test_layers_that_lead_back_to_themselves_come_to_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holders, "BTRFS", tmp_path)
    assert lies_on(monkeypatch, "/srv", [mount("/", "overlay", "lowerdir=/again")], {}) == set()
    assert lies_on(monkeypatch, "/srv", [], {}) == set()


def test_the_mount_of_a_path_is_the_last_and_deepest_above_it(monkeypatch: pytest.MonkeyPatch) -> None:
    table = [mount("/", "a"), mount("/srv", "b"), mount("/srv", "c"), mount("/srvs", "d")]
    monkeypatch.setattr(mounts, "mounts", lambda **_: table)
    assert [found.source for place in ("/srv/x", "/", "/srvx") if (found := mounts.mount_of(Path(place)))] == list(
        "caa"
    )


@pytest.mark.parametrize(
    ("kind", "media", "label"),
    [
        ("ext4", None, "file on ext4"),
        ("tmpfs", "memory", "file in memory, tmpfs"),
        ("ramfs", "memory", "file in memory, ramfs"),
    ],
)
def test_a_file_names_its_file_system_and_options_and_memory_is_called_that(
    kind: str, media: str | None, label: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = f"29 1 254:0 / {tmp_path} rw,noatime shared:1 - {kind} /dev/vda rw,size=4096k"
    monkeypatch.setattr(mounts, "mounts", lambda **_: [mounts._mount(line, "self", own=True)])
    path = str(tmp_path / "drive.img")
    drive = DriveIdentity(
        id=path, path=path, kind="file", capacity_bytes=4096, logical_block_bytes=512, interface="file"
    )
    named = mounts.on_file_system(drive)
    assert (named.interface, named.media, named.file_label) == (f"{label} (rw,noatime; rw,size=4096k)", media, label)
    assert drive.file_label == "file on a file system"


def test_what_does_not_exist_lies_on_nothing() -> None:
    assert system._devices(Path("/nonexistent/assay")) == []


def test_a_device_that_the_kernel_does_not_know_lies_on_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "disk_of", lambda _: None)
    monkeypatch.setattr(system.os, "major", lambda _: 8)
    assert system._devices(Path("/")) == []


def test_a_folder_of_a_run_that_is_yet_to_be_made_stands_for_the_one_above(tmp_path: Path) -> None:
    assert system._existing(tmp_path / "a/b/c") == Path(os.path.realpath(tmp_path))
    assert system._existing(Path("no-such-folder-here")) == Path(os.path.realpath(Path.cwd()))


def test_mounts_of_hidden_and_ended_processes_are_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = r"36 35 98:0 /sub /mnt\040two rw,noatime master:1 - ext3 /dev/root\134x rw,errors=continue"
    for process, namespace in (("self", "mnt:[1]"), ("7", "mnt:[1]"), ("8", "mnt:[2]")):
        (tmp_path / process / "ns").mkdir(parents=True)
        (tmp_path / process / "ns/mnt").symlink_to(namespace)
        (tmp_path / process / "mountinfo").write_text(line + "\n")
    (tmp_path / "9").mkdir()
    monkeypatch.setattr(mounts, "PROC", tmp_path)
    own = mounts.Mount(
        "98:0",
        "/mnt two",
        "/dev/root\\x",
        "rw,errors=continue",
        own=True,
        kind="ext3",
        root="/sub",
        mark=36,
        flags="rw,noatime",
    )
    assert [(found.point, found.own) for found in mounts.mounts()] == [("/mnt two", True), ("/mnt two", False)]
    assert mounts.mounts(everywhere=False) == [own]


def test_a_kernel_without_md_has_no_arrays(tmp_path: Path, host: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mounts, "PROC", tmp_path)
    assert holders.md_arrays(DiskLevel(disk=disk(host, "sda"))) == []


def test_a_partition_in_an_array_makes_its_disk_a_member(
    tmp_path: Path, host: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mdstat").write_text("md0 : active raid1 sdb1[1] sda1[0]\n      1 blocks\nunused devices: <none>\n")
    monkeypatch.setattr(mounts, "PROC", tmp_path)
    assert holders.md_arrays(DiskLevel(disk=disk(host, "sda"))) == ["member of md0"]
    assert holders.md_arrays(DiskLevel(disk=disk(host, "sdb"))) == []
    # The array itself may be tested: it stands on its members by right.
    assert holders.md_arrays(DiskLevel(disk=disk(host, "sda"), own=frozenset({"md0", "sda"}))) == []


def test_a_loop_whose_backing_is_gone_is_known_by_its_name(host: Path) -> None:
    unknown = Backing(Path("/dev/assay-none"), 0, 0, 0)
    assert holders._is_of(unknown, Disk("assay-none", host / "sda"))
    assert not holders._is_of(unknown, disk(host, "sda"))


def test_a_loop_is_known_by_the_number_of_what_it_lies_on_whatever_its_path(host: Path) -> None:
    assert holders._is_of(Backing(Path("/gone"), 6, 94, os.makedev(8, 2)), disk(host, "sda"))
    assert not holders._is_of(Backing(Path("/dev/sda"), 6, 94, os.makedev(8, 16)), disk(host, "sda"))
    assert not holders._is_of(Backing(Path("/dev/sda"), 6, 94, 0), disk(host, "sda"))


def test_a_file_is_known_by_device_and_inode_and_an_unknown_one_is_none(tmp_path: Path) -> None:
    path, other = tmp_path / "a", tmp_path / "b"
    path.write_bytes(b"")
    os.link(path, other)
    status = path.stat()
    assert File(path, status.st_dev, status.st_ino).is_at(other)
    assert not File(path, status.st_dev, 0).is_at(path)
    assert not File(path, status.st_dev, status.st_ino).is_at("/nonexistent/assay")


def stack(
    monkeypatch: pytest.MonkeyPatch, top: Disk, beneath: dict[str, Backing], numbers: dict[int, Disk]
) -> list[str]:
    """Levels of a disk as their names, where ``beneath`` says what loop devices lie on."""
    monkeypatch.setattr(levels, "loop_status", lambda found: beneath.get(found.name))
    monkeypatch.setattr(levels, "disk_of", numbers.get)
    return [level.told("busy") for level in levels._standing_on(top, (), set(), is_free=True)]


def test_a_loop_upon_a_mapped_device_stands_on_that_ones_whole_disk(
    host: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beneath = {"loop5": Backing(Path("/dev/dm-0"), 6, 1, 77)}
    assert stack(monkeypatch, disk(host, "loop5"), beneath, {77: disk(host, "dm-0")}) == [
        "busy",
        "loop5 stands on dm-0, which is busy",
        "loop5 stands on dm-0 on sda, which is busy",
    ]


def test_a_loop_upon_a_partition_stands_on_its_whole_disk(host: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    beneath = {"loop5": Backing(Path("/dev/sda1"), 6, 1, 77)}
    told = stack(monkeypatch, disk(host, "loop5"), beneath, {77: disk(host, "sda1")})
    assert told == ["busy", "loop5 stands on sda, which is busy"]


def test_a_loop_upon_a_device_that_left_or_itself_comes_to_an_end(host: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    beneath = {"loop5": Backing(Path("/dev/loop5"), 6, 1, 77)}
    assert stack(monkeypatch, disk(host, "loop5"), beneath, {}) == ["busy"]
    assert stack(monkeypatch, disk(host, "loop5"), beneath, {77: disk(host, "loop5")}) == ["busy"]


def test_what_a_mapped_device_claims_is_not_claimed_again(host: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(levels, "loop_status", lambda _: None)
    found = levels._standing_on(disk(host, "dm-0"), (), set(), is_free=True)
    assert [(level.name, isinstance(level, DiskLevel) and level.is_free) for level in found] == [
        ("dm-0", True),
        ("sda", False),
    ]


def test_the_device_beneath_the_running_system_is_found_through_a_loop_whose_path_is_gone(
    host: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = Backing(Path("/nonexistent/assay"), os.makedev(8, 16), 5, 0)
    monkeypatch.setattr(system, "loop_status", lambda found: loop if found.name == "loop5" else None)
    assert system._under([disk(host, "loop5")]) == {"loop5", "sdb"}


def test_files_of_the_interpreter_and_of_the_tool_are_of_the_system() -> None:
    of_tool = FileLevel(file=File(Path(system.__file__), 1, 1))
    assert files.of_system(of_tool) == ["is part of the running system"]
    assert files.of_system(FileLevel(file=File(Path("/nonexistent/assay"), 1, 1))) == []


def test_a_partition_without_its_node_leaves_unknown_what_is_on_the_drive(
    host: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contents, "disk_at", lambda _: Disk("assay-none", host / "sda"))
    with pytest.raises(IdentityError, match="contents are unknown: /dev/sda1 is missing"):
        contents._partitions("/dev/sda")


def test_a_path_without_a_device_has_no_disk(tmp_path: Path) -> None:
    assert disk_at(str(tmp_path)) is None
    assert disk_at(str(tmp_path / "none")) is None


def test_a_drive_without_a_sequence_number_and_a_file_are_no_case_for_their_rules(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x")
    identity = DriveIdentity(id="x", path=str(path), kind="file", capacity_bytes=512, logical_block_bytes=512)
    refuse_zoned(Request(identity=identity))
    with path.open("rb") as file:
        check_sequence(identity, file.fileno())
