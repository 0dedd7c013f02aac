"""An agent of a test's own: its configuration lies in the test's folder, and it answers at a socket there."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from assay.agent.channel import AgentClient
from assay.agent.config import AgentConfig
from assay.agent.messages import CheckAnswer, CheckRequest, QueueRequest, StartRequest
from assay.agent.server import serve

DRIVE = "sim:client-2011?capacity=8GB"
PLAN = {"suite": "quick", "tests": ["iops"], "edition": "quick", "scale": 0.02, "seed": 1}
WAIT_S = 300
"""What has not ended by then hangs."""


def config_in(folder: Path) -> AgentConfig:
    """A configuration whose files lie in a folder."""
    return AgentConfig(
        socket=str(folder / "s"),
        state=str(folder / "state"),
        runs=str(folder / "runs"),
        log=str(folder / "agent.jsonl"),
    )


@contextmanager
def serving(config: AgentConfig) -> Iterator[AgentClient]:
    """A client of an agent that serves until the block ends."""
    ready, ended = threading.Event(), threading.Event()
    thread = threading.Thread(target=serve, args=(config, ready.set, ended))
    thread.start()
    try:
        assert ready.wait(WAIT_S)
        yield AgentClient(Path(config.socket))
    finally:
        ended.set()
        thread.join(WAIT_S)


def checked(client: AgentClient, drive: str = DRIVE, **plan: Any) -> CheckAnswer:
    """The check of a short plan."""
    return client.ask(CheckRequest(drive=drive, plan={**PLAN, **plan}))


def started(client: AgentClient, drive: str = DRIVE, **plan: Any) -> str:
    """The job of a short plan that was checked and started."""
    check = checked(client, drive, **plan)
    assert check.digest
    known = {job.id for job in client.ask(QueueRequest()).jobs}
    jobs = client.ask(StartRequest(digest=check.digest, identity=check.identity)).jobs
    return next(job.id for job in jobs if job.id not in known)
