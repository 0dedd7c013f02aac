"""The list of runs: filtered, sorted and cut by the index, with key results as columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.archive.index.read import reading
from assay.archive.index.search import PAGE_RUNS, KeyColumn, found
from assay.errors import UsageError
from assay.web.pages.shell import aside, refused, shown
from assay.web.run_query import FIELDS, asked_for
from assay.web.run_rows import COLUMNS_MAX, run_table, space_label
from assay.web.updating import UPDATE, bring_up

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from assay.archive.index.search import FoundRuns, Query
    from assay.web.run_query import Asked
    from assay.web.run_rows import RunTable
    from assay.web.site import Site

_COLUMNS = (
    ("run", "Run"), ("started", "Started"), ("drive", "Drive"), ("firmware", "Firmware"), ("host", "Host"),
    ("outcome", "Outcome"),
)  # fmt: skip


async def runs_page(site: Site, request: Request) -> Response:
    """The runs that the address asks for, the newest first unless it says otherwise."""
    try:
        asked = asked_for(request.query_params, site.parents)
    except UsageError as error:
        return refused(site, request, 400, (error.thing, error.reason, error.remedy))
    bring_up(site)
    all_columns = bool(asked.values("columns"))
    result, table = await aside(lambda: _listed(site, asked.query, all_columns=all_columns))
    return shown(site, request, "runs", **_values(site, asked, result, table))


def _listed(site: Site, query: Query, *, all_columns: bool) -> tuple[FoundRuns | None, RunTable]:
    """None where there is no index yet, or one of an older version."""
    with reading(site.place) as reader:
        result = found(reader, query) if reader else None
    return result, run_table(result.runs if result else (), columns_max=None if all_columns else COLUMNS_MAX)


def _values(site: Site, asked: Asked, result: FoundRuns | None, table: RunTable) -> dict[str, Any]:
    total, failure = result.total if result else 0, site.jobs.failure(UPDATE)
    page_count = max(-(-total // PAGE_RUNS), 1)
    return {
        "asked": asked,
        "fields": FIELDS,
        "heads": [_head(asked, key, title) for key, title in _COLUMNS],
        "number_heads": [_head(asked, column, column.item) for column in table.columns],
        "table": table,
        "total": total,
        "page_count": page_count,
        "pages": _pages(asked, page_count),
        "space": space_label(table.disk_bytes),
        "folders": list(map(str, site.folders)),
        "update": site.jobs.state(UPDATE) or "",
        "update_failure": failure.text if failure else "",
        "is_new": result is None or (not total and not asked.is_filtered),
    }


def _head(asked: Asked, sort: str | KeyColumn, title: str) -> dict[str, str]:
    """A head of the table. order : empty where the list is sorted by another. address : where a click leads."""
    key = list(sort) if isinstance(sort, KeyColumn) else [sort]
    if asked.query.sort != sort:
        return {"title": title, "order": "", "address": asked.address(sort=key, order=[], page=[])}
    turned = "up" if asked.query.descending else "down"
    order = "descending" if asked.query.descending else "ascending"
    return {"title": title, "order": order, "address": asked.address(sort=key, order=[turned], page=[])}


def _pages(asked: Asked, page_count: int) -> dict[str, str]:
    """Addresses of the pages before and after; a page beyond the last leads back to that."""
    page = asked.query.page
    before, after = min(page - 1, page_count), page + 1
    return {
        "before": asked.address(page=[str(before)]) if before >= 1 else "",
        "after": asked.address(page=[str(after)]) if after <= page_count else "",
    }
