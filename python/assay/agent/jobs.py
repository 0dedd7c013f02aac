"""The queue: jobs in the order of their turns, kept in one file that is replaced whole."""

from __future__ import annotations

import errno
import json
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, ValidationError

# Read by pydantic when the program runs.
from assay.agent.messages import CheckRequest, JobFacts, JobState  # noqa: TC001
from assay.errors import StoreError, UsageError
from assay.spec.datum import Strict
from assay.spec.files import read_inside, write_inside

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

QUEUE = "queue.json"
WAITING_MAX, USER_WAITING_MAX, ENDED_MAX = 64, 48, 50
_BYTES_MAX = 64 << 20
_BEFORE: tuple[JobState, ...] = ("waiting", "held")
AFTER_RUN = "as the run that has the drive leaves it"
"""In place of what was seen on a drive: another run has it, and what that leaves is what must stay the same."""
SEEN = ("contents", "writes")
"""The facts that tell what is on a drive, and whether anything was written to it."""


class Job(Strict):
    """A job as it is kept.

    node : of its drive. checked : hashes of what must be the same at its turn. attempt : of beginning it, from 1.
    """

    facts: JobFacts
    request: CheckRequest
    digest: str
    node: str
    checked: dict[str, str]
    attempt: Annotated[int, Field(ge=1)] = 1

    @property
    def id(self) -> str:
        """Its id."""
        return self.facts.id

    def changed(self, **changes: Any) -> Job:
        """A copy of the job with other facts."""
        return self.model_copy(update={"facts": self.facts.model_copy(update=changes)})


class _Kept(Strict):
    schema_version: Annotated[int, Field(ge=1, le=1)] = 1
    jobs: tuple[Job, ...] = ()


class Queue:
    """The jobs. Every change is on disk before it is answered, but that no full disk bars an end; any thread may call.

    Consent is not kept on disk: after a restart, other programs may have changed the drives.
    """

    def __init__(self, folder: Path) -> None:
        """Read the queue of a folder. Raises StoreError where it is damaged."""
        self._folder = folder
        self._lock = threading.RLock()
        self._jobs = _read(folder)
        self._is_kept = True
        self._confirmed_s: dict[str, float] = {}

    def all(self) -> tuple[Job, ...]:
        """The jobs: what runs and waits in the order of the turns, then what ended, the newest first."""
        with self._lock:
            return self._jobs

    def find(self, job_id: str) -> Job:
        """One job. Raises UsageError where there is none."""
        for job in self.all():
            if job.id == job_id:
                return job
        raise UsageError(f"job {job_id}", "is not in the queue", "list the queue")

    def add(self, job: Job) -> None:
        """Add a job at the end of the queue. Raises UsageError where too many wait."""
        with self._lock:
            running, waiting, ended = self._parts()
            of_user = sum(known.facts.uid == job.facts.uid for known in waiting)
            if len(waiting) >= WAITING_MAX or of_user >= USER_WAITING_MAX:
                raise UsageError("queue", f"holds {len(waiting)} jobs", "wait until a job ends")
            self._save([*running, *waiting, job, *ended])
            self._confirmed_s[job.id] = _now_s()

    def replace(self, job: Job) -> None:
        """Keep a job's new state; the oldest of those that ended are dropped. An end holds before it is on disk."""
        with self._lock:
            if job.facts.state != "ended":
                self._save([job if known.id == job.id else known for known in self._jobs])
                return
            running, waiting, ended = self._parts(without=job.id)
            self._jobs, self._is_kept = (*running, *waiting, *[job, *ended][:ENDED_MAX]), False
            self._confirmed_s.pop(job.id, None)
            with suppress(StoreError):
                self.keep()

    def keep(self) -> None:
        """Write what a full disk kept from being written. Raises StoreError."""
        with self._lock:
            if not self._is_kept:
                self._save(list(self._jobs))

    def take(self, job_id: str, *, was: tuple[JobState, ...] = _BEFORE, **changes: Any) -> Job:
        """Change a job that has not begun. was : the states that it may be in. Raises UsageError where it is not."""
        with self._lock:
            job = self._not_begun(job_id, was).changed(**changes)
            self.replace(job)
            return job

    def release(self, job_id: str) -> None:
        """Have a job wait that was confirmed by now. Raises UsageError where it has begun."""
        with self._lock:
            self.take(job_id, state="waiting", message="")
            self._confirmed_s[job_id] = _now_s()

    def hold_unconfirmed(self, hours: float) -> None:
        """Hold the jobs of real drives that were not confirmed in so many hours, or since the agent began."""
        with self._lock:
            for job in self._jobs:
                since_s = self._confirmed_s.get(job.id)
                if (
                    job.facts.is_real
                    and job.facts.state == "waiting"
                    and (since_s is None or _now_s() - since_s > hours * 3600)
                ):
                    when = "before the agent was started" if since_s is None else f"more than {hours:g} h ago"
                    self.take(job.id, state="held", message=f"was confirmed {when}: confirm again to release it")

    def follow(self, first: Job) -> None:
        """Have the jobs that saw on a drive what a job saw that begins on it now rest on what that leaves."""
        seen = [first.checked.get(key) for key in SEEN]
        self._see(
            first.node, lambda job: [job.checked.get(key) for key in SEEN] == seen, dict.fromkeys(SEEN, AFTER_RUN)
        )

    def see(self, node: str, seen: dict[str, str]) -> None:
        """Note what a run that has ended left on a drive, for the jobs that rest on that."""
        self._see(node, lambda job: job.checked.get(SEEN[0]) == AFTER_RUN, seen)

    def _see(self, node: str, rests: Callable[[Job], bool], seen: dict[str, str]) -> None:
        with self._lock:
            jobs = [
                job.model_copy(update={"checked": job.checked | seen})
                if job.node == node and job.facts.state in _BEFORE and SEEN[0] in job.checked and rests(job)
                else job
                for job in self._jobs
            ]
            if jobs != list(self._jobs):
                self._save(jobs)

    def move(self, job_id: str, position: int) -> None:
        """Give a job another position among those that have not begun, 0 is the next. Raises UsageError."""
        with self._lock:
            job = self._not_begun(job_id)
            running, waiting, ended = self._parts(without=job_id)
            waiting.insert(position, job)
            self._save([*running, *waiting, *ended])

    def _parts(self, without: str = "") -> tuple[list[Job], list[Job], list[Job]]:
        """The jobs that run, that have not begun, and that ended."""
        parts: dict[str, list[Job]] = {"running": [], "waiting": [], "ended": []}
        for job in self._jobs:
            if job.id != without:
                parts["waiting" if job.facts.state in _BEFORE else job.facts.state].append(job)
        return parts["running"], parts["waiting"], parts["ended"]

    def _not_begun(self, job_id: str, was: tuple[JobState, ...] = _BEFORE) -> Job:
        job = self.find(job_id)
        if job.facts.state not in was:
            raise UsageError(f"job {job_id}", f"is {job.facts.state}", "only a job that has not begun is moved or held")
        return job

    def _save(self, jobs: list[Job]) -> None:
        text = _Kept(jobs=tuple(jobs)).model_dump_json().encode()
        try:
            write_inside(self._folder, QUEUE, text, mode=0o600)
        except OSError as error:
            path = (self._folder / QUEUE).resolve()
            raise StoreError(str(path), error.strerror or "cannot be written", "free space") from None
        self._jobs, self._is_kept = tuple(jobs), True


def _now_s() -> float:
    """Time since the boot, in which the host may have been suspended."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def _read(folder: Path) -> tuple[Job, ...]:
    path = (folder / QUEUE).resolve()
    try:
        return _Kept.model_validate(json.loads(read_inside(folder, QUEUE, bytes_max=_BYTES_MAX))).jobs
    except OSError as error:
        if error.errno == errno.ENOENT:
            return ()
        raise StoreError(str(path), error.strerror or "cannot be read", "see its folder") from None
    except (ValueError, ValidationError):
        raise StoreError(str(path), "is damaged", "look at the runs, then remove it") from None
