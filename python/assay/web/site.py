"""What the pages of a server share: the folders and the index that it shows, who may look, and what is being made."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from assay.agent.config import SOCKET
from assay.archive.index.folders import parent_of
from assay.web.host_agent import HostAgent
from assay.web.local_drives import LocalDrives

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import jinja2

    from assay.archive.index.location import Place
    from assay.web.guard import Rules
    from assay.web.jobs import Jobs
    from assay.web.live import Live
    from assay.web.sessions import Sessions
    from assay.web.start_codes import StartCodes


PORT = 8375


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
        """What prints the code of a start, on this host."""
        named = "" if self.name == str(PORT) else f" --port {self.name}" if self.name.isdigit() else " --socket PATH"
        return f"assay serve code{named}"

    @cached_property
    def parents(self) -> tuple[str, ...]:
        """Its folders as the index keeps them."""
        return tuple(map(parent_of, self.folders))
