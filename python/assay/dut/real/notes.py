"""Notes of what a run has changed in the kernel or the drive, kept below /run/assay until it has been put back.

A process that is killed puts nothing back. What it changed lasts until the next boot or the next power cycle, and so
does the folder: the next run finds the note of the former state there and puts that back in its place.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

NOTES = Path("/run/assay")


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
        """Keep facts in place of what was kept, whole or not at all. Raises OSError."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = self.path.with_suffix(".part")
        part.write_text(json.dumps(facts) + "\n", encoding="utf-8")
        part.replace(self.path)

    def remove(self) -> None:
        """Forget it."""
        self.path.unlink(missing_ok=True)
