"""Which commands a drive understands, and what the kernel makes of commands for something that is no drive."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from assay.dut.real.transport import HeldDrive, NvmeCommand, ScsiCommand, command_set
from assay.engine.records import DriveIdentity

if TYPE_CHECKING:
    from pathlib import Path

    from assay.dut.real.transport import CommandSet
    from assay.engine.records import DriveKind


def identity(path: str, kind: DriveKind = "block") -> DriveIdentity:
    return DriveIdentity(id="S1", path=path, kind=kind, capacity_bytes=4096, logical_block_bytes=512)


@pytest.mark.parametrize(
    ("name", "attributes", "expected"),
    [
        ("nvme0n1", {}, "nvme"),
        ("sda", {"device/scsi_disk/0:0:0:0/cache_type": "write back", "device/vendor": "ATA     "}, "ata"),
        ("sda", {"device/scsi_disk/0:0:0:0/cache_type": "write back", "device/vpd_pg89": ""}, "ata"),
        ("sda", {"device/scsi_disk/0:0:0:0/cache_type": "write back", "device/vendor": "SEAGATE"}, "scsi"),
        ("loop0", {}, None),
        ("vda", {"device/vendor": "0x1af4"}, None),
    ],
)
def test_the_command_set_follows_from_what_the_kernel_shows(
    tmp_path: Path, name: str, attributes: dict[str, str], expected: CommandSet | None
) -> None:
    for attribute, text in attributes.items():
        path = tmp_path / "block" / name / attribute
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert command_set(identity(f"/dev/{name}"), sysfs=tmp_path) == expected
    assert command_set(identity(f"/dev/{name}", "file"), sysfs=tmp_path) is None


def test_what_the_kernel_does_not_carry_is_an_error_and_no_reply(tmp_path: Path) -> None:
    with (tmp_path / "file").open("w+b") as file:
        held = HeldDrive(file.fileno())
        for ask in (
            held.namespace,
            lambda: held.nvme_admin(NvmeCommand(opcode=0x06, words=(1,), data_bytes=4096)),
            lambda: held.scsi(ScsiCommand(cdb=bytes(6), data_bytes=36)),
            lambda: held.scsi(ScsiCommand(cdb=bytes(16), data=bytes(512))),
            lambda: held.scsi(ScsiCommand(cdb=bytes(6))),
        ):
            with pytest.raises(OSError, match="Inappropriate ioctl"):
                ask()
