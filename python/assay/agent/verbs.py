"""The five verbs: what each request does; and the log, with a line of JSON for each."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import stat
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.agent.checks import Checks, node_of, refuse_identity
from assay.agent.drives import Bounded, Drives
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
from assay.errors import AssayError, HostLimitError, StoreError, UsageError

if TYPE_CHECKING:
    from pydantic import BaseModel

    from assay.agent.channel import Peer
    from assay.agent.config import AgentConfig
    from assay.agent.messages import CheckAnswer, Request


_CHECK_S = 60.0
_LOGGED_BYTES_MAX = 512
USER_LINES_MAX = 600
"""Requests of a user in a minute that are logged."""


class Agent:
    """Answers requests, from any thread."""

    def __init__(self, config: AgentConfig, log: AgentLog) -> None:
        """Take up the queue of the state folder, which is reached by this descriptor only. Raises StoreError."""
        self._held, self._lock = _held(Path(config.state)), threading.Lock()
        state = Path(f"/proc/self/fd/{self._held}")
        self._counts: Counter[tuple[int, bool, float]] = Counter()
        self._log, self._bounded = log, Bounded()
        self._queue, self._launcher = Queue(state), Launcher(state / "jobs")
        self._checks, self._drives = Checks(config), Drives(config, self._bounded)
        self.turns = Turns(self._checks, self._queue, self._launcher, self._bounded, self._job_log)
        self.turns.adopt()

    def close(self) -> None:
        """Let another agent use the state folder; runs go on."""
        os.close(self._held)

    def answer(self, request: Request, peer: Peer) -> BaseModel:
        """Carry a request out, and log it unless it only reads. Raises AssayError."""
        if _looks(request):
            return self._answer(request, peer.uid)
        self._refuse_flood(peer.uid, stops=isinstance(request, StopRequest))
        digest = getattr(request, "digest", None)
        if not isinstance(request, CheckRequest):
            try:
                self._logged(request, peer, digest, "received")
            except StoreError:
                # What cannot be logged is not done; but nothing bars a stop.
                if not isinstance(request, StopRequest):
                    raise
        try:
            answer = self._answer(request, peer.uid)
        except Exception as error:
            slug = error.slug if isinstance(error, AssayError) else type(error).__name__
            with suppress(StoreError):
                self._logged(request, peer, digest, f"{slug}: {error}")
            raise
        with suppress(StoreError):
            self._logged(request, peer, getattr(answer, "digest", None) or digest, "ok")
        return answer

    def _refuse_flood(self, uid: int, *, stops: bool) -> None:
        """Raise HostLimitError where a user would fill the log. stops : counted apart, as nothing may bar a stop."""
        key = uid, stops, time.monotonic() // 60
        with self._lock:
            self._counts = Counter({known: count for known, count in self._counts.items() if known[2] == key[2]})
            self._counts[key] += 1
            if self._counts[key] > USER_LINES_MAX:
                raise HostLimitError("agent", f"has {USER_LINES_MAX} requests of this user in a minute", "try again")

    def _answer(self, request: Request, uid: int) -> BaseModel:
        match request:
            case DrivesRequest():
                return self._drives.look(self._holders)
            case CheckRequest():
                return self._check(request, uid)
            case StartRequest():
                self._start(request, uid)
            case StopRequest():
                self._stop(request.job)
            case QueueRequest():
                self._change(request, uid)
        if not _looks(request):
            self.turns.wake()
        return QueueAnswer(jobs=tuple(map(self._shown, self._queue.all())))

    def _shown(self, job: Job) -> JobFacts:
        if job.facts.state != "running" or not (pid := self._launcher.suspended(job)):
            return job.facts
        message = f"its process is suspended: kill -CONT {pid} resumes it, stop ends it"
        return job.facts.model_copy(update={"suspended": True, "message": message})

    def _holders(self) -> dict[str, str]:
        """Jobs that run, by the node of their drive."""
        return {job.node: job.id for job in self._queue.all() if job.facts.state == "running"}

    def _check(self, request: CheckRequest, uid: int) -> CheckAnswer:
        """A drive that a run holds is not queried."""
        node = node_of(request.drive)
        return self._bounded.ask(node, _CHECK_S, lambda: self._checks.check(request, uid, self._held_by(node)), uid)

    def _held_by(self, node: str) -> str:
        job = self._holders().get(node)
        return f"job {job}" if job else ""

    def _start(self, request: StartRequest, uid: int) -> None:
        checked = self._checks.use(request.digest, request.identity, uid)
        facts = JobFacts(
            id=secrets.token_hex(6),
            state="waiting",
            drive=checked.request.drive,
            identity=checked.identity,
            tests=checked.tests,
            span_ns=checked.span_ns,
            folder="",
            uid=uid,
            claimed=request.claimed or checked.request.claimed,
            put_wall_ns=time.time_ns(),
        )
        job = Job(facts=facts, request=checked.request, digest=request.digest, node=checked.node, checked=checked.facts)
        self._queue.add(job)

    def _stop(self, job_id: str) -> None:
        job = self._queue.find(job_id)
        taken: dict[str, Any] = {"state": "ended", "ended_wall_ns": time.time_ns(), "message": "taken out of the queue"}
        if job.facts.state == "ended":
            return
        with suppress(UsageError):
            self._queue.take(job_id, **taken)
            return
        # It began in this moment, or before.
        if self._launcher.stop(job):
            with suppress(UsageError):
                self._queue.take(job_id, was=("running",), **taken)

    def _change(self, request: QueueRequest, uid: int) -> None:
        if request.action == "list":
            return
        if request.job is None:
            raise UsageError("request: job", "is missing", "name a job")
        if request.action == "move":
            self._queue.move(request.job, request.position)
            return
        job = self._queue.find(request.job)
        if job.facts.is_real and (request.action == "release" or uid != job.facts.uid):
            refuse_identity(job.facts.drive, job.facts.identity, request.identity)
        if request.action == "release":
            self._queue.release(job.id)
        else:
            self._queue.take(job.id, state="held")

    def _logged(self, request: Request, peer: Peer, digest: str | None, result: str) -> None:
        facts = request.model_dump(mode="json", include={"verb", "drive", "job", "action", "position", "claimed"})
        facts = {key: _cut(value) if isinstance(value, str) else value for key, value in facts.items()}
        self._log.write(uid=peer.uid, gid=peer.gid, pid=peer.pid, **facts, digest=digest, result=_cut(result))

    def _job_log(self, event: str, job: Job) -> None:
        facts: dict[str, Any] = job.facts.model_dump(include={"uid", "claimed", "drive", "identity", "folder"})
        code, message = job.facts.exit_code, job.facts.message or None
        self._log.write(event=event, job=job.id, digest=job.digest, exit_code=code, message=message, **facts)


def _looks(request: Request) -> bool:
    """Whether a request asks for what is known."""
    return isinstance(request, DrivesRequest) or (isinstance(request, QueueRequest) and request.action == "list")


def _cut(text: str) -> str:
    """A text with at most 512 bytes in the log: what a user sends is longer there, escaped."""
    while len(json.dumps(text)) > _LOGGED_BYTES_MAX:
        text = text[: len(text) // 2]
    return text


def _held(state: Path) -> int:
    """A descriptor that holds the state folder. Raises StoreError where another agent does."""
    descriptor = os.open(state, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        reason = "is used by another agent" if isinstance(error, BlockingIOError) else error.strerror
        raise StoreError(str(state), reason or "cannot be locked", "end that agent, or name another as state") from None
    return descriptor


_WRITABLE = stat.S_IWGRP | stat.S_IWOTH


class AgentLog:
    """Lines that are only ever added."""

    def __init__(self, path: Path) -> None:
        """Open it, and make it where it is missing. Raises StoreError, also where another user could write to it."""
        self._path, self._lock = path, threading.Lock()
        self._torn = False
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
            self._descriptor = os.open(path, flags, 0o640)
        except OSError as error:
            raise StoreError(str(path), error.strerror or "cannot be written", "name another as log") from None
        status = os.fstat(self._descriptor)
        if stat.S_ISREG(status.st_mode) and (status.st_uid != os.geteuid() or status.st_mode & _WRITABLE):
            self.close()
            raise StoreError(str(path), "belongs to another user, or others may write to it", "name another as log")

    def write(self, **facts: Any) -> None:
        """Add a line with the wall time in ns; what is None is left out. Raises StoreError."""
        known = {"wall_ns": time.time_ns(), **{key: value for key, value in facts.items() if value is not None}}
        with self._lock:
            line = b"\n" * self._torn + json.dumps(known).encode() + b"\n"
            try:
                written = os.write(self._descriptor, line)
            except OSError as error:
                raise StoreError(str(self._path), error.strerror or "cannot be written", "free space") from None
            self._torn = written < len(line)
        if self._torn:
            raise StoreError(str(self._path), "has no space for a line", "free space")

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)
