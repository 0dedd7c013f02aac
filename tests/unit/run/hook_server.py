"""A web server on this host that answers an alert as a test wants it, well or badly."""

from __future__ import annotations

import socket
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterator

OK = b"HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n"


@dataclass
class Hook:
    """A server. requests : what came in, head and body. over : set at its end; answers that go on stop then."""

    port: int
    requests: list[tuple[bytes, bytes]] = field(default_factory=list)
    over: Event = field(default_factory=Event)

    @property
    def url(self) -> str:
        """Its address, with parts that no message may have."""
        return f"http://127.0.0.1:{self.port}/path/topsecrettoken?x=1"


@contextmanager
def hook(
    answer: bytes | Callable[[Hook, socket.socket], None] = OK, tls: ssl.SSLContext | None = None
) -> Iterator[Hook]:
    """A server for the time of the block. answer : bytes, or a function that writes them."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        result = Hook(server.getsockname()[1])
        thread = Thread(target=_serve, args=(server, result, answer, tls))
        thread.start()
        try:
            yield result
        finally:
            result.over.set()
            with suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)
            thread.join()


def _serve(
    server: socket.socket,
    hook: Hook,
    answer: bytes | Callable[[Hook, socket.socket], None],
    tls: ssl.SSLContext | None,
) -> None:
    while not hook.over.is_set():
        with suppress(OSError):
            connection, _ = server.accept()
            with connection, tls.wrap_socket(connection, server_side=True) if tls else connection as stream:
                hook.requests.append(_request(stream))
                if isinstance(answer, bytes):
                    stream.sendall(answer)
                else:
                    answer(hook, stream)


def _request(stream: socket.socket) -> tuple[bytes, bytes]:
    content = b""
    while b"\r\n\r\n" not in content:
        content += _some(stream)
    head, _, body = content.partition(b"\r\n\r\n")
    (length,) = [int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.startswith(b"Content-Length")]
    while len(body) < length:
        body += _some(stream)
    return head, body


def _some(stream: socket.socket) -> bytes:
    chunk = stream.recv(65536)
    if not chunk:
        raise ConnectionResetError
    return chunk


def drip(content: bytes) -> Callable[[Hook, socket.socket], None]:
    """An answer of a byte every 20 ms, again and again."""

    def write(hook: Hook, stream: socket.socket) -> None:
        while True:
            for index in range(len(content)):
                if hook.over.wait(0.02):
                    return
                stream.sendall(content[index : index + 1])

    return write


def flood(head: bytes, content: bytes) -> Callable[[Hook, socket.socket], None]:
    """An answer without an end, as fast as it goes."""

    def write(hook: Hook, stream: socket.socket) -> None:
        stream.sendall(head)
        while not hook.over.is_set():
            stream.sendall(content)

    return write
