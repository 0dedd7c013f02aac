"""Whether anybody has a regular file open, as the kernel knows it: whoever it is, and wherever it runs.

A lease is granted only where nobody else has the file open in the way that it forbids, and is given back at once.
Somebody who opens the file in that moment waits for it. Source: Linux ``fcntl(2)``, F_SETLEASE.
"""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.dut.real.gate.file import File

_ATTEMPTS = 5
_PAUSE_S = 0.02


def unopened(file: File) -> bool | None:
    """Whether nobody has it open or mapped, for whatever; None where the kernel does not tell: it is not the caller's.

    Worked: a file that another process reads -> False.
    """
    return _leased(file, fcntl.F_WRLCK)


def unwritten(file: File) -> bool | None:
    """Whether nobody has it open for writing; None as for ``unopened``."""
    return _leased(file, fcntl.F_RDLCK)


def held_alone(descriptor: int) -> bool | None:
    """Whether a descriptor of ours is the only one that has its file open; None where the kernel does not tell.

    It is not asked again for a moment, as a look in the course of a run must not wait.
    """
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_WRLCK)
    except OSError as error:
        return False if error.errno == errno.EAGAIN else None
    fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    return True


def _leased(file: File, kind: int) -> bool | None:
    try:
        descriptor = os.open(file.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if not file.is_of(os.fstat(descriptor)):
            return None
        # By default the kernel would announce such an opener by a signal that ends us.
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        return _granted(descriptor, kind)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _granted(descriptor: int, kind: int) -> bool:
    """Whether a lease is granted, asking again for a moment: a file that was just closed is still being let go of."""
    for attempt in range(_ATTEMPTS):
        try:
            fcntl.fcntl(descriptor, fcntl.F_SETLEASE, kind)
        except BlockingIOError:
            if attempt + 1 < _ATTEMPTS:
                time.sleep(_PAUSE_S)
        else:
            fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
            return True
    return False
