"""Who a drive is: read from sysfs for a disk, from the file system for a file target.

A kernel name such as sda is only a way to find a drive; what identifies it is its serial number, its WWN, or, where it
has neither, numbers that no other drive of this boot can have.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from assay.dut.real.alignment import direct_block_bytes
from assay.dut.real.cache import read_write_cache
from assay.dut.real.loop import loop_backing, loop_status
from assay.dut.real.sysfs import SYSFS, Disk, disk_of, numa_node, printable, whole_disks
from assay.dut.simulated.shipped import PREFIX, shipped_names
from assay.engine.records import DriveIdentity
from assay.errors import DriveNotFoundError, NotADriveError, PartitionError
from assay.spec.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

# sysfs counts in sectors of 512 bytes whatever the drive's block.
_SECTOR_BYTES = 512
_LIST_REMEDY = "run assay drives to list the drives"
_INTERFACES = {
    r"/nvme": "NVMe",
    r"/usb\d": "USB",
    r"/ata\d": "SATA",
    r"/end_device-": "SAS",
    r"/virtio\d": "virtio",
    r"/mmc_host/": "MMC",
    r"/block/loop": "loop",
    r"/host\d": "SCSI",
}
_KINDS = {
    stat.S_IFDIR: "is a directory",
    stat.S_IFIFO: "is a FIFO",
    stat.S_IFSOCK: "is a socket",
    stat.S_IFCHR: "is a character device",
}
# IDENTIFY DEVICE starts at byte 60 of SCSI VPD page 89h; model and firmware are words 27-46 and 23-26.
_ATA_MODEL = slice(60 + 54, 60 + 94)
_ATA_FIRMWARE = slice(60 + 46, 60 + 54)


def identify(target: str, *, file_target: bool) -> DriveIdentity:
    """Find out who the drive behind a path is; links are followed.

    target : a block device, a link to one, or (with ``file_target``) a regular file.
    Returns its identity; ``path`` is the kernel's own node, or the real path of the file.
    Raises DriveNotFoundError (nothing there), PartitionError (the error names the disk), NotADriveError (any other
    kind of thing, a file without ``file_target``, a device with it, no capacity, no direct I/O).
    """
    path = _real_path(target)
    try:
        status = path.stat()
    except OSError as error:
        remedy = did_you_mean(target, _likely_drives(target), _LIST_REMEDY)
        raise DriveNotFoundError(target, error.strerror or "cannot be reached", remedy) from error
    if stat.S_ISREG(status.st_mode):
        return _file_identity(path, file_target=file_target)
    if not stat.S_ISBLK(status.st_mode):
        _refuse_kind(path, status.st_mode)
    if file_target:
        raise NotADriveError(str(path), "is a block device, not a file", "leave out --file-target")
    return _block_identity(path, status.st_rdev)


def _likely_drives(target: str) -> list[str]:
    """Names that somebody may have meant. No real drive is offered in place of another: it would lose its data."""
    return [
        *(disk.path for disk in disks() if disk.path == f"/dev/{target}"),
        *(PREFIX + name for name in shipped_names()),
    ]


def disks(*, sysfs: Path = SYSFS) -> Iterator[DriveIdentity]:
    """Yield the whole disks of this host without asking whether they are in use."""
    for disk in whole_disks(sysfs):
        hidden = disk.number("hidden") == 1 or disk.name.startswith("ram")
        set_up = not disk.name.startswith("loop") or loop_backing(disk) is not None
        if disk.number("size") and set_up and not hidden:
            yield disk_identity(disk.name, sysfs=sysfs)


def twins(identity: DriveIdentity, *, sysfs: Path = SYSFS) -> tuple[str, ...]:
    """Name the other disks that carry the same id: two paths to one drive, two namespaces, or a forged serial."""
    return tuple(disk.path for disk in disks(sysfs=sysfs) if disk.id == identity.id and disk.path != identity.path)


def disk_identity(name: str, *, sysfs: Path = SYSFS) -> DriveIdentity:
    """Read the identity of one whole disk from sysfs.

    name : entry of /sys/block. Facts that the kernel does not tell are None; the capacity may be 0.
    Source: Linux ``Documentation/ABI/stable/sysfs-block``; SPC-4 VPD pages 80h and 89h.
    Worked: ``size`` 131072 is ``capacity_bytes`` 67108864.
    """
    disk = Disk(name, (sysfs / "block" / name).resolve())
    capacity_bytes = (disk.number("size") or 0) * _SECTOR_BYTES
    serial = _first(disk, "serial", "device/serial") or _vpd_serial(disk)
    wwn = _first(disk, "wwid", "device/wwid")
    diskseq = disk.number("diskseq")
    namespace = _namespace(disk)
    return DriveIdentity(
        id=_of_namespace(serial, namespace) or wwn or _boot_id(disk, capacity_bytes, diskseq),
        path="/dev/" + name.replace("!", "/"),
        kind="block",
        capacity_bytes=capacity_bytes,
        logical_block_bytes=disk.number("queue/logical_block_size") or _SECTOR_BYTES,
        physical_block_bytes=disk.number("queue/physical_block_size"),
        model_number=_ata_text(disk, _ATA_MODEL) or _first(disk, "device/model", "device/name"),
        serial=serial,
        firmware=_ata_text(disk, _ATA_FIRMWARE) or _first(disk, "device/firmware_rev", "device/rev", "device/fwrev"),
        wwn=wwn,
        interface=_interface(disk),
        media=_media(disk),
        diskseq=diskseq,
        write_cache=read_write_cache(name, sysfs=sysfs),
        controls=("trim",) if disk.number("queue/discard_max_bytes") else (),
        numa_node=numa_node(disk.folder),
        **namespace,
    )


def sysfs_directory(identity: DriveIdentity, *, sysfs: Path = SYSFS) -> Path:
    """The directory of a block drive in /sys/block. Worked: ``/dev/cciss/c0d0`` -> ``/sys/block/cciss!c0d0``."""
    return sysfs / "block" / identity.path.removeprefix("/dev/").replace("/", "!")


def file_id(status: os.stat_result) -> str:
    """What tells a file from every other one of this boot. Worked: inode 131 on device 254:0 -> ``254:0:131``."""
    return f"{os.major(status.st_dev)}:{os.minor(status.st_dev)}:{status.st_ino}"


def _no_direct_io(path: str) -> NotADriveError:
    return NotADriveError(path, "does not take direct I/O (O_DIRECT)", "put the file on ext4, xfs or another disk")


def _real_path(target: str) -> Path:
    # The path is shown for confirmation and typed back; what a terminal cannot show cannot be confirmed.
    shown = printable(os.fsencode(target))
    if not target or "\0" in target:
        raise DriveNotFoundError(repr(shown), "is not a path", _LIST_REMEDY)
    path = os.path.realpath(target)
    if not path.isprintable():
        raise NotADriveError(shown, "its real path has unprintable characters", "rename it")
    return Path(path)


def _refuse_kind(path: Path, mode: int) -> NoReturn:
    reason = _KINDS.get(stat.S_IFMT(mode), "is not a block device")
    name = path.name
    # nvme0 is a controller, ng0n1 the character twin of the namespace nvme0n1.
    if match := re.fullmatch(r"nvme(\d+)|ng(\d+n\d+)", name):
        result = sorted(node.name for node in (SYSFS / "block").glob(f"nvme{match[2] or match[1] + 'n*'}"))
        nodes = " or ".join(f"/dev/{node}" for node in result) or f"/dev/nvme{match[2] or match[1] + 'n1'}"
        raise NotADriveError(str(path), "is an NVMe character device", f"name the namespace {nodes}")
    raise NotADriveError(str(path), reason, _LIST_REMEDY)


def _block_identity(path: Path, device_number: int) -> DriveIdentity:
    disk = disk_of(device_number)
    if disk is None:
        raise NotADriveError(str(path), "the kernel has no disk for this device node", _LIST_REMEDY)
    if disk.number("partition") is not None:
        parent = "/dev/" + disk.folder.parent.name.replace("!", "/")
        raise PartitionError(str(path), f"is a partition of {parent}", f"name the whole disk {parent}")
    identity = disk_identity(disk.name)
    if not identity.capacity_bytes:
        raise NotADriveError(str(path), "has no capacity: no medium, or not set up", _LIST_REMEDY)
    node = Path(identity.path)
    if not node.exists() or node.stat().st_rdev != device_number:
        raise NotADriveError(str(path), f"the kernel's node {node} is missing", _LIST_REMEDY)
    return identity


def _file_identity(path: Path, *, file_target: bool) -> DriveIdentity:
    if not file_target:
        remedy = "add --file-target to test it as a drive, which destroys its contents"
        raise NotADriveError(str(path), "is a regular file", remedy)
    block_bytes, status = _direct_block_bytes(path)
    capacity_bytes = status.st_size // block_bytes * block_bytes
    if not capacity_bytes:
        raise NotADriveError(str(path), "is empty", f"pre-allocate it: fallocate -l SIZE {path}")
    return DriveIdentity(
        id=str(path),
        path=str(path),
        kind="file",
        capacity_bytes=capacity_bytes,
        logical_block_bytes=block_bytes,
        interface="file",
        file_id=file_id(status),
    )


def _direct_block_bytes(path: Path) -> tuple[int, os.stat_result]:
    """The block of direct I/O on a file, and the state of the file that was asked."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except PermissionError as error:
        raise NotADriveError(str(path), "cannot be read", "ask for the right to read and write it") from error
    except OSError as error:
        raise _no_direct_io(str(path)) from error
    try:
        block_bytes, status = direct_block_bytes(fd), os.fstat(fd)
    finally:
        os.close(fd)
    if block_bytes is None:
        raise _no_direct_io(str(path))
    return block_bytes, status


def _namespace(disk: Disk) -> dict[str, Any]:
    """What an NVMe namespace is called within its controller, and how many there are of it."""
    match = re.fullmatch(r"(nvme\d+)(c\d+)?n(\d+)", disk.name)
    if not match:
        return {}
    controller = (disk.folder / "device").resolve().name if (disk.folder / "device").is_symlink() else match[1]
    siblings = [path for path in disk.folder.parent.glob("nvme*") if re.fullmatch(r"nvme\d+(c\d+)?n\d+", path.name)]
    return {
        "eui": _first(disk, "eui"),
        "nguid": _first(disk, "nguid"),
        "controller": controller,
        "namespace_id": disk.number("nsid"),
        "namespace_count": len(siblings),
    }


def _of_namespace(serial: str | None, namespace: dict[str, Any]) -> str | None:
    """The serial number is the controller's; where it has several namespaces, their number tells them apart."""
    several = (namespace.get("namespace_count") or 1) > 1
    return f"{serial}:{namespace['namespace_id']}" if serial and several else serial


def _boot_id(disk: Disk, capacity_bytes: int, diskseq: int | None) -> str:
    """An id for a drive without serial and WWN; diskseq never returns within one boot."""
    backing = loop_status(disk)
    if backing is None:
        return f"disk:{disk.name}:{capacity_bytes}:{diskseq}"
    # By the driver: the path may lead elsewhere, or nowhere, in another mount namespace.
    return f"loop:{backing.inode or 'unknown'}:{diskseq}"


def _first(disk: Disk, *attributes: str) -> str | None:
    return next((text for attribute in attributes if (text := disk.text(attribute))), None)


def _vpd(disk: Disk, page: str) -> bytes:
    try:
        return (disk.folder / "device" / page).read_bytes()
    except OSError:
        return b""


def _vpd_serial(disk: Disk) -> str | None:
    return printable(_vpd(disk, "vpd_pg80")[4:].strip(b"\0 ")) or None


def _ata_text(disk: Disk, part: slice) -> str | None:
    """A string of ATA IDENTIFY DEVICE; SCSI's own fields would cut it. Each word holds two characters swapped."""
    raw = _vpd(disk, "vpd_pg89")[part]
    text = bytes(char for pair in zip(raw[1::2], raw[::2], strict=False) for char in pair)
    return printable(text.strip(b"\0 ")) or None


def _interface(disk: Disk) -> str | None:
    path = str(disk.folder)
    name = next((label for pattern, label in _INTERFACES.items() if re.search(pattern, path)), None)
    transport = disk.text("device/transport")
    return f"{name} ({transport})" if name == "NVMe" and transport else name


def _media(disk: Disk) -> str | None:
    # A loop device passes on the flag of whatever lies beneath its file.
    if disk.name.startswith("loop"):
        return None
    return {"0": "solid state", "1": "rotating"}.get(disk.text("queue/rotational") or "")
