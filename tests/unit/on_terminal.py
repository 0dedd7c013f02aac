"""What the command line prints on a terminal of a width, in a process that has nothing else."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path

ASSAY = str(Path(sys.executable).with_name("assay"))
LINES = 40


def on_terminal(columns: int, *arguments: str, colour: bool = True) -> tuple[str, int]:
    """All that a command writes until it ends by itself, and its exit code."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, columns, 0, 0))
    away = {"COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "TERM"}
    environment = {name: text for name, text in os.environ.items() if name not in away}
    environment |= {"TERM": "xterm-256color", **({} if colour else {"NO_COLOR": "1"})}
    with subprocess.Popen([ASSAY, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        content = b""
        try:
            while more := os.read(ours, 1 << 16):
                content += more
        except OSError:
            # The last process that had it open is gone.
            pass
    os.close(ours)
    return content.decode().replace("\r\n", "\n"), process.returncode
