"""Who uses a regular file: one that is named as a target, or that a loop device on the way down lies on."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from assay.dut.real.gate import mounts
from assay.dut.real.loop import loops

if TYPE_CHECKING:
    from assay.dut.real.gate.levels import FileLevel

_TOOL = Path(__file__).parents[2]
_PARTS_OF_VAR = ("backups", "cache", "db", "lib", "log", "mail", "spool")
PLACES = (
    *("/bin", "/boot", "/dev", "/efi", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/nix", "/proc", "/run"),
    *("/sbin", "/snap", "/sys", "/usr", *(f"/var/{part}" for part in _PARTS_OF_VAR)),
)
"""Folders whose files belong to the system."""
FREE_PLACES = ("/dev/shm", "/run/media")  # noqa: S108 - named to be let in
"""Folders within them whose files belong to users."""


def of_system(level: FileLevel) -> list[str]:
    """Whether it belongs to the interpreter, its packages or the tool."""
    real = Path(os.path.realpath(level.file.path))
    places = (sys.executable, sys.prefix, sys.base_prefix, _TOOL)
    return ["is part of the running system"] if any(_is_within(real, place) for place in places) else []


def of_places(level: FileLevel) -> list[str]:
    """The place of the system that it lies in, also where a bind mount leads there by another path."""
    real = Path(os.path.realpath(level.file.path))
    named = {place: place for place in (*PLACES, *FREE_PLACES)}
    known = {key: place for place in named if (key := _key(place))}
    for folder in real.parents:
        place = named.get(str(folder)) or known.get(_key(folder) or (0, 0))
        if place:
            return [] if place in FREE_PLACES else [f"belongs to the system: it lies in {place}"]
    return []


def swapped(level: FileLevel) -> list[str]:
    """Whether it is swapped to."""
    return [f"swap on {swap}" for swap in mounts.swap_paths() if level.file.is_at(swap)]


def backing(level: FileLevel) -> list[str]:
    """Loop devices upon it, whatever path they were given."""
    file = level.file
    upon = (name for name, found in loops() if file.inode and (found.device, found.inode) == (file.device, file.inode))
    return [f"backs {name}" for name in upon if name not in level.own]


def kept(level: FileLevel) -> list[str]:
    """The paths of the user that it belongs to, such as the run folder."""
    real = Path(os.path.realpath(level.file.path))
    return [f"belongs to the run folder ({place})" for place in level.kept if _is_within(real, place)]


def _is_within(real: Path, place: str | Path) -> bool:
    return real.is_relative_to(os.path.realpath(place))


def _key(path: str | Path) -> tuple[int, int] | None:
    try:
        status = os.stat(path)  # noqa: PTH116 - text or a path
    except OSError:
        return None
    return status.st_dev, status.st_ino
