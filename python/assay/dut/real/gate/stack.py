"""What a held drive is made of, level by level: compared for as long as it is held.

A loop device or a mapped device can be turned to another disk under an open descriptor; its name, size and number stay.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from assay.dut.real.gate.doubts import file_system
from assay.dut.real.gate.levels import DiskLevel, levels
from assay.dut.real.loop import loop_status
from assay.errors import IdentityError

if TYPE_CHECKING:
    from assay.dut.real.gate.levels import FileLevel
    from assay.dut.real.sysfs import Disk
    from assay.engine.records import DriveIdentity

MAPPER = "/dev/mapper/control"
# Linux ``DM_TABLE_STATUS``: ``_IOWR(0xfd, 12, struct dm_ioctl)``; the struct has 312 bytes, the answer follows it.
_TABLE_STATUS, _HEAD_BYTES, _ROOM_BYTES = 0xC138FD0C, 312, 1 << 16
_TABLE_FLAG = 1 << 4
_ARRAY = ("level", "raid_disks", "chunk_size", "layout", "component_size", "metadata_version", "reshape_position")
_REMEDY = "find out who changed it; what was measured before is kept"


@dataclass(frozen=True, slots=True)
class Stack:
    """The levels of a drive, each with what it is made of, as readable facts by name."""

    levels: tuple[tuple[str, dict[str, object]], ...]

    @classmethod
    def of(cls, identity: DriveIdentity, held: int) -> Self:
        """The stack as it is now. held : our own descriptor of the drive. Raises IdentityError."""
        try:
            return cls(tuple((level.name, _facts(level)) for level in levels(identity, held=held)))
        except OSError as error:
            raise IdentityError(identity.path, f"is gone ({error.strerror})", "name the drive again") from None

    def check(self, identity: DriveIdentity, held: int) -> None:
        """Raise IdentityError where the drive is made of something else by now, with the level and what changed.

        Worked: ``LOOP_SET_STATUS64`` with another offset -> ``"loop0 changed: offset from 0 to 1048576"``.
        """
        now = Stack.of(identity, held)
        if now == self:
            return
        before, after = dict(self.levels), dict(now.levels)
        if before.keys() != after.keys():
            reason = f"it stands on {_names(after)} now, no longer on {_names(before)}"
            raise IdentityError(identity.path, reason, _REMEDY)
        for name, facts in after.items():
            for key, value in facts.items():
                if before[name].get(key) != value:
                    reason = f"{name} changed: {key} from {before[name].get(key)} to {value}"
                    raise IdentityError(identity.path, reason, _REMEDY)


def stack_kinds(identity: DriveIdentity) -> list[str]:
    """What a drive stands on by kind, itself first; empty where it cannot be reached.

    Worked: a loop device on a file on ext4 -> ``["loop", "file on ext4"]``.
    """
    try:
        kinds = levels(identity)
    except OSError:
        return []
    return [
        re.sub(r"[^a-z].*", "", level.name) if isinstance(level, DiskLevel) else f"file on {file_system(level)}"
        for level in kinds
    ]


def _names(stack: dict[str, dict[str, object]]) -> str:
    return ", ".join(list(stack)[1:]) or "nothing else"


def _facts(level: DiskLevel | FileLevel) -> dict[str, object]:
    if not isinstance(level, DiskLevel):
        return {"file": f"{level.file.device}:{level.file.inode}"}
    disk = level.disk
    array = {name: disk.text(f"md/{name}") for name in _ARRAY} if (disk.folder / "md").is_dir() else {}
    members = {member.name: f"{member.text('offset')}+{member.text('size')}" for member in _members(disk)}
    return {
        "number": disk.number_text,
        "sectors": disk.number("size"),
        "slaves": ", ".join(slave.name for slave in disk.slaves()),
        **_loop(disk),
        **array,
        **members,
        **({"table": _table(disk)} if (disk.folder / "dm").is_dir() else {}),
    }


def _members(disk: Disk) -> list[Disk]:
    """Members of an array, with where their data begins."""
    return [type(disk)(path.name, path) for path in sorted(disk.folder.glob("md/dev-*"))]


def _loop(disk: Disk) -> dict[str, object]:
    backing = loop_status(disk)
    if backing is None:
        return {"backing": None} if (disk.folder / "loop").is_dir() or disk.name.startswith("loop") else {}
    offset, limit, flags = backing.extent or (disk.number("loop/offset"), disk.number("loop/sizelimit"), None)
    return {
        "backing": f"{backing.device}:{backing.inode}:{backing.block}",
        "offset": offset,
        "size limit": limit,
        "flags": flags,
    }


def _table(disk: Disk) -> str:
    """The live table of a mapped device; its name and UUID where it cannot be read.

    Source: Linux ``include/uapi/linux/dm-ioctl.h``.
    """
    major, _, minor = (disk.number_text or "0:0").partition(":")
    size = _HEAD_BYTES + _ROOM_BYTES
    number = _huge(int(major), int(minor))
    head = struct.pack("3I4I2IIQ", 4, 0, 0, size, _HEAD_BYTES, 0, 0, _TABLE_FLAG, 0, 0, number)
    request = bytearray(head.ljust(size, b"\0"))
    try:
        descriptor = os.open(MAPPER, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return f"{disk.text('dm/name')} {disk.text('dm/uuid')}"
    try:
        fcntl.ioctl(descriptor, _TABLE_STATUS, request)
    except OSError:
        return f"{disk.text('dm/name')} {disk.text('dm/uuid')}"
    finally:
        os.close(descriptor)
    return _targets(bytes(request))


def _huge(major: int, minor: int) -> int:
    """A device number as this interface has it: the kernel's own form with 12 and 20 bits."""
    return (minor & 0xFF) | (major << 8) | ((minor & ~0xFF) << 12)


def _targets(answer: bytes) -> str:
    """The targets of a table, one behind the other: start, length, kind and parameters."""
    start, count = struct.unpack_from("I", answer, 16)[0], struct.unpack_from("I", answer, 20)[0]
    place, lines = start, []
    for _ in range(count):
        sector, length, _status, following = struct.unpack_from("QQiI", answer, place)
        kind = answer[place + 24 : place + 40].partition(b"\0")[0].decode("ascii", "replace")
        raw = answer[place + 40 :].partition(b"\0")[0]
        # The parameters of an encrypted device hold its key.
        text = hashlib.sha256(raw).hexdigest() if kind == "crypt" else raw.decode("utf-8", "replace")
        lines.append(f"{sector} {length} {kind} {text}")
        place = start + following
    return "; ".join(lines)
