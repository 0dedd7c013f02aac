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

from assay.agent.channel import listen_at
from assay.agent.config import SOCKET
from assay.errors import StoreError, UsageError
from assay.spec.files import user_folder
from assay.version import tool_version
from assay.web.app import make_app
from assay.web.connections import Places
from assay.web.control import control_socket, serve_control, server_name
from assay.web.guard import LOCAL, Rules
from assay.web.host_agent import HostAgent
from assay.web.jobs import Jobs, Measuring, supervised
from assay.web.layout import environment
from assay.web.links import Links
from assay.web.live import Live
from assay.web.pages.files import BYTES_MAX
from assay.web.pages.files import PATH as BUNDLES
from assay.web.sessions import Sessions
from assay.web.site import PORT, Site
from assay.web.start_codes import StartCodes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from assay.archive.index.location import Place

_HEAD_BYTES_MAX = 128 << 10
"""Beyond this a connection ends without an answer; the guard answers to shorter ones that are too long."""
_UNIT_DESCRIPTOR, _BACKLOG = 3, 1024
_DESCRIPTORS = 8192
_END_S = 1
_LINES_MAX = 10_000
"""Lines of the log that wait for a reader; further lines are left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """The options of a server.

    port : 0 takes a free one. socket : path of a Unix socket instead. address : it listens at; another than loopback
    only behind a proxy. allow_hosts : names that it answers to as well.
    prefix : what the proxy puts before every address, such as ``/assay``.
    render_while_measuring : jobs do not wait until a drive on this host has been measured.
    metrics_identity : metrics name serial numbers and folders. agent : socket of the agent that runs are started by.
    """

    folders: tuple[Path, ...]
    place: Place
    port: int = PORT
    socket: Path | None = None
    address: str = "127.0.0.1"
    allow_hosts: tuple[str, ...] = ()
    behind_proxy: bool = False
    prefix: str = ""
    render_while_measuring: bool = False
    metrics_identity: bool = False
    agent: Path = SOCKET


def site_of(serving: Serving, name: str, held: Callable[[], bool]) -> Site:
    """The site of a server. name : its port, or that of its socket. held : whether a real drive is measured here."""
    rules = Rules(
        hosts=LOCAL | {host.lower() for host in serving.allow_hosts},
        scheme="https" if serving.behind_proxy else "http",
        cookie=_cookie(serving, name),
        bodies={serving.prefix + BUNDLES: BYTES_MAX},
        prefix=serving.prefix,
    )
    sessions = Sessions(Links())
    return Site(
        folders=serving.folders,
        place=serving.place,
        rules=rules,
        sessions=sessions,
        codes=StartCodes(),
        name=name,
        base=_base(serving, name),
        jobs=Jobs(held if not serving.render_while_measuring else lambda: False),
        live=Live(serving.folders, ended=sessions.ended),
        cache=_cache(name),
        templates=environment(serving.prefix, tool_version()),
        prefix=serving.prefix,
        metrics_identity=serving.metrics_identity,
        agent=HostAgent(serving.agent),
    )


def serve(
    serving: Serving, ready: Callable[[Site], None], log: Callable[[str], None], announce: Callable[[str], None]
) -> None:
    """Serve until Ctrl-C. Raises UsageError, StoreError.

    ready : called once connections are taken. log : with a line for each answer. announce : with each code of a start.
    """
    with listening(serving) as taken:
        name = server_name(serving.socket, 0 if serving.socket else taken.getsockname()[1])
        site = site_of(serving, name, Measuring(serving.folders))
        # Whoever reads the log or the terminal may stand still; the server does not.
        site.log, site.codes.announce = _aside(log), _aside(announce)
        _raise_descriptors()
        with control_socket(name) as control:
            ready(site)
            with suppress(KeyboardInterrupt):
                asyncio.run(_served(site, taken, control))


def _cookie(serving: Serving, name: str) -> str:
    """Name of the cookie. With TLS no other host or scheme sets it; ``__Host-`` allows no path (RFC 6265bis, 4.1.3)."""
    if not serving.behind_proxy:
        return f"assay-{name}"
    return f"__Secure-assay-{name}" if serving.prefix else f"__Host-assay-{name}"


def _base(serving: Serving, name: str) -> str:
    """The first part of links."""
    if serving.behind_proxy and serving.allow_hosts:
        return f"https://{serving.allow_hosts[0]}{serving.prefix}"
    return f"http://127.0.0.1:{name if name.isdigit() else PORT}{serving.prefix}"


def _aside(write: Callable[[str], None]) -> Callable[[str], None]:
    """Write lines on another thread; those beyond a limit that wait there are left out."""
    lines: SimpleQueue[str] = SimpleQueue()

    def run() -> None:
        while True:
            write(lines.get())

    threading.Thread(target=run, daemon=True).start()
    return lambda line: lines.put(line) if lines.qsize() < _LINES_MAX else None


class _Server(uvicorn.Server):
    """Ends its streams first, which would otherwise be waited for and then cut."""

    def __init__(self, config: uvicorn.Config, live: Live) -> None:
        super().__init__(config)
        self._live = live

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop as uvicorn does, once streams have ended."""
        self._live.end()
        await super().shutdown(sockets)


async def _served(site: Site, taken: socket.socket, control: socket.socket) -> None:
    config = uvicorn.Config(
        make_app(site),
        lifespan="on",
        access_log=False,
        log_config=None,
        log_level="critical",
        server_header=False,
        proxy_headers=False,
        ws="none",
        http=Places().protocol(),  # type: ignore[arg-type]
        h11_max_incomplete_event_size=_HEAD_BYTES_MAX,
        timeout_keep_alive=10,
        timeout_graceful_shutdown=_END_S,
    )
    answering = asyncio.create_task(supervised("Control", lambda: serve_control(site, control), site.log))
    await _Server(config, site.live).serve([taken])
    answering.cancel()


def listening(serving: Serving) -> socket.socket:
    """A socket that takes connections: that of the unit, else a new one.

    Raises UsageError if the port is taken, or cannot be had.
    """
    if os.environ.get("LISTEN_PID") == str(os.getpid()) and os.environ.get("LISTEN_FDS") == "1":
        # Source: sd_listen_fds(3).
        return socket.socket(fileno=_UNIT_DESCRIPTOR)
    if serving.socket:
        return _listening_at(serving.socket)
    family = socket.AF_INET6 if ":" in serving.address else socket.AF_INET
    result = socket.socket(family, socket.SOCK_STREAM)
    try:
        result.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        result.bind((serving.address, serving.port))
        result.listen(_BACKLOG)
    except (OSError, OverflowError) as error:
        result.close()
        raise _not_had(serving, error) from None
    return result


def _listening_at(path: Path) -> socket.socket:
    """A Unix socket of this user alone. Raises UsageError."""
    result = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if path.is_socket() and result.connect_ex(str(path)):
            path.unlink()
        listen_at(result, str(path), _BACKLOG)
    except OSError as error:
        result.close()
        raise UsageError(str(path), error.strerror or str(error), "give another with --socket") from None
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


def _cache(name: str) -> Path:
    """An empty folder for the pages of a server: what it shows may be made by another version the next time."""
    folder = user_folder("cache") / "assay/web" / name
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
