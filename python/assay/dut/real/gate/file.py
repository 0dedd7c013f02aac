"""A regular file by what tells it from all others."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class File:
    """A regular file by what tells it from all others. path : leads to it, or led; inode : 0 where it is unknown."""

    path: Path
    device: int
    inode: int

    def is_at(self, path: str | Path) -> bool:
        """Whether a path leads to this very file."""
        try:
            return self.is_of(os.stat(path))  # noqa: PTH116 - text or a path
        except OSError:
            return False

    def is_of(self, status: os.stat_result) -> bool:
        """Whether this is the file of a ``stat``."""
        return self.inode != 0 and (status.st_dev, status.st_ino) == (self.device, self.inode)
