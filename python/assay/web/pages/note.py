"""Notes that operators write: a run is hidden, or marked as bad with a reason, or has a text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from assay.archive.index.notes import RunNote, write_note
from assay.errors import UsageError
from assay.web.pages.run import indexed_run
from assay.web.pages.shell import FORM_LOST, aside, error_json, sent_object, session_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from assay.web.site import Site

_FORM = {"hidden": bool, "bad": bool, "reason": str, "note": str}


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
