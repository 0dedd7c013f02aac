"""Emulated drives: their images, and how QEMU is told of them, at its start and while it runs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

MODULES = ["nvme", "ahci", "sd_mod", "virtio_scsi", "virtio_pci"]
"""Kernel modules for ``Content``."""
_SECTOR_BYTES = 512
_EIO = 5


@dataclass(frozen=True, kw_only=True)
class EmulatedDrive:
    """One drive of the guest; its contents are a sparse file that ends with the run.

    name : of letters, digits and dashes; what the control channel calls it. serial : at most 20 characters.
    namespace_count : namespaces of an NVMe drive, each of the whole capacity. bad_sector : number of 512 bytes whose
    reads fail. NVMe drives have a slot of their own and can be removed; the others cannot.
    """

    name: str
    serial: str
    bus: Literal["nvme", "sata", "scsi"] = "nvme"
    capacity_bytes: int = 256 << 20
    namespace_count: int = 1
    bad_sector: int | None = None

    @property
    def images(self) -> list[str]:
        """Names of its block nodes, one per namespace."""
        return [f"{self.name}-{number}" for number in range(1, self.namespace_count + 1)]

    def devices(self) -> list[dict[str, Any]]:
        """What QEMU adds for it, whether at the start or while it runs."""
        identity = {"id": self.name, "serial": self.serial}
        if self.bus != "nvme":
            driver, bus = {"sata": ("ide-hd", "ahci.0"), "scsi": ("scsi-hd", "virtio-scsi.0")}[self.bus]
            return [{"driver": driver, "bus": bus, "drive": self.images[0], **identity}]
        controller = {"driver": "nvme", "bus": f"slot-{self.name}", **identity}
        if self.namespace_count == 1:
            return [controller | {"drive": self.images[0]}]
        spaces = [
            {"driver": "nvme-ns", "bus": self.name, "nsid": number, "drive": image}
            for number, image in enumerate(self.images, 1)
        ]
        return [controller, *spaces]


def drive_options(drives: Sequence[EmulatedDrive], folder: Path) -> tuple[str, ...]:
    """Options of QEMU for ``Machine``: the drives, with their images made in a folder that lives as long as the guest.

    At most one SATA drive. Raises OSError.
    """
    options = ["-device", "ich9-ahci,id=ahci", "-device", "virtio-scsi-pci,id=virtio-scsi"]
    for slot, drive in enumerate(drives, 1):
        for image in drive.images:
            options += ["-blockdev", json.dumps(_block_node(drive, image, folder))]
        if drive.bus == "nvme":
            port = {"driver": "pcie-root-port", "id": f"slot-{drive.name}", "chassis": slot, "slot": slot}
            options += ["-device", json.dumps(port)]
        for device in drive.devices():
            options += ["-device", json.dumps(device)]
    return tuple(options)


def _block_node(drive: EmulatedDrive, image: str, folder: Path) -> dict[str, Any]:
    path = folder / f"{image}.img"
    with path.open("wb") as file:
        file.truncate(drive.capacity_bytes)
    # The image ends with the guest: a flush need not reach the host's disk.
    node = {"driver": "file", "filename": str(path), "discard": "unmap", "cache": {"no-flush": True}}
    if drive.bad_sector is None:
        return {"driver": "raw", "node-name": image, "discard": "unmap", "file": node}
    # With other events than "none" nothing ever fails on a raw image.
    fault = {"event": "none", "iotype": "read", "errno": _EIO, "sector": drive.bad_sector}
    return {"driver": "raw", "node-name": image, "file": {"driver": "blkdebug", "image": node, "inject-error": [fault]}}
