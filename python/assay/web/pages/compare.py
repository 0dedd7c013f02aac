"""The comparison of chosen runs, as ``assay compare`` lays it out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.web.jobs import Job, job_key
from assay.web.pages.run import indexed_run, page_of, waiting
from assay.web.pages.shell import aside, framed, refused

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from assay.archive.index.search import FoundRun
    from assay.web.site import Site

RUNS_MIN, RUNS_MAX = 2, 50
_CHOOSE = "Choose 2 to 50 runs of this host in the list of runs."


async def compare_page(site: Site, request: Request) -> Response:
    """The comparison of the runs that the address names: ``?run=A&run=B``, and ``despite``, ``repeats``."""
    addresses = request.query_params.getlist("run")
    if not RUNS_MIN <= len(addresses) <= RUNS_MAX:
        return refused(site, request, 400, ("Comparison", f"names {len(addresses)} runs", _CHOOSE))
    runs = await aside(lambda: [indexed_run(site, address) for address in addresses])
    here = [run for run in runs if run is not None and run.folder is not None]
    if len(here) < len(runs):
        return refused(site, request, 404, ("Comparison", "names a run that is not on this host", _CHOOSE))
    options = {name: name in request.query_params for name in ("despite", "repeats")}
    job = comparison_job(site, here, options)
    page = page_of(site, job)
    if page is None:
        return waiting(site, request, job, "Comparison")
    return framed(site, request, page, "comparison_bar", runs=here, key=job.key)


def comparison_job(site: Site, runs: list[FoundRun], options: dict[str, bool]) -> Job:
    """The job that makes a comparison; its key changes with the runs, the options and the version."""
    heads = [f"{run.address} {run.listed.journal_hash}" for run in runs]
    key = job_key(*heads, *(name for name, chosen in options.items() if chosen))
    folders = [run.folder for run in runs]
    arguments = {
        "folders": folders,
        "out": str(site.cache / key),
        "address": f"{site.prefix}/assets",
        "options": options,
    }
    return Job(kind="comparison", key=key, arguments=arguments)
