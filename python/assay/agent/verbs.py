"""The five verbs: what each request does, whoever sent it."""

from __future__ import annotations

import os
import secrets
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.agent.bounded import Bounded
from assay.agent.checks import Checks
from assay.agent.drives import Drives
from assay.agent.jobs import Job, Queue
from assay.agent.launch import Launcher
from assay.agent.messages import (
    CheckRequest,
    DrivesRequest,
    JobFacts,
    QueueAnswer,
    QueueRequest,
    StartRequest,
    StopRequest,
)
from assay.agent.turns import Turns
from assay.errors import AssayError, UsageError

if TYPE_CHECKING:
    from pydantic import BaseModel

    from assay.agent.channel import Peer
    from assay.agent.config import AgentConfig
    from assay.agent.log import AgentLog
    from assay.agent.messages import Request

_CHECK_S = 60.0


class Agent:
    """Answers requests, from any thread."""

    def __init__(self, config: AgentConfig, log: AgentLog) -> None:
        """Take up the queue of the state folder. Raises StoreError."""
        state = Path(config.state)
        state.mkdir(parents=True, mode=0o700, exist_ok=True)
        self._log, self._bounded = log, Bounded()
        self._queue, self._launcher = Queue(state), Launcher(state / "jobs")
        self._checks, self._drives = Checks(config), Drives(config, self._bounded)
        self.turns = Turns(config, self._queue, self._launcher, self._bounded, self._job_log)
        self.turns.adopt()

    def answer(self, request: Request, peer: Peer) -> BaseModel:
        """Carry a request out. Raises AssayError; either way what it asked for is logged, unless it only looks."""
        digest = getattr(request, "digest", None)
        try:
            answer = self._answer(request, peer.uid)
        except AssayError as error:
            self._logged(request, peer, digest, f"{error.slug}: {error}"[:2000])
            raise
        self._logged(request, peer, getattr(answer, "digest", None) or digest, "ok")
        return answer

    def _answer(self, request: Request, uid: int) -> BaseModel:
        match request:
            case DrivesRequest():
                return self._drives.look(self._holders())
            case CheckRequest():
                self._refuse_held(request.drive)
                return self._bounded.ask(request.drive, _CHECK_S, lambda: self._checks.check(request, uid))
            case StartRequest():
                self._start(request, uid)
            case StopRequest():
                self._stop(request.job)
            case QueueRequest():
                self._change(request)
        self.turns.wake()
        return QueueAnswer(jobs=tuple(job.facts for job in self._queue.all()))

    def _holders(self) -> dict[str, str]:
        """Jobs that run, by the real path of their drive."""
        return {job.checked["drive"]["path"]: job.id for job in self._queue.all() if job.facts.state == "running"}

    def _refuse_held(self, drive: str) -> None:
        if drive.startswith("/") and (job := self._holders().get(os.path.realpath(drive))):
            raise UsageError(drive, f"is held by job {job}", "wait for its end, or stop it")

    def _start(self, request: StartRequest, uid: int) -> None:
        checked = self._checks.use(request.digest, request.identity, uid)
        facts = JobFacts(
            id=secrets.token_hex(6),
            state="waiting",
            drive=checked.request.drive,
            identity=checked.identity,
            tests=checked.tests,
            folder="",
            uid=uid,
            claimed=request.claimed or checked.request.claimed,
            put_wall_ns=time.time_ns(),
        )
        self._queue.add(Job(facts=facts, request=checked.request, digest=request.digest, checked=checked.facts))

    def _stop(self, job_id: str) -> None:
        job = self._queue.find(job_id)
        taken: dict[str, Any] = {"state": "ended", "ended_wall_ns": time.time_ns(), "message": "taken out of the queue"}
        if job.facts.state == "ended":
            return
        with suppress(UsageError):
            self._queue.take(job_id, **taken)
            return
        # It began in this moment, or before.
        if self._launcher.take_back(job):
            self._queue.replace(self._queue.find(job_id).changed(**taken))
        else:
            self._launcher.interrupt(job)

    def _change(self, request: QueueRequest) -> None:
        if request.action == "list":
            return
        if request.job is None:
            raise UsageError("request: job", "is missing", "name a job")
        if request.action == "move":
            self._queue.move(request.job, request.position)
        else:
            self._queue.take(request.job, state="held" if request.action == "hold" else "waiting")

    def _logged(self, request: Request, peer: Peer, digest: str | None, result: str) -> None:
        if isinstance(request, DrivesRequest) or getattr(request, "action", "") == "list":
            return
        facts = request.model_dump(mode="json", include={"verb", "drive", "job", "action", "position", "claimed"})
        self._log.write(uid=peer.uid, gid=peer.gid, pid=peer.pid, **facts, digest=digest, result=result)

    def _job_log(self, event: str, job: Job) -> None:
        facts: dict[str, Any] = job.facts.model_dump(include={"uid", "claimed", "drive", "identity", "folder"})
        code, message = job.facts.exit_code, job.facts.message or None
        self._log.write(event=event, job=job.id, digest=job.digest, exit_code=code, message=message, **facts)
