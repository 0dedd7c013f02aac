"""Requests to the agent stop no page: each has a thread, and watchers share answers."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

import pytest
from assay.agent.messages import CheckRequest, QueueAnswer, QueueRequest
from assay.errors import HostLimitError, StoreError
from assay.web.host_agent import OPEN_MAX, HostAgent, Shared, on_thread

if TYPE_CHECKING:
    from pathlib import Path


class Slow:
    """A client whose answers wait until they are let go."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.count = 0

    def ask(self, _request: Any) -> QueueAnswer:
        """As a client of the agent does."""
        self.count += 1
        assert self.go.wait(60)
        return QueueAnswer(jobs=())


def agent_of(folder: Path, client: Slow) -> HostAgent:
    agent = HostAgent(folder / "agent.sock")
    agent._client = client  # type: ignore[assignment]
    return agent


def test_an_answer_is_shared_by_all_who_wait_for_it(tmp_path: Path) -> None:
    client = Slow()
    agent = agent_of(tmp_path, client)

    async def watch() -> None:
        watchers = [asyncio.create_task(agent.queue()) for _ in range(20)]
        await asyncio.sleep(0)
        client.go.set()
        assert [answer.jobs for answer in await asyncio.gather(*watchers)] == [()] * 20
        assert client.count == 1
        await agent.change(QueueRequest())
        await agent.queue()
        assert client.count == 3

    asyncio.run(watch())


def test_too_many_requests_at_once_are_refused_and_others_go_on(tmp_path: Path) -> None:
    client = Slow()
    agent = agent_of(tmp_path, client)

    async def crowd() -> None:
        waiting = [asyncio.create_task(agent.request(QueueRequest())) for _ in range(OPEN_MAX)]
        await asyncio.sleep(0)
        with pytest.raises(HostLimitError, match="try again"):
            await agent.request(QueueRequest())
        client.go.set()
        await asyncio.gather(*waiting)
        await agent.request(QueueRequest())

    asyncio.run(crowd())


def test_checks_of_a_drive_take_turns(tmp_path: Path) -> None:
    client = Slow()
    agent = agent_of(tmp_path, client)

    async def check_twice() -> None:
        checks = [asyncio.create_task(agent.check(CheckRequest(drive="sim:x", plan={}))) for _ in range(2)]
        other = asyncio.create_task(agent.check(CheckRequest(drive="sim:y", plan={})))
        while client.count < 2:  # noqa: ASYNC110 - it is counted on another thread
            await asyncio.sleep(0.01)
        assert client.count == 2
        client.go.set()
        await asyncio.gather(*checks, other)
        assert client.count == 3

    asyncio.run(check_twice())


def test_an_error_is_shared_and_forgotten() -> None:
    results: list[Any] = [StoreError("x", "is gone", "start it"), 1, 2]

    async def answer() -> int:
        result = results.pop(0)
        if isinstance(result, StoreError):
            raise result
        return int(result)

    async def watch() -> None:
        shared = Shared(answer, 60)
        for _ in range(2):
            with pytest.raises(StoreError):
                await shared.get()
        shared.forget()
        assert [await shared.get(), await shared.get()] == [1, 1]

    asyncio.run(watch())


def test_whoever_left_is_waited_for_by_nobody() -> None:
    go = threading.Event()

    async def leave() -> None:
        task = asyncio.create_task(on_thread(lambda: go.wait(60)))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(leave())
    go.set()


def test_an_error_of_the_work_is_raised_where_it_is_awaited() -> None:
    def fail() -> None:
        raise StoreError("x", "is gone", "start it")

    with pytest.raises(StoreError):
        asyncio.run(on_thread(fail))
