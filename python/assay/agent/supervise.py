"""The supervisor of one run: it outlives the agent, hands on Ctrl-C, and keeps the exit code.

::

    FOLDER               locked by it and by the run    command.json  the command
    FOLDER/began         made once: its process         ended.json    exit code and time
    FOLDER/child         the process of the run         output.log    what it printed
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import signal
import subprocess
import sys
import time
from pathlib import Path

from assay.errors import SystemRefusedError
from assay.spec.files import process_fields, read_inside, sync_folder, write_inside
from assay.spec.root_file import owned_folder

COMMAND, BEGAN, CHILD, ENDED, OUTPUT = "command.json", "began", "child", "ended.json", "output.log"
APART = "apart"
TAKEN_BACK = "taken back"
PYTHON = (sys.executable, "-P", "-m")
"""Runs a module of this installation, whatever lies in the working folder."""
_START_TIME = 19
"""Field 22 of ``proc_pid_stat(5)``, counted after the name."""


def started(pid: int) -> str:
    """When a process started, in ticks since boot; empty where it ended. With the pid it is never given again."""
    fields = process_fields(pid)
    # One that ended stays until its parent has taken note.
    return fields[_START_TIME] if len(fields) > _START_TIME and fields[0] not in "ZX" else ""


def claim(folder: Path, content: str) -> bool:
    """Make a file that only the first process can make, and that lets it begin the command. False if it exists.

    content : the process that begins it, or ``TAKEN_BACK``. It is there whole or not at all, also after a power loss.
    """
    draft = folder / f"{BEGAN}.{secrets.token_hex(8)}"
    write_inside(folder, draft.name, content.encode("ascii"), mode=0o600)
    try:
        (folder / BEGAN).hardlink_to(draft)
        sync_folder(folder)
    except FileExistsError:
        return False
    finally:
        draft.unlink()
    return True


def has_begun(folder: Path) -> bool:
    """Whether a process began the command; False also where the agent took it back."""
    try:
        return (folder / BEGAN).read_bytes() != TAKEN_BACK.encode()
    except FileNotFoundError:
        return False


def supervise(path: Path) -> None:
    """Run the command of a folder to its end. Nothing happens where it was begun or taken back before."""
    signals: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: signals.append(signal.SIGINT))
    lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    folder = Path(f"/proc/self/fd/{lock}")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if claim(folder, _process()):
            code = _run(folder, lock, signals)
            write_inside(folder, ENDED, json.dumps({"exit_code": code, "wall_ns": time.time_ns()}).encode())
    finally:
        os.close(lock)


def _process() -> str:
    """Pid and start of this process, which no other of this boot has."""
    return f"{os.getpid()} {started(os.getpid())}"


def _run(folder: Path, lock: int, signals: list[int]) -> int:
    """The exit code of the command. It holds the lock too: killed alone, this process does not free the folder."""
    command = json.loads(read_inside(folder, COMMAND, bytes_max=1 << 20))
    try:
        return _ran(folder, command, lock, signals)
    except (OSError, subprocess.SubprocessError) as error:
        (folder / OUTPUT).write_text(f"{command[0]}: {getattr(error, 'strerror', error)}\n", "utf-8")
        return SystemRefusedError.exit_code


def _ran(folder: Path, command: list[str], lock: int, signals: list[int]) -> int:
    with (
        (folder / OUTPUT).open("ab") as output,
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=(lock,),
            preexec_fn=lambda: (folder / CHILD).write_text(_process(), "ascii"),  # noqa: PLW1509 - has no threads
        ) as child,
    ):
        return _waited(child, signals)


def _waited(child: subprocess.Popen[bytes], signals: list[int]) -> int:
    """The exit code of a child, as a shell has it. It is sent Ctrl-C once: a second would keep it from its end."""
    sent = False
    while True:
        try:
            code = child.wait(0.2)
        except subprocess.TimeoutExpired:
            if signals and not sent:
                child.send_signal(signal.SIGINT)
                sent = True
        else:
            return code if code >= 0 else 128 - code


if __name__ == "__main__":
    # Before anything in it is read or run: nobody else can have put it there.
    owned = owned_folder(Path(sys.argv[1]), owner=os.geteuid(), remedy="name another as state in agent.toml")
    # Nobody waits for a process that its parent let go of.
    if APART not in sys.argv or os.fork() == 0:
        supervise(owned)
