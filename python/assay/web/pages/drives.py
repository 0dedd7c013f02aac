"""The drives of this host: from its agent, else what any user can read."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse

from assay.archive.index.read import reading
from assay.errors import AssayError
from assay.web.drive_rows import drive_rows
from assay.web.pages.shell import aside, shown
from assay.words.visible import visible

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from assay.agent.messages import DriveFacts
    from assay.web.site import Site


async def drives_page(site: Site, request: Request) -> Response:
    """The frame of the list, which its script fills in: a drive may take seconds to answer."""
    return shown(site, request, "drives")


async def drives_list(site: Site, request: Request) -> Response:
    """The list, as a part of the page."""
    drives, error = await drives_of(site)
    known = await aside(lambda: _known(site))
    rows = drive_rows(drives, known, by_agent=error is None)
    return shown(site, request, "drives_list", rows=rows, error=error)


async def drive_names(site: Site, _request: Request) -> Response:
    """What a drive may be planned by: its path, and its model with its serial number."""
    drives, _ = await drives_of(site)
    names = [(drive.path, visible(" ".join(filter(None, (drive.model, drive.serial))))) for drive in drives]
    return JSONResponse({"drives": names})


async def drives_of(site: Site) -> tuple[tuple[DriveFacts, ...], AssayError | None]:
    """The drives; with why the agent was not heard, where they come from this process instead."""
    try:
        return (await site.agent.drives()).drives, None
    except AssayError as error:
        return await site.local.get(), error


def _known(site: Site) -> set[str]:
    """The addresses of the drives that have runs in the index; without an index that can be read no drive has any."""
    with suppress(AssayError), reading(site.place) as reader:
        rows = reader.rows("SELECT DISTINCT drive_address FROM assay_runs") if reader else []
        return {row["drive_address"] for row in rows}
    return set()
