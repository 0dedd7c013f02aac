"""The levels below a target, disks and files, and their kinds."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from assay.dut.real.gate import lease, mounts
from assay.dut.real.gate.file import File
from assay.dut.real.loop import loop_status, loops
from assay.dut.real.sysfs import disk_of
from assay.errors import IdentityError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from assay.dut.real.gate.mounts import Mount
    from assay.dut.real.loop import Backing
    from assay.dut.real.sysfs import Disk
    from assay.engine.records import DriveIdentity


# A reason that begins otherwise says what the level is, such as "mounted on /mnt".
_VERBS = ("is ", "backs ", "belongs ", "carries ", "lies ", "cannot ", "may ", "perhaps ")


class View:
    """The host as one asking of the rules sees it: each thing is looked at once, when a rule wants it.

    held : our own descriptor of the target, where there is one.
    """

    def __init__(self, held: int | None = None) -> None:
        self.held = held

    @cached_property
    def mounts(self) -> list[Mount]:
        """What is mounted, in all namespaces that can be seen."""
        return mounts.mounts()

    @cached_property
    def own_mounts(self) -> list[Mount]:
        """What is mounted in our own namespace."""
        return [mount for mount in self.mounts if mount.own]

    @cached_property
    def _names(self) -> dict[File, tuple[Path, ...]]:
        return {}

    def names(self, file: File, search: Callable[[], tuple[Path, ...]]) -> tuple[Path, ...]:
        """The names of a file, which are searched for once."""
        if file not in self._names:
            self._names[file] = search()
        return self._names[file]

    @cached_property
    def _free(self) -> dict[File, bool | None]:
        return {}

    def is_free(self, file: File) -> bool | None:
        """Whether nobody else at all has a target file open; None where the kernel does not tell."""
        if file not in self._free:
            self._free[file] = lease.unopened(file) if self.held is None else lease.held_alone(self.held)
        return self._free[file]

    @cached_property
    def loops(self) -> list[tuple[str, Backing]]:
        """Loop devices by name, and what they lie on."""
        return loops()


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """One level of what a target stands on.

    chain : names of what stands on it, the target first; empty for the target itself.
    own : names of all disks of the stack, which use each other by right. kept : paths that must survive.
    view : of the host, shared by all levels of one asking.
    """

    chain: tuple[str, ...] = ()
    own: frozenset[str] = frozenset()
    kept: tuple[Path, ...] = ()
    view: View = field(default_factory=View, repr=False, compare=False)

    @property
    def name(self) -> str:
        """What messages call it."""
        raise NotImplementedError

    def told(self, reason: str) -> str:
        """A reason that speaks of this level, as told of the target.

        Worked: loop1 on loop0, ``mounted on /x`` -> ``loop1 stands on loop0, which is mounted on /x``.
        """
        if not self.chain:
            return reason
        below = " on ".join((*self.chain[1:], self.name))
        return f"{self.chain[0]} stands on {below}, which {'' if reason.startswith(_VERBS) else 'is '}{reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskLevel(Level):
    """A whole disk with its partitions. is_free : nothing of the stack above it claims it, as a mapped device does."""

    disk: Disk
    is_free: bool = True

    @property
    def name(self) -> str:
        """The kernel's name of the disk."""
        return self.disk.name


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLevel(Level):
    """A regular file. is_part : the loop device above it uses a part of it only."""

    file: File
    is_part: bool = False

    @property
    def name(self) -> str:
        """The path of the file."""
        return str(self.file.path)

    @property
    def is_free(self) -> bool:
        """Whether nobody at all has it open. Beneath a loop device, which has, that cannot be told."""
        return not self.chain and self.view.is_free(self.file) is True

    @property
    def is_opened(self) -> bool:
        """Whether it is the target and somebody has it open, seen or not, as far as the kernel tells."""
        return not self.chain and self.view.is_free(self.file) is False


def opened_targets(found: Sequence[Level]) -> list[FileLevel]:
    """The target, where it is a file that somebody has open, seen or not, as far as the kernel tells."""
    return [level for level in found if isinstance(level, FileLevel) and level.is_opened]


def levels(
    identity: DriveIdentity, kept: tuple[Path, ...] = (), held: int | None = None
) -> list[DiskLevel | FileLevel]:
    """The target and everything that it stands on, the target first; empty where the kernel does not know it.

    kept : paths that must survive. held : our own descriptor of the target, where there is one.
    Raises OSError where its node or file cannot be reached.
    """
    status = Path(identity.path).stat() if held is None else os.fstat(held)
    if identity.kind == "file":
        file = File(Path(identity.path), status.st_dev, status.st_ino)
        return [FileLevel(file=file, kept=kept, view=View(held))]
    disk = disk_of(status.st_rdev) if stat.S_ISBLK(status.st_mode) else None
    result = list(_standing_on(disk, (), set(), is_free=True)) if disk else []
    own = frozenset(level.name for level in result if isinstance(level, DiskLevel))
    view = View(held)
    return [replace(level, own=own, kept=kept, view=view) for level in result]


def levels_below(identity: DriveIdentity) -> list[DiskLevel | FileLevel]:
    """What a target stands on, nearest first. Raises IdentityError where its node cannot be reached any more."""
    try:
        return levels(identity)[1:] if identity.kind == "block" else []
    except OSError as error:
        raise IdentityError(identity.path, f"is gone ({error.strerror})", "name the drive again") from None


def _standing_on(
    disk: Disk, chain: tuple[str, ...], passed: set[str], *, is_free: bool
) -> Iterator[DiskLevel | FileLevel]:
    """A disk and what is below it. A partition stands for its whole disk, since only whole disks are tested."""
    disk = disk.whole()
    if disk.name in passed:
        return
    passed.add(disk.name)
    yield DiskLevel(disk=disk, chain=chain, is_free=is_free)
    chain = (*chain, disk.name)
    for lower in disk.slaves():
        yield from _standing_on(lower, chain, passed, is_free=False)
    backing = loop_status(disk)
    if backing and backing.block:
        below = disk_of(backing.block)
        yield from _standing_on(below, chain, passed, is_free=True) if below else ()
    elif backing:
        yield _file_below(backing, chain)


def _file_below(backing: Backing, chain: tuple[str, ...]) -> FileLevel:
    return FileLevel(file=File(backing.path, backing.device, backing.inode), chain=chain, is_part=backing.is_part)


State = Literal["supported", "refused", "untested"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of drive or stack.

    state : ``supported`` where it is let in and was tried, ``refused`` with the rule that refuses it, ``untested``
    where no rule is against it and nobody has tried it. rule : of the gate's tables, empty where there is none.
    tried : the tests that show it, below ``tests``; empty where there are none. note : in a few words.
    """

    name: str
    state: State
    rule: str = ""
    tried: tuple[str, ...] = ()
    note: str = ""


_RUN, _PATHS = "drives/test_drive_run.py", "drives/test_gate_paths.py"
_BACKINGS, _RULES = "drives/test_gate_backings.py", "device/test_gate_rules.py"
KINDS: tuple[Kind, ...] = (
    Kind(name="NVMe", state="supported", tried=(_RUN, "drives/test_drive_purge.py"), note="emulated only"),
    Kind(name="SATA", state="supported", tried=("drives/test_drive_identity.py",), note="emulated only"),
    Kind(name="SCSI, SAS", state="supported", tried=("drives/test_drive_identity.py",), note="emulated only"),
    Kind(name="USB bridge", state="supported", tried=(_PATHS,), note="emulated only; it tells no serial number"),
    Kind(name="virtio, MMC", state="untested"),
    Kind(name="Loop device", state="supported", tried=("device/test_run_loop.py",)),
    Kind(name="File", state="supported", tried=("device/test_preflight.py",), note="with --file-target"),
    Kind(name="4Kn", state="supported", tried=(_PATHS, "device/test_alignment.py"), note="emulated only"),
    Kind(name="Protection information", state="supported", tried=(_PATHS,), note="emulated only; the gate, no run"),
    Kind(name="Two controllers per namespace", state="supported", tried=(_PATHS,), note="emulated only"),
    Kind(name="Several paths to a drive", state="refused", rule="twins", tried=(_PATHS,)),
    Kind(name="Multipath over several paths", state="supported", tried=(_PATHS,), note="emulated only"),
    Kind(name="Zoned", state="refused", rule="zoned", tried=(_PATHS,)),
    Kind(name="Read-only", state="refused", rule="writable", tried=(_PATHS,)),
    Kind(name="Partition", state="refused", rule="partition", tried=("device/test_gate.py",)),
    Kind(name="Mapped device", state="supported", tried=("drives/test_gate_mapped.py",)),
    Kind(name="LVM volume", state="supported", tried=("drives/test_gate_volumes.py",)),
    Kind(name="MD array", state="supported", tried=("drives/test_gate_arrays.py",)),
    Kind(name="bcache", state="supported", tried=(_BACKINGS,)),
    Kind(name="Disk below any of these", state="refused", rule="holders", tried=("drives/test_gate_mapped.py",)),
    Kind(name="Member of an MD array", state="refused", rule="md", tried=("drives/test_gate_arrays.py",)),
    Kind(name="Member of a btrfs", state="refused", rule="btrfs", tried=(_RULES,)),
    Kind(name="nbd", state="refused", rule="untold", tried=(_BACKINGS,), note="until acknowledged: unknown-backing"),
    Kind(name="ublk, rbd, drbd, zvol", state="refused", rule="untold", note="until acknowledged: unknown-backing"),
    Kind(name="File on FUSE", state="refused", rule="untold", note="until acknowledged: unknown-backing"),
    Kind(name="File on overlay, network", state="refused", rule="alike", note="until acknowledged: file-system:TYPE"),
    Kind(name="Disk of a virtual machine", state="refused", rule="writers", tried=("drives/test_gate_openers.py",)),
    Kind(name="Disk that the kernel exports", state="refused", rule="exports", tried=("drives/test_gate_exports.py",)),
    Kind(name="In a container", state="refused", rule="unseen", note="until acknowledged: unseen-processes"),
)
"""In the order in which the page has them."""
SYSTEMS = (
    ("Debian 12, Linux 6.18", "all tests on loop devices and files"),
    ("Debian 12, Linux 6.1", "guests with emulated drives"),
)
"""Distributions and kernels that were tried, and with what."""
