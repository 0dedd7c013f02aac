"""What a server is asked on its host: links and codes, over a socket that only its user, or the unit's group, can open.

One line of JSON each way. A link that is asked for here is of a server that has its port now.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections import Counter
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.agent.channel import connect, listen_at, peer_of, read_line
from assay.errors import AssayError, StoreError, UsageError, error_facts, error_of
from assay.spec.json_text import json_object
from assay.spec.state_file import own_folder
from assay.web.host_agent import on_thread
from assay.web.links import ROLES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.web.site import Site

UNIT_FOLDER = Path("/run/assay-web")
"""Of the server that root installed; systemd makes it for the unit's user and group."""
_VARIABLE = "RUNTIME_DIRECTORY"
USER_OPEN_MAX = 4
_BYTES_MAX, _ASK_S, _BACKLOG = 64 << 10, 10.0, 128
_TASKS: set[asyncio.Task[None]] = set()
"""Held here as long as they run; the loop alone would let them go."""


def server_name(path: Path | None, port: int) -> str:
    """The name in a server's cookie, cache and control socket. path : of its Unix socket, if it has one.

    Worked: port 8375 -> ``8375``; a socket -> ``socket-`` and eight digits of its path.
    """
    return str(port) if path is None else f"socket-{sha256(os.fsencode(path.absolute())).hexdigest()[:8]}"


@contextmanager
def control_socket(name: str) -> Iterator[socket.socket]:
    """A socket that takes questions to the server of a name; it is removed at the end. Raises StoreError."""
    with _folder(make=True) as folder, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        path = f"{folder}/{_file(name)}"
        try:
            # The server has its port: whatever lies here is of one that is gone.
            Path(path).unlink(missing_ok=True)
            listen_at(listener, path, _BACKLOG, mask=0o117 if os.environ.get(_VARIABLE) else 0o177)
        except OSError as error:
            raise StoreError("the state folder", error.strerror or str(error), "make it writable") from None
        try:
            yield listener
        finally:
            with suppress(OSError):
                os.unlink(path)  # noqa: PTH108 - the path goes through a descriptor


async def serve_control(site: Site, listener: socket.socket) -> None:
    """Answer questions until this is cancelled, several at once; one user leaves places for others."""
    loop, open_by_user = asyncio.get_running_loop(), Counter[int]()
    listener.setblocking(False)

    async def answer(connection: socket.socket, uid: int) -> None:
        with connection:
            await on_thread(lambda: _answer(site, connection))
        open_by_user[uid] -= 1

    while True:
        connection, _ = await loop.sock_accept(listener)
        uid = peer_of(connection).uid
        if open_by_user[uid] < USER_OPEN_MAX:
            open_by_user[uid] += 1
            task = asyncio.create_task(answer(connection, uid))
            task.add_done_callback(_TASKS.discard)
            _TASKS.add(task)
        else:
            connection.close()


def ask(name: str, question: dict[str, Any]) -> dict[str, Any]:
    """The answer of the server of a name. Raises AssayError as it does, UsageError if no server of this user is."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(_ASK_S)
        try:
            _connect(connection, name)
            connection.sendall(json.dumps(question).encode() + b"\n")
            answer = json.loads(read_line(connection, bytes_max=_BYTES_MAX, seconds=_ASK_S) or b"{}")
        except OSError:
            raise UsageError(_shown(name), "has no server of this user", _remedy()) from None
    if "error" in answer:
        raise error_of(answer["error"])
    return dict(answer)


def _connect(connection: socket.socket, name: str) -> None:
    """Raises OSError."""
    with suppress(OSError), _folder(make=False) as folder:
        connect(connection, f"{folder}/{_file(name)}")
        return
    connect(connection, str(UNIT_FOLDER / _file(name)))


@contextmanager
def _folder(*, make: bool) -> Iterator[str]:
    """The folder of the socket; that of a user by its descriptor, since the path of a socket has at most 107 bytes."""
    unit = os.environ.get(_VARIABLE)
    if unit:
        yield unit
    else:
        with own_folder("state", make=make) as descriptor:
            yield f"/proc/self/fd/{descriptor}"


def _file(name: str) -> str:
    return f"serve-{name}.sock"


def _remedy() -> str:
    """Names the server that root installed, where there is one that this user may ask."""
    with suppress(OSError):
        for path in sorted(UNIT_FOLDER.iterdir()):
            return f"for the installed server: --port {path.stem.removeprefix('serve-')}"
    return "start it first: assay serve"


def _shown(name: str) -> str:
    """A server in messages. Worked: ``8375`` -> ``port 8375``."""
    return f"port {name}" if name.isdigit() else "--socket"


def _answer(site: Site, connection: socket.socket) -> None:
    with suppress(OSError):
        peer = peer_of(connection)
        try:
            question = json_object(read_line(connection, bytes_max=_BYTES_MAX, seconds=1.0))
            answer = _answered(site, question)
            site.log(json.dumps({"control": question["verb"], "uid": peer.uid, "pid": peer.pid}))
        except AssayError as error:
            answer = {"error": error_facts(error)}
        except (ValueError, KeyError, TypeError):
            answer = {"error": error_facts(UsageError("question", "has another form", "use assay serve"))}
        connection.sendall(json.dumps(answer).encode() + b"\n")


def _answered(site: Site, question: dict[str, Any]) -> dict[str, Any]:
    if question["verb"] == "codes":
        return {"lines": site.codes.lines()}
    if question["verb"] == "link" and question["role"] in ROLES and isinstance(question["days"], int):
        link, token = site.sessions.links.make(question["role"], question["days"])
        return {"id": link.id, "url": f"{site.base}/#{token}", "token": token}
    raise KeyError
