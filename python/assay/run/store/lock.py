"""The lock that the process which writes to a run folder holds.

It loads little: lists of runs ask for it before they load what reads runs.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from assay.errors import FolderBusyError

_FIELDS_MIN, _OTHERS = 6, 0o077


def lock_folder(folder: Path) -> int:
    """A descriptor with a lock on the folder, which leaves no file behind. Raises FolderBusyError, OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise FolderBusyError(str(folder), "another run writes to it", "name a new folder with --out") from None
    return descriptor


def is_going(folder: Path) -> bool:
    """Whether a process writes to a run folder: it holds a lock, which ends with it however it ends.

    Who may read the folder can lock it as well: the lock of another user counts for nothing. False also where the
    folder cannot be opened. It reads no file of the run.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _is_of_owner(os.fstat(descriptor))
    except OSError:
        # On a file system without locks no run begins.
        return False
    finally:
        os.close(descriptor)
    return False


def _is_of_owner(folder: os.stat_result) -> bool:
    """Whether the lock of a folder is of its owner, of root or of this user; also where the kernel does not tell.

    Source: Linux ``proc_locks(5)``: number, FLOCK, ADVISORY, WRITE, PID, device and inode, range.
    """
    if not folder.st_mode & _OTHERS:
        # Nobody else can have opened it; its lock may be of a process that has ended and left it to another.
        return True
    owners, uids = {folder.st_uid, os.geteuid(), 0}, set[int]()
    lines = [line.split() for line in _file_text("/proc/locks").splitlines()]
    locks = [line for line in lines if len(line) >= _FIELDS_MIN and line[1] == "FLOCK"]
    pids = [line[4] for line in locks if line[5].endswith(f":{folder.st_ino}")]
    for pid in pids:
        # The folder of a process that others may not look into belongs to root; its status has its real user.
        status = _file_text(f"/proc/{pid}/status").splitlines()
        uids |= {int(line.split()[1]) for line in status if line.startswith("Uid:")}
    return not pids or not uids.isdisjoint(owners)


def _file_text(path: str) -> str:
    try:
        return Path(path).read_text("utf-8", "replace")
    except OSError:
        return ""
