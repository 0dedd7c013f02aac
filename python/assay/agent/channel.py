"""Lines over the socket of the agent, limited in length and time; and the client, which sends requests."""

from __future__ import annotations

import grp
import json
import os
import pwd
import socket
import struct
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

from assay.agent.config import SOCKET
from assay.agent.messages import (
    ANSWER_BYTES_MAX,
    REQUEST_BYTES_MAX,
    CheckAnswer,
    CheckRequest,
    DrivesAnswer,
    DrivesRequest,
    QueueAnswer,
)
from assay.errors import StoreError, UsageError, error_of

if TYPE_CHECKING:
    from pathlib import Path

    from assay.agent.messages import Request


_CHUNK_BYTES = 1 << 16
_CONNECT_S, _RETRY_S = 10.0, 0.02
_CREDENTIALS = struct.Struct("3i")


@dataclass(frozen=True, slots=True)
class Peer:
    """The process at the other end, as the kernel knows it. Source: ``unix(7)``, SO_PEERCRED."""

    pid: int
    uid: int
    gid: int


def peer_of(connection: socket.socket) -> Peer:
    """Who connected. Raises OSError for another kind of socket."""
    return Peer(*_CREDENTIALS.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)))


def listen_at(listener: socket.socket, path: str, backlog: int, *, mask: int = 0o177) -> None:
    """Bind to a path and listen. mask : rights that no user ever gets. Raises OSError."""
    before = os.umask(mask)
    try:
        listener.bind(path)
    finally:
        os.umask(before)
    listener.listen(backlog)


def connect(connection: socket.socket, path: str) -> None:
    """Connect to a socket, once its server has taken some of those that wait. Raises OSError."""
    until = time.monotonic() + _CONNECT_S
    while True:
        try:
            return connection.connect(path)
        except BlockingIOError:
            if time.monotonic() >= until:
                raise
            time.sleep(_RETRY_S)


def read_line(connection: socket.socket, *, bytes_max: int, seconds: float) -> bytes:
    """A line without its end; all that came where the peer has nothing more to say.

    seconds : for the whole line. Raises UsageError for a longer or slower one, OSError.
    """
    deadline, line = time.monotonic() + seconds, bytearray()
    while b"\n" not in line:
        if len(line) > bytes_max:
            raise UsageError("message", f"is longer than {bytes_max} bytes", "send less")
        chunk = _received(connection, deadline, seconds)
        if not chunk:
            break
        line += chunk
    text = bytes(line).partition(b"\n")[0]
    if len(text) > bytes_max:
        raise UsageError("message", f"is longer than {bytes_max} bytes", "send less")
    return text


def _received(connection: socket.socket, deadline: float, seconds: float) -> bytes:
    connection.settimeout(max(deadline - time.monotonic(), 0.001))
    try:
        return connection.recv(_CHUNK_BYTES)
    except TimeoutError:
        raise UsageError("message", f"did not end within {seconds:g} s", "end it with a newline") from None


_ANSWER_S = 75.0
"""The agent waits 60 s for a drive."""
_START = "root starts it: assay agent"


class AgentClient:
    """Sends requests to an agent's socket; any thread may call."""

    def __init__(self, path: Path = SOCKET) -> None:
        self.path = path

    @overload
    def ask(self, request: DrivesRequest) -> DrivesAnswer: ...
    @overload
    def ask(self, request: CheckRequest) -> CheckAnswer: ...
    @overload
    def ask(self, request: Request) -> QueueAnswer | CheckAnswer | DrivesAnswer: ...
    def ask(self, request: Request) -> QueueAnswer | CheckAnswer | DrivesAnswer:
        """The answer to a request.

        Raises AssayError as the agent does; StoreError where there is no agent, or this user may not ask it.
        """
        line = request.model_dump_json().encode()
        if len(line) > REQUEST_BYTES_MAX:
            raise UsageError("plan", f"is longer than {REQUEST_BYTES_MAX} bytes", "shorten it, or use assay run")
        reply = json.loads(self._exchanged(line + b"\n") or b"{}")
        if "error" in reply:
            raise error_of(reply["error"])
        if "answer" not in reply:
            raise StoreError(str(self.path), "ended without an answer", "see the agent's log")
        if isinstance(request, DrivesRequest):
            return DrivesAnswer.model_validate(reply["answer"])
        if isinstance(request, CheckRequest):
            return CheckAnswer.model_validate(reply["answer"])
        return QueueAnswer.model_validate(reply["answer"])

    def _exchanged(self, line: bytes) -> bytes:
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
                connection.settimeout(_ANSWER_S)
                connect(connection, str(self.path))
                # An agent that takes no more connections answers before it has read.
                with suppress(BrokenPipeError):
                    connection.sendall(line)
                return read_line(connection, bytes_max=ANSWER_BYTES_MAX, seconds=_ANSWER_S)
        except PermissionError:
            raise _barred(self.path) from None
        except (FileNotFoundError, ConnectionRefusedError):
            raise StoreError(str(self.path), "no agent answers", _START) from None
        except OSError as error:
            raise StoreError(str(self.path), error.strerror or str(error), "see the agent's log") from None


def _barred(path: Path) -> StoreError:
    """Why this user cannot connect, and how its group is joined: ``root runs usermod -aG assay mia; ...``."""
    try:
        group = path.stat().st_gid
    except OSError:
        # An agent at its start sees that its group can pass the folders above its socket.
        return StoreError(str(path), f"no agent answers: {path.parent} is closed to this user", _START)
    try:
        remedy = f"root runs usermod -aG {grp.getgrgid(group).gr_name} {pwd.getpwuid(os.getuid()).pw_name}"
    except KeyError:
        remedy = "root adds this user to the group in agent.toml"
    return StoreError(str(path), "may not be used by this user", f"{remedy}; then sign in again")
