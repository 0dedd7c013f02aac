"""Letting a browser in: the token of a link becomes a cookie and a key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import JSONResponse

from assay.errors import StoreError, UsageError
from assay.web.pages.shell import aside, sent_object, shown

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from assay.web.site import Site

_TOKEN_MAX = 200


def sign_in_page(site: Site, request: Request) -> Response:
    """What is shown instead of any page to whoever has no session; its script takes the token of the address."""
    return shown(site, request, "sign_in", status=401)


async def open_session(site: Site, request: Request) -> Response:
    """Take the token of a link; its browser gets a cookie that no script can read, and its page a key."""
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
