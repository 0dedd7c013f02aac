"""An agent that takes connections and never answers stops neither the other pages nor the end of the server."""

from __future__ import annotations

import socket
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.cookiejar import CookieJar
from typing import TYPE_CHECKING

from agent_process import link, serve_process

if TYPE_CHECKING:
    from pathlib import Path


def session(folder: Path, address: str) -> urllib.request.OpenerDirector:
    """A client with the session of an operator."""
    token = link(folder, address).partition("#")[2]
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
    body = f'{{"token": "{token}"}}'.encode()
    opener.open(urllib.request.Request(f"{address}/session", data=body), timeout=30).close()  # noqa: S310 - ours
    return opener


def test_other_pages_and_the_end_wait_for_no_agent(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener, ThreadPoolExecutor(40) as pool:
        listener.bind(str(tmp_path / "agent.sock"))
        listener.listen(128)
        with serve_process(tmp_path, tmp_path / "agent.sock") as address:
            client = session(tmp_path, address)

            def ask(path: str) -> int:
                with suppress(OSError):
                    return int(client.open(address + path, timeout=100).status)
                return 0

            hung = [pool.submit(ask, path) for path in ("/queue/list", "/drives/list", "/drives/names") * 10]
            shown = [ask(path) for path in ("/queue", "/drives", "/plan", "/runs", "/") * 4]
            assert shown == [200] * 20
            assert not any(request.done() for request in hung)
        # The server has ended by now; what waited for the agent was cut.
        assert [request.result(30) for request in hung] == [0] * 30
