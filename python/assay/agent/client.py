"""Asks the agent of this host."""

from __future__ import annotations

import grp
import json
import os
import pwd
import socket
from contextlib import suppress
from typing import TYPE_CHECKING, overload

from assay.agent.channel import connect, read_line
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
