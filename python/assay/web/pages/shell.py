"""The frame of every page: its head, the contents of the site, refusals, and the page that signs a browser in."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar

from markupsafe import Markup
from starlette.responses import HTMLResponse, JSONResponse

from assay.errors import StoreError, UsageError
from assay.spec.json_text import json_object
from assay.web.guard import RefusedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request
    from starlette.responses import Response

    from assay.errors import AssayError
    from assay.web.sessions import Session
    from assay.web.site import Site

T = TypeVar("T")


FORM_LOST = UsageError("request", "has another form", "load the page again")
_TOKEN_MAX = 200


def shown(site: Site, request: Request, template: str, *, status: int = 200, **values: Any) -> Response:
    """A page of the site. template : without its suffix. values : of the template."""
    text = site.templates.get_template(f"{template}.html.j2").render(**_frame(site, request), **values)
    return HTMLResponse(text, status_code=status)


def framed(site: Site, request: Request, page: bytes, template: str, **values: Any) -> Response:
    """A page of a report with the frame of the site around it. template : of the part above the report."""
    above = site.templates.get_template(f"{template}.html.j2").render(**_frame(site, request), **values)
    head = Markup(
        '<link rel="stylesheet" href="{0}/assets/web.css">\n<script src="{0}/assets/web.js" defer></script>\n'
    ).format(site.prefix)
    page = page.replace(b"</head>", f"{head}</head>".encode(), 1)
    return HTMLResponse(page.replace(b"<body>", f"<body>\n{above}".encode(), 1))


def refused(site: Site, request: Request, status: int, why: tuple[str, str, str]) -> Response:
    """A page that refuses a request. why : thing, reason and remedy, as of errors."""
    thing, reason, remedy = why
    return shown(site, request, "refused", status=status, thing=thing, reason=reason, remedy=remedy)


def session_of(request: Request) -> Session | None:
    """The session of a request; None without one."""
    result: Session | None = request.scope["state"]["session"]
    return result


def link_of(request: Request) -> str:
    """The link of the session of a request; empty without a session."""
    session = session_of(request)
    return session.link if session else ""


def operator_of(request: Request) -> Session:
    """The session of an operator. Raises RefusedError for others, whom the guard already refuses."""
    session = session_of(request)
    if session is None or session.role != "operator":
        raise RefusedError(403, "Only an operator changes anything.")
    return session


def claimed(request: Request) -> str:
    """The name of an operator in the agent's log. Worked: ``link 1a2b3c4d, operator``."""
    session = operator_of(request)
    return f"link {session.link}, {session.role}"


async def sent_object(request: Request) -> dict[str, Any]:
    """The JSON object that a script sent. Raises UsageError for anything else."""
    try:
        return json_object(await request.body())
    except ValueError:
        raise FORM_LOST from None


def error_json(error: AssayError, status: int) -> Response:
    """An error as scripts of pages take it."""
    return JSONResponse({"error": str(error)}, status)


async def aside(work: Callable[[], T]) -> T:
    """Do work on another thread: databases and files make a server wait."""
    return await asyncio.to_thread(work)


def _frame(site: Site, request: Request) -> dict[str, Any]:
    session = session_of(request)
    return {
        "contents": site.contents,
        "here": request.url.path.removeprefix(site.prefix),
        "session": session,
        "change": session is not None and session.role == "operator",
    }


def sign_in_page(site: Site, request: Request) -> Response:
    """The page shown without a session; its script takes the token of the address."""
    return shown(site, request, "sign_in", status=401)


async def open_session(site: Site, request: Request) -> Response:
    """Open a session by the token of a link: the browser gets a cookie that no script can read, the page a key."""
    try:
        token = (await sent_object(request)).get("token")
    except UsageError:
        token = None
    if not isinstance(token, str) or len(token) > _TOKEN_MAX:
        return JSONResponse({"error": "The request has no token."}, 400)
    try:
        opened = await aside(lambda: site.sessions.open(token))
    except StoreError as error:
        return JSONResponse({"error": str(error)}, 503)
    if opened is None:
        return JSONResponse({"error": "This link was used before, has ended, or was revoked."}, 403)
    session = opened.session
    answer = JSONResponse({"role": session.role, "key": opened.key})
    answer.set_cookie(
        site.rules.cookie,
        opened.cookie,
        max_age=max((session.until_ns - session.opened_ns) // 10**9, 1),
        path=f"{site.prefix}/",
        httponly=True,
        samesite="strict",
        secure=site.rules.scheme == "https",
    )
    return answer
