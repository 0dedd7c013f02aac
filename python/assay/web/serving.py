"""A server from its options: what it shows, its address, and the lines that its user needs."""

from __future__ import annotations

import asyncio
import errno
import os
import resource
import shutil
import socket
import threading
from contextlib import suppress
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING

import uvicorn

from assay.agent.config import SOCKET
from assay.errors import StoreError, UsageError
from assay.spec.files import user_folder
from assay.version import tool_version
from assay.web.app import make_app
from assay.web.guard import LOCAL, Rules
from assay.web.host_agent import HostAgent
from assay.web.jobs import Jobs
from assay.web.layout import environment
from assay.web.links import Links
from assay.web.live import Live
from assay.web.measuring import Measuring
from assay.web.pages.bundles import BYTES_MAX
from assay.web.pages.bundles import PATH as BUNDLES
from assay.web.site import Site

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from assay.archive.index.location import Place

PORT = 8375
HEADER_MAX = 16 << 10
_DESCRIPTORS = 8192
_END_S = 1
_LINES_MAX = 10_000
"""Of the log that wait for whoever reads it; beyond that they are left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """What a server is asked to do.

    port : 0 takes a free one. address : it listens at; another than loopback only behind a proxy. allow_hosts : names
    that it answers to as well. prefix : what the proxy puts before every address, such as ``/assay``.
    render_while_measuring : jobs do not wait until a drive on this host has been measured.
    metrics_identity : metrics name serial numbers and folders. agent : socket of the agent that runs are started by.
    """

    folders: tuple[Path, ...]
    place: Place
    port: int = PORT
    address: str = "127.0.0.1"
    allow_hosts: tuple[str, ...] = ()
    behind_proxy: bool = False
    prefix: str = ""
    render_while_measuring: bool = False
    metrics_identity: bool = False
    agent: Path = SOCKET


def site_of(serving: Serving, port: int, held: Callable[[], bool]) -> Site:
    """The site of a server that listens at a port. held : whether a real drive is measured here."""
    rules = Rules(
        hosts=LOCAL | {name.lower() for name in serving.allow_hosts},
        scheme="https" if serving.behind_proxy else "http",
        cookie=f"assay-{port}",
        bodies={serving.prefix + BUNDLES: BYTES_MAX},
        prefix=serving.prefix,
    )
    return Site(
        folders=serving.folders,
        place=serving.place,
        rules=rules,
        links=Links(),
        jobs=Jobs(held if not serving.render_while_measuring else lambda: False),
        live=Live(serving.folders),
        cache=_cache(port),
        templates=environment(serving.prefix, tool_version()),
        prefix=serving.prefix,
        metrics_identity=serving.metrics_identity,
        agent=HostAgent(serving.agent),
    )


def serve(serving: Serving, ready: Callable[[int], None], log: Callable[[str], None]) -> None:
    """Serve until Ctrl-C. Raises UsageError, StoreError.

    ready : called with the port once connections are taken. log : with a line for each answer.
    """
    with listening(serving) as taken:
        port = taken.getsockname()[1]
        site = site_of(serving, port, Measuring(serving.folders))
        lines: SimpleQueue[str] = SimpleQueue()
        site.log = lambda line: lines.put(line) if lines.qsize() < _LINES_MAX else None
        # Whoever reads the log may stand still; the server does not.
        threading.Thread(target=_log, args=(lines, log), daemon=True).start()
        _raise_descriptors()
        ready(port)
        with suppress(KeyboardInterrupt):
            asyncio.run(_served(site, taken))


def _log(lines: SimpleQueue[str], log: Callable[[str], None]) -> None:
    while True:
        log(lines.get())


class _Server(uvicorn.Server):
    """Ends its streams first, which would otherwise be waited for and then cut."""

    def __init__(self, config: uvicorn.Config, live: Live) -> None:
        super().__init__(config)
        self._live = live

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop as uvicorn does, once streams have ended."""
        self._live.end()
        await super().shutdown(sockets)


async def _served(site: Site, taken: socket.socket) -> None:
    config = uvicorn.Config(
        make_app(site),
        lifespan="on",
        access_log=False,
        log_config=None,
        log_level="critical",
        server_header=False,
        proxy_headers=False,
        ws="none",
        http="h11",
        h11_max_incomplete_event_size=HEADER_MAX,
        timeout_keep_alive=10,
        timeout_graceful_shutdown=_END_S,
    )
    await _Server(config, site.live).serve([taken])


def listening(serving: Serving) -> socket.socket:
    """A socket that takes connections. Raises UsageError where the port is taken, or cannot be had."""
    family = socket.AF_INET6 if ":" in serving.address else socket.AF_INET
    result = socket.socket(family, socket.SOCK_STREAM)
    try:
        result.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        result.bind((serving.address, serving.port))
        result.listen(1024)
    except (OSError, OverflowError) as error:
        result.close()
        raise _not_had(serving, error) from None
    return result


def _not_had(serving: Serving, error: OSError | OverflowError) -> UsageError:
    if getattr(error, "errno", None) == errno.EADDRINUSE:
        return UsageError(
            f"port {serving.port}", "is taken by another program", "give another, or any free port: --port 0"
        )
    reason = getattr(error, "strerror", None) or str(error)
    return UsageError(
        f"{serving.address}:{serving.port}", f"cannot be listened at ({reason})", "give another with --port"
    )


def _cache(port: int) -> Path:
    """An empty folder for the pages of a server: what it shows may be made by another version the next time."""
    folder = user_folder("cache") / "assay/web" / str(port)
    try:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True, mode=0o700, exist_ok=True)
    except OSError as error:
        raise StoreError(str(folder), error.strerror or "cannot be made", "set XDG_CACHE_HOME") from None
    if os.lstat(folder).st_uid != os.geteuid():
        raise StoreError(str(folder), "belongs to another user", "set XDG_CACHE_HOME")
    return folder


def _raise_descriptors() -> None:
    """A stream takes one: as many as the system lets us have, at most 8,192."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _DESCRIPTORS)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
