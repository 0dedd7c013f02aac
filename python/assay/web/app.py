"""The application: the table of addresses with who may ask for each, and what stands in front of every page."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from assay.errors import AssayError, UsageError
from assay.web.api import ADDRESSES as API_ADDRESSES
from assay.web.api import answered, error_response
from assay.web.guard import SESSION_PATH, Guard, RefusedError
from assay.web.jobs import status_of, supervised
from assay.web.layout import TYPES, static_files
from assay.web.metrics import METRICS, metrics_page
from assay.web.pages.compare import compare_page, compared_file
from assay.web.pages.drives import drive_names, drive_page, drives_list, drives_page
from assay.web.pages.files import PATH as BUNDLES
from assay.web.pages.files import made_file, raw_file, take_bundle
from assay.web.pages.now import live_stream, now_page
from assay.web.pages.plan import check_plan, open_plan, plan_file, plan_page, start_plan
from assay.web.pages.queue import change_queue, queue_list, queue_page
from assay.web.pages.run import job_state, note_page, run_page
from assay.web.pages.runs import runs_page
from assay.web.pages.shell import open_session, refused, session_of, sign_in_page
from assay.web.pages.trend import trend_page
from assay.web.site import Contents, bring_up

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from starlette.requests import Request
    from starlette.types import ASGIApp

    from assay.web.links import Role
    from assay.web.site import Site

_STATIC = static_files()


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
    """Whether a session has the rights of a role. has : role of the session; None without one.

    Worked: a viewer asks for a page of operators -> False; an operator for one of viewers -> True; any session for an
    address of programs -> True, a program for a page -> False.
    """
    if role is None:
        return True
    if role == "program":
        return has is not None
    return has == role or (role == "viewer" and has == "operator")


async def _asset(_site: Site, request: Request) -> Response:
    name = request.path_params["name"]
    content = _STATIC.get(name)
    if content is None:
        return Response(status_code=404)
    kind = TYPES["." + name.rpartition(".")[2]]
    return Response(content, media_type=kind, headers={"cache-control": "public, max-age=3600"})


ADDRESSES = (
    Address(path="/", answer=now_page, name="now", title="Now", in_contents=True),
    Address(path="/drives", answer=drives_page, name="drives", title="Drives", in_contents=True),
    Address(path="/drives/list", answer=drives_list, name="drives-list"),
    Address(path="/drives/names", answer=drive_names, name="drive-names"),
    Address(path="/plan", answer=plan_page, name="plan", title="Plan", in_contents=True),
    Address(path="/plan/check", answer=check_plan, name="plan-check", role="operator", methods=("POST",)),
    Address(path="/plan/start", answer=start_plan, name="plan-start", role="operator", methods=("POST",)),
    Address(path="/plan/file", answer=plan_file, name="plan-file", role="operator", methods=("POST",)),
    Address(path="/plan/open", answer=open_plan, name="plan-open", role="operator", methods=("POST",)),
    Address(path="/queue", answer=queue_page, name="queue", title="Queue", in_contents=True),
    Address(path="/queue/list", answer=queue_list, name="queue-list"),
    Address(path="/queue/change", answer=change_queue, name="queue-change", role="operator", methods=("POST",)),
    Address(path="/runs", answer=runs_page, name="runs", title="Runs", in_contents=True),
    Address(path="/runs/{run}", answer=run_page, name="run", title="Run"),
    Address(path="/runs/{run}/made/{kind}", answer=made_file, name="made", title="File"),
    Address(path="/runs/{run}/stored/{name:path}", answer=raw_file, name="stored", title="File"),
    Address(path=BUNDLES, answer=take_bundle, name="bundles", role="operator", methods=("POST",)),
    Address(path="/runs/{run}/note", answer=note_page, name="note", role="operator", methods=("POST",)),
    Address(path="/drives/{drive}", answer=drive_page, name="drive", title="Drive"),
    Address(path="/compare", answer=compare_page, name="compare", title="Compare"),
    Address(path="/compare/made/{kind}", answer=compared_file, name="compared", title="File"),
    Address(path="/trend", answer=trend_page, name="trend", title="Trend", in_contents=True),
    *(Address(path=each.path, answer=answered(each), name=each.path, role="program") for each in API_ADDRESSES),
    Address(path=METRICS, answer=metrics_page, name="metrics", role="program"),
    Address(path="/jobs/{key}", answer=job_state, name="job"),
    Address(path="/live", answer=live_stream, name="live"),
    Address(path="/live/{run}", answer=live_stream, name="live-run"),
    Address(path="/assets/{name}", answer=_asset, name="asset", role=None),
    Address(path=SESSION_PATH, answer=open_session, name="session", role=None, methods=("POST",)),
)
"""Every address; a test asks each without a session, by another name, and from another site."""


def make_app(site: Site) -> ASGIApp:
    """The application of a site; it does the jobs of the site while it runs."""
    site.contents = tuple(Contents(path=page.path, title=page.title) for page in ADDRESSES if page.in_contents)

    @asynccontextmanager
    async def working(_: Starlette) -> AsyncIterator[None]:
        work = {"Jobs": site.jobs.serve, "Live runs": site.live.serve}
        tasks = [asyncio.create_task(supervised(name, task, site.log)) for name, task in work.items()]
        bring_up(site)
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task

    routes = [Route(site.prefix + page.path, _endpoint(site, page), methods=list(page.methods)) for page in ADDRESSES]
    app = Starlette(routes=routes, lifespan=working, exception_handlers={RefusedError: _refusal})
    return Guard(app, rules=site.rules, sessions=site.sessions, log=site.log)


async def _refusal(_: Request, error: Exception) -> Response:
    status = error.status if isinstance(error, RefusedError) else 500
    return JSONResponse({"error": str(error)}, status, headers={"connection": "close"})


def _unauthorised(address: Address) -> Response:
    """The answer to requests without a session, pages aside."""
    if address.role == "program":
        token = UsageError("Authorization", "has no token of a program", "assay serve link --role program")
        response = error_response(token, 401)
        response.headers["www-authenticate"] = "Bearer"
        return response
    return JSONResponse({"error": "This needs a session."}, 401)


def _endpoint(site: Site, address: Address) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        session = session_of(request)
        if not may(address.role, session.role if session else None):
            return sign_in_page(site, request) if address.title else _unauthorised(address)
        try:
            return await address.answer(site, request)
        except AssayError as error:
            status = status_of(error, 500)
            if address.title:
                return refused(site, request, status, (error.thing, error.reason, error.remedy))
            return JSONResponse({"error": str(error)}, status)

    return answer
