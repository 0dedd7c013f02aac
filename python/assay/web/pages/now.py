"""The page of runs that go on, and the server-sent events that it and the page of a run read."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse, Response

from assay.web.live import HEARTBEAT_S, SESSION_STREAMS_MAX
from assay.web.pages.shell import session_of, shown

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import Receive, Scope, Send

    from assay.web.live import Live, Watcher
    from assay.web.site import Site


_HEADERS = {"x-accel-buffering": "no", "cache-control": "no-store"}
"""A proxy is to hand each event on at once."""
_HEARTBEAT = b": still here\n\n"
"""A comment, which tells a proxy and the browser that the connection is alive."""


class Stream(Response):
    """The events of a watcher. heartbeat_s : a comment is sent after so long without an event."""

    media_type = "text/event-stream"

    def __init__(self, live: Live, watcher: Watcher, *, heartbeat_s: float = HEARTBEAT_S) -> None:
        super().__init__(headers=_HEADERS)
        del self.headers["content-length"]
        self._live, self._watcher, self._heartbeat_s = live, watcher, heartbeat_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the watcher's events end, or the client is gone."""
        del scope
        gone = asyncio.create_task(_gone(receive))
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            while not gone.done():
                text = await self._next(gone)
                if text is None:
                    break
                await send({"type": "http.response.body", "body": text, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        finally:
            self._live.leave(self._watcher)
            gone.cancel()
            with suppress(asyncio.CancelledError):
                await gone

    async def _next(self, gone: asyncio.Task[None]) -> bytes | None:
        """The next event, a heartbeat if none comes for long, or None at the end."""
        waiting = asyncio.ensure_future(self._watcher.texts.get())
        await asyncio.wait({waiting, gone}, timeout=self._heartbeat_s, return_when=asyncio.FIRST_COMPLETED)
        if waiting.done():
            return waiting.result()
        waiting.cancel()
        return None if gone.done() else _HEARTBEAT


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


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
