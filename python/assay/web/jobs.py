"""Work that takes long, in one child process: one job after the other, at idle priority, ended when idle."""

from __future__ import annotations

import asyncio
import hashlib
import json
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from assay.version import tool_version

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import Callable

State = Literal["waiting", "held", "running", "failed"]
"""``held`` : it waits until the drive that is measured on this host has been measured."""
IDLE_S = 30.0
_LOOK_S = 1.0
_LINE_MAX = 1 << 20
_FAILURES_KEPT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """kind : of ``assay.web.worker``. key : what it makes; a second one of the same key is the same job."""

    kind: str
    key: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a job made nothing, as errors say it."""

    text: str


def job_key(*texts: str) -> str:
    """The key of a job from what it is made of, and the version that makes it: 32 hex digits."""
    return hashlib.sha256("\n".join([*texts, tool_version()]).encode()).hexdigest()[:32]


class Jobs:
    """The queue of a server and its child.

    held : whether a real drive is measured on this host; no job begins then.
    """

    def __init__(self, held: Callable[[], bool] = lambda: False, idle_s: float = IDLE_S) -> None:
        self._held, self._idle_s = held, idle_s
        self._waiting: dict[str, Job] = {}
        self._running = ""
        self._failures: dict[str, Failure] = {}
        self._event = asyncio.Event()
        self._process: Process | None = None

    @property
    def waiting_count(self) -> int:
        """Jobs that have not begun."""
        return len(self._waiting)

    def ask(self, job: Job) -> None:
        """Have a job done, unless it waits or runs already."""
        self._failures.pop(job.key, None)
        if job.key != self._running:
            self._waiting.setdefault(job.key, job)
            self._event.set()

    def state(self, key: str) -> State | None:
        """How far a job is; None of one that is done, or was never asked for."""
        if key in self._failures:
            return "failed"
        if key == self._running:
            return "running"
        if key not in self._waiting:
            return None
        return "held" if self._held() else "waiting"

    def failure(self, key: str) -> Failure | None:
        """Why a job failed."""
        return self._failures.get(key)

    async def serve(self) -> None:
        """Do one job after the other, until this is cancelled."""
        try:
            while True:
                await self._wait()
                if self._held():
                    await self._end()
                    await asyncio.sleep(_LOOK_S)
                    continue
                await self._next()
        finally:
            await self._end()

    async def _wait(self) -> None:
        """For a job; the child ends where none comes for long."""
        while not self._waiting:
            self._event.clear()
            try:
                await asyncio.wait_for(self._event.wait(), self._idle_s if self._process else None)
            except TimeoutError:
                await self._end()

    async def _next(self) -> None:
        job = self._waiting.pop(next(iter(self._waiting)))
        self._running = job.key
        try:
            error = await self._done(job)
        finally:
            self._running = ""
        if error:
            self._failures[job.key] = Failure(text=error)
            while len(self._failures) > _FAILURES_KEPT:
                del self._failures[next(iter(self._failures))]

    async def _done(self, job: Job) -> str:
        """Why the child could not do it; empty where it did."""
        process = self._process or await self._begin()
        if process.stdin is None or process.stdout is None:
            raise TypeError
        with suppress(OSError):
            process.stdin.write(json.dumps(asdict(job)).encode() + b"\n")
            await process.stdin.drain()
        line = await process.stdout.readline()
        if not line:
            self._process = None
            return f"the child process ended with {await process.wait()}"
        return str(json.loads(line)["error"])

    async def _begin(self) -> Process:
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "assay.web.worker",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=_LINE_MAX,
        )
        return self._process

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
