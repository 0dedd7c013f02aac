"""What the gate cannot tell, or what may be harmless: refused until it is acknowledged by a word.

``reader:NAME`` a process that only reads · ``unseen-processes`` not all processes can be seen · ``unknown-backing`` the
kernel does not tell what a device lies on · ``file-system:TYPE`` files there cannot be told from others.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from assay.dut.real.gate import mounts, processes
from assay.dut.real.gate.levels import DiskLevel, FileLevel, opened_targets
from assay.dut.real.loop import loops
from assay.dut.real.sysfs import number_label

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from assay.dut.real.gate.levels import Level
    from assay.dut.real.gate.processes import Look

READER_PAUSE_S = 1.0
"""A process that only reads counts if it is seen again after this time: probes of udev are gone by then."""
UNSEEN, UNKNOWN_BACKING = "unseen-processes", "unknown-backing"
# Drives whose backing the kernel does not tell: it is in a process, in another host, or in a pool.
_UNTOLD = re.compile(r"(nbd|ublkb|rbd|drbd|rnbd|zd)\d+")


def is_word(text: str) -> bool:
    """Whether a text is a word that acknowledges something. Worked: ``reader:smartd`` is one, ``reader:`` is none."""
    kind, _, name = text.partition(":")
    return text in {UNSEEN, UNKNOWN_BACKING} or (kind in {"reader", "file-system"} and bool(name))


class Doubt(NamedTuple):
    """One thing to acknowledge. word : that acknowledges it. reason : of its level, which stands below the target."""

    word: str
    level: Level
    reason: str

    @property
    def told(self) -> str:
        """The reason as told of the target."""
        return self.level.told(self.reason)


def readers(levels: Sequence[Level], seen: Look, again: Callable[[], Look]) -> list[Doubt]:
    """Who reads a level, and still does at the second look, which comes ``READER_PAUSE_S`` later.

    Worked: ``smartd`` with the node open for reading -> ``reader:smartd``.
    """
    del levels
    first = seen.readers()
    if not first:
        return []
    still = {(reader.level.name, reader.process) for reader in again().readers()}
    return [
        Doubt(f"reader:{one.process.name}", one.level, f"open for reading by {one.process.label}")
        for one in first
        if (one.level.name, one.process) in still
    ]


def unseen(levels: Sequence[Level], seen: Look, again: Callable[[], Look]) -> list[Doubt]:
    """Whether there are processes that cannot be seen."""
    del again
    return [Doubt(UNSEEN, levels[0], f"cannot be judged: {reason}") for reason in processes.unseen(levels, seen.hidden)]


def opened_unseen(levels: Sequence[Level], seen: Look, again: Callable[[], Look]) -> list[Doubt]:
    """Whether a target file is open somewhere, though no process is seen that has it open.

    Only of a file of the caller the kernel tells this; so it keeps a file that it has mounted, too.
    """
    del again
    visible = {opener.level.name for opener in seen.openers}
    result = (level for level in opened_targets(levels) if level.name not in visible)
    return [Doubt(UNSEEN, one, "open by somebody who cannot be seen") for one in result]


def untold(levels: Sequence[Level], seen: Look, again: Callable[[], Look]) -> list[Doubt]:
    """Whether the kernel does not tell what a level lies on."""
    del seen, again
    return [
        Doubt(UNKNOWN_BACKING, level, f"lies on what the kernel does not tell ({kind})")
        for level in levels
        if (kind := _untold(level))
    ]


def _untold(level: Level) -> str:
    if isinstance(level, DiskLevel):
        return level.disk.name if _UNTOLD.fullmatch(level.disk.name) else ""
    kind = file_system(level) if isinstance(level, FileLevel) else ""
    return kind if kind.startswith("fuse") else ""


def unasked_loops(levels: Sequence[Level], seen: Look, again: Callable[[], Look]) -> list[Doubt]:
    """Whether a loop device that cannot be asked may lie on a level.

    That is on a disk, by a node of any name, or on a file that somebody may have open.
    """
    del seen, again
    unasked = [name for name, on in levels[0].view.loops if not on.inode]
    # One that was just taken down could not be asked either, and is gone by now.
    still = {name for name, on in loops() if not on.inode} if unasked else set()
    return [
        Doubt(UNKNOWN_BACKING, level, f"may back {name}, which cannot be queried")
        for level in levels
        if not (isinstance(level, FileLevel) and level.is_free)
        for name in unasked
        if name in still and name not in level.own
    ]


def alike(levels: Sequence[Level], seen: Look, again: Callable[[], Look]) -> list[Doubt]:
    """Whether a file cannot be told from others: an overlay, a network or an unknown file system.

    A file of the caller that nobody has open may still be one of another name there.
    """
    del seen, again
    kinds = {level: file_system(level) for level in levels if isinstance(level, FileLevel)}
    return [
        Doubt(f"file-system:{kind}", level, f"is on {kind}, where it cannot be distinguished from other files")
        for level, kind in kinds.items()
        if kind not in mounts.OWN_INODES and not kind.startswith("fuse")
    ]


def file_system(level: FileLevel) -> str:
    """The type of the file system of a file, ``unknown`` where its path leads elsewhere by now."""
    number = number_label(level.file.device)
    known = next((mount.kind for mount in level.view.mounts if mount.number == number), None)
    if known:
        return known
    path = Path(level.file.path)
    mount = mounts.mount_over(path, level.view.own_mounts) if mounts.is_safe(path, level.view.own_mounts) else None
    # A network file system has a number of its own, a part of a btrfs has another than its mount.
    return mount.kind if mount and level.file.is_at(path) else "unknown"


DOUBTS: dict[str, Callable[[Sequence[Level], Look, Callable[[], Look]], list[Doubt]]] = {
    "unseen": unseen,
    "opened-unseen": opened_unseen,
    "untold": untold,
    "unasked-loops": unasked_loops,
    "alike": alike,
    "readers": readers,
}


def unacknowledged(
    levels: Sequence[Level], seen: Look, again: Callable[[], Look], said: Collection[str]
) -> list[Doubt]:
    """Every doubt that was not acknowledged; that on readers is asked last, since it waits."""
    result: list[Doubt] = []
    for rule in list(DOUBTS.values()):
        result += [one for one in rule(levels, seen, again) if one.word not in said]
    return list(dict.fromkeys(result))
