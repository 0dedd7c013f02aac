"""What is mounted and swapped to, as every process of the host sees it, and which file systems it is safe to ask."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.engine.records import DriveIdentity

PROC = Path("/proc")
OWN_INODES = frozenset(
    {
        *("bcachefs", "btrfs", "cramfs", "devtmpfs", "erofs", "exfat", "ext2", "ext3", "ext4", "f2fs", "hfs"),
        *("hfsplus", "hugetlbfs", "iso9660", "jfs", "minix", "msdos", "nilfs2", "ntfs", "ntfs3", "ramfs", "reiserfs"),
        *("romfs", "rootfs", "squashfs", "tmpfs", "udf", "ufs", "vfat", "xfs", "zfs", "zonefs"),
    }
)
"""File systems of this host alone whose files are told from all others by device and inode."""
LOCAL = OWN_INODES | frozenset(
    {
        *("binfmt_misc", "bpf", "cgroup", "cgroup2", "configfs", "debugfs", "devpts", "efivarfs", "fusectl", "mqueue"),
        *("nsfs", "overlay", "proc", "pstore", "securityfs", "selinuxfs", "sysfs", "tracefs"),
    }
)
"""File systems that answer ``stat`` from this host alone; any other may wait for somebody, for ever."""
_MEMORY = frozenset({"devtmpfs", "hugetlbfs", "ramfs", "rootfs", "tmpfs"})


@dataclass(frozen=True, slots=True)
class Mount:
    """One line of ``mountinfo``.

    number : ``major:minor``, anonymous for btrfs and overlays. root : of the file system, what is mounted of it.
    options : of the file system. flags : of this mount of it.
    own : whether our own mount namespace has it. kind : type of the file system. mark : of this mount among all.
    process : one that sees it, as a folder in ``/proc``.
    """

    number: str
    point: str
    source: str
    options: str
    own: bool
    kind: str = ""
    root: str = "/"
    mark: int = 0
    process: str = "self"
    flags: str = ""

    @property
    def is_local(self) -> bool:
        """Whether its file system answers from this host alone."""
        return self.kind in LOCAL

    @property
    def is_anonymous(self) -> bool:
        """Whether its number tells no device: its source may be a device or a file all the same."""
        return self.number.startswith("0:")

    @property
    def told(self) -> str:
        """Where it is, as a reason."""
        return f"mounted on {self.point}" + ("" if self.own else " in another mount namespace")


def mounts(*, everywhere: bool = True) -> list[Mount]:
    """What is mounted; each namespace is read once. everywhere : in those of all processes that may be looked at.

    Source: Linux ``proc_pid_mountinfo(5)``.
    """
    texts: dict[str, tuple[str, str]] = {}
    # A host has hundreds of processes: names as text are several times quicker than paths.
    others = [name for name in os.listdir(PROC) if name.isdigit()] if everywhere else []  # noqa: PTH208
    for process in ("self", *others):
        try:
            namespace = os.readlink(f"{PROC}/{process}/ns/mnt")  # noqa: PTH115
            if namespace not in texts:
                texts[namespace] = process, (PROC / process / "mountinfo").read_text("utf-8", "replace")
        except OSError:
            # It has ended, or is hidden from us; an exclusive claim sees its mounts all the same.
            continue
    return [
        _mount(line, process, own=not nth)
        for nth, (process, text) in enumerate(texts.values())
        for line in text.split("\n")
        if line
    ]


def swap_paths() -> list[str]:
    """Devices and files that are swapped to."""
    lines = (PROC / "swaps").read_text("utf-8", "replace").splitlines()[1:]
    return [_unescape(line.split()[0]) for line in lines]


def mount_of(path: Path) -> Mount | None:
    """The mount of our own namespace that a path lies in: the last one with the longest point above it."""
    real = Path(os.path.realpath(path))
    return mount_over(real, mounts(everywhere=False))


def on_file_system(drive: DriveIdentity) -> DriveIdentity:
    """A file target with its file system and mount options as its interface, memory called that; others as they are.

    Worked: a file on tmpfs -> interface ``file in memory, tmpfs (rw,nosuid; rw,size=4096k)``, media ``memory``.
    """
    mount = mount_of(Path(drive.path)) if drive.kind == "file" else None
    if mount is None:
        return drive
    media, kind = ("memory", f"in memory, {mount.kind}") if mount.kind in _MEMORY else (None, f"on {mount.kind}")
    return replace(drive, interface=f"file {kind} ({mount.flags}; {mount.options})", media=media)


def mount_over(path: Path, among: Iterable[Mount]) -> Mount | None:
    """The mount that a real path lies in: the last one with the longest point above it."""
    above = [mount for mount in among if path.is_relative_to(mount.point)]
    return max(reversed(above), key=lambda mount: len(mount.point), default=None)


def source_status(mount: Mount, among: Iterable[Mount]) -> os.stat_result | None:
    """What the source of a mount is, as its own namespace sees it: a device, or a file; None where it is no path.

    among : all mounts. A source below a file system that may wait for others is not looked at.
    """
    same = [one for one in among if one.process == mount.process]
    if not mount.source.startswith("/") or not is_safe(Path(mount.source), same):
        return None
    try:
        return os.stat(f"{PROC}/{mount.process}/root{mount.source}")  # noqa: PTH116 - text
    except OSError:
        return None


def is_safe(path: Path, among: Iterable[Mount]) -> bool:
    """Whether ``stat`` of a path, as text, meets local file systems only: none above it may wait for others."""
    return all(mount.is_local for mount in among if path.is_relative_to(mount.point))


def _mount(line: str, process: str, *, own: bool) -> Mount:
    fields = line.split(" ")
    kind, source, options = fields[fields.index("-") + 1 :][:3]
    return Mount(
        number=fields[2],
        point=_unescape(fields[4]),
        source=_unescape(source),
        options=_unescape(options),
        own=own,
        kind=kind,
        root=_unescape(fields[3]),
        mark=int(fields[0]),
        process=process,
        flags=fields[5],
    )


def _unescape(text: str) -> str:
    return re.sub(r"\\(\d{3})", lambda match: chr(int(match[1], 8)), text)
