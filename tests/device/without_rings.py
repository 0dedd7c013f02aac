"""Run a command while the kernel answers the system calls of io_uring with an error, as a container's profile does.

Usage: without_rings.py ERRNO COMMAND...
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys

SETUP, REGISTER = 425, 427
"""The first and the last system call of io_uring."""
_NO_NEW_PRIVS, _SECCOMP, _FILTER = 38, 22, 2
_LOAD, _AT_LEAST, _ABOVE, _RETURN = 0x20, 0x35, 0x25, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000


def forbid(code: int) -> None:
    """Let this process and its children have no ring. Raises OSError where the kernel takes no filter."""
    lines = [(_LOAD, 0, 0, 0), (_AT_LEAST, 0, 2, SETUP), (_ABOVE, 1, 0, REGISTER), (_RETURN, 0, 0, _ERRNO | code)]
    program = b"".join(struct.pack("=HBBI", *line) for line in [*lines, (_RETURN, 0, 0, _ALLOW)])
    kept = ctypes.create_string_buffer(program, len(program))
    head = ctypes.create_string_buffer(struct.pack("@HP", len(program) // 8, ctypes.addressof(kept)))
    library = ctypes.CDLL(None, use_errno=True)
    for request in ((_NO_NEW_PRIVS, 1, 0), (_SECCOMP, _FILTER, ctypes.addressof(head))):
        if library.prctl(*map(ctypes.c_ulong, request), ctypes.c_ulong(0), ctypes.c_ulong(0)):
            raise OSError(ctypes.get_errno(), "prctl")


if __name__ == "__main__":
    forbid(int(sys.argv[1]))
    os.execv(sys.argv[2], sys.argv[2:])  # noqa: S606 - the test's own command
