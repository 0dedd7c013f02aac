"""What every request must be before a page sees it: its host, origin, size, time and session."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection

from assay.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from assay.web.sessions import Session, Sessions

BODY_MAX, HEAD_MAX = 64 << 10, 16 << 10
REQUEST_S = 10.0
"""In which a whole request has to be here, and a part of an answer has to be taken."""
LOCAL = frozenset({"localhost", "127.0.0.1", "[::1]"})
SESSION_PATH = "/session"
KEY_HEADER = "x-assay-key"
"""The key of a session comes with each change; other ports get its cookie, and never this."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_SAFE = {"GET", "HEAD"}
_PATH_MAX = 200


class RefusedError(Exception):
    """A request that no page sees. status : of HTTP. Its text says why."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """hosts : names that the server is asked by, in lower case, without a port. scheme : before its addresses.

    cookie : name of the session's. bodies : path of a request that may be larger, with its bytes.
    prefix : what a proxy puts before every path.
    """

    hosts: Collection[str]
    scheme: str
    cookie: str
    bodies: dict[str, int]
    prefix: str = ""


class Guard:
    """An ASGI application in front of another. log : takes a line for each answer."""

    def __init__(
        self, app: ASGIApp, *, rules: Rules, sessions: Sessions, log: Callable[[str], None] = lambda _: None
    ) -> None:
        self._app, self._rules, self._sessions, self._log = app, rules, sessions, log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] != "http":
            # The server answers 403 to a WebSocket that is closed before it is opened.
            await send({"type": "websocket.close", "code": 1008})
        else:
            await self._answer(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        answered, began_s = _Answered(send), time.monotonic()
        try:
            await self._tried(scope, receive, answered)
        finally:
            self._log(_log_line(scope, answered.status, time.monotonic() - began_s))

    async def _tried(self, scope: Scope, receive: Receive, answered: _Answered) -> None:
        try:
            session, state = self._admit(scope), scope.get("state", {})
            if session and "connection" in state:
                state["connection"].belongs(session.digest)
            scope["state"] = {**state, "session": session}
            await self._app(scope, self._limited(scope, receive), answered)
        except RefusedError as error:
            if not answered.status:
                await _refuse(answered, error)

    def _admit(self, scope: Scope) -> Session | None:
        headers, method = Headers(scope=scope), scope["method"]
        if sum(len(name) + len(value) for name, value in scope["headers"]) > HEAD_MAX:
            # Another port of the host may have set them all.
            raise RefusedError(431, "The cookies of this name are too long: clear them, or open localhost instead.")
        host = headers.getlist("host")
        if len(host) != 1 or _name(host[0]) not in self._rules.hosts:
            raise RefusedError(403, f"This server does not answer to the name {host[0][:80] if host else ''!r}.")
        origin = headers.get("origin")
        if origin is not None and origin.lower() != f"{self._rules.scheme}://{host[0].lower()}":
            raise RefusedError(403, "The request comes from a page of another site.")
        # A page at another port of this host is of the same site, and yet another's.
        if headers.get("sec-fetch-site") in {"cross-site", "same-site"} and (method not in _SAFE or _is_part(headers)):
            raise RefusedError(403, "The request comes from a page of another site.")
        session = self._session(headers, HTTPConnection(scope).cookies.get(self._rules.cookie))
        if method not in _SAFE:
            self._admit_change(scope, headers, session)
        return session

    def _session(self, headers: Headers, cookie: str | None) -> Session | None:
        """The session of a program by its bearer token, else of a browser by its cookie."""
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return self._sessions.of_program(token.strip())
        return self._sessions.of_cookie(cookie) if cookie else None

    def _admit_change(self, scope: Scope, headers: Headers, session: Session | None) -> None:
        if scope["method"] not in {"POST", "DELETE"}:
            raise RefusedError(405, "No page takes this method.")
        if scope["path"] == self._rules.prefix + SESSION_PATH:
            return
        if session is None or session.role != "operator":
            raise RefusedError(
                403, "Only an operator changes anything: open the link of assay serve link --role operator."
            )
        if not session.has_key(headers.get(KEY_HEADER, "")):
            raise RefusedError(403, "This page has not the key of its session: open a new link.")

    def _limited(self, scope: Scope, receive: Receive) -> Receive:
        bytes_max = self._rules.bodies.get(scope["path"], BODY_MAX)
        until_s, seen, whole = time.monotonic() + REQUEST_S, 0, False

        async def part() -> Message:
            nonlocal seen, whole
            # Behind the request comes only that its client is gone.
            # A large body may take its time, but each part of it comes soon.
            limit_s = REQUEST_S if bytes_max > BODY_MAX else until_s - time.monotonic()
            left_s = None if whole else limit_s
            try:
                message = await asyncio.wait_for(receive(), left_s)
            except TimeoutError:
                raise RefusedError(408, "The request did not come within 10 s.") from None
            whole = not message.get("more_body", False)
            seen += len(message.get("body", b""))
            if seen > bytes_max:
                raise RefusedError(413, f"The request is larger than {bytes_max} bytes.")
            return message

        return part


@dataclass
class _Answered:
    """Sends an answer with the headers that all have; one that is not taken in time ends the connection."""

    send: Send
    status: int = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = int(message["status"])
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
        try:
            await asyncio.wait_for(self.send(message), REQUEST_S)
        except TimeoutError:
            raise RefusedError(408, "The answer was not taken within 10 s.") from None


def _log_line(scope: Scope, status: int, took_s: float) -> str:
    """An answer as a JSON object on one line. Its query and its headers, which may hold secrets, are left out."""
    at = datetime.now(UTC).isoformat(timespec="milliseconds")
    facts = {
        "at": at,
        "client": scope["client"][0] if scope.get("client") else "",
        "method": scope["method"],
        "path": visible(scope["path"])[:_PATH_MAX],
        "status": status,
        "ms": round(took_s * 1000, 1),
    }
    return json.dumps(facts)


def _name(host: str) -> str:
    """A host without its port, in lower case. Worked: ``[::1]:8080`` -> ``[::1]``; what is no host -> empty."""
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port
    except ValueError:
        return ""
    if not parts.hostname or parts.path or parts.query or parts.fragment or "@" in host:
        return ""
    return f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname


def _is_part(headers: Headers) -> bool:
    """Whether a request is for a part of a page, not for a page that a user navigates to."""
    return headers.get("sec-fetch-mode") != "navigate" or headers.get("sec-fetch-dest") != "document"


async def _refuse(send: Any, error: RefusedError) -> None:
    body = json.dumps({"error": str(error)}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if error.status in {408, 413}:
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
