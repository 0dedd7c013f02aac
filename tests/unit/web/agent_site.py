"""A site with an agent that answers on a thread, at a socket in the folder of the test."""

from __future__ import annotations

import gc
import threading
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from assay.agent.config import AgentConfig
from assay.agent.server import serve
from web_site import site_in

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from assay.web.site import Site
    from starlette.testclient import TestClient

DRIVE = "sim:client-2011?capacity=8GB"
TYPED = {"suite": "quick", "tests": ["iops"], "scale": "0.02", "seed": "1"}
"""Of a run that takes a second."""
WAIT_S = 300


def config_in(folder: Path, **more: Any) -> AgentConfig:
    """What an agent of a folder may do."""
    places = {"socket": "agent.sock", "state": "state", "runs": "runs", "log": "agent.jsonl"}
    return AgentConfig(**{key: str(folder / name) for key, name in places.items()}, **more)


@contextmanager
def agent_in(folder: Path, **more: Any) -> Iterator[Site]:
    """A site, while its agent answers. more : keys of ``agent.toml``."""
    site = site_in(folder)
    ready, ended = threading.Event(), threading.Event()
    thread = threading.Thread(target=serve, args=(config_in(folder, **more), ready.set, ended))
    thread.start()
    try:
        assert ready.wait(WAIT_S)
        yield site
    finally:
        ended.set()
        thread.join(WAIT_S)
        with warnings.catch_warnings():
            # Supervisors outlive their agent: nobody waits for them.
            warnings.simplefilter("ignore", ResourceWarning)
            gc.collect()


def check(client: TestClient, drive: str = DRIVE, **typed: Any) -> dict[str, Any]:
    """What the server says of typed values."""
    answer = client.post("/plan/check", json={"drive": drive, "values": {**TYPED, **typed}})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def start(client: TestClient, drive: str = DRIVE, **typed: Any) -> None:
    """Put a run into the queue."""
    checked = check(client, drive, **typed)["checked"]
    answer = client.post("/plan/start", json={"digest": checked["digest"], "identity": checked["identity"]})
    assert answer.json() == {"to": "/queue"}
