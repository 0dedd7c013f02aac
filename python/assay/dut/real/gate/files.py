"""Who uses a regular file: one that is named as a target, or that a loop device on the way down lies on."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from assay.dut.real.gate import mounts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from assay.dut.real.gate.levels import FileLevel, View

_TOOL = Path(__file__).parents[2]
_PARTS_OF_VAR = ("backups", "cache", "db", "lib", "log", "mail", "spool")
PLACES = (
    *("/bin", "/boot", "/dev", "/efi", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/nix", "/proc", "/run"),
    *("/sbin", "/snap", "/sys", "/usr", *(f"/var/{part}" for part in _PARTS_OF_VAR)),
)
"""Folders whose files belong to the system."""
FREE_PLACES = ("/dev/shm", "/run/media")  # noqa: S108 - named to be let in
"""Folders within them whose files belong to users."""
_BY_FILE = frozenset({"erofs"})
"""File systems that are mounted from a file without a loop device; their number tells nothing of it."""


def of_system(level: FileLevel) -> list[str]:
    """Whether it belongs to the interpreter, its packages or the tool."""
    places = (sys.executable, sys.prefix, sys.base_prefix, _TOOL)
    is_part = any(_is_within(name, place, level.view) for name in _names(level) for place in places)
    return ["is part of the running system"] if is_part else []


def of_places(level: FileLevel) -> list[str]:
    """The place of the system that it lies in, also where a bind mount or another name of it leads elsewhere."""
    for name in _names(level):
        places = [place for place in (*PLACES, *FREE_PLACES) if _is_within(name, place, level.view)]
        nearest = max(places, key=len, default=None)
        if nearest and nearest not in FREE_PLACES:
            alias = "" if len(_names(level)) == 1 or _is_within(level.file.path, nearest, level.view) else f" as {name}"
            return [f"belongs to the system: it lies in {nearest}{alias}"]
    return []


def mounted(level: FileLevel) -> list[str]:
    """Where a file system is mounted from it without a loop device, in any namespace."""
    return [] if level.is_free else [reason for mount in level.view.mounts for reason in _mounted(mount, level)]


def _mounted(mount: mounts.Mount, level: FileLevel) -> Iterator[str]:
    if not mount.is_anonymous or not (mount.kind in _BY_FILE or mount.source.startswith("/")):
        return
    status = mounts.source_status(mount, level.view.mounts)
    if status is None and mount.kind in _BY_FILE and mount.mark in {mount.mark for mount in mounts.mounts()}:
        yield f"perhaps carries what is {mount.told}: the source of that, {mount.source}, cannot be looked at"
    elif status and stat.S_ISREG(status.st_mode) and level.file.is_of(status):
        yield mount.told


def swapped(level: FileLevel) -> list[str]:
    """Whether it is swapped to."""
    return [f"swap on {swap}" for swap in mounts.swap_paths() if level.file.is_at(swap)]


def backing(level: FileLevel) -> list[str]:
    """Loop devices upon it, whatever path they were given."""
    file = level.file
    upon = (name for name, on in level.view.loops if file.inode and (on.device, on.inode) == (file.device, file.inode))
    return [f"backs {name}" for name in upon if name not in level.own]


def kept(level: FileLevel) -> list[str]:
    """The paths of the user that it belongs to, such as the run folder."""
    return [
        f"belongs to the run folder ({place})"
        for place in level.kept
        if any(_is_within(name, place, level.view) for name in _names(level))
    ]


def _is_within(real: Path, place: str | Path, view: View) -> bool:
    """Whether a path lies in a folder, or is it: by name, or where both lie in the file system."""
    folder = Path(os.path.realpath(place))
    if real.is_relative_to(folder):
        return True
    (number, inner), (other, outer) = _lies(real, view), _lies(folder, view)
    return number == other and inner.is_relative_to(outer) and folder.exists()


def _lies(real: Path, view: View) -> tuple[str, Path]:
    """The file system that a real path is in, and the path within it, whatever of it is mounted where."""
    mount = mounts.mount_over(real, view.own_mounts)
    if mount is None:
        return "", real
    return mount.number, Path(mount.root) / real.relative_to(mount.point)


def _names(level: FileLevel) -> tuple[Path, ...]:
    """The real path of a file, and behind it another name that it has in a place of the system or of the run."""
    real = Path(os.path.realpath(level.file.path))
    try:
        status = real.lstat()
    except OSError:
        return (real,)
    if status.st_nlink < 2 or not level.file.is_of(status):  # noqa: PLR2004 - one name is the one that was given
        return (real,)
    return level.view.names(level.file, lambda: (real, *_search(level, status.st_dev)))


def _search(level: FileLevel, device: int) -> Iterator[Path]:
    """The first name of a file in each place that must not be written, as far as it is in the same file system."""
    points = {mount.point for mount in level.view.own_mounts}
    for place in _forbidden(level):
        folder = Path(os.path.realpath(place))
        if folder.is_dir() and folder.stat().st_dev == device:
            yield from _first(_walk(folder, points), level)


def _forbidden(level: FileLevel) -> tuple[str | Path, ...]:
    return (*PLACES, sys.base_prefix, sys.prefix, _TOOL, *level.kept)


def _first(entries: Iterable[os.DirEntry[str]], level: FileLevel) -> Iterator[Path]:
    for entry in entries:
        if entry.inode() == level.file.inode and level.file.is_of(os.lstat(entry.path)):
            yield Path(entry.path)
            return


def _walk(folder: Path, points: set[str]) -> Iterator[os.DirEntry[str]]:
    """Everything below a folder that is in its file system. points : where others are mounted."""
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False) and entry.path not in points:
            yield from _walk(Path(entry.path), points)
        yield entry
