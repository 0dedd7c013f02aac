"""The agent of this host, as pages use it: off the event loop, and one answer for all who watch."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import defaultdict
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from assay.agent.channel import AgentClient
from assay.agent.messages import CheckRequest, DrivesRequest, QueueRequest
from assay.errors import AssayError, HostLimitError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from assay.agent.messages import CheckAnswer, DrivesAnswer, QueueAnswer, Request

T = TypeVar("T")

OPEN_MAX, OPEN_CHANGES_MAX = 12, 16
"""Requests at once: the agent takes 16 of a user. Checks leave places for changes."""
QUEUE_AGE_S, DRIVES_AGE_S = 1.0, 5.0
"""How old an answer is at most that is shown to another watcher."""


class HostAgent:
    """Sends requests of pages to the agent at a socket; each may take as long as the agent does."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._client = AgentClient(path)
        self._open = 0
        self._drive_locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._queue: Shared[QueueAnswer] = Shared(lambda: self.request(QueueRequest()), QUEUE_AGE_S)
        self._drives: Shared[DrivesAnswer] = Shared(lambda: self.request(DrivesRequest()), DRIVES_AGE_S)

    def is_there(self) -> bool:
        """Whether there is a socket."""
        with suppress(OSError):
            return self.path.is_socket()
        return False

    async def queue(self) -> QueueAnswer:
        """The jobs, at most a second old. Raises AssayError."""
        return await self._queue.get()

    async def drives(self) -> DrivesAnswer:
        """The drives, at most five seconds old. Raises AssayError."""
        return await self._drives.get()

    async def check(self, request: CheckRequest) -> CheckAnswer:
        """A checked plan; those of a drive take turns, so that no other request waits for them. Raises AssayError."""
        lock = self._drive_locks[request.drive]
        try:
            async with lock:
                return await self.request(request)  # type: ignore[no-any-return]
        finally:
            if not lock.locked():
                self._drive_locks.pop(request.drive, None)

    async def change(self, request: Request) -> QueueAnswer:
        """The queue after a change of it. Raises AssayError."""
        try:
            return await self.request(request, OPEN_CHANGES_MAX)  # type: ignore[no-any-return]
        finally:
            self._queue.forget()
            self._drives.forget()

    async def request(self, request: Request, most: int = OPEN_MAX) -> Any:
        """The answer to a request. Raises AssayError as ``AgentClient`` does, HostLimitError for too many at once."""
        if self._open >= most:
            raise HostLimitError("agent", f"answers {most} requests of this page already", "try again")
        self._open += 1
        try:
            return await on_thread(lambda: self._client.ask(request))
        finally:
            self._open -= 1


class Shared(Generic[T]):
    """An answer, or the error instead of it, that all share who want it within some seconds."""

    def __init__(self, query: Callable[[], Awaitable[T]], age_s: float) -> None:
        self._query, self._age_s = query, age_s
        self._lock = asyncio.Lock()
        self._at_s = float("-inf")
        self._answer: T | AssayError | None = None

    async def get(self) -> T:
        """The answer. Raises AssayError."""
        async with self._lock:
            if time.monotonic() - self._at_s >= self._age_s:
                try:
                    self._answer = await self._query()
                except AssayError as error:
                    self._answer = error
                self._at_s = time.monotonic()
        if isinstance(self._answer, AssayError):
            raise self._answer
        return self._answer  # type: ignore[return-value]

    def forget(self) -> None:
        """Have the next answer made anew."""
        self._at_s = float("-inf")


async def on_thread(work: Callable[[], T]) -> T:
    """Do work on a separate thread, for which neither other pages nor the end of the server wait."""
    loop = asyncio.get_running_loop()
    result: asyncio.Future[T] = loop.create_future()

    def deliver(give: Callable[[Any], None], value: object) -> None:
        # The loop may have ended, and the waiter may be gone.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(lambda: None if result.done() else give(value))

    def run() -> None:
        try:
            value = work()
        except Exception as error:  # noqa: BLE001 - it is raised where it is awaited
            deliver(result.set_exception, error)
        else:
            deliver(result.set_result, value)

    threading.Thread(target=run, daemon=True).start()
    return await result
