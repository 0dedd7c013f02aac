"""Who a drive is, as the kernel of a real NVMe, SATA or SCSI drive tells it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from assay.dut.real.gate import refusals
from assay.dut.real.identity import identify
from assay.errors import IdentityError, NotADriveError
from emulated import CAPACITY, Control, FindDrive, held

NVME, OTHER = "QEMU NVMe Ctrl", "QEMU HARDDISK"


@pytest.mark.parametrize(
    ("serial", "model", "interface", "media"),
    [
        ("Q-NVME-A", NVME, "NVMe (pcie)", "solid state"),
        ("Q-SATA", OTHER, "SATA", "rotating"),
        ("Q-SCSI", OTHER, "virtio", "rotating"),
    ],
)
def test_a_drive_is_read_as_what_it_is(drive: FindDrive, serial: str, model: str, interface: str, media: str) -> None:
    found = drive(serial)
    assert (found.id, found.serial, found.kind) == (serial, serial, "block")
    assert (found.model_number, found.interface, found.media) == (model, interface, media)
    assert (found.capacity_bytes, found.logical_block_bytes) == (CAPACITY, 512)
    assert found.firmware
    assert found.write_cache
    assert refusals(found) == ()
    assert identify(found.path, file_target=False) == found


def test_a_hostile_serial_stays_text_and_is_what_must_be_confirmed(drive: FindDrive) -> None:
    found = drive("<script>=1+1")
    with held(found) as (opened, _, _):
        opened.verify()
    command = [str(Path(sys.executable).with_name("assay")), "drives", "--describe", found.path, "--json"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert json.loads(said)["serial"] == "<script>=1+1"


def test_two_namespaces_of_one_serial_are_told_apart_by_their_number(drive: FindDrive) -> None:
    first = drive("Q-NVME-TWIN")
    second = identify(f"{first.path[:-1]}2", file_target=False)
    assert (first.id, second.id) == ("Q-NVME-TWIN:1", "Q-NVME-TWIN:2")
    with held(first) as (one, _, _), held(second) as (other, _, _):
        one.verify()
        other.verify()


def test_an_nvme_controller_is_refused_by_naming_its_namespaces(drive: FindDrive) -> None:
    node = drive("Q-NVME-TWIN").path
    with pytest.raises(NotADriveError, match=f"{node} or {node[:-1]}2"):
        identify(node.removesuffix("n1"), file_target=False)


def test_a_drive_in_the_same_slot_again_is_another_one_until_it_is_named_again(
    drive: FindDrive, control: Control
) -> None:
    named = drive("Q-NVME-A")
    control.remove("nvme-a")
    control.insert("nvme-a")
    again = drive("Q-NVME-A")
    assert (again.id, again.capacity_bytes) == (named.id, named.capacity_bytes)
    assert again.diskseq != named.diskseq
    if again.path == named.path:
        with pytest.raises(IdentityError, match="replaced"), held(named):
            pass
    with held(again) as (opened, _, _):
        opened.verify()
