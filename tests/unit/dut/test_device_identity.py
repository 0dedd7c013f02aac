"""Identity from a sysfs tree made up for the test, and of the targets that are no drives."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

import pytest
from assay.dut.real.cache import read_write_cache
from assay.dut.real.identity import disk_identity, disks, identify, twins
from assay.errors import DriveNotFoundError, NotADriveError

if TYPE_CHECKING:
    from pathlib import Path


def make_disk(sysfs: Path, name: str, place: str = "virtual/block", **attributes: str | bytes) -> None:
    """Write a disk's attributes; in the keys ``__`` stands for the slash."""
    folder = sysfs / "devices" / place / name
    for key, value in {"size": "2048", **attributes}.items():
        path = folder / key.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(value if isinstance(value, bytes) else value.encode() + b"\n")
    (sysfs / "block").mkdir(exist_ok=True)
    (sysfs / "block" / name).symlink_to(folder)


def ata_page(model: str, firmware: str) -> bytes:
    """VPD page 89h as libata makes it: two characters to a word, the first one in the high byte."""
    words = bytearray(512)
    for text, first, length in ((firmware, 46, 8), (model, 54, 40)):
        raw = text.ljust(length).encode()
        words[first : first + length] = bytes(raw[i ^ 1] for i in range(length))
    return bytes(60) + bytes(words)


def test_an_nvme_drive_is_its_serial(tmp_path: Path) -> None:
    make_disk(
        tmp_path,
        "nvme0n1",
        "pci0000:00/0000:00:1d.0/nvme/nvme0",
        size="1953525168",
        diskseq="9",
        wwid="eui.0025385b71b00a31",
        device__serial="S4EWNX0M  ",
        device__model="Samsung SSD 970 EVO Plus 1TB",
        device__firmware_rev="2B2QEXM7",
        device__transport="pcie",
        queue__logical_block_size="512",
        queue__physical_block_size="4096",
        queue__rotational="0",
        queue__write_cache="write back",
    )
    drive = disk_identity("nvme0n1", sysfs=tmp_path)
    assert (drive.id, drive.path, drive.kind) == ("S4EWNX0M", "/dev/nvme0n1", "block")
    assert drive.capacity_bytes == 1_000_204_886_016
    assert (drive.logical_block_bytes, drive.physical_block_bytes, drive.diskseq) == (512, 4096, 9)
    assert (drive.model_number, drive.firmware) == ("Samsung SSD 970 EVO Plus 1TB", "2B2QEXM7")
    assert (drive.interface, drive.media, drive.write_cache) == ("NVMe (pcie)", "solid state", "enabled")
    assert drive.wwn == "eui.0025385b71b00a31"


def test_a_namespace_is_told_from_its_controller(tmp_path: Path) -> None:
    place = "pci0000:00/0000:01:00.0/nvme/nvme3"
    ids = {"eui": "00 25 38 5b 71 b0 0a 31", "nguid": "<script>\u202e"}
    make_disk(tmp_path, "nvme3n2", place, nsid="2", **ids)
    make_disk(tmp_path, "nvme3n1", place, nsid="1")
    (tmp_path / "devices/pci0000:00/0000:01:00.0/numa_node").write_text("1\n")
    drive = disk_identity("nvme3n2", sysfs=tmp_path)
    assert (drive.controller, drive.namespace_id, drive.namespace_count, drive.numa_node) == ("nvme3", 2, 2, 1)
    assert (drive.eui, drive.nguid) == ("00 25 38 5b 71 b0 0a 31", "<script>\\xe2\\x80\\xae")
    other = disk_identity("nvme3n1", sysfs=tmp_path)
    assert (other.namespace_id, other.eui) == (1, None)


def test_a_sata_drive_gives_model_and_firmware_uncut(tmp_path: Path) -> None:
    make_disk(
        tmp_path,
        "sda",
        "pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/block",
        device__model="INTEL SSDSC2BB48",
        device__rev="0101",
        device__vpd_pg80=b"\x00\x80\x00\x14PHWL123456780000ABCD",
        device__vpd_pg89=ata_page("INTEL SSDSC2BB480G4", "D2010370"),
        device__wwid="naa.55cd2e404b4a1b2c",
    )
    drive = disk_identity("sda", sysfs=tmp_path)
    assert (drive.model_number, drive.firmware) == ("INTEL SSDSC2BB480G4", "D2010370")
    assert (drive.id, drive.interface) == ("PHWL123456780000ABCD", "SATA")


def test_a_drive_without_serial_is_its_wwn(tmp_path: Path) -> None:
    make_disk(tmp_path, "sdb", device__wwid="naa.5000c500a1b2c3d4", device__vpd_pg80=b"\x00\x80\x00\x04    ")
    assert disk_identity("sdb", sysfs=tmp_path).id == "naa.5000c500a1b2c3d4"


def test_a_drive_that_says_nothing_is_named_by_numbers_of_this_boot(tmp_path: Path) -> None:
    make_disk(tmp_path, "vdb", "pci0000:00/virtio1/block", diskseq="12")
    drive = disk_identity("vdb", sysfs=tmp_path)
    assert drive.id == "disk:vdb:1048576:12"
    assert (drive.interface, drive.model_number, drive.write_cache, drive.media) == ("virtio", None, "unknown", None)


def test_a_virtio_drive_with_a_serial_is_its_serial(tmp_path: Path) -> None:
    make_disk(tmp_path, "vdb", "pci0000:00/virtio1/block", serial="bench-7")
    assert disk_identity("vdb", sysfs=tmp_path).id == "bench-7"


def test_a_loop_device_is_its_backing_inode_and_sequence_number(tmp_path: Path) -> None:
    backing = tmp_path / "disk.img"
    backing.touch()
    make_disk(tmp_path, "loop7", loop__backing_file=str(backing), diskseq="31", queue__rotational="1")
    drive = disk_identity("loop7", sysfs=tmp_path)
    assert drive.id == f"loop:{backing.stat().st_ino}:31"
    assert (drive.interface, drive.media) == ("loop", None)


def test_a_loop_device_with_a_deleted_file_still_has_an_identity(tmp_path: Path) -> None:
    make_disk(tmp_path, "loop7", loop__backing_file="/nowhere/disk.img (deleted)", diskseq="31")
    assert disk_identity("loop7", sysfs=tmp_path).id == "loop:unknown:31"


def test_hostile_strings_become_printable_ascii(tmp_path: Path) -> None:
    make_disk(tmp_path, "sdc", device__serial=b"<script>=1+1\x1b[2J\n\x9b", device__model=b"\xe2\x80\xaeevil\x00\x07")
    drive = disk_identity("sdc", sysfs=tmp_path)
    assert all(text and text.isascii() and text.isprintable() for text in (drive.id, drive.serial, drive.model_number))
    assert drive.id.startswith("<script>=1+1")


def test_digits_and_words_stay_text(tmp_path: Path) -> None:
    make_disk(tmp_path, "sdc", device__serial="012345", device__model="NO")
    drive = disk_identity("sdc", sysfs=tmp_path)
    assert (drive.serial, drive.model_number) == ("012345", "NO")


def test_a_slash_in_a_node_is_an_exclamation_mark_in_sysfs(tmp_path: Path) -> None:
    make_disk(tmp_path, "cciss!c0d0")
    assert disk_identity("cciss!c0d0", sysfs=tmp_path).path == "/dev/cciss/c0d0"


def test_lists_only_disks_that_hold_something(tmp_path: Path) -> None:
    make_disk(tmp_path, "sda")
    make_disk(tmp_path, "sr0", size="0")
    make_disk(tmp_path, "ram0")
    make_disk(tmp_path, "loop0", loop__backing_file="")
    make_disk(tmp_path, "loop1", loop__backing_file="/nowhere/disk.img")
    make_disk(tmp_path, "nvme0c0n1", hidden="1")
    assert [disk.path for disk in disks(sysfs=tmp_path)] == ["/dev/loop1", "/dev/sda"]


def test_two_drives_with_one_serial_are_twins(tmp_path: Path) -> None:
    for name, serial in (("sda", "SAME"), ("sdb", "SAME"), ("sdc", "OTHER")):
        make_disk(tmp_path, name, device__serial=serial)
    assert twins(disk_identity("sda", sysfs=tmp_path), sysfs=tmp_path) == ("/dev/sdb",)
    assert twins(disk_identity("sdc", sysfs=tmp_path), sysfs=tmp_path) == ()


@pytest.mark.parametrize(
    ("text", "state"), [("write back", "enabled"), ("write through", "disabled"), ("other", "unknown")]
)
def test_reads_the_state_of_the_write_cache(tmp_path: Path, text: str, state: str) -> None:
    make_disk(tmp_path, "sda", queue__write_cache=text)
    assert read_write_cache("sda", sysfs=tmp_path) == state


@pytest.mark.parametrize("target", ["/nonexistent/drive", "", "/dev/null/x", "a\0b", "/" + "x" * 300])
def test_refuses_what_is_not_there(target: str) -> None:
    with pytest.raises(DriveNotFoundError, match="assay drives"):
        identify(target, file_target=False)


def test_refuses_a_link_that_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    with pytest.raises(DriveNotFoundError):
        identify(str(tmp_path / "link"), file_target=True)


@pytest.mark.parametrize("file_target", [False, True])
def test_refuses_a_directory_a_fifo_a_socket_and_a_character_device(tmp_path: Path, file_target: bool) -> None:
    os.mkfifo(tmp_path / "fifo")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        targets = {
            str(tmp_path): "directory",
            str(tmp_path / "fifo"): "FIFO",
            str(tmp_path / "socket"): "socket",
            "/dev/null": "character device",
        }
        for target, kind in targets.items():
            with pytest.raises(NotADriveError, match=kind):
                identify(target, file_target=file_target)


def test_refuses_a_file_without_its_option_and_names_it(tmp_path: Path) -> None:
    (tmp_path / "disk.img").write_bytes(bytes(4096))
    with pytest.raises(NotADriveError, match="--file-target"):
        identify(str(tmp_path / "disk.img"), file_target=False)


def test_refuses_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / "disk.img").touch()
    with pytest.raises(NotADriveError, match=r"empty.*fallocate"):
        identify(str(tmp_path / "disk.img"), file_target=True)


def test_refuses_a_path_that_cannot_be_shown(tmp_path: Path) -> None:
    (tmp_path / "disk\x1b.img").write_bytes(bytes(4096))
    with pytest.raises(NotADriveError, match="unprintable"):
        identify(str(tmp_path / "disk\x1b.img"), file_target=True)


def test_a_file_is_its_real_path_and_whole_blocks(tmp_path: Path) -> None:
    (tmp_path / "disk.img").write_bytes(bytes(3 * 4096 + 100))
    (tmp_path / "link").symlink_to("disk.img")
    drive = identify(str(tmp_path / "link"), file_target=True)
    assert drive.id == drive.path == str((tmp_path / "disk.img").resolve())
    assert (drive.kind, drive.diskseq, drive.capacity_bytes) == ("file", None, 3 * 4096)
    assert drive.logical_block_bytes in (512, 4096)
    status = (tmp_path / "disk.img").stat()
    assert drive.file_id == f"{os.major(status.st_dev)}:{os.minor(status.st_dev)}:{status.st_ino}"


@pytest.mark.parametrize(("name", "node"), [("nvme91", "/dev/nvme91n1"), ("ng91n2", "/dev/nvme91n2")])
def test_an_nvme_character_device_names_its_namespace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, node: str
) -> None:
    (tmp_path / name).symlink_to("/dev/null")
    monkeypatch.setattr("os.path.realpath", lambda _: str(tmp_path / name))
    with pytest.raises(NotADriveError, match=f"name the namespace {node}$"):
        identify(str(tmp_path / name), file_target=False)
