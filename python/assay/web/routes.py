"""Every address of the server: its page, who may ask for it, and how it is shown in the contents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request
    from starlette.responses import Response

    from assay.web.links import Role
    from assay.web.site import Site


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """One address.

    role : the least that may ask; None: anybody. title : of a page that people open, empty of all others.
    in_contents : whether every page leads to it.
    """

    path: str
    answer: Callable[[Site, Request], Awaitable[Response]]
    name: str
    role: Role | None = "viewer"
    methods: tuple[str, ...] = ("GET",)
    title: str = ""
    in_contents: bool = False


def may(role: Role | None, has: Any) -> bool:
    """Whether a session may ask for what a role may. has : role of the session, None without one.

    Worked: a viewer asks for a page of operators -> False; an operator for one of viewers -> True; any session for an
    address of programs -> True, a program for a page -> False.
    """
    if role is None:
        return True
    if role == "program":
        return has is not None
    return has == role or (role == "viewer" and has == "operator")
