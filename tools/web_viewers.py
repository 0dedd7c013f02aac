"""Browsers of ``assay serve`` at idle priority: event streams of a run, and pages that wait for their jobs.

::

    python web_viewers.py '{"port": 8375, "token": "...", "run": "ADDRESS", "count": 200, "waiting": ["ADDRESS"]}'

It prints ``ready`` once every stream has had its first event, and a JSON object of ``Seen`` when its input ends.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from dataclasses import asdict, dataclass, field
from typing import Any

from assay.web.live import SESSION_STREAMS_MAX

LINE_MAX = 16 << 20
_POLL_S = 0.7
"""As ``web.js`` asks for the state of a job."""


@dataclass(slots=True)
class Seen:
    """What the browsers saw.

    delays_ms : of each line of each stream, from the time that its writer gave it to its arrival here. ended : streams
    that ended before they were closed. states : how often a waiting page saw its job in each state.
    """

    delays_ms: list[float] = field(default_factory=list)
    ended: int = 0
    states: dict[str, int] = field(default_factory=dict)


async def main(wish: dict[str, Any]) -> None:
    """Hold the streams until standard input ends."""
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    seen, port, count = Seen(), int(wish["port"]), int(wish["count"])
    cookies = [await _session(port, wish["token"]) for _ in range(-(-count // SESSION_STREAMS_MAX) or 1)]
    began = [asyncio.get_running_loop().create_future() for _ in range(count)]
    tasks = [
        asyncio.create_task(_watch(port, cookies[at // SESSION_STREAMS_MAX], wish["run"], seen, began[at]))
        for at in range(count)
    ]
    ready = all(await asyncio.gather(*began))
    tasks += [asyncio.create_task(_wait(port, cookies[0], address, seen)) for address in wish["waiting"]]
    print("ready" if ready else "refused", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    for task in tasks:
        task.cancel()
    errors = await asyncio.gather(*tasks, return_exceptions=True)
    print(json.dumps(asdict(seen) | {"errors": [repr(error) for error in errors if isinstance(error, Exception)]}))


async def _request(
    port: int, head: str, cookie: str = "", body: bytes = b""
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter, list[str]]:
    """Send a request; what reads its answer, what closes it, and the lines of the answer's head."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=LINE_MAX)
    lines = [f"{head} HTTP/1.1", f"Host: 127.0.0.1:{port}", f"Cookie: {cookie}", f"Content-Length: {len(body)}"]
    writer.write("\r\n".join([*lines, "", ""]).encode() + body)
    head_lines = (await reader.readuntil(b"\r\n\r\n")).decode().splitlines()
    return reader, writer, head_lines


async def _session(port: int, token: str) -> str:
    _, writer, head = await _request(port, "POST /session", body=json.dumps({"token": token}).encode())
    writer.close()
    (cookie,) = (line for line in head if line.lower().startswith("set-cookie:"))
    return cookie.partition(":")[2].partition(";")[0].strip()


async def _watch(port: int, cookie: str, address: str, seen: Seen, began: asyncio.Future[bool]) -> None:
    """Read a stream. began : whether it had its first event, once that is known.

    A chunk of the answer has an event: lines between chunks begin neither as its name nor as its data.
    """
    reader, writer, head = await _request(port, f"GET /live/{address}", cookie)
    name = b""
    try:
        if " 200 " not in head[0]:
            raise ConnectionRefusedError(head[0])
        while line := await reader.readline():
            now_ms = time.time_ns() / 1e6
            if line.startswith(b"event: "):
                name = line[7:-1]
            elif line.startswith(b"data: "):
                _take(name, line[6:], now_ms, seen)
                if not began.done():
                    began.set_result(name == b"begin")
        seen.ended += 1
    finally:
        if not began.done():
            began.set_result(False)
        writer.close()


def _take(name: bytes, text: bytes, now_ms: float, seen: Seen) -> None:
    """Keep how late each line of an event is."""
    if name == b"lines":
        seen.delays_ms += [now_ms - written_ms for written_ms in json.loads(text)["seconds"]["t"]]


async def _wait(port: int, cookie: str, address: str, seen: Seen) -> None:
    """Open the page of a run that is still to be made, and ask for the state of its job as the page does."""
    page = await _body(port, cookie, f"/runs/{address}")
    key = page.partition('data-job="')[2].partition('"')[0]
    while key:
        state = str(json.loads(await _body(port, cookie, f"/jobs/{key}"))["state"])
        seen.states[state] = seen.states.get(state, 0) + 1
        await asyncio.sleep(_POLL_S)


async def _body(port: int, cookie: str, path: str) -> str:
    reader, writer, head = await _request(port, f"GET {path}", cookie)
    (length,) = (line.partition(":")[2] for line in head if line.lower().startswith("content-length:"))
    try:
        return (await reader.readexactly(int(length))).decode()
    finally:
        writer.close()


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))
