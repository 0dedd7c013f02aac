"""The queue of this host's agent: its list, and what an operator changes in it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pydantic import ValidationError

from assay.agent.messages import QueueRequest, StopRequest
from assay.errors import AssayError, UsageError
from assay.web.pages.shell import aside, claimed, error_json, shown
from assay.web.queue_rows import queue_rows

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from assay.agent.messages import QueueAnswer
    from assay.web.site import Site

_ACTIONS = ("move", "hold", "release")


async def queue_page(site: Site, request: Request) -> Response:
    """The frame of the list, which its script fills in and keeps new while it is visible."""
    return shown(site, request, "queue")


async def queue_list(site: Site, request: Request) -> Response:
    """The list, as a part of the page."""
    try:
        return await _listed(site, request, await site.agent.queue())
    except AssayError as error:
        return shown(site, request, "queue_list", rows=None, error=error)


async def change_queue(site: Site, request: Request) -> Response:
    """Change a job: ``action`` of move, hold, release or stop, ``job``, and for a move its ``position``."""
    try:
        change = _change(await request.body(), claimed(request))
        return await _listed(site, request, await site.agent.change(change))
    except AssayError as error:
        return error_json(error, 409)


async def _listed(site: Site, request: Request, answer: QueueAnswer) -> Response:
    rows = await aside(lambda: queue_rows(answer.jobs, site.parents))
    return shown(site, request, "queue_list", rows=rows, error=None)


def _change(body: bytes, who: str) -> QueueRequest | StopRequest:
    """Raises UsageError for another form."""
    try:
        content = json.loads(body)
        if content["action"] == "stop":
            return StopRequest(job=content["job"], claimed=who)
        if content["action"] in _ACTIONS:
            return QueueRequest(claimed=who, **{"position": 0, **content})
    except (ValueError, RecursionError, TypeError, KeyError, ValidationError):
        pass
    raise UsageError("request", "has another form", "load the page again")
