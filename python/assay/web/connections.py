"""Connections: how many there may be, and how long one may be silent, so that nobody keeps others out.

Those without a session are limited by address and in all; beyond that the oldest ends, never the new one.
Those with a session do not count there: each session has places of its own.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from assay.web.guard import REQUEST_S

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

ADDRESS_MAX, UNKNOWN_MAX, SESSION_MAX = 256, 512, 64


class Places:
    """The connections of a server by who has them: an address, or a session."""

    def __init__(self) -> None:
        self._unknown: dict[Connection, str] = {}
        self._known: dict[Connection, str] = {}

    def take(self, connection: Connection, address: str) -> None:
        """Count a new connection, of nobody yet."""
        self._make_room(self._unknown, address, ADDRESS_MAX)
        if len(self._unknown) >= UNKNOWN_MAX:
            next(iter(self._unknown)).end()
        self._unknown[connection] = address

    def belongs(self, connection: Connection, session: str) -> None:
        """Count a connection as one of a session, by the digest of its cookie."""
        if self._known.get(connection) != session and (connection in self._unknown or connection in self._known):
            self._make_room(self._known, session, SESSION_MAX)
            self._unknown.pop(connection, None)
            self._known[connection] = session

    def leave(self, connection: Connection) -> None:
        """Count a connection no longer."""
        self._unknown.pop(connection, None)
        self._known.pop(connection, None)

    def protocol(self) -> Callable[..., Connection]:
        """The class of connections for uvicorn."""
        return partial(Connection, self)

    @staticmethod
    def _make_room(places: dict[Connection, str], owner: str, most: int) -> None:
        of_owner = [connection for connection, known in places.items() if known == owner]
        for connection in of_owner[: max(len(of_owner) - most + 1, 0)]:
            connection.end()


class Connection(H11Protocol):
    """One connection. Pages find it in the state of their request."""

    def __init__(self, places: Places, **made_with: Any) -> None:
        super().__init__(**made_with)
        self.app_state = {**self.app_state, "connection": self}
        self._places = places
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a place, and expect a request."""
        super().connection_made(transport)
        self._places.take(self, self.client[0] if self.client else "")
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        """Leave the place."""
        self._expected()
        self._places.leave(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take a part of a request; once its head is here, the guard limits the rest of it."""
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before:
            self._expected()

    def on_response_complete(self) -> None:
        """Expect the next request."""
        super().on_response_complete()
        # One that came early is being answered already.
        if self.cycle.response_complete:
            self._expect()

    def belongs(self, session: str) -> None:
        """Keep this connection for a session."""
        self._places.belongs(self, session)

    def end(self) -> None:
        """End it, whatever is still to be sent."""
        self._places.leave(self)
        self.transport.abort()

    def _expect(self) -> None:
        self._expected()
        self._timer = self.loop.call_later(REQUEST_S, self.end)

    def _expected(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
