"""Work that takes long, in one child process: one job after the other, at idle priority, ended when idle.

::

    asked --> waiting or held --> running --> done, or failed --> (asked again) waiting
                    ^-- once, where the child died --|
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import shutil
import signal
import sys
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from assay.errors import HostLimitError
from assay.run.store.status import GoingRuns
from assay.version import tool_version
from assay.words.visible import visible

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import Awaitable, Callable, Iterable, Sequence
    from pathlib import Path

    from assay.errors import AssayError


State = Literal["waiting", "held", "running", "failed", "done"]
"""``held`` : it waits until the drive that is measured on this host has been measured."""
IDLE_S = 30.0
_LOOK_S = 1.0
_LINE_MAX, _TEXT_MAX = 1 << 20, 4000
_ENDED_KEPT, _OWNERS_KEPT = 1000, 1000
OWNER_JOBS_MAX, JOBS_MAX = 8, 64
"""Jobs that wait, of one owner and of all."""
CPU_S_MAX, WALL_S_MAX = {"update": 3600}, {"update": 6 * 3600}
"""Limits of a job by its kind. An update keeps what it has stored, and the next update goes on from there."""
_CPU_S, _WALL_S = 600, 3600
_DIED_S = 5.0
_NO_RETRY = {-signal.SIGXCPU}
"""Ends of a child that come again: its job took all the processor time that it may have."""
PAUSE_S, PAUSE_MAX_S = 1.0, 60.0
_LETTERS_MAX = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """kind : of ``assay.web.worker``. key : of its result; a second job of the same key is the same job.

    leaves : files and folders that a child which is killed leaves, to be removed.
    """

    kind: str
    key: str
    arguments: dict[str, Any]
    leaves: tuple[Path, ...] = ()

    @property
    def cpu_s(self) -> int:
        """Processor time that it may take."""
        return CPU_S_MAX.get(self.kind, _CPU_S)

    def asked(self) -> dict[str, Any]:
        """The line that the child reads."""
        return {"kind": self.kind, "key": self.key, "arguments": self.arguments, "cpu_s": self.cpu_s}


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a job made nothing, as errors say it."""

    text: str


class QueueFullError(HostLimitError):
    """Too many jobs wait already. status : of the answer that says so."""

    def __init__(self, count: int, status: int, whose: str) -> None:
        super().__init__("Jobs", f"{count} {whose} wait already", "open this page again once some of them are done")
        self.status = status


def status_of(error: AssayError, otherwise: int) -> int:
    """The HTTP status of an error; ``otherwise`` unless the queue is full."""
    return error.status if isinstance(error, QueueFullError) else otherwise


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            with suppress(OSError):
                path.unlink()


def job_key(*texts: str) -> str:
    """The key of a job from what it is made of, and the version that makes it: 32 hex digits."""
    return hashlib.sha256("\n".join([*texts, tool_version()]).encode()).hexdigest()[:32]


class Jobs:
    """The queue of a server and its child.

    held : whether a real drive is measured on this host; no job begins then. wall_s : that any job may take, where it
    is not that of its kind.
    """

    def __init__(
        self, held: Callable[[], bool] = lambda: False, idle_s: float = IDLE_S, wall_s: float | None = None
    ) -> None:
        self._held, self._idle_s, self._wall_s = held, idle_s, wall_s
        self._waiting: dict[str, Job] = {}
        self._owners: dict[str, str] = {}
        self._turns: dict[str, int] = {}
        self._running = ""
        self._ended: dict[str, Failure | None] = {}
        self._event = asyncio.Event()
        self._process: Process | None = None

    @property
    def waiting_count(self) -> int:
        """Jobs that have not begun."""
        return len(self._waiting)

    def ask(self, job: Job, owner: str = "") -> None:
        """Have a job done, unless it waits or runs already; one that failed is tried again.

        owner : who asks, and takes turns with others; empty for the server itself. Raises QueueFullError.
        """
        if job.key == self._running or job.key in self._waiting:
            return
        if owner:
            own = Counter(self._owners[key] for key in self._waiting)[owner]
            if own >= OWNER_JOBS_MAX:
                raise QueueFullError(own, 429, "jobs of yours")
            if len(self._waiting) >= JOBS_MAX:
                raise QueueFullError(len(self._waiting), 503, "jobs of all users")
        self._ended.pop(job.key, None)
        self._waiting[job.key], self._owners[job.key] = job, owner
        self._event.set()

    def state(self, key: str) -> State | None:
        """The state of a job; None if it is unknown, or ended long ago."""
        if key == self._running:
            return "running"
        if key in self._waiting:
            return "held" if self._held() else "waiting"
        if key not in self._ended:
            return None
        return "failed" if self._ended[key] else "done"

    def failure(self, key: str) -> Failure | None:
        """Why a job failed."""
        return self._ended.get(key)

    def forget(self, key: str) -> None:
        """Forget a job that failed, so that it can be asked for again."""
        self._ended.pop(key, None)

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
        """Wait for a job; end the child if none comes for long."""
        while not self._waiting:
            self._event.clear()
            try:
                await asyncio.wait_for(self._event.wait(), self._idle_s if self._process else None)
            except TimeoutError:
                await self._end()

    async def _next(self) -> None:
        """Do a job of the owner whose last turn is longest ago."""
        key = min(self._waiting, key=lambda key: self._turns.get(self._owners[key], 0))
        job, owner = self._waiting.pop(key), self._owners.pop(key)
        turn = max(self._turns.values(), default=0) + 1
        self._turns.pop(owner, None)
        self._turns[owner] = turn
        self._running = job.key
        error = "the server ended before it was done"
        try:
            error = await self._tried(job)
        finally:
            if error:
                await asyncio.to_thread(_remove, job.leaves)
            self._running = ""
            self._ended[job.key] = Failure(text=error[:_TEXT_MAX]) if error else None
            for known, most in ((self._ended, _ENDED_KEPT), (self._turns, _OWNERS_KEPT)):
                while len(known) > most:
                    del known[next(iter(known))]

    async def _tried(self, job: Job) -> str:
        """Do a job. Returns why it failed; empty if it is done. A child that dies is replaced, and tries once more."""
        code: int | None = None
        for _ in range(2):
            try:
                async with asyncio.timeout(self._wall_s or WALL_S_MAX.get(job.kind, _WALL_S)):
                    error = await self._done(job)
            except TimeoutError:
                await self._end()
                return "it took too long and was ended; open the page again to try it anew"
            except (OSError, ValueError, LookupError, TypeError) as fault:
                await self._end()
                return f"the child process cannot be used: {fault}; try again once the server has fewer files open"
            if error is not None:
                return error
            code = await self._end(died=True)
            if code in _NO_RETRY:
                return f"it took more than {job.cpu_s} s of processor time and was ended; the run may be damaged"
        return f"the child process died twice (exit {code}); see the kernel's log, and that memory is free"

    async def _done(self, job: Job) -> str | None:
        """Let the child do a job. Returns why it failed; empty if it is done, None if the child died."""
        process = self._process or await self._begin()
        if process.stdin is None or process.stdout is None:
            raise TypeError
        with suppress(OSError):
            process.stdin.write(json.dumps(job.asked()).encode() + b"\n")
            await process.stdin.drain()
        line = await process.stdout.readline()
        return str(json.loads(line)["error"]) if line else None

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

    async def _end(self, *, died: bool = False) -> int | None:
        """End the child. Returns its exit code; None without a child. died : it ended by itself or soon does."""
        process, self._process = self._process, None
        if process is None:
            return None
        if died:
            # A signal to a process that has ended would take its exit code from its waiter.
            with suppress(TimeoutError):
                return await asyncio.wait_for(process.wait(), _DIED_S)
        with suppress(ProcessLookupError):
            process.kill()
        return await process.wait()


class Measuring:
    """Looks at the folders once a second at most. clock : monotonic, in s."""

    def __init__(self, folders: Sequence[Path], clock: Callable[[], float] = time.monotonic) -> None:
        self._runs, self._clock = GoingRuns(folders), clock
        self._looked_s, self._result = float("-inf"), False

    def __call__(self) -> bool:
        """Whether a run on a drive that is not simulated goes on."""
        if self._clock() - self._looked_s >= _LOOK_S:
            self._looked_s = self._clock()
            self._result = any(run.measures_real for run in self._runs.look())
        return self._result


async def supervised(
    name: str, task: Callable[[], Awaitable[object]], log: Callable[[str], None], *, pause_s: float = PAUSE_S
) -> None:
    """Do a task, and begin it anew whenever it ends, until this is cancelled.

    What ended it goes into the log. pause_s : before it begins anew, doubled each time up to a minute; a task that ran
    for longer than that starts again at the first.
    """
    pause = pause_s
    while True:
        begun_s = time.monotonic()
        try:
            await task()
            reason = "it ended"
        except Exception as error:  # noqa: BLE001 - no error ends the task for good
            reason = visible(f"{type(error).__name__}: {error}"[:_LETTERS_MAX])
        if time.monotonic() - begun_s > PAUSE_MAX_S:
            pause = pause_s
        log(f"{name} stopped ({reason}) and begins anew in {pause:g} s")
        await asyncio.sleep(pause)
        pause = min(2 * pause, PAUSE_MAX_S)
