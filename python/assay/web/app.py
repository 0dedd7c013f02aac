"""The application: the table of addresses, and what stands in front of every page."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from assay.errors import AssayError
from assay.web.guard import SESSION_PATH, Guard
from assay.web.layout import TYPES, static_files
from assay.web.pages.compare import compare_page
from assay.web.pages.door import door, open_session
from assay.web.pages.now import live_stream, now_page
from assay.web.pages.run import job_state, run_page
from assay.web.pages.runs import runs_page
from assay.web.pages.shell import refused, session_of
from assay.web.routes import Address, may
from assay.web.site import Contents

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from starlette.requests import Request
    from starlette.types import ASGIApp

    from assay.web.site import Site


async def _asset(_site: Site, request: Request) -> Response:
    name = request.path_params["name"]
    content = _STATIC.get(name)
    if content is None:
        return Response(status_code=404)
    kind = TYPES["." + name.rpartition(".")[2]]
    return Response(content, media_type=kind, headers={"cache-control": "public, max-age=3600"})


_STATIC = static_files()
ADDRESSES = (
    Address(path="/", answer=now_page, name="now", title="Now", in_contents=True),
    Address(path="/runs", answer=runs_page, name="runs", title="Runs", in_contents=True),
    Address(path="/runs/{run}", answer=run_page, name="run", title="Run"),
    Address(path="/compare", answer=compare_page, name="compare", title="Compare"),
    Address(path="/jobs/{key}", answer=job_state, name="job"),
    Address(path="/live", answer=live_stream, name="live"),
    Address(path="/live/{run}", answer=live_stream, name="live-run"),
    Address(path="/assets/{name}", answer=_asset, name="asset", role=None),
    Address(path=SESSION_PATH, answer=open_session, name="session", role=None, methods=("POST",)),
)
"""Every address; a test asks each without a session, by another name, and from another site."""


def make_app(site: Site) -> ASGIApp:
    """The application of a site. It works off the jobs of the site as long as it runs."""
    site.contents = tuple(Contents(path=one.path, title=one.title) for one in ADDRESSES if one.in_contents)

    @asynccontextmanager
    async def working(_: Starlette) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(work) for work in (site.jobs.serve(), site.live.serve())]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task

    routes = [Route(site.prefix + one.path, _endpoint(site, one), methods=list(one.methods)) for one in ADDRESSES]
    return Guard(Starlette(routes=routes, lifespan=working), rules=site.rules, links=site.links)


def _endpoint(site: Site, address: Address) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        session = session_of(request)
        if not may(address.role, session.role if session else None):
            return door(site, request) if address.title else JSONResponse({"error": "This needs a session."}, 401)
        try:
            return await address.answer(site, request)
        except AssayError as error:
            if address.title:
                return refused(site, request, 500, (error.thing, error.reason, error.remedy))
            return JSONResponse({"error": str(error)}, 500)

    return answer
