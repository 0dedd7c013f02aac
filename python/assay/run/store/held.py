"""Whether a process writes to a run folder. It loads nothing else: lists ask it before they load what reads runs."""

from __future__ import annotations

import fcntl
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def is_going(folder: Path) -> bool:
    """Whether a process writes to a run folder: it holds a lock, which ends with it however it ends.

    False also where the folder cannot be opened. It reads no file of the run.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        # On a file system without locks no run begins.
        return False
    finally:
        os.close(descriptor)
    return False
