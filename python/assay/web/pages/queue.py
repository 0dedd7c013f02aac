"""The queue of this host's agent: its jobs as rows, and what an operator changes in it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from starlette.responses import JSONResponse

from assay.agent.messages import QueueRequest, StopRequest
from assay.archive.index.folders import address_of, parent_of
from assay.errors import AssayError, UsageError
from assay.run.foreseen import span_label
from assay.run.store import RUN_DOCUMENT
from assay.web.pages.shell import FORM_LOST, aside, claimed, error_json, operator_of, sent_object, shown
from assay.web.plan_form import procedure_titles
from assay.web.start_codes import start_words
from assay.words.outcomes import exit_words
from assay.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from starlette.requests import Request
    from starlette.responses import Response

    from assay.agent.messages import JobFacts, QueueAnswer
    from assay.web.site import Site

_ACTIONS = ("move", "hold", "release")


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRow:
    """A job.

    number : of its turn among those that have not begun, from 1; 0 of others. last : of those. next : it begins as soon
    as no other runs.
    run : address of its run, empty if its folder is not served or not there yet. again : address of its plan.
    """

    facts: JobFacts
    tests: str
    outcome: str
    level: str
    message: str
    span: str
    number: int = 0
    last: bool = False
    next: bool = False
    run: str = ""
    again: str = ""
    not_served: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueRows:
    """The jobs by state, in order."""

    running: tuple[JobRow, ...]
    waiting: tuple[JobRow, ...]
    ended: tuple[JobRow, ...]


def queue_rows(jobs: Iterable[JobFacts], parents: Collection[str]) -> QueueRows:
    """The jobs by their state; looks for their run folders.

    parents : folders of runs that this server shows, as the index keeps them.
    """
    jobs = tuple(jobs)
    waiting = [job for job in jobs if job.state in {"waiting", "held"}]
    first = next((job.id for job in waiting if job.state == "waiting"), "")
    return QueueRows(
        running=tuple(_row(job, parents) for job in jobs if job.state == "running"),
        waiting=tuple(
            replace(_row(job, parents), number=number, last=number == len(waiting), next=job.id == first)
            for number, job in enumerate(waiting, 1)
        ),
        ended=tuple(_row(job, parents) for job in jobs if job.state == "ended"),
    )


def _row(job: JobFacts, parents: Collection[str]) -> JobRow:
    folder = Path(job.folder) if job.folder else None
    served = folder is not None and parent_of(folder.parent) in parents
    run = address_of(folder) if folder and served and (folder / RUN_DOCUMENT).is_file() else ""
    titles = procedure_titles()
    return JobRow(
        facts=job,
        tests=", ".join(titles.get(name, name) for name in job.tests),
        outcome=exit_words(job.exit_code) if job.began_wall_ns or job.exit_code else "not begun",
        level="good" if job.exit_code == 0 else "bad" if job.exit_code else "soft",
        message=visible(job.message),
        span=span_label(*job.span_ns),
        run=run,
        again=f"/plan?{urlencode({'run': run, 'drive': job.drive})}" if run else "",
        not_served=folder is not None and not served,
    )


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
    """Whether a job may be released; False if its code has to be typed first. Raises AssayError."""
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
