"""Streams of runs that go on: what they send, when they end, and how many there may be."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from assay.archive.index.folders import address_of
from assay.run.store.live import LiveReader
from assay.web import live as module
from assay.web.live import Live, Watcher, columns, event
from assay.web.pages.now import Stream
from going_run import GoingFolder

LOOK_S = 0.01


@pytest.fixture
def going(tmp_path: Path) -> Iterator[GoingFolder]:
    folder = GoingFolder(tmp_path / "runs/a")
    yield folder
    with suppress(OSError):
        folder.end()


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[Live]:
    live = Live([folder], look_s=LOOK_S)
    task = asyncio.create_task(live.serve())
    try:
        yield live
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def taken(watcher: Watcher | None) -> tuple[str, Any]:
    """The next event of a watcher: its name and data; ("end", None) behind the last."""
    assert watcher
    text = await asyncio.wait_for(watcher.texts.get(), 10)
    if text is None:
        return "end", None
    name, data, *_ = text.decode().split("\n")
    return name.removeprefix("event: "), json.loads(data.removeprefix("data: "))


def test_an_event_is_two_lines_and_an_empty_one() -> None:
    assert event("ended", {}) == b"event: ended\ndata: {}\n\n"


def test_lines_are_sent_as_a_list_per_value(going: GoingFolder) -> None:
    going.seconds(2)
    found = columns(LiveReader(going.folder).lines())
    assert (found["c"], found["wn"], found["ws"], found["rn"]) == ([10**9] * 2, [10, 10], [5000, 5000], [0, 0])
    assert columns([])["t"] == []


def test_a_stream_begins_with_everything_goes_on_with_what_is_new_and_ends_with_the_run(going: GoingFolder) -> None:
    async def watched() -> None:
        async with served(going.folder.parent) as live:
            going.seconds(3)
            watcher = await live.watch(address_of(going.folder), "s")
            name, data = await taken(watcher)
            assert (name, data["seconds"]["wn"], data["run"]["test"]) == ("begin", [10, 10, 10], "iops")
            assert data["run"]["drive"]["model_number"] == "A\\x1b[2J"
            going.seconds(2)
            new: list[int] = []
            while len(new) < 2:
                name, data = await taken(watcher)
                assert name == "lines"
                new += data["seconds"]["wn"]
            assert new == [10, 10]
            going.end()
            while name == "lines":
                name, data = await taken(watcher)
            assert (name, data, await taken(watcher)) == ("ended", {}, ("end", None))

    asyncio.run(watched())


def test_all_runs_are_sent_when_they_change_and_none_is_sent_too(going: GoingFolder, tmp_path: Path) -> None:
    async def watched() -> None:
        async with served(going.folder.parent) as live:
            watcher = await live.watch("", "s")
            name, data = await taken(watcher)
            assert (name, [run["folder"] for run in data]) == ("runs", ["a"])
            other = GoingFolder(tmp_path / "runs/b")
            while len(data) < 2:
                _, data = await taken(watcher)
            assert data[1]["address"] == address_of(other.folder)
            other.end()
            going.end()
            while data:
                _, data = await taken(watcher)
            assert await live.find(address_of(going.folder)) is None

    asyncio.run(watched())


def test_a_run_that_does_not_go_on_ends_its_stream_at_once(going: GoingFolder) -> None:
    async def watched() -> None:
        async with served(going.folder.parent) as live:
            watcher = await live.watch("0" * 20, "s")
            assert [await taken(watcher), await taken(watcher)] == [("ended", {}), ("end", None)]
            assert await live.find("0" * 20) is None
            found = await live.find(address_of(going.folder))
            assert (found and found.state) == "running"

    asyncio.run(watched())


def test_a_run_has_one_reader_and_folders_one_look_however_many_watch(
    going: GoingFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Path] = []

    class Counted(LiveReader):
        def __init__(self, folder: Path) -> None:
            made.append(folder)
            super().__init__(folder)

    monkeypatch.setattr(module, "LiveReader", Counted)

    async def watched() -> None:
        async with served(going.folder.parent) as live:
            address = address_of(going.folder)
            watchers = [await live.watch(address, f"s{number}") for number in range(50)]
            going.seconds(1)
            for watcher in watchers:
                assert (await taken(watcher))[0] == "begin"
                assert (await taken(watcher))[0] == "lines"

    asyncio.run(watched())
    assert made == [going.folder]


def test_who_comes_later_takes_no_line_and_no_end_from_others(going: GoingFolder) -> None:
    async def watched() -> None:
        # Every look is an old one at once, and nobody looks but for those who come.
        live, address = Live([going.folder.parent], look_s=0.0), address_of(going.folder)
        going.seconds(1)
        first = await live.watch(address, "s")
        assert (await taken(first))[1]["seconds"]["wn"] == [10]
        going.seconds(2)
        second = await live.watch(address, "s")
        assert [(name, data["seconds"]["wn"]) for name, data in [await taken(first), await taken(second)]] == [
            ("lines", [10, 10]),
            ("begin", [10, 10, 10]),
        ]
        going.end()
        await live.watch(address, "s")
        for watcher in (first, second):
            assert [await taken(watcher), await taken(watcher)] == [("ended", {}), ("end", None)]

    asyncio.run(watched())


def test_nothing_is_sent_of_a_run_that_has_nothing_new(going: GoingFolder) -> None:
    async def watched() -> None:
        live, address = Live([going.folder.parent], look_s=0.0), address_of(going.folder)
        first = await live.watch(address, "s")
        await taken(first)
        for _ in range(3):
            await live.find(address)
        assert first
        assert first.texts.empty()
        going.seconds(1)
        await live.find(address)
        assert (await taken(first))[1]["seconds"]["wn"] == [10]

    asyncio.run(watched())


def test_a_session_has_eight_streams_and_the_server_a_limit(
    going: GoingFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "STREAMS_MAX", 12)

    async def watched() -> None:
        live = Live([going.folder.parent])
        own = [await live.watch("", "s") for _ in range(9)]
        assert [watcher is None for watcher in own] == [False] * 8 + [True]
        others = [await live.watch("", f"s{number}") for number in range(5)]
        assert [watcher is None for watcher in others] == [False] * 4 + [True]
        assert own[0]
        live.leave(own[0])
        assert await live.watch("", "s") is not None

    asyncio.run(watched())


def test_a_client_that_takes_nothing_is_let_go() -> None:
    async def watched() -> None:
        watcher = Watcher("", "s")
        for _ in range(1000):
            watcher.send(b"x")
        texts = [watcher.texts.get_nowait() for _ in range(watcher.texts.qsize())]
        assert len(texts) == 64
        assert texts[-1] is None

    asyncio.run(watched())


def test_all_streams_end_when_the_server_stops(going: GoingFolder) -> None:
    async def watched() -> None:
        live = Live([going.folder.parent])
        watchers = [await live.watch(address, "s") for address in ("", address_of(going.folder))]
        live.end()
        for watcher in watchers:
            await taken(watcher)
            assert await taken(watcher) == ("end", None)
        assert await live.watch("", "s") is None

    asyncio.run(watched())


async def sent(live: Live, watcher: Watcher, *, gone_s: float | None = None) -> list[dict[str, Any]]:
    """What a stream sends to a client that is gone after a while."""
    messages: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(60 if gone_s is None else gone_s)
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        messages.append(dict(message))

    await asyncio.wait_for(Stream(live, watcher, heartbeat_s=0.02)({}, receive, send), 20)
    return messages


def test_a_stream_has_a_heartbeat_and_ends_when_its_client_is_gone(tmp_path: Path) -> None:
    async def watched() -> None:
        live = Live([tmp_path])
        watcher = await live.watch("", "s")
        assert watcher
        start, first, *more, last = await sent(live, watcher, gone_s=0.2)
        headers = dict(start["headers"])
        assert headers[b"content-type"].startswith(b"text/event-stream")
        assert (headers[b"x-accel-buffering"], b"content-length" in headers) == (b"no", False)
        assert first["body"] == b"event: runs\ndata: []\n\n"
        assert {message["body"] for message in more} == {b": still here\n\n"}
        assert last == {"type": "http.response.body", "body": b""}
        assert live._watchers == set()

    asyncio.run(watched())


def test_a_stream_ends_behind_the_end_of_its_run(tmp_path: Path) -> None:
    async def watched() -> None:
        live = Live([tmp_path])
        watcher = await live.watch("0" * 20, "s")
        assert watcher
        assert [message.get("body") for message in await sent(live, watcher)] == [None, event("ended", {}), b""]

    asyncio.run(watched())


def test_a_stream_ends_with_its_session(going: GoingFolder) -> None:
    async def watched() -> None:
        open_sessions = {"ended", "kept"}
        live = Live([going.folder.parent], ended=lambda sessions: set(sessions) - open_sessions, look_s=LOOK_S)
        task = asyncio.create_task(live.serve())
        going.seconds(1)
        ended, kept = [await live.watch(address_of(going.folder), session) for session in ("ended", "kept")]
        assert [(await taken(watcher))[0] for watcher in (ended, kept)] == ["begin", "begin"]
        open_sessions.remove("ended")
        assert (await taken(ended))[0] == "end"
        going.seconds(1)
        assert (await taken(kept))[0] == "lines"
        task.cancel()

    asyncio.run(watched())
