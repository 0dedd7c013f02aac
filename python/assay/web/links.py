"""Links, which let somebody in: kept as digests of their tokens in the user's state folder."""

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
    from collections.abc import Callable, Collection

Role = Literal["viewer", "operator", "program"]
"""``viewer`` reads pages. ``operator`` also changes notes, adds bundles and plans runs. ``program`` reads the API."""
ROLES: tuple[Role, ...] = ("viewer", "operator", "program")
FILE = "web.jsonl"
FIRST_NS = 600 * SECOND_NS
"""How long the link of a start is valid."""
OPERATOR_NS = 8 * 3600 * SECOND_NS
DAY_NS = 86_400 * SECOND_NS
DAYS_MAX = 366
TOKEN_BYTES, _ID_BYTES = 32, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A link that signs a browser in. digest : of its token, empty once it is used up. until_ns : wall clock."""

    id: str
    digest: str
    role: Role
    made_ns: int
    until_ns: int


class Links:
    """The links of this user on this host. clock : the wall clock in ns."""

    def __init__(self, clock: Callable[[], int] = time.time_ns) -> None:
        self.clock = clock

    def make(self, role: Role, days: int) -> tuple[Link, str]:
        """A link that is valid for some days, with its token, which is kept nowhere. That of an operator opens once.

        days : 1 to 366. Raises UsageError, StoreError.
        """
        if not 1 <= days <= DAYS_MAX:
            raise UsageError("--days", f"is {days}", f"give 1 to {DAYS_MAX}")
        return self._made(role, days * DAY_NS)

    def first(self) -> str:
        """The token of a start: valid for ten minutes, for one session of an operator. Raises StoreError."""
        return self._made("operator", FIRST_NS)[1]

    def valid(self, token: str) -> Link | None:
        """The link of a token; None without one, or it has ended, was used or revoked."""
        digest = digest_of(token)
        links = (link for link in _kept_now().values() if secrets.compare_digest(link.digest, digest))
        return next((link for link in links if link.until_ns > self.clock()), None)

    def use(self, link: Link) -> None:
        """Have a link that opens one session open no more. Raises StoreError."""
        if link.role == "operator":
            _keep({"used": link.id, "until_ns": self.clock() + OPERATOR_NS})

    def ids(self) -> Collection[str]:
        """IDs of the links, used or not, that were made and not revoked."""
        return _kept_now().keys()

    def listed(self) -> list[Link]:
        """The links that are valid or have a session, the oldest first."""
        valid = (link for link in _kept_now().values() if link.until_ns > self.clock())
        return sorted(valid, key=lambda link: link.made_ns)

    def revoke(self, link_id: str) -> None:
        """End a link, and the sessions that it opened. Raises UsageError if there is none, StoreError."""
        if link_id not in {link.id for link in self.listed()}:
            raise UsageError(link_id, "is no link that is valid", "see them with: assay serve links")
        _keep({"revoked": link_id})

    def _made(self, role: Role, span_ns: int) -> tuple[Link, str]:
        token, now_ns = secrets.token_urlsafe(TOKEN_BYTES), self.clock()
        link = Link(
            id=secrets.token_hex(_ID_BYTES),
            digest=digest_of(token),
            role=role,
            made_ns=now_ns,
            until_ns=now_ns + span_ns,
        )
        _keep({"link": asdict(link)})
        return link, token


def digest_of(secret: str) -> str:
    """SHA-256 of a token, cookie or key, in hex."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _keep(line: dict[str, Any]) -> None:
    try:
        append_line(FILE, json.dumps(line).encode())
    except OSError as error:
        reason = error.strerror or "cannot be written"
        raise StoreError(f"the state folder ({FILE})", reason, "make it writable for this user only") from None


def _kept_now() -> dict[str, Link]:
    try:
        return _kept(file_state(FILE))
    except OSError:
        return {}


@lru_cache(maxsize=1)
def _kept(known: tuple[int, ...]) -> dict[str, Link]:
    """Read anew where the file is another; what is torn or of another form is left out."""
    del known
    links: dict[str, Link] = {}
    for line in read_lines(FILE):
        try:
            _read(json.loads(line), links)
        except (ValueError, TypeError, RecursionError, AttributeError):
            continue
    return links


def _read(line: dict[str, Any], links: dict[str, Link]) -> None:
    if "link" in line:
        link = Link(**line["link"])
        links[link.id] = link
    elif line.get("used") in links:
        links[line["used"]] = replace(links[line["used"]], digest="", until_ns=int(line["until_ns"]))
    elif "revoked" in line:
        links.pop(line["revoked"], None)
