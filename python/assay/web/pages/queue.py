"""The queue of this host's agent: its list, and what an operator changes in it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from assay.agent.messages import QueueRequest, StopRequest
from assay.errors import AssayError, UsageError
from assay.web.pages.shell import FORM_LOST, aside, claimed, error_json, operator_of, sent_object, shown
from assay.web.queue_rows import queue_rows
from assay.web.start_codes import start_words

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
    """Change a job: ``action`` of move, hold, release or stop, ``job``, and for a move its ``position``.

    A job of a real drive is released with its ``identity`` and a ``code``, as a run is started.
    """
    try:
        content = await sent_object(request)
        code = str(content.pop("code", ""))
        change = _change(content, claimed(request))
        if content["action"] == "release" and not await _is_confirmed(site, request, str(change.job), code):
            return JSONResponse({"code": site.code_command}, 202)
        return await _listed(site, request, await site.agent.change(change))
    except AssayError as error:
        return error_json(error, 409)


async def _is_confirmed(site: Site, request: Request, job_id: str, code: str) -> bool:
    """Whether a job may be released; False where its code is to be typed first. Raises AssayError."""
    job = next((job for job in (await site.agent.queue()).jobs if job.id == job_id), None)
    if job is None:
        raise UsageError(f"job {job_id}", "is not in the queue", "load the page again")
    key, session = f"release {job_id}", operator_of(request)
    words = start_words(job.drive, job.identity, job.tests, f"release of job {job_id}")
    site.codes.expect(key, session, words, real=job.is_real)
    return site.codes.admit(key, session, code)


async def _listed(site: Site, request: Request, answer: QueueAnswer) -> Response:
    rows = await aside(lambda: queue_rows(answer.jobs, site.parents))
    return shown(site, request, "queue_list", rows=rows, error=None)


def _change(content: dict[str, Any], who: str) -> QueueRequest | StopRequest:
    """Raises UsageError for another form."""
    with suppress(ValueError, TypeError, KeyError):
        if content["action"] == "stop":
            return StopRequest(job=content["job"], claimed=who)
        if content["action"] in _ACTIONS:
            return QueueRequest(claimed=who, **{"position": 0, **content})
    raise FORM_LOST
