"""Outside commands on a drive that the gate holds, fio among them."""

from __future__ import annotations

import os
import selectors
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.errors import DeviceFailureError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence


TOOL_FOLDERS = "/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/sbin:/usr/local/bin"
OUTPUT_BYTES_MAX = 16 << 20
_ENVIRONMENT = {"LC_ALL": "C", "PATH": TOOL_FOLDERS}
_CHUNK_BYTES = 1 << 16


class CommandError(Exception):
    """A command that gave no answer; its text says why: not installed, no end in time, too much output."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command said. code : its exit code, negative where a signal ended it. output, errors : as bytes."""

    code: int
    output: bytes
    errors: bytes


def find_tool(name: str) -> str | None:
    """The absolute path of a tool in the system's folders, None where it is not installed. PATH is not asked."""
    return shutil.which(name, path=TOOL_FOLDERS)


def run_command(
    tool: str,
    arguments: Sequence[str],
    *,
    seconds: float,
    pass_fds: Sequence[int] = (),
    output_bytes_max: int = OUTPUT_BYTES_MAX,
    stdin: int = subprocess.DEVNULL,
    folder: str | None = None,
) -> Answer:
    r"""Run a tool and wait for its end; what it answers, whatever its exit code.

    tool : its name, found in the system's folders, or an absolute path. arguments : as they are, no shell sees them.
    seconds : it is ended with all its children when they have passed. pass_fds : descriptors that it inherits.
    output_bytes_max : of both streams together. stdin : a descriptor that it reads from. folder : that it starts in;
    None is that of this process.
    Raises CommandError. Worked: ``run_command("echo", ["$HOME"], seconds=5).output`` is ``b"$HOME\\n"``.
    """
    path = find_tool(tool)
    if path is None:
        raise CommandError(f"{tool} is not installed")
    try:
        process = subprocess.Popen(
            [path, *arguments],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_ENVIRONMENT,
            cwd=folder,
            pass_fds=tuple(pass_fds),
            start_new_session=True,
        )
    except OSError as error:
        raise CommandError(f"{tool} cannot be run ({error.strerror})") from None
    with process:
        try:
            output, errors = _collect(process, tool, time.monotonic() + seconds, output_bytes_max)
        except BaseException:
            _end(process)
            raise
    return Answer(process.returncode, output, errors)


def _collect(process: subprocess.Popen[bytes], tool: str, deadline: float, limit: int) -> tuple[bytes, bytes]:
    assert process.stdout is not None  # noqa: S101 - both are pipes
    assert process.stderr is not None  # noqa: S101
    result = {process.stdout.fileno(): b"", process.stderr.fileno(): b""}
    with selectors.DefaultSelector() as open_streams:
        for number in result:
            open_streams.register(number, selectors.EVENT_READ)
        while open_streams.get_map():
            ready = open_streams.select(max(0, deadline - time.monotonic()))
            if not ready:
                raise CommandError(f"{tool} did not come back")
            for key, _ in ready:
                chunk = os.read(key.fd, _CHUNK_BYTES)
                result[key.fd] += chunk
                if not chunk:
                    open_streams.unregister(key.fd)
            if sum(map(len, result.values())) > limit:
                raise CommandError(f"{tool} says more than {limit} bytes")
    try:
        process.wait(max(0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise CommandError(f"{tool} did not come back") from None
    output, errors = result.values()
    return output, errors


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process and its children; it leads a session of its own."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


_FIO = "fio"
_EXTRA_SECONDS = 120


def fio_version() -> str:
    """The version of the installed fio. Raises UsageError where there is none."""
    if find_tool(_FIO) is None:
        raise UsageError(_FIO, "is not installed", "install the package fio: it is what the engine is compared with")
    return _run(["--version"], (), _EXTRA_SECONDS).strip()


def run_fio(arguments: Sequence[str], descriptor: int, seconds: float) -> str:
    """Run fio on the held drive; what it prints.

    descriptor : the gate's; fio opens the same device through it, whatever its name means by now.
    seconds : how long the job should take.
    Raises DeviceFailureError where fio fails or does not come back.
    """
    return _run([f"--filename=/proc/self/fd/{descriptor}", *arguments], (descriptor,), seconds + _EXTRA_SECONDS)


def _run(arguments: Sequence[str], descriptors: tuple[int, ...], seconds: float) -> str:
    try:
        answer = run_command(_FIO, arguments, seconds=seconds, pass_fds=descriptors)
    except CommandError as error:
        raise DeviceFailureError(_FIO, str(error), "check the drive and the kernel log") from None
    told = (answer.errors or answer.output).decode("utf-8", "replace").strip().splitlines()
    if answer.code:
        reason = told[-1] if told else f"ended with exit code {answer.code}"
        raise DeviceFailureError(_FIO, reason, "check the drive and the kernel log")
    return answer.output.decode("utf-8", "replace")
