"""The list of runs: filtered, sorted and cut by the index, with key results as columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.archive.index.read import reading
from assay.archive.index.search import PAGE_RUNS, KeyColumn, found
from assay.errors import UsageError
from assay.web.pages.shell import aside, refused, shown
from assay.web.run_query import FIELDS, view_of
from assay.web.run_rows import COLUMNS_MAX, run_table, space_label
from assay.web.updating import UPDATE, bring_up

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from assay.archive.index.search import FoundRuns, Query
    from assay.web.run_query import View
    from assay.web.run_rows import RunTable
    from assay.web.site import Site

_COLUMNS = (
    ("run", "Run"), ("started", "Started"), ("drive", "Drive"), ("firmware", "Firmware"), ("host", "Host"),
    ("outcome", "Outcome"),
)  # fmt: skip


async def runs_page(site: Site, request: Request) -> Response:
    """The runs that the address asks for, the newest first unless it says otherwise."""
    try:
        view = view_of(request.query_params, site.parents)
    except UsageError as error:
        return refused(site, request, 400, (error.thing, error.reason, error.remedy))
    bring_up(site)
    all_columns = bool(view.values("columns"))
    result, table = await aside(lambda: _listed(site, view.query, all_columns=all_columns))
    return shown(site, request, "runs", **_values(site, view, result, table))


def _listed(site: Site, query: Query, *, all_columns: bool) -> tuple[FoundRuns | None, RunTable]:
    """None where there is no index yet, or one of an older version."""
    with reading(site.place) as reader:
        result = found(reader, query) if reader else None
    return result, run_table(result.runs if result else (), columns_max=None if all_columns else COLUMNS_MAX)


def _values(site: Site, view: View, result: FoundRuns | None, table: RunTable) -> dict[str, Any]:
    total, failure = result.total if result else 0, site.jobs.failure(UPDATE)
    page_count = max(-(-total // PAGE_RUNS), 1)
    return {
        "view": view,
        "fields": FIELDS,
        "heads": [_head(view, key, title) for key, title in _COLUMNS],
        "number_heads": [_head(view, column, column.item) for column in table.columns],
        "table": table,
        "total": total,
        "page_count": page_count,
        "pages": _pages(view, page_count),
        "space": space_label(table.disk_bytes),
        "folders": list(map(str, site.folders)),
        "update": site.jobs.state(UPDATE) or "",
        "update_failure": failure.text if failure else "",
        "is_new": result is None or (not total and not view.is_filtered),
    }


def _head(view: View, sort: str | KeyColumn, title: str) -> dict[str, str]:
    """A head of the table. order : empty where the list is sorted by another. address : where a click leads."""
    key = list(sort) if isinstance(sort, KeyColumn) else [sort]
    if view.query.sort != sort:
        return {"title": title, "order": "", "address": view.address(sort=key, order=[], page=[])}
    turned = "up" if view.query.descending else "down"
    order = "descending" if view.query.descending else "ascending"
    return {"title": title, "order": order, "address": view.address(sort=key, order=[turned], page=[])}


def _pages(view: View, page_count: int) -> dict[str, str]:
    """Addresses of the pages before and after; a page beyond the last leads back to that."""
    page = view.query.page
    before, after = min(page - 1, page_count), page + 1
    return {
        "before": view.address(page=[str(before)]) if before >= 1 else "",
        "after": view.address(page=[str(after)]) if after <= page_count else "",
    }
