"""Which processes have a level of the target open or mapped, as far as they can be seen.

A look at all descriptors takes 10 us each, so it is made once for all levels, and last. A file system that hangs must
not hang it: see ``crates/openers``.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from assay._native import open_descriptors
from assay.dut.real.gate import mounts
from assay.dut.real.gate.levels import DiskLevel, FileLevel
from assay.dut.real.sysfs import readable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from assay.dut.real.gate.levels import Level

# The inode that Linux gives the first PID namespace: ``PROC_PID_INIT_INO``.
_FIRST_PIDS = "pid:[4026531836]"
# That of the first user namespace: ``PROC_USER_INIT_INO``.
_FIRST_USERS = "user:[4026531837]"
_SYS_PTRACE = 1 << 19
_SHARED_WRITES = re.compile(rb"^([0-9a-f]+)-([0-9a-f]+) .w.s \S+ ([0-9a-f]+:[0-9a-f]+) \d+ +/", re.MULTILINE)
# Of ``/proc/PID/stat`` behind the name: parent and start.
_PARENT, _STARTED = 1, 19


class Process(NamedTuple):
    """One process. started : tells it from a later one of the same number. parent : the number of its parent."""

    number: int
    name: str = "ended"
    parent: int = 0
    started: int = 0

    @property
    def label(self) -> str:
        """Worked: ``process 812 (dd)``."""
        return f"process {self.number} ({self.name})"


@dataclass(frozen=True, slots=True)
class Opener:
    """A process with a level open. writes : whether for writing."""

    level: Level
    process: Process
    writes: bool


@dataclass(frozen=True, slots=True)
class Look:
    """What one look at all processes gave. hidden : those with descriptors that cannot be looked at, by number."""

    openers: tuple[Opener, ...] = ()
    hidden: tuple[int, ...] = ()

    def writers(self) -> list[tuple[Level, str]]:
        """Who writes, as reasons by level, one process each."""
        writers = [
            (opener.level, f"open for writing by {opener.process.label}") for opener in self.openers if opener.writes
        ]
        return list(dict.fromkeys(writers))

    def readers(self) -> list[Opener]:
        """Who only reads: processes that write another level, or this one, are left out."""
        writers = {opener.process for opener in self.openers if opener.writes}
        return list(dict.fromkeys(opener for opener in self.openers if opener.process not in writers))


def look(levels: Sequence[Level], without: Collection[tuple[int, int]] = ()) -> Look:
    """Look at the descriptors of all processes for any of these levels.

    without : descriptors that do not count, as (process, descriptor). A file that nobody has open is not looked for.
    Worked: QEMU with the node of a disk open -> one ``Opener`` that writes, ``process 812 (qemu-system-x86)``.
    """
    devices = _devices(levels)
    files = {
        (level.file.device, level.file.inode): level
        for level in levels
        if isinstance(level, FileLevel) and level.file.inode and not level.is_free
    }
    if not devices and not files:
        return Look()
    table = levels[0].view.mounts
    opened, hidden = open_descriptors(
        str(mounts.PROC),
        {mount.mark for mount in table if mount.is_local},
        {mount.mark for mount in table if not mount.is_local},
        {(device, inode) for device, inode in files},
    )
    result = []
    for number, descriptor, flags, kind, device, inode in opened:
        level = files.get((device, inode)) if kind == "file" else devices.get((kind, device))
        if level is not None and (number, descriptor) not in without:
            writes = flags & os.O_ACCMODE != os.O_RDONLY
            result.append(Opener(level, process_of(number), writes))
    return Look(tuple(result), tuple(hidden))


def process_of(number: int) -> Process:
    """A process by its number. Source: Linux ``proc_pid_stat(5)``."""
    try:
        with open(f"{mounts.PROC}/{number}/stat", "rb") as file:  # noqa: PTH123 - several times quicker than paths
            name, _, rest = file.read().partition(b"(")[2].rpartition(b") ")
    except OSError:
        return Process(number)
    fields = rest.split()
    return Process(number, readable(name.decode("utf-8", "replace")), int(fields[_PARENT]), int(fields[_STARTED]))


def mapped(levels: Sequence[Level]) -> list[tuple[Level, str]]:
    """Processes that have a file mapped, as a library has, or a disk shared and for writing, as reasons by level."""
    disks = {number: level for (kind, number), level in _devices(levels).items() if kind == "block"}
    files = [level for level in levels if isinstance(level, FileLevel) and level.file.inode and not level.is_free]
    result: list[tuple[Level, str]] = []
    for number, text in _maps() if disks or files else ():
        uses = [
            *_mapped_disks(number, text, disks, levels[0]),
            *(file for file in files if _maps_file(number, text, file)),
        ]
        result += [(level, f"mapped by {process_of(number).label}") for level in dict.fromkeys(uses)]
    return result


def unseen(levels: Sequence[Level], hidden: Sequence[int]) -> list[str]:
    """Why not all processes can be seen; empty where they can, or where nobody can have any level open.

    Worked: in a container with a PID namespace of its own -> ``"processes outside this PID namespace cannot be seen"``.
    """
    if all(isinstance(level, FileLevel) and level.is_free for level in levels):
        return []
    if hidden:
        others = f" and {len(hidden) - 1} more" if len(hidden) > 1 else ""
        return [f"the open files of {process_of(hidden[0]).label}{others} cannot be seen"]
    if not _may_look_at_all():
        return ["the open files of processes with more rights cannot be seen (no CAP_SYS_PTRACE)"]
    try:
        namespace = str((mounts.PROC / "self/ns/pid").readlink())
    except OSError:
        namespace = ""
    if namespace not in {"", _FIRST_PIDS}:
        return ["processes outside this PID namespace cannot be seen"]
    if os.geteuid() and any("hidepid=" in mount.options for mount in levels[0].view.own_mounts if mount.kind == "proc"):
        return ["processes of other users are hidden (hidepid)"]
    return []


def _may_look_at_all() -> bool:
    """Whether links of processes with more rights may be read. Else only their names are listed.

    Source: Linux ``capabilities(7)``, ``user_namespaces(7)``.
    """
    try:
        text = (mounts.PROC / "self/status").read_text("utf-8", "replace")
        namespace = str((mounts.PROC / "self/ns/user").readlink())
    except OSError:
        return True
    rights = re.search(r"^CapEff:\s*([0-9a-f]+)", text, re.MULTILINE)
    return namespace == _FIRST_USERS and (not rights or bool(int(rights[1], 16) & _SYS_PTRACE))


def _devices(levels: Sequence[Level]) -> dict[tuple[str, int], Level]:
    """Every number that leads to a level: of disk and partitions, and of character devices."""
    devices: dict[tuple[str, int], Level] = {}
    for level in levels:
        if isinstance(level, DiskLevel):
            blocks = {member.number_text for member in level.disk.family()}
            devices |= {("block", _number(text)): level for text in blocks if text}
            devices |= {("character", _number(text)): level for text in level.disk.characters()}
    return devices


def _number(text: str) -> int:
    major, _, minor = text.partition(":")
    return os.makedev(int(major), int(minor))


def _maps() -> Iterator[tuple[int, bytes]]:
    """What each process has mapped; those that ended or are hidden are left out."""
    for name in os.listdir(mounts.PROC):  # noqa: PTH208 - several times quicker than paths
        if name.isdigit():
            try:
                with open(f"{mounts.PROC}/{name}/maps", "rb") as file:  # noqa: PTH123
                    yield int(name), file.read()
            except OSError:
                continue


def _mapped_disks(process: int, text: bytes, disks: dict[int, Level], any_level: Level) -> Iterator[Level]:
    """Disks that a process has mapped shared and for writing: the table has the node, and its file system, only."""
    for low, high, device in _SHARED_WRITES.findall(text):
        major, _, minor = device.decode().partition(":")
        number = f"{int(major, 16)}:{int(minor, 16)}"
        if not any(mount.number == number and not mount.is_local for mount in any_level.view.mounts):
            status = _mapping(process, low.decode(), high.decode())
            if status and stat.S_ISBLK(status.st_mode) and status.st_rdev in disks:
                yield disks[status.st_rdev]


def _maps_file(process: int, text: bytes, level: FileLevel) -> bool:
    """Whether a mapping is of this file. The device in the table may be another than that of ``stat``, as on btrfs."""
    file = level.file
    if b" %d " % file.inode not in text:
        return False
    pattern = rb"^([0-9a-f]+)-([0-9a-f]+) \S+ \S+ ([0-9a-f]+:[0-9a-f]+) %d " % file.inode
    own = f"{os.major(file.device):02x}:{os.minor(file.device):02x}".encode()
    for low, high, device in re.findall(pattern, text, re.MULTILINE):
        status = _mapping(process, low.decode(), high.decode())
        if file.is_of(status) if status else device == own:
            return True
    return False


def _mapping(process: int, low: str, high: str) -> os.stat_result | None:
    """The file of a mapping; its name has no leading zeros."""
    place = f"{low.lstrip('0') or '0'}-{high.lstrip('0') or '0'}"
    try:
        return os.stat(f"{mounts.PROC}/{process}/map_files/{place}")  # noqa: PTH116
    except OSError:
        return None
