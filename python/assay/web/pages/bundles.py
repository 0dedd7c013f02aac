"""Taking a bundle: written to disk part by part, then checked and unpacked by the child process."""

from __future__ import annotations

import asyncio
import os
import secrets
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse

from assay.web.jobs import Job, QueueFullError
from assay.web.pages.shell import error_json, link_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from assay.web.site import Site

BYTES_MAX = 2 << 30
"""Of a bundle that is sent; a larger one is for ``assay import``."""
PATH = "/bundles"


async def take_bundle(site: Site, request: Request) -> Response:
    """Store what is sent, and have it checked and unpacked; the answer has the key of that job."""
    folder = site.cache / "bundles"
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / secrets.token_hex(8)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    whole = False
    try:
        with os.fdopen(descriptor, "wb") as file:
            async for part in request.stream():
                await asyncio.to_thread(file.write, part)
        whole = True
    except OSError as error:
        return JSONResponse({"error": f"The bundle cannot be stored: {error.strerror}."}, 507)
    finally:
        if not whole:
            path.unlink(missing_ok=True)
    key = path.name
    into, draft_name = site.folders[0], f".import-{key}"
    arguments = {"bundle": str(path), "into": str(into), "draft_name": draft_name}
    job = Job(kind="unpack", key=key, arguments=arguments, leaves=(path, into / draft_name))
    try:
        site.jobs.ask(job, link_of(request))
    except QueueFullError as error:
        path.unlink(missing_ok=True)
        return error_json(error, error.status)
    return JSONResponse({"job": key}, 202)
