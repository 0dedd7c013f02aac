"""Files of runs: reports and bundles from the cache, stored files as attachments, and bundles that a browser sends."""

from __future__ import annotations

import asyncio
import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.responses import FileResponse, JSONResponse, StreamingResponse

from assay.spec.files import is_plain_name, open_inside
from assay.web.jobs import Job, QueueFullError, job_key
from assay.web.made_files import RUN_FORMATS
from assay.web.pages.run import indexed_run, waiting
from assay.web.pages.shell import aside, error_json, link_of, refused

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request
    from starlette.responses import Response

    from assay.archive.index.search import FoundRun
    from assay.web.site import Site


RAW = ("run.json", "journal.jsonl")
RAW_FOLDERS = ("series", "histograms")
_CHUNK = 1 << 18
_SANDBOX = {"content-security-policy": "sandbox; default-src 'none'"}
_LIST = "Choose a run from the list of runs."
BYTES_MAX = 2 << 30
"""Of a bundle that is sent; a larger one is for ``assay import``."""
PATH = "/bundles"


async def made_file(site: Site, request: Request) -> Response:
    """A report in a format, or the bundle, of a run, or a page that waits until it is made."""
    kind = request.path_params["kind"]
    indexed = await aside(lambda: indexed_run(site, request.path_params["run"]))
    if indexed is None or indexed.folder is None or kind not in RUN_FORMATS:
        return refused(site, request, 404, ("File", "does not exist", _LIST))
    return attachment(site, request, _job(site, indexed, kind), RUN_FORMATS[kind].file, Path(indexed.folder).name)


def attachment(site: Site, request: Request, job: Job, file: str, name: str) -> Response:
    """A file that a job makes, or a page that waits for it. file : its name in the cache. name : of its subject."""
    path = site.cache / job.key / file
    if not path.is_file():
        return waiting(site, request, job, f"{file} of {name}")
    name = f"{_plain(name)}-{file}"
    return FileResponse(path, media_type="application/octet-stream", filename=name, headers=_SANDBOX)


async def raw_file(site: Site, request: Request) -> Response:
    """A stored file of a run, byte for byte; links and special files are refused."""
    name = request.path_params["name"]
    indexed = await aside(lambda: indexed_run(site, request.path_params["run"]))
    if indexed is None or indexed.folder is None or not _is_raw(name):
        return refused(site, request, 404, ("File", "does not exist", _LIST))
    try:
        descriptor = open_inside(Path(indexed.folder), name)
    except OSError as error:
        return refused(site, request, 404, (name, error.strerror or "cannot be read", _LIST))
    size = os.fstat(descriptor).st_size
    headers = {
        **_SANDBOX,
        "content-length": str(size),
        "content-disposition": f'attachment; filename="{name.replace("/", "-")}"',
    }
    content = _content(descriptor, 0 if request.method == "HEAD" else size)
    return StreamingResponse(content, media_type="application/octet-stream", headers=headers)


def _job(site: Site, indexed: FoundRun, kind: str) -> Job:
    key = job_key(kind, indexed.address, indexed.listed.journal_hash)
    arguments = {"folder": indexed.folder, "out": str(site.cache / key), "kind": kind}
    return Job(kind="file", key=key, arguments=arguments)


def _is_raw(name: str) -> bool:
    """Whether a name is of a file that runs have. Worked: ``series/000001.parquet`` -> True, ``../x`` -> False."""
    folder, _, last = name.rpartition("/")
    return name in RAW or (folder in RAW_FOLDERS and is_plain_name(last))


def _plain(name: str) -> str:
    return name if is_plain_name(name) else "run"


async def _content(descriptor: int, size: int) -> AsyncIterator[bytes]:
    """A file in parts, at most as long as it was when it was opened."""
    with os.fdopen(descriptor, "rb") as file:
        while size > 0:
            chunk = await asyncio.to_thread(file.read, min(_CHUNK, size))
            if not chunk:
                return
            size -= len(chunk)
            yield chunk


async def take_bundle(site: Site, request: Request) -> Response:
    """Store the bundle that is sent, and start the job that checks and unpacks it; the answer has its key."""
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
