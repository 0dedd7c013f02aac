"""Notes of what a run has changed in the kernel or the drive, kept below /run/assay until it has been put back.

A process that is killed puts nothing back. What it changed lasts until the next boot or the next power cycle, and so
does the folder: the next run finds the note of the former state there and puts that back in its place.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from assay.spec.files import process_fields

NOTES = Path("/run/assay")
_START_FIELD = 19
_SWITCHES = {"enabled": 1, "disabled": 0}
_BEFORE = "before a run that was killed; the next run on the drive puts it back"


class Note:
    """A few facts in a file of their own. path : of that file; its folder need not exist."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def exists(self) -> bool:
        """Whether there is one; a user who may not look into the folder, which is root's, has left none."""
        try:
            return self.path.exists()
        except PermissionError:
            return False

    def read(self) -> dict[str, Any]:
        """The facts; empty where there is no note, or none that can be read."""
        try:
            kept = json.loads(self.path.read_bytes())
        except (OSError, ValueError):
            return {}
        return kept if isinstance(kept, dict) else {}

    def write(self, facts: dict[str, Any]) -> None:
        """Keep facts in place of what was kept, whole or not at all, and who keeps them. Raises OSError."""
        # The agent's socket lies there as well, for its group.
        self.path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        part = self.path.with_suffix(".part")
        by = {"pid": os.getpid(), "pid_start": process_start(os.getpid())}
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(json.dumps({**facts, **by}) + "\n")
        part.replace(self.path)

    def is_in_use(self) -> bool:
        """Whether the process that keeps it still runs; one of an earlier version of Assay is taken for gone."""
        kept = self.read()
        pid, start = kept.get("pid"), kept.get("pid_start")
        return isinstance(pid, int) and start is not None and process_start(pid) == start

    def remove(self) -> None:
        """Forget it."""
        self.path.unlink(missing_ok=True)


def process_start(pid: int) -> str | None:
    """When a process began, in ticks since boot: with its number it names one process only. None where there is none.

    Source: Linux ``proc_pid_stat(5)``, field 22.
    """
    fields = process_fields(pid)
    return fields[_START_FIELD] if len(fields) > _START_FIELD else None


def left_changed(folder: Path = NOTES) -> list[str]:
    """What runs that were killed have left changed, and how it is put back, one line each.

    Worked: a note that ``nomerges`` of loop2 was 0, where it is 2 -> ``"/sys/block/loop2/queue/nomerges was 0 before a
    run that was killed; the next run on the drive puts it back, or: assay check /dev/loop2 --put-back, or: echo 0 >
    /sys/block/loop2/queue/nomerges"``.
    """
    try:
        paths = sorted(folder.glob("*.json"))
    except OSError:
        return []
    notes = [Note(path) for path in paths]
    return [line for note in notes if not note.is_in_use() for line in _left(note.path.name, note.read())]


def _left(name: str, kept: dict[str, Any]) -> list[str]:
    place = str(kept.get("path", ""))
    if name.startswith("queue-"):
        return [
            f"{path} was {former} {_BEFORE}, or: {_put_back(node)}, or: echo {former} > {path}"
            for key, former in kept.items()
            if key in ("nomerges", "iostats") and str(former).isdecimal()
            for path, node in [(f"{place}/{key}", f"/dev/{Path(place).parent.name.replace('!', '/')}")]
            if _differs(Path(path), str(former))
        ]
    if name.startswith("write-cache-") and kept.get("drive") in _SWITCHES:
        was, switch = kept["drive"], _SWITCHES[kept["drive"]]
        lead = f"the write cache of {place} was {was} {_BEFORE}, or: {_put_back(place)}"
        return [f"{lead}, or: hdparm -W{switch} {place} (SATA), nvme set-feature -f 6 -v {switch} {place} (NVMe)"]
    return []


def _put_back(node: str) -> str:
    return f"assay check {node} --put-back"


def _differs(path: Path, former: str) -> bool:
    try:
        return path.read_text("ascii", "replace").strip() != former
    except OSError:
        return False
