"""Whoever holds connections to the control socket keeps no other user out, nor does a terminal that stands still."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from contextlib import ExitStack
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

from assay.agent.channel import Peer
from assay.web import control as module
from assay.web.control import ask, control_socket, serve_control
from assay.web.serving import _aside
from web_site import PORT, site_in

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

SILENT = 40


def test_silent_clients_of_one_user_leave_others_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    users = chain([61001] * SILENT, repeat(0))
    monkeypatch.setattr(module, "peer_of", lambda _: Peer(pid=1, uid=next(users), gid=0))
    monkeypatch.setattr(module, "_answer", lambda _, connection: answered(connection))

    def answered(connection: socket.socket) -> None:
        if connection.recv(100):
            connection.sendall(b'{"lines": []}\n')

    async def served() -> dict[str, Any]:
        with control_socket(str(PORT)) as listener:
            task = asyncio.create_task(serve_control(site_in(tmp_path), listener))
            (path,) = (tmp_path / "xdg-state/assay").glob("serve-*.sock")
            monkeypatch.chdir(path.parent)
            with ExitStack() as silent:
                for _ in range(SILENT):
                    silent.enter_context(socket.socket(socket.AF_UNIX)).connect(path.name)
                try:
                    return await asyncio.to_thread(ask, str(PORT), {"verb": "codes"})
                finally:
                    task.cancel()

    assert asyncio.run(served()) == {"lines": []}


def test_a_writer_that_stands_still_keeps_nobody_waiting() -> None:
    still, written = threading.Event(), []

    def write(line: str) -> None:
        still.wait(60)
        written.append(line)

    log = _aside(write)
    for number in range(3):
        log(str(number))
    assert written == []
    still.set()
    while len(written) < 3:
        time.sleep(0.01)
