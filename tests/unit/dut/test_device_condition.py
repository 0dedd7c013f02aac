"""Link, temperature and wear from files made up for the test, and from a command that stands in for smartctl."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.dut.real.condition import read_condition
from assay.engine.records import DriveCondition, DriveIdentity
from test_device_identity import make_disk

if TYPE_CHECKING:
    from pathlib import Path


def drive(name: str, kind: str = "block") -> DriveIdentity:
    return DriveIdentity(
        id="x",
        path=f"/dev/{name}",
        kind=kind,
        capacity_bytes=1 << 30,
        logical_block_bytes=512,  # type: ignore[arg-type]
    )


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n")


def test_an_nvme_drive_in_a_narrow_slot_says_so(tmp_path: Path) -> None:
    make_disk(tmp_path, "nvme0n1", "pci0000:00/0000:01:00.0/nvme/nvme0", device__hwmon1__temp1_input="31850")
    slot = tmp_path / "devices/pci0000:00/0000:01:00.0"
    for kind, speed, width in (("current", "8.0 GT/s PCIe", "2"), ("max", "16.0 GT/s PCIe", "4")):
        put(slot / f"{kind}_link_speed", speed)
        put(slot / f"{kind}_link_width", width)
    found = read_condition(drive("nvme0n1"), sysfs=tmp_path, smartctl="/nonexistent")
    assert found == DriveCondition(link="PCIe 8.0 GT/s x2 of PCIe 16.0 GT/s x4", temperature_c=31.85)


def test_a_sata_drive_tells_its_negotiated_speed(tmp_path: Path) -> None:
    make_disk(tmp_path, "sda", "pci0000:00/ata3/host2/target2:0:0/2:0:0:0/block")
    put(tmp_path / "class/ata_link/link3/sata_spd", "3.0 Gbps")
    assert read_condition(drive("sda"), sysfs=tmp_path, smartctl="/nonexistent").link == "SATA 3.0 Gbps"


def test_the_slot_of_the_controller_is_not_the_link_of_a_sata_drive(tmp_path: Path) -> None:
    make_disk(tmp_path, "sda", "pci0000:00/0000:03:00.0/ata9/host2/target2:0:0/2:0:0:0/block")
    put(tmp_path / "devices/pci0000:00/0000:03:00.0/current_link_speed", "5.0 GT/s PCIe")
    put(tmp_path / "devices/pci0000:00/0000:03:00.0/current_link_width", "1")
    assert read_condition(drive("sda"), sysfs=tmp_path, smartctl="/nonexistent").link is None
    put(tmp_path / "class/ata_link/link9/sata_spd", "6.0 Gbps")
    assert read_condition(drive("sda"), sysfs=tmp_path, smartctl="/nonexistent").link == "SATA 6.0 Gbps"


def test_smartctl_gives_wear_and_temperature_whatever_its_exit_code(tmp_path: Path) -> None:
    make_disk(tmp_path, "sdb")
    command = tmp_path / "smartctl"
    answer = '{"temperature":{"current":41},"nvme_smart_health_information_log":{"percentage_used":0,"media_errors":3}}'
    command.write_text(f"#!/bin/sh\necho '{answer}'\nexit 4\n")
    command.chmod(0o755)
    found = read_condition(drive("sdb"), sysfs=tmp_path, smartctl=str(command))
    assert found == DriveCondition(temperature_c=41.0, wear_used_pct=0.0, health={"media_errors": 3})
    command.write_text("#!/bin/sh\necho '[\"hostile\"]'\n")
    assert read_condition(drive("sdb"), sysfs=tmp_path, smartctl=str(command)) == DriveCondition()


def test_a_file_has_no_condition(tmp_path: Path) -> None:
    assert read_condition(drive("x", "file"), sysfs=tmp_path) == DriveCondition()
