"""What the pages of a server share: folders, index, drives, sessions and jobs."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from assay.agent.config import SOCKET
from assay.agent.drives import Bounded, real_drive, simulated_drives
from assay.archive.index.folders import parent_of
from assay.dut.real.gate import examined
from assay.dut.real.identity import disks
from assay.errors import AssayError
from assay.web.host_agent import HostAgent, Shared, on_thread
from assay.web.jobs import Job

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import jinja2

    from assay.agent.messages import DriveFacts
    from assay.archive.index.location import Place
    from assay.engine.records import DriveIdentity
    from assay.web.guard import Rules
    from assay.web.jobs import Jobs
    from assay.web.live import Live
    from assay.web.sessions import Sessions
    from assay.web.start_codes import StartCodes


DRIVE_LOOK_S = 3.0
"""For a drive's answer."""
LOCAL_AGE_S = 15.0
"""How old a look is at most that is shown to another watcher."""
_THREADS = 8
PORT = 8375
UPDATE = "update"
"""Kind and key of the job: it waits or runs once at most."""
UPDATE_AGE_S, FAILED_AGE_S = 5.0, 60.0


class LocalDrives:
    """Looks at the drives for all who watch, on a thread."""

    def __init__(self) -> None:
        bounded = Bounded()
        self._drives = Shared(lambda: on_thread(lambda: local_drives(bounded)), LOCAL_AGE_S)

    async def get(self) -> tuple[DriveFacts, ...]:
        """The drives, at most 15 s old. Raises DeviceFailureError if the list itself hangs."""
        return await self._drives.get()


def local_drives(bounded: Bounded) -> tuple[DriveFacts, ...]:
    """Every whole disk, then the simulated drives; a drive that hangs has a note that says so.

    Returns within a few seconds, whatever a drive does. Worked: ``sim:client-2011`` is among them.
    """
    drives = bounded.ask("drives", DRIVE_LOOK_S, lambda: list(disks()))
    with ThreadPoolExecutor(_THREADS) as pool:
        real = list(pool.map(lambda disk: real_drive(disk, *_examined(bounded, disk)), drives))
    return (*real, *simulated_drives())


def _examined(bounded: Bounded, disk: DriveIdentity) -> tuple[tuple[str, ...], str]:
    """The refusals of a drive, and why they are unknown; empty if they are known."""
    try:
        return bounded.ask(disk.path, DRIVE_LOOK_S, lambda: examined(disk).refusals), ""
    except AssayError as error:
        return (error.reason,), error.reason
    except OSError as error:
        reason = error.strerror or "cannot be queried"
        return (reason,), reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """A page that every page leads to."""

    path: str
    title: str


@dataclass(kw_only=True)
class Site:
    """One server.

    folders : of runs, the first takes bundles. place : of the index. prefix : what a proxy puts before every address.
    name : of the server, its port as a rule. base : what its links begin with. codes : of starts.
    live : the runs that go on. cache : folder of pages that were made. log : takes a line for each answer.
    contents : pages in every page's head.
    updated_s : when the index was last brought up to the folders, by the monotonic clock.
    metrics_identity : metrics name serial numbers and folders. agent : of this host, whether there is one or not.
    local : the drives, where there is no agent.
    """

    folders: tuple[Path, ...]
    place: Place
    rules: Rules
    sessions: Sessions
    codes: StartCodes
    name: str
    base: str
    jobs: Jobs
    live: Live
    cache: Path
    templates: jinja2.Environment
    log: Callable[[str], None] = lambda _: None
    contents: tuple[Contents, ...] = ()
    prefix: str = ""
    metrics_identity: bool = False
    agent: HostAgent = field(default_factory=lambda: HostAgent(SOCKET))
    local: LocalDrives = field(default_factory=LocalDrives)
    updated_s: float = float("-inf")

    @property
    def code_command(self) -> str:
        """The command that prints the code of a start, on this host."""
        named = "" if self.name == str(PORT) else f" --port {self.name}" if self.name.isdigit() else " --socket PATH"
        return f"assay serve code{named}"

    @cached_property
    def parents(self) -> tuple[str, ...]:
        """Its folders as the index keeps them."""
        return tuple(map(parent_of, self.folders))


def bring_up(site: Site, *, age_s: float = UPDATE_AGE_S) -> None:
    """Bring the index up to the folders of a site, unless that began less than ``age_s`` ago."""
    now_s = time.monotonic()
    if site.jobs.state(UPDATE) == "failed":
        age_s = max(age_s, FAILED_AGE_S)
    if now_s - site.updated_s < age_s or site.jobs.state(UPDATE) in {"waiting", "held", "running"}:
        return
    site.updated_s = now_s
    site.jobs.ask(update_job(site))


def update_job(site: Site) -> Job:
    """The job that brings the index up."""
    index = site.place
    arguments = {
        "index": {
            "shown": index.shown,
            "path": None if index.path is None else str(index.path),
            "url": index.url,
            "is_own": index.is_own,
        },
        "folders": list(map(str, site.folders)),
    }
    return Job(kind=UPDATE, key=UPDATE, arguments=arguments)
