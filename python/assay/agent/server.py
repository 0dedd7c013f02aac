"""The agent's socket: one request and one answer per connection, each on a thread of its own."""

from __future__ import annotations

import errno
import json
import os
import socket
import threading
from collections import Counter
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.agent.channel import listen_at, peer_of, read_line
from assay.agent.config import check_folders, group_id
from assay.agent.messages import ANSWER_BYTES_MAX, REQUEST_BYTES_MAX, read_request
from assay.agent.verbs import Agent, AgentLog
from assay.errors import AssayError, HostLimitError, InternalError, StoreError, error_facts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from assay.agent.channel import Peer
    from assay.agent.config import AgentConfig


READ_S, WRITE_S = 5.0, 5.0
CONNECTIONS_MAX, USER_CONNECTIONS_MAX = 48, 16
_OF_ROOT = 4
"""Connections beyond the limit, which others cannot take."""
_BACKLOG = 128
_PAUSE_S = 0.2


def serve(config: AgentConfig, ready: Callable[[], None], ended: threading.Event) -> None:
    """Answer at the socket until ``ended`` is set; runs go on. Raises StoreError, UsageError, PlanError."""
    check_folders(config)
    log = AgentLog(Path(config.log))
    agent = Agent(config, log)
    turns = threading.Thread(target=agent.turns.run)
    with _listening(config) as listener:
        turns.start()
        ready()
        try:
            _Connections(agent).take(listener, ended)
        finally:
            agent.turns.stop()
            turns.join()
            agent.close()
            log.close()


class _Connections:
    """Those that are open, by user: one user leaves places for others."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._lock = threading.Lock()
        self._open: Counter[int] = Counter()

    def take(self, listener: socket.socket, ended: threading.Event) -> None:
        """Answer each connection until ``ended`` is set."""
        listener.settimeout(0.5)
        while not ended.is_set():
            try:
                self._begin(listener.accept()[0])
            except TimeoutError:
                pass
            except (OSError, RuntimeError):
                # No descriptors or threads are left: some end in a moment.
                ended.wait(_PAUSE_S)

    def _begin(self, connection: socket.socket) -> None:
        """Answer a connection on a thread, or refuse it here: it takes none then."""
        with ExitStack() as stack:
            stack.enter_context(connection)
            peer = peer_of(connection)
            if not self._takes(peer.uid):
                connection.setblocking(False)
                with suppress(OSError):
                    connection.sendall(_line({"error": error_facts(_TOO_MANY)}))
                return
            stack.callback(self._lets_go, peer.uid)
            threading.Thread(target=self._handle, args=(connection, peer), daemon=True).start()
            stack.pop_all()

    def _handle(self, connection: socket.socket, peer: Peer) -> None:
        with suppress(OSError), ExitStack() as held:
            held.enter_context(connection)
            held.callback(self._lets_go, peer.uid)
            answer = _line(self._answered(connection, peer))
            connection.settimeout(WRITE_S)
            connection.sendall(answer)

    def _answered(self, connection: socket.socket, peer: Peer) -> dict[str, Any]:
        try:
            request = read_request(read_line(connection, bytes_max=REQUEST_BYTES_MAX, seconds=READ_S))
            return {"answer": self._agent.answer(request, peer).model_dump(mode="json")}
        except AssayError as error:
            return {"error": error_facts(error)}
        except Exception as error:  # noqa: BLE001 - a defect ends one request, not the agent
            text = f"{type(error).__name__} in this program, not in its input"
            return {"error": error_facts(InternalError("internal error", text, "report it"))}

    def _takes(self, uid: int) -> bool:
        """Whether a user has a place for a connection, which is taken then."""
        with self._lock:
            most = CONNECTIONS_MAX + (_OF_ROOT if uid == 0 else 0)
            free = self._open.total() < most and self._open[uid] < USER_CONNECTIONS_MAX
            self._open[uid] += free
            return free

    def _lets_go(self, uid: int) -> None:
        with self._lock:
            self._open[uid] -= 1


_TOO_MANY = HostLimitError("agent", "has too many connections", "try again")


def _line(answer: dict[str, Any]) -> bytes:
    """An answer as it is sent; an error in place of one that a client would not take."""
    line = json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace")
    if len(line) <= ANSWER_BYTES_MAX:
        return line + b"\n"
    return _line({"error": error_facts(HostLimitError("answer", "is too long", "ask for less"))})


@contextmanager
def _listening(config: AgentConfig) -> Iterator[socket.socket]:
    """The socket, which only root and the group may connect to; it is removed at the end."""
    path, group = Path(config.socket), group_id(config)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        try:
            _remove_left(path)
            listen_at(listener, str(path), _BACKLOG)
            os.chown(path, -1, group)
            path.chmod(0o660 if config.group else 0o600)
        except OSError as error:
            raise StoreError(str(path), error.strerror or str(error), "name another as socket") from None
        try:
            yield listener
        finally:
            path.unlink(missing_ok=True)


def _remove_left(path: Path) -> None:
    """Remove the socket of an agent that is gone. Raises OSError where one listens."""
    with (
        socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe,
        suppress(FileNotFoundError, ConnectionRefusedError),
    ):
        probe.connect(str(path))
        raise OSError(errno.EADDRINUSE, "is served by another agent")
    if path.is_socket():
        path.unlink()


def tell_ready() -> None:
    """Send ``READY=1`` where a service manager waits for it; nothing happens elsewhere."""
    address = os.environ.pop("NOTIFY_SOCKET", "")
    if not address:
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as connection, suppress(OSError):
        connection.sendto(b"READY=1", address.replace("@", "\0", 1) if address[0] == "@" else address)
