"""The process beside one run: it outlives the agent, hands on Ctrl-C, and keeps the exit code.

::

    FOLDER               locked by it    command.json  the command
    FOLDER/began         made once       ended.json    exit code and time
    FOLDER/output.log    what it printed
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from assay.spec.files import process_fields, write_inside

COMMAND, BEGAN, ENDED, OUTPUT = "command.json", "began", "ended.json", "output.log"
APART = "apart"
_START_TIME = 19
"""Field 22 of ``proc_pid_stat(5)``, counted behind the name."""


def started(pid: int) -> str:
    """When a process started, in ticks since boot; empty where there is none. With the pid it is never given again."""
    fields = process_fields(pid)
    return fields[_START_TIME] if len(fields) > _START_TIME else ""


def claim(folder: Path, content: str = "") -> bool:
    """Make the file that only the first can make: whoever has it may begin the command. False where it is taken."""
    try:
        descriptor = os.open(folder / BEGAN, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        return False
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(content)
    return True


def supervise(folder: Path) -> None:
    """Run the command of a folder to its end. Nothing happens where it was begun or taken back before."""
    signals: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: signals.append(signal.SIGINT))
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if claim(folder, f"{os.getpid()} {started(os.getpid())}"):
            code = _run(folder, signals)
            write_inside(folder, ENDED, json.dumps({"exit_code": code, "wall_ns": time.time_ns()}).encode())
    finally:
        os.close(lock)


def _run(folder: Path, signals: list[int]) -> int:
    command = json.loads((folder / COMMAND).read_bytes())
    with (
        (folder / OUTPUT).open("ab") as output,
        subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        ) as child,
    ):
        return _waited(child, signals)


def _waited(child: subprocess.Popen[bytes], signals: list[int]) -> int:
    """The exit code of a child that is sent Ctrl-C for each signal."""
    while True:
        try:
            return child.wait(0.2)
        except subprocess.TimeoutExpired:
            while signals:
                child.send_signal(signals.pop())


if __name__ == "__main__":
    # Nobody waits for a process that its parent let go of.
    if APART not in sys.argv or os.fork() == 0:
        supervise(Path(sys.argv[1]))
