"""The list of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.archive.index.read import reading
from assay.archive.index.search import all_runs
from assay.web.pages.shell import aside, shown

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from assay.archive.index.search import FoundRun
    from assay.web.site import Site


async def runs_page(site: Site, request: Request) -> Response:
    """The runs of the index, the newest first."""
    found = await aside(lambda: _found(site))
    return shown(site, request, "runs", found=found, folders=list(map(str, site.folders)))


def _found(site: Site) -> list[FoundRun]:
    with reading(site.place) as reader:
        return all_runs(reader) if reader else []
