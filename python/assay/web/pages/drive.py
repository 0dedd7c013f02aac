"""The page of a drive: its runs, firmware, hosts, wear and temperature; of a simulated drive its parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.archive.index.drive_history import drive_history
from assay.archive.index.read import reading
from assay.archive.index.search import Query, found
from assay.spec.units import gigabytes_label
from assay.web.drive_view import readings, simulated_of
from assay.web.pages.shell import aside, refused, shown
from assay.web.run_rows import run_table

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from assay.archive.index.drive_history import DriveHistory, Span
    from assay.archive.index.search import FoundRuns
    from assay.web.drive_view import Simulated
    from assay.web.site import Site


async def drive_page(site: Site, request: Request) -> Response:
    """A drive by the digest of its identity."""
    query = Query(drive=request.path_params["drive"], parents=site.parents, hidden=True, missing=True)
    result = await aside(lambda: _loaded(site, query))
    if result is None or not result[1].runs:
        return refused(site, request, 404, ("Drive", "has no run in the index", "Choose a drive in the list of runs."))
    history, listed, simulated = result
    facts = next(run.listed.drive_facts for run in listed.runs)
    return shown(
        site,
        request,
        "drive",
        facts=facts,
        history=history,
        capacity=", ".join(map(gigabytes_label, history.capacities)),
        written=gigabytes_label(history.written_bytes),
        firmwares=list(map(_span, history.firmwares)),
        hosts=list(map(_span, history.hosts)),
        table=run_table(listed.runs),
        total=listed.total,
        readings=readings(listed.runs),
        simulated=simulated,
    )


def _loaded(site: Site, query: Query) -> tuple[DriveHistory, FoundRuns, Simulated | None] | None:
    """None where there is no index yet. Its newest runs are listed, at most a page of them."""
    with reading(site.place) as reader:
        if reader is None:
            return None
        history, listed = drive_history(reader, query), found(reader, query)
    kinds = {run.listed.drive_facts.kind for run in listed.runs if run.listed.drive_facts}
    return history, listed, simulated_of(next(iter(kinds), ""), history.ids)


def _span(span: Span) -> dict[str, object]:
    return {
        "name": span.name or "unknown",
        "count": span.run_count,
        "first": span.first_ns,
        "last": span.last_ns,
    }
