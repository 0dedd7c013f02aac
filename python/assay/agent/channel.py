"""Lines over a Unix socket: limited in length and time."""

from __future__ import annotations

import os
import socket
import struct
import time
from dataclasses import dataclass

from assay.errors import UsageError

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
    """Bind to a path and listen. mask : of the rights that nobody gets, not for a moment. Raises OSError."""
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
