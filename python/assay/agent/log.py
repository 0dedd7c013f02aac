"""The agent's log: a line of JSON for every request that asks for more than to look, and for each run."""

from __future__ import annotations

import json
import os
import stat
import threading
import time
from typing import TYPE_CHECKING, Any

from assay.errors import StoreError

if TYPE_CHECKING:
    from pathlib import Path

_WRITABLE = stat.S_IWGRP | stat.S_IWOTH


class AgentLog:
    """Lines that are only ever added."""

    def __init__(self, path: Path) -> None:
        """Open it, and make it where it is missing. Raises StoreError, also where another user could write to it."""
        self._path, self._lock = path, threading.Lock()
        self._torn = False
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
            self._descriptor = os.open(path, flags, 0o640)
        except OSError as error:
            raise StoreError(str(path), error.strerror or "cannot be written", "name another as log") from None
        status = os.fstat(self._descriptor)
        if stat.S_ISREG(status.st_mode) and (status.st_uid != os.geteuid() or status.st_mode & _WRITABLE):
            self.close()
            raise StoreError(str(path), "belongs to another user, or others may write to it", "name another as log")

    def write(self, **facts: Any) -> None:
        """Add a line with the wall time in ns; what is None is left out. Raises StoreError."""
        known = {"wall_ns": time.time_ns(), **{key: value for key, value in facts.items() if value is not None}}
        with self._lock:
            line = b"\n" * self._torn + json.dumps(known).encode() + b"\n"
            try:
                written = os.write(self._descriptor, line)
            except OSError as error:
                raise StoreError(str(self._path), error.strerror or "cannot be written", "free space") from None
            self._torn = written < len(line)
        if self._torn:
            raise StoreError(str(self._path), "has no space for a line", "free space")

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)
