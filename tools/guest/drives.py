"""Emulated drives: their images, and how QEMU is told of them, at its start and while it runs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

MODULES = ["nvme", "ahci", "sd_mod", "virtio_scsi", "virtio_pci", "xhci_pci", "usb_storage", "sg"]
"""Kernel modules for ``Content``."""
_SECTOR_BYTES = 512
_EIO = 5
_BUSES = ("ich9-ahci,id=ahci", "virtio-scsi-pci,id=virtio-scsi", "qemu-xhci,id=xhci")
_DISKS = {"sata": ("ide-hd", "ahci.0"), "scsi": ("scsi-hd", "virtio-scsi.0"), "usb": ("usb-storage", "xhci.0")}


@dataclass(frozen=True, kw_only=True)
class EmulatedDrive:
    """One drive of the guest; its contents are a sparse file that ends with the run.

    name : of letters, digits and dashes; what the control channel calls it. serial : at most 20 characters.
    namespace_count : namespaces of an NVMe drive, each of the whole capacity. bad_sector : number of 512 bytes whose
    reads fail. path_count : ways to its one image: controllers of an NVMe subsystem, or disks of a SCSI bus.
    block_bytes : its logical block. zone_bytes : size of its zones, 0 for none; protection_bytes : of metadata with
    protection information, 8 or 0 for none; both of NVMe. is_read_only : of SCSI.
    NVMe drives have a slot of their own and can be removed; the others cannot.
    """

    name: str
    serial: str
    bus: Literal["nvme", "sata", "scsi", "usb"] = "nvme"
    capacity_bytes: int = 256 << 20
    namespace_count: int = 1
    bad_sector: int | None = None
    path_count: int = 1
    block_bytes: int = _SECTOR_BYTES
    zone_bytes: int = 0
    protection_bytes: int = 0
    is_read_only: bool = False

    @property
    def images(self) -> list[str]:
        """Names of its block nodes, one per namespace."""
        return [f"{self.name}-{number}" for number in range(1, self.namespace_count + 1)]

    @property
    def paths(self) -> list[str]:
        """What QEMU calls its devices, one per path; the first has the name of the drive."""
        return [self.name, *(f"{self.name}-path{number}" for number in range(2, self.path_count + 1))]

    @property
    def slots(self) -> list[str]:
        """Names of the slots that it needs."""
        return [f"slot-{path}" for path in self.paths] if self.bus == "nvme" else []

    def devices(self) -> list[dict[str, Any]]:
        """What QEMU adds for it, whether at the start or while it runs."""
        return self._nvme() if self.bus == "nvme" else self._disks()

    def _disks(self) -> list[dict[str, Any]]:
        driver, bus = _DISKS[self.bus]
        facts = {"driver": driver, "bus": bus, "drive": self.images[0], "serial": self.serial}
        shared = {"share-rw": True} if self.path_count > 1 else {}
        return [facts | shared | {"id": path} for path in self.paths]

    def _nvme(self) -> list[dict[str, Any]]:
        facts = {"driver": "nvme", "serial": self.serial}
        controllers = [facts | {"id": path, "bus": f"slot-{path}"} for path in self.paths]
        if self.path_count > 1:
            subsystem = {"driver": "nvme-subsys", "id": f"{self.name}-subsystem"}
            controllers = [subsystem, *(one | {"subsys": subsystem["id"]} for one in controllers)]
        elif self._is_plain:
            return [controllers[0] | {"drive": self.images[0]}]
        return [*controllers, *(self._namespace(number, image) for number, image in enumerate(self.images, 1))]

    @property
    def _is_plain(self) -> bool:
        return (self.namespace_count, self.block_bytes, self.zone_bytes, self.protection_bytes) == (
            1,
            _SECTOR_BYTES,
            0,
            0,
        )

    def _namespace(self, number: int, image: str) -> dict[str, Any]:
        facts: dict[str, Any] = {"driver": "nvme-ns", "bus": self.name, "nsid": number, "drive": image}
        if self.block_bytes != _SECTOR_BYTES:
            facts |= {"logical_block_size": self.block_bytes, "physical_block_size": self.block_bytes}
        if self.zone_bytes:
            facts |= {"zoned": True, "zoned.zone_size": self.zone_bytes}
        return facts | ({"ms": self.protection_bytes, "pi": 1} if self.protection_bytes else {})


def drive_options(drives: Sequence[EmulatedDrive], folder: Path) -> tuple[str, ...]:
    """Options of QEMU for ``Machine``: the drives, with their images made in a folder that lives as long as the guest.

    At most one SATA drive. Raises OSError.
    """
    options = [option for bus in _BUSES for option in ("-device", bus)]
    for number, slot in enumerate((slot for drive in drives for slot in drive.slots), 1):
        port = {"driver": "pcie-root-port", "id": slot, "chassis": number, "slot": number}
        options += ["-device", json.dumps(port)]
    for drive in drives:
        for image in drive.images:
            options += ["-blockdev", json.dumps(_block_node(drive, image, folder))]
        for device in drive.devices():
            options += ["-device", json.dumps(device)]
    return tuple(options)


def _block_node(drive: EmulatedDrive, image: str, folder: Path) -> dict[str, Any]:
    path = folder / f"{image}.img"
    with path.open("wb") as file:
        file.truncate(drive.capacity_bytes)
    # The image ends with the guest: a flush need not reach the host's disk.
    node = {"driver": "file", "filename": str(path), "discard": "unmap", "cache": {"no-flush": True}}
    if drive.is_read_only:
        return {"driver": "raw", "node-name": image, "read-only": True, "file": node | {"read-only": True}}
    if drive.bad_sector is None:
        return {"driver": "raw", "node-name": image, "discard": "unmap", "file": node}
    # With other events than "none" nothing ever fails on a raw image.
    fault = {"event": "none", "iotype": "read", "errno": _EIO, "sector": drive.bad_sector}
    return {"driver": "raw", "node-name": image, "file": {"driver": "blkdebug", "image": node, "inject-error": [fault]}}
