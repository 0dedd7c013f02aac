"""The comparison of chosen runs, as ``assay compare`` lays it out, and its files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from assay.web.jobs import Job, job_key
from assay.web.made_files import COMPARISON_FORMATS
from assay.web.pages.files import attachment
from assay.web.pages.run import indexed_run, page_of, waiting
from assay.web.pages.shell import aside, framed, refused

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from assay.archive.index.search import FoundRun
    from assay.web.site import Site

RUNS_MIN, RUNS_MAX = 2, 50
OPTIONS = ("despite", "repeats")
"""Of ``compare.Options``, in an address."""
_CHOOSE = "Choose 2 to 50 runs of this host in the list of runs."


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """A requested comparison: runs of this host, and the ``OPTIONS`` that are set."""

    runs: list[FoundRun]
    options: dict[str, bool]

    @property
    def query(self) -> str:
        """The form as the query of an address. Worked: ``run=A&run=B&despite=1``."""
        options = [(name, "1") for name, chosen in self.options.items() if chosen]
        return urlencode([*(("run", run.address) for run in self.runs), *options])


async def compare_page(site: Site, request: Request) -> Response:
    """The comparison of the runs that the address names: ``?run=A&run=B``, and ``despite``, ``repeats``."""
    chosen = await _chosen(site, request)
    if not isinstance(chosen, Chosen):
        return chosen
    job = comparison_job(site, chosen.runs, chosen.options)
    page = page_of(site, job)
    if page is None:
        return waiting(site, request, job, "Comparison")
    return framed(
        site, request, page, "comparison_bar", runs=chosen.runs, query=chosen.query, formats=COMPARISON_FORMATS
    )


async def compared_file(site: Site, request: Request) -> Response:
    """A file of the comparison that the address names, or a page that waits until it is made."""
    chosen, format_ = await _chosen(site, request), COMPARISON_FORMATS.get(request.path_params["kind"])
    if not isinstance(chosen, Chosen):
        return chosen
    if format_ is None:
        return refused(site, request, 404, ("File", "does not exist", f"Choose from {', '.join(COMPARISON_FORMATS)}."))
    # The page takes style and script from the server; a file that is sent has them inside.
    job = comparison_job(site, chosen.runs, chosen.options, is_whole=format_.file.endswith(".html"))
    return attachment(site, request, job, format_.file, "comparison")


def comparison_job(site: Site, runs: list[FoundRun], options: dict[str, bool], *, is_whole: bool = False) -> Job:
    """The job that makes a comparison; its key changes with the runs, the options and the version.

    is_whole : its page asks the server for nothing.
    """
    heads = [f"{run.address} {run.listed.journal_hash}" for run in runs]
    key = job_key(*heads, *(name for name, chosen in options.items() if chosen), *(["whole"] if is_whole else []))
    arguments = {
        "folders": [run.folder for run in runs],
        "out": str(site.cache / key),
        "address": "" if is_whole else f"{site.prefix}/assets",
        "options": options,
    }
    return Job(kind="comparison", key=key, arguments=arguments)


async def _chosen(site: Site, request: Request) -> Chosen | Response:
    """The comparison that an address requests, or the page that refuses it."""
    addresses = request.query_params.getlist("run")
    if not RUNS_MIN <= len(addresses) <= RUNS_MAX:
        return refused(site, request, 400, ("Comparison", f"names {len(addresses)} runs", _CHOOSE))
    runs = await aside(lambda: [indexed_run(site, address) for address in addresses])
    here = [run for run in runs if run is not None and run.folder is not None]
    if len(here) < len(runs):
        return refused(site, request, 404, ("Comparison", "names a run that is not on this host", _CHOOSE))
    return Chosen(runs=here, options={name: name in request.query_params for name in OPTIONS})
