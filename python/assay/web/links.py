"""Who may look: links and the sessions that were opened with them, kept as digests in the user's state folder."""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from assay.errors import StoreError, UsageError
from assay.spec.state_file import append_line, file_state, read_lines
from assay.spec.units import SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Callable

Role = Literal["viewer", "operator", "program"]
"""``viewer`` reads pages. ``operator`` also changes notes and adds bundles. ``program`` reads the API, with a token."""
ROLES: tuple[Role, ...] = ("viewer", "operator", "program")
FILE = "web.jsonl"
FIRST_NS = 600 * SECOND_NS
"""How long the link of a start is valid; it opens one session."""
OPERATOR_NS = 8 * 3600 * SECOND_NS
DAY_NS = 86_400 * SECOND_NS
DAYS_MAX = 366
_TOKEN_BYTES, _ID_BYTES = 32, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """What lets somebody in. digest : SHA-256 of its token. until_ns : wall clock. once : it opens one session."""

    id: str
    digest: str
    role: Role
    made_ns: int
    until_ns: int
    once: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A browser that was let in by a link; the digest is of its cookie."""

    digest: str
    link: str
    role: Role
    opened_ns: int
    until_ns: int


@dataclass(frozen=True, slots=True)
class _Kept:
    links: dict[str, Link]
    sessions: dict[str, Session]


class Links:
    """The links of this user on this host. clock : the wall clock in ns."""

    def __init__(self, clock: Callable[[], int] = time.time_ns) -> None:
        self._clock = clock

    def make(self, role: Role, days: int) -> tuple[Link, str]:
        """A link that is valid for some days, with its token, which is kept nowhere.

        days : 1 to 366; an operator's session still ends after eight hours. Raises UsageError, StoreError.
        """
        if not 1 <= days <= DAYS_MAX:
            raise UsageError("--days", f"is {days}", f"give 1 to {DAYS_MAX}")
        return self._made(role, days * DAY_NS)

    def first(self) -> str:
        """The token of a start: valid for ten minutes, for one session of an operator. Raises StoreError."""
        return self._made("operator", FIRST_NS, once=True)[1]

    def opened(self, token: str) -> tuple[Session, str] | None:
        """A session with its cookie for the token of a link; None where that opens none, or no more."""
        link = self._valid(token)
        if link is None or link.role == "program":
            return None
        cookie = secrets.token_urlsafe(_TOKEN_BYTES)
        now_ns = self._clock()
        until_ns = now_ns + OPERATOR_NS if link.role == "operator" else link.until_ns
        session = Session(digest=_digest(cookie), link=link.id, role=link.role, opened_ns=now_ns, until_ns=until_ns)
        _keep({"session": asdict(session)})
        if link.once:
            _keep({"used": link.id})
        return session, cookie

    def session(self, cookie: str) -> Session | None:
        """The session of a cookie; None where there is none, or it has ended."""
        session = _kept_now().sessions.get(_digest(cookie))
        return session if session and session.until_ns > self._clock() else None

    def program(self, token: str) -> bool:
        """Whether a bearer token is that of a program."""
        link = self._valid(token)
        return link is not None and link.role == "program"

    def program_session(self, token: str) -> Session | None:
        """What a bearer token of a program stands for; None for another token, or where its link has ended."""
        link = self._valid(token)
        if link is None or link.role != "program":
            return None
        return Session(digest=link.digest, link=link.id, role=link.role, opened_ns=link.made_ns, until_ns=link.until_ns)

    def listed(self) -> list[tuple[Link, int]]:
        """The links that are valid, the oldest first, with how many sessions were opened by each."""
        kept, now_ns = _kept_now(), self._clock()
        counts = [session.link for session in kept.sessions.values() if session.until_ns > now_ns]
        links = (
            link for link in kept.links.values() if link.until_ns > now_ns and (not link.once or link.id in counts)
        )
        return [(link, counts.count(link.id)) for link in sorted(links, key=lambda link: link.made_ns)]

    def revoke(self, link_id: str) -> None:
        """End a link, and the sessions that it opened. Raises UsageError where there is none, StoreError."""
        if link_id not in {link.id for link, _ in self.listed()}:
            raise UsageError(link_id, "is no link that is valid", "see them with: assay serve links")
        _keep({"revoked": link_id})

    def _made(self, role: Role, span_ns: int, *, once: bool = False) -> tuple[Link, str]:
        token, now_ns = secrets.token_urlsafe(_TOKEN_BYTES), self._clock()
        link = Link(
            id=secrets.token_hex(_ID_BYTES),
            digest=_digest(token),
            role=role,
            made_ns=now_ns,
            until_ns=now_ns + span_ns,
            once=once,
        )
        _keep({"link": asdict(link)})
        return link, token

    def _valid(self, token: str) -> Link | None:
        digest = _digest(token)
        links = (link for link in _kept_now().links.values() if secrets.compare_digest(link.digest, digest))
        return next((link for link in links if link.until_ns > self._clock()), None)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _keep(line: dict[str, Any]) -> None:
    try:
        append_line(FILE, json.dumps(line).encode())
    except OSError as error:
        reason = error.strerror or "cannot be written"
        raise StoreError(f"the state folder ({FILE})", reason, "make it writable for this user only") from None


def _kept_now() -> _Kept:
    try:
        return _kept(file_state(FILE))
    except OSError:
        return _Kept({}, {})


@lru_cache(maxsize=1)
def _kept(known: tuple[int, ...]) -> _Kept:
    """Read anew where the file is another; what is torn or of another form is left out."""
    del known
    links: dict[str, Link] = {}
    sessions: dict[str, Session] = {}
    for line in read_lines(FILE):
        try:
            _read(json.loads(line), links, sessions)
        except (ValueError, TypeError, RecursionError, AttributeError):
            continue
    return _Kept(links, sessions)


def _read(line: dict[str, Any], links: dict[str, Link], sessions: dict[str, Session]) -> None:
    if "link" in line:
        link = Link(**line["link"])
        links[link.id] = link
    elif "session" in line:
        session = Session(**line["session"])
        sessions[session.digest] = session
    elif "used" in line and line["used"] in links:
        # It opens no session any more; the one that it opened goes on.
        links[line["used"]] = replace(links[line["used"]], digest="")
    elif "revoked" in line:
        links.pop(line["revoked"], None)
        for session in [session for session in sessions.values() if session.link == line["revoked"]]:
            del sessions[session.digest]
