"""Who uses a regular file that is named as a target."""

from __future__ import annotations

from pathlib import Path

from assay.device.gate import holders, mounts, system
from assay.device.identity import loop_backing
from assay.device.sysfs import whole_disks


def of_system(path: Path) -> list[str]:
    """Whether it belongs to the interpreter, its packages or the tool."""
    return ["is part of the running system"] if system.is_of_system(path) else []


def swapped(path: Path) -> list[str]:
    """Whether it is swapped to."""
    return [f"swap on {swap}" for swap in mounts.swap_paths() if holders.same_file(Path(swap), path)]


def backing(path: Path) -> list[str]:
    """Loop devices upon it."""
    found = [(disk.name, loop_backing(disk)) for disk in whole_disks()]
    return [f"backs {name}" for name, beneath in found if beneath and holders.same_file(beneath, path)]
