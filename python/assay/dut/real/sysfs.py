"""Reading the kernel's view of block devices. Strings from drives are hostile and reduced to printable ASCII."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

SYSFS = Path("/sys")


@dataclass(frozen=True, slots=True)
class Disk:
    """A block device's folder in sysfs. ``name`` is the kernel's name of it."""

    name: str
    folder: Path

    def text(self, attribute: str) -> str | None:
        """An attribute as printable text, None where it cannot be read or is empty."""
        return read_text(self.folder / attribute)

    def number(self, attribute: str) -> int | None:
        """An attribute as a whole number, None where it is none."""
        text = self.text(attribute)
        return int(text) if text and text.lstrip("-").isdigit() else None

    def family(self) -> list[Disk]:
        """The disk and its partitions."""
        return [self, *self.partitions()]

    def partitions(self) -> list[Disk]:
        """The partitions of the disk."""
        partitions = sorted(self.folder.glob(f"{self.folder.name}*/"))
        return [Disk(path.name, path) for path in partitions if (path / "partition").exists()]

    def holders(self) -> list[str]:
        """Names of the devices built upon this one (device mapper, MD and the like)."""
        folder = self.folder / "holders"
        return sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []

    def slaves(self) -> list[Disk]:
        """The devices that this one is built on (device mapper, MD and the like); a loop device names none."""
        return [Disk(path.name, path) for link in sorted(self.folder.glob("slaves/*")) if (path := link.resolve())]

    def whole(self) -> Disk:
        """The whole disk: that of a partition, else this one."""
        return self if self.number("partition") is None else Disk(self.folder.parent.name, self.folder.parent)

    def characters(self) -> set[str]:
        """Numbers of the character devices that lead to the disk: sg, bsg, NVMe controller and generic namespace.

        Worked: of ``sda`` those of ``device/scsi_generic/sg0`` and ``device/bsg/0:0:0:0``; of ``nvme0n1`` those of
        ``nvme0`` and ``ng0n1``.
        """
        folders = [*self.folder.glob("device/scsi_generic/*"), *self.folder.glob("device/bsg/*")]
        if match := re.fullmatch(r"nvme(\d+)(?:c\d+)?(n\d+)", self.name):
            # Those of a subsystem with several controllers lie beside the disk.
            beside = [path for path in self.folder.parent.glob("nvme*") if re.fullmatch(r"nvme\d+", path.name)]
            folders += [self.folder / "device", self.folder.parent / f"ng{match[1]}{match[2]}", *beside]
        return {text for folder in folders if (text := read_text(folder / "dev"))}

    @property
    def node(self) -> str:
        """The kernel's own node. Worked: ``cciss!c0d0`` -> ``/dev/cciss/c0d0``."""
        return "/dev/" + self.name.replace("!", "/")

    @property
    def number_text(self) -> str | None:
        """``major:minor``."""
        return self.text("dev")


def number_label(device_number: int) -> str:
    """A device number as the kernel prints it. Worked: major 8, minor 16 -> ``8:16``."""
    return f"{os.major(device_number)}:{os.minor(device_number)}"


def disk_of(device_number: int, sysfs: Path = SYSFS) -> Disk | None:
    """The block device with this ``st_rdev``, or None. It may be a partition."""
    link = sysfs / "dev/block" / number_label(device_number)
    return Disk(link.resolve().name, link.resolve()) if link.exists() else None


def disk_at(path: str) -> Disk | None:
    """The block device of a node, or None where there is none."""
    try:
        status = Path(path).stat()
    except OSError:
        return None
    return disk_of(status.st_rdev) if stat.S_ISBLK(status.st_mode) else None


def whole_disks(sysfs: Path = SYSFS) -> list[Disk]:
    """Every whole disk of the host, by name."""
    return [Disk(path.name, path.resolve()) for path in sorted((sysfs / "block").iterdir())]


def read_text(path: Path) -> str | None:
    """A small file as one line of printable text, None where it cannot be read or is empty."""
    try:
        raw = path.read_bytes()[:4096]
    except OSError:
        return None
    return printable(raw) or None


def read_lines(path: Path) -> list[str]:
    """The lines of a table of the kernel; none where it cannot be read."""
    try:
        return path.read_text("ascii", "replace").splitlines()
    except OSError:
        return []


def numa_node(folder: Path) -> int | None:
    """The node of the nearest device at or above a disk that has one; -1 is the kernel's word for none."""
    texts = (read_text(parent / "numa_node") for parent in (folder / "device", *folder.parents))
    result = next((text for text in texts if text is not None), None)
    return int(result) if result and result.isdecimal() else None


def readable(text: str) -> str:
    r"""Text for people with what a terminal could obey made visible. Worked: an escape character is ``\x1b``."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


def printable(raw: bytes) -> str:
    r"""Bytes as printable ASCII; others become ``\xNN``. Worked: ``printable(b" a\x00 ")`` is ``"a\\x00"``."""
    text = raw.strip(b" \t\r\n").decode("latin-1")
    return "".join(letter if " " <= letter <= "~" else f"\\x{ord(letter):02x}" for letter in text)
