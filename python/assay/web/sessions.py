"""Sessions of browsers, in the memory of one server: they end with it, so that a later server at its port has none.

::

    cookie   read pages        sent to every port of this host
    key      change anything   in the page's storage, which knows the port; sent as a header
    code     start a real run  printed on the server's terminal for one start (``start_codes``)
"""

from __future__ import annotations

import hmac
import secrets
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.web.links import OPERATOR_NS, TOKEN_BYTES, digest_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from assay.web.links import Links, Role

LINK_SESSIONS_MAX, ROLE_SESSIONS_MAX = 256, 1024
"""Beyond these the oldest session of the link, or of the role, ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """Who asks. digest, key_digest : of its cookie and key; those of a program are empty. until_ns : wall clock."""

    digest: str
    key_digest: str
    link: str
    role: Role
    opened_ns: int
    until_ns: int

    def has_key(self, key: str) -> bool:
        """Whether a key is the key of the page that opened the session."""
        return bool(self.key_digest) and hmac.compare_digest(self.key_digest, digest_of(key))


@dataclass(frozen=True, slots=True)
class Opened:
    """A new session with its secrets, which are kept nowhere."""

    session: Session
    cookie: str
    key: str


class Sessions:
    """The sessions of a server; any thread may call."""

    def __init__(self, links: Links) -> None:
        self.links = links
        self._lock = threading.Lock()
        self._open: dict[str, Session] = {}

    def open(self, token: str) -> Opened | None:
        """A session for the token of a link; None if that opens none, or no more. Raises StoreError."""
        with self._lock:
            link = self.links.valid(token)
            if link is None or link.role == "program":
                return None
            self.links.use(link)
            cookie, key = secrets.token_urlsafe(TOKEN_BYTES), secrets.token_urlsafe(TOKEN_BYTES)
            now_ns = self.links.clock()
            session = Session(
                digest=digest_of(cookie),
                key_digest=digest_of(key),
                link=link.id,
                role=link.role,
                opened_ns=now_ns,
                until_ns=now_ns + OPERATOR_NS if link.role == "operator" else link.until_ns,
            )
            self._make_room(session)
            self._open[session.digest] = session
            return Opened(session, cookie, key)

    def of_cookie(self, cookie: str) -> Session | None:
        """The session of a cookie; None without one, or it has ended."""
        return self._valid(digest_of(cookie), self.links.ids())

    def of_program(self, token: str) -> Session | None:
        """The session of a bearer token of a program; None for another token, or if its link has ended."""
        link = self.links.valid(token)
        if link is None or link.role != "program":
            return None
        facts = {"link": link.id, "role": link.role, "opened_ns": link.made_ns, "until_ns": link.until_ns}
        return Session(digest=link.digest, key_digest="", **facts)  # type: ignore[arg-type]

    def ended(self, digests: Collection[str]) -> set[str]:
        """Which sessions do not go on, by the digests of their cookies; the links are looked at once."""
        links = self.links.ids()
        return {digest for digest in digests if self._valid(digest, links) is None}

    def _valid(self, digest: str, links: Collection[str]) -> Session | None:
        session = self._open.get(digest)
        return session if session and self._goes_on(session, links) else None

    def _goes_on(self, session: Session, links: Collection[str]) -> bool:
        return session.until_ns > self.links.clock() and session.link in links

    def _make_room(self, new: Session) -> None:
        """End what has ended, and the oldest where a link or a role has too many."""
        links = self.links.ids()
        self._open = {digest: session for digest, session in self._open.items() if self._goes_on(session, links)}
        of_role = [session for session in self._open.values() if session.role == new.role]
        of_link = [session for session in of_role if session.link == new.link]
        for sessions, most in ((of_role, ROLE_SESSIONS_MAX), (of_link, LINK_SESSIONS_MAX)):
            for session in sessions[: max(len(sessions) - most + 1, 0)]:
                self._open.pop(session.digest, None)
