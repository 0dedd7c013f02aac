"""The page of what goes on now, and the streams that it and the page of a run are filled from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import JSONResponse

from assay.web.live import SESSION_STREAMS_MAX
from assay.web.pages.shell import session_of, shown
from assay.web.stream import Stream

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from assay.web.site import Site


async def now_page(site: Site, request: Request) -> Response:
    """Every run of this host that goes on; with ``?wall`` large, dark and without controls."""
    return shown(
        site,
        request,
        "now",
        wall="wall" in request.query_params,
        agent=site.agent.is_there(),
        folders=list(map(str, site.folders)),
    )


async def live_stream(site: Site, request: Request) -> Response:
    """Events of one run, or without an address of all."""
    session = session_of(request)
    watcher = await site.live.watch(request.path_params.get("run", ""), session.digest if session else "")
    if watcher is None:
        reason = f"Too many streams are open; a session has at most {SESSION_STREAMS_MAX}."
        return JSONResponse({"error": reason}, 429)
    return Stream(site.live, watcher)
