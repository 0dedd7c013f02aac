"""Runs that go on: read once for all who watch, and sent to each as server-sent events.

::

    run folders --(two looks a second)--> Live --(one text for all)--> Stream, one per browser and address
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter, deque
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from assay.archive.index.folders import address_of
from assay.run.store.live import SECOND_SLOTS, LiveReader, minute_lines
from assay.run.store.status import GoingRuns
from assay.spec.units import MILLISECOND_NS, SECOND_NS
from assay.words.visible import unicode_name, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from pathlib import Path

    from assay.run.store.live import LiveLine
    from assay.run.store.status import GoingRun

STREAMS_MAX, SESSION_STREAMS_MAX = 512, 8
LOOK_S = 0.5
"""A line comes every second, at any time within ours: it waits half a second at most, and is then sent to many."""
HEARTBEAT_S = 15.0
_WAITING_MAX = 64
"""Texts that wait for a client; one that is slower is let go, and its browser asks again."""
_MINUTE_NS = 60 * SECOND_NS


@dataclass(eq=False)
class Watcher:
    """Who watches. address : of a run; empty for all runs. session : digest of the session."""

    address: str
    session: str
    texts: asyncio.Queue[bytes | None] = field(default_factory=lambda: asyncio.Queue(_WAITING_MAX))
    has_begun: bool = False

    def send(self, text: bytes) -> None:
        """Have a text sent; the stream ends where too many wait already."""
        if self.texts.qsize() >= _WAITING_MAX - 1:
            self.end()
        else:
            self.texts.put_nowait(text)

    def end(self) -> None:
        """End the stream after its waiting events."""
        with suppress(asyncio.QueueFull):
            self.texts.put_nowait(None)


class _Run:
    """An active run, with the only reader of its file."""

    def __init__(self, going: GoingRun) -> None:
        self.going = going
        self._reader = LiveReader(going.folder)
        self._seconds: deque[LiveLine] = deque(maxlen=SECOND_SLOTS)
        self._minutes: list[LiveLine] = []
        self._minute = -1
        self._begin = b""
        self.news: list[LiveLine] = []
        self.changed = False

    def look(self, going: GoingRun) -> None:
        """Read what is new. Runs on a thread."""
        news = self._reader.lines()
        self.changed = bool(news) or going != self.going
        self.going, self.news, self._begin = going, news, b""
        if self.news and self._seconds and self.news[0].number <= self._seconds[-1].number:
            self._seconds.clear()
        self._seconds.extend(self.news)
        minute = self._seconds[-1].wall_ns // _MINUTE_NS if self._seconds else -1
        if minute != self._minute:
            self._minute, self._minutes = minute, minute_lines(going.folder)

    def facts(self) -> dict[str, Any]:
        """Facts of the run that pages show with its lines."""
        newest = self._seconds[-1] if self._seconds else None
        return run_facts(self.going) | {"line": columns([newest] if newest else [])}

    def begin(self) -> bytes:
        """Everything, for a page that is opened: lines of minutes where there are no seconds any more, then those."""
        if not self._begin:
            first_ns = self._seconds[0].wall_ns if self._seconds else 0
            older = [line for line in self._minutes if line.wall_ns < first_ns]
            known = {"run": self.facts(), "minutes": columns(older), "seconds": columns(self._seconds)}
            self._begin = event("begin", known)
        return self._begin


class Live:
    """The runs of some folders that go on. Nothing is looked at while nobody watches."""

    def __init__(
        self,
        folders: Iterable[Path],
        *,
        ended: Callable[[Collection[str]], Collection[str]] = lambda _: (),
        look_s: float = LOOK_S,
    ) -> None:
        """look_s : time between two looks, for all who watch, above 0. ended : which of some sessions do not go on."""
        self._going, self._ended, self._look_s = GoingRuns(folders), ended, look_s
        self._runs: dict[str, _Run] = {}
        self._watchers: set[Watcher] = set()
        self._looked_s = -look_s
        self._lock, self._there = asyncio.Lock(), asyncio.Event()
        self._last_sent, self._over = b"", False

    async def serve(self) -> None:
        """Look and send, until this is cancelled."""
        while True:
            await self._there.wait()
            await self._look()
            if not self._watchers:
                self._there.clear()
            await asyncio.sleep(self._look_s)

    async def find(self, address: str) -> GoingRun | None:
        """The run of an address that goes on; None if none does."""
        await self._look(self._look_s)
        run = self._runs.get(address)
        return run.going if run else None

    async def watch(self, address: str, session: str) -> Watcher | None:
        """Begin to watch a run, or with an empty address all; None if too many watch already."""
        sessions = Counter(watcher.session for watcher in self._watchers)
        if self._over or len(self._watchers) >= STREAMS_MAX or sessions[session] >= SESSION_STREAMS_MAX:
            return None
        watcher = Watcher(address, session)
        self._watchers.add(watcher)
        await self._look(self._look_s)
        self._begin(watcher)
        self._there.set()
        return watcher

    def end(self) -> None:
        """End all streams, and begin no more: the server stops."""
        self._over = True
        for watcher in self._watchers:
            watcher.end()

    def leave(self, watcher: Watcher) -> None:
        """Watch no longer."""
        self._watchers.discard(watcher)

    async def _look(self, after_s: float = 0.0) -> None:
        """Look at the folders, and send what is new to all who watch. after_s : not where the last look is younger."""
        async with self._lock:
            if time.monotonic() - self._looked_s < after_s:
                return
            before = set(self._runs)
            self._runs = await asyncio.to_thread(self._looked)
            self._looked_s = time.monotonic()
            gone = self._ended({watcher.session for watcher in self._watchers})
            for watcher in self._watchers:
                if watcher.session in gone:
                    watcher.end()
            self._send(sorted(before - set(self._runs)))

    def _begin(self, watcher: Watcher) -> None:
        """Send what is known to a watcher; what is sent to all comes to it from now on."""
        watcher.has_begun = True
        if not watcher.address:
            watcher.send(event("runs", self._facts()))
        elif watcher.address in self._runs:
            watcher.send(self._runs[watcher.address].begin())
        else:
            watcher.send(event("ended", {}))
            watcher.end()

    def _looked(self) -> dict[str, _Run]:
        result = {}
        for going in self._going.look():
            address = address_of(going.folder)
            run = self._runs.get(address) or _Run(going)
            run.look(going)
            result[address] = run
        return result

    def _facts(self) -> list[dict[str, Any]]:
        return [run.facts() for run in self._runs.values()]

    def _send(self, ended: list[str]) -> None:
        texts = {
            address: event("lines", {"run": run.facts(), "seconds": columns(run.news)})
            for address, run in self._runs.items()
            if run.changed and any(watcher.address == address for watcher in self._watchers)
        }
        every = event("runs", self._facts())
        changed, self._last_sent = every != self._last_sent, every
        for watcher in [watcher for watcher in self._watchers if watcher.has_begun]:
            if watcher.address in texts:
                watcher.send(texts[watcher.address])
            elif not watcher.address:
                if changed:
                    watcher.send(every)
            elif watcher.address in ended:
                watcher.send(event("ended", {}))
                watcher.end()


def event(name: str, data: object) -> bytes:
    """A server-sent event. Worked: ``ended`` with ``{}`` -> ``event: ended``, ``data: {}`` and an empty line."""
    return f"event: {name}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n".encode()


def run_facts(going: GoingRun) -> dict[str, Any]:
    """A run as pages get it: its progress, with texts made safe to show."""
    facts = {"address": address_of(going.folder), "folder": unicode_name(going.folder.name), "state": going.state}
    return {key: _shown(value) for key, value in (facts | asdict(going.progress)).items()}


def columns(lines: Iterable[LiveLine]) -> dict[str, list[int]]:
    """Lines as a list per value, which is a third of the text that one object each would be.

    ``t`` : wall time in ms. ``c`` : device time covered in ns. I/Os, bytes, sum and maximum of response times in ns
    are ``n``, ``b``, ``s`` and ``m`` after ``r`` for reads, ``w`` for writes and ``o`` for others.
    """
    result: dict[str, list[int]] = {"t": [], "c": []}
    result |= {side + value: [] for side in "rwo" for value in "nbsm"}
    for line in lines:
        result["t"].append(line.wall_ns // MILLISECOND_NS)
        result["c"].append(line.covered_ns)
        for side, sums in zip("rwo", (line.read, line.write, line.other), strict=True):
            for value, number in zip("nbsm", sums, strict=True):
                result[side + value].append(number)
    return result


def _shown(value: Any) -> Any:
    """The value with every text in it made safe to show."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {key: _shown(inner) for key, inner in value.items()}
    return [_shown(inner) for inner in value] if isinstance(value, list | tuple) else value
