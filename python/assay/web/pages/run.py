"""The page of a run: its report, as ``assay report`` lays it out, in the frame of the site; and notes on the run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, RedirectResponse

from assay.archive.index.folders import run_folder
from assay.archive.index.history import run_before
from assay.archive.index.read import RunNote, reading
from assay.archive.index.search import run_at
from assay.archive.index.write import write_note
from assay.errors import UsageError
from assay.run.store.lock import is_going
from assay.web.jobs import Job, job_key
from assay.web.live import run_facts
from assay.web.made_files import RUN_FORMATS, kept_verified
from assay.web.pages.shell import FORM_LOST, aside, error_json, framed, link_of, refused, sent_object, session_of, shown
from assay.web.site import update_job
from assay.words.visible import unicode_name

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from assay.archive.index.search import FoundRun
    from assay.web.site import Site


_AGAIN = "again"
_FORM = {"hidden": bool, "bad": bool, "reason": str, "note": str}


async def run_page(site: Site, request: Request) -> Response:
    """The report of a run, its live page while it goes on, or a page that waits until the report is made."""
    address = request.path_params["run"]
    going = await site.live.find(address)
    if going is not None:
        return shown(site, request, "live_run", address=address, run=run_facts(going))
    indexed = await aside(lambda: indexed_run(site, address))
    if indexed is not None:
        return await _report_page(site, request, indexed)
    folder = await aside(lambda: run_folder(site.folders, address))
    if folder is None:
        return refused(site, request, 404, ("Run", "is not in the index", "Choose another from the list of runs."))
    if is_going(folder):
        name = unicode_name(str(folder))
        why = "is active, but its progress cannot be read yet or is of another version of Assay"
        return refused(site, request, 409, (name, why, f"Load the page again, or see: assay status {name}"))
    return waiting(site, request, update_job(site), "Run")


async def _report_page(site: Site, request: Request, indexed: FoundRun) -> Response:
    listed = indexed.listed
    if indexed.folder is None:
        return shown(site, request, "elsewhere", indexed=indexed, run=listed)
    if listed.fault is not None:
        return refused(site, request, 409, (listed.run, listed.fault, f"See what is wrong: assay verify {listed.run}"))
    job = report_job(site, indexed)
    page = page_of(site, job)
    if page is None:
        return waiting(site, request, job, f"Report of {listed.name or Path(listed.run).name}")
    before = await aside(lambda: _before(site, indexed))
    verified = kept_verified(site.cache / job.key)
    values = {"indexed": indexed, "run": listed, "before": before, "verified": verified, "formats": RUN_FORMATS}
    return framed(site, request, page, "run_bar", **values)


def indexed_run(site: Site, address: str) -> FoundRun | None:
    """The run of an address; None without one, or if it lies in another folder of this host."""
    with reading(site.place) as reader:
        result = run_at(reader, address) if reader else None
    return result if result and (result.folder is None or result.parent in site.parents) else None


def folder_of(site: Site, address: str) -> str | None:
    """The folder of an active or ended run of this host; None without one."""
    indexed = indexed_run(site, address)
    if indexed is not None and indexed.folder is not None:
        return indexed.folder
    folder = run_folder(site.folders, address)
    return None if folder is None else str(folder)


def _before(site: Site, indexed: FoundRun) -> str | None:
    """The address of the previous run on the drive."""
    with reading(site.place) as reader:
        return run_before(reader, indexed.address) if reader else None


def report_job(site: Site, indexed: FoundRun) -> Job:
    """The job that makes the page of a run; its key changes with the run and with the version."""
    key = job_key(indexed.address, indexed.listed.journal_hash)
    arguments = {"folder": indexed.folder, "out": str(site.cache / key), "address": f"{site.prefix}/assets"}
    return Job(kind="report", key=key, arguments=arguments)


def page_of(site: Site, job: Job) -> bytes | None:
    """The page that a job made; None until it is made."""
    try:
        return (site.cache / job.key / "report.html").read_bytes()
    except OSError:
        return None


def waiting(site: Site, request: Request, job: Job, title: str) -> Response:
    """Start a job, and answer with a page that waits for it. The address can ask to retry a job that failed."""
    again = _AGAIN in request.query_params
    failure = None if again else site.jobs.failure(job.key)
    if failure is None:
        site.jobs.ask(job, link_of(request))
    if again:
        # Without the word, so that a page that is loaded again asks for nothing.
        return RedirectResponse(f"?{request.url.remove_query_params(_AGAIN).query}", 303)
    status, state = 500 if failure else 202, site.jobs.state(job.key)
    return shown(
        site,
        request,
        "waiting",
        status=status,
        title=title,
        key=job.key,
        state=state,
        failure=failure.text if failure else "",
        again=f"?{request.url.include_query_params(**{_AGAIN: 1}).query}",
    )


async def job_state(site: Site, request: Request) -> Response:
    """How far a job is, for a page that waits: ``lost`` of one that this server does not know, or no longer."""
    key = request.path_params["key"]
    state, failure = site.jobs.state(key), site.jobs.failure(key)
    text = failure.text if failure else "" if state else "The server no longer knows this job; try again."
    return JSONResponse({"state": state or "lost", "failure": text})


async def note_page(site: Site, request: Request) -> Response:
    """Take a note: ``hidden``, ``bad``, ``reason`` and ``note``, all of them; it replaces the one before."""
    try:
        values = _values(await sent_object(request))
    except UsageError as error:
        return error_json(error, 400)
    address, session = request.path_params["run"], session_of(request)
    if await aside(lambda: indexed_run(site, address)) is None:
        return JSONResponse({"error": "The run is not in the index: load the list again."}, 404)
    note = RunNote(**values, role=session.role if session else "")
    try:
        written = await aside(lambda: write_note(site.place, address, note))
    except UsageError as error:
        return error_json(error, 400)
    return JSONResponse({name: getattr(written, name) for name in (*_FORM, "role", "at_ns")})


def _values(values: dict[str, Any]) -> dict[str, Any]:
    """The fields of a note. Raises UsageError for another form."""
    if values.keys() != _FORM.keys() or not all(type(values[name]) is kind for name, kind in _FORM.items()):
        raise FORM_LOST
    return values
