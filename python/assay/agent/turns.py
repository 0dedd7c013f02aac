"""Whose turn it is: one run at a time on this host, each checked anew before it begins."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.agent.checks import changed, facts_of, left_on, look_ahead
from assay.errors import (
    AssayError,
    GateRefusedError,
    HostLimitError,
    IdentityError,
    InternalError,
    StoreError,
    UsageError,
)
from assay.run.run import drive_slug

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.agent.checks import Checks
    from assay.agent.drives import Bounded
    from assay.agent.jobs import Job, Queue
    from assay.agent.launch import Launcher
    from assay.agent.messages import JobState

_LOOK_S, _PAUSE_S_MAX = 0.5, 60.0
_CHECK_S = 60.0
_JUST_NOW_S = 5.0


class Turns:
    """Takes the jobs of a queue one after another. log : takes what happened to a job."""

    def __init__(
        self, checks: Checks, queue: Queue, launcher: Launcher, bounded: Bounded, log: Callable[..., None]
    ) -> None:
        self._checks, self._queue, self._launcher, self._bounded, self._log = checks, queue, launcher, bounded, log
        self._config = checks.config
        self._seen_s: dict[str, float] = {}
        self._unnoted: list[Job] = []
        self._end = threading.Event()
        self._awake = threading.Event()

    def adopt(self) -> None:
        """Take up what an earlier agent left: runs go on, and what never began waits again."""
        for job in self._running():
            if self._launcher.take_back(job):
                again = job.changed(state="waiting", began_wall_ns=None)
                self._queue.replace(again.model_copy(update={"attempt": job.attempt + 1}))
        self._queue.hold_unconfirmed(self._config.confirmation_hours)

    def run(self) -> None:
        """Take turns until ``stop``."""
        pause = _LOOK_S
        while not self._end.is_set():
            try:
                self.look()
                pause = _LOOK_S
            except Exception:  # noqa: BLE001 - a full disk, for example, must not end the turns of all
                pause = min(2 * pause, _PAUSE_S_MAX)
            self._awake.wait(pause)
            self._awake.clear()

    def stop(self) -> None:
        """End ``run``; what runs goes on."""
        self._end.set()
        self._awake.set()

    def look(self) -> None:
        """See what ended, then begin the next job."""
        for job in self._running():
            self._look_at(job)
        self._note_ends()
        self._queue.hold_unconfirmed(self._config.confirmation_hours)
        waiting = next((job for job in self._queue.all() if job.facts.state == "waiting"), None)
        if waiting and not self._running():
            self._begin(waiting)

    def _running(self) -> list[Job]:
        return [job for job in self._queue.all() if job.facts.state == "running"]

    def _look_at(self, job: Job) -> None:
        process = self._launcher.look(job)
        if process.state == "going":
            self._seen_s[job.id] = time.monotonic()
        elif process.state == "ended":
            self._ended(job, process.exit_code, process.message, process.wall_ns)
        elif process.state == "lost":
            there = Path(job.facts.folder).is_dir()
            message = "its process was killed" + ("; what was measured is in its folder" if there else "")
            self._ended(job, process.exit_code, "" if process.exit_code is not None else message)
        elif process.state == "none" and self._launcher.take_back(job):
            self._ended(job, None, "its process did not begin; see the host's journal")

    def _begin(self, job: Job) -> None:
        try:
            begun = self._bounded.ask(job.node, _CHECK_S, lambda: self._taken(job))
        except (HostLimitError, StoreError):
            # Its turn comes again.
            raise
        except AssayError as error:
            self._ended(job, GateRefusedError.exit_code, str(error), was="waiting")
        except Exception as error:  # noqa: BLE001 - a defect ends one job, and the next goes on
            self._ended(job, InternalError.exit_code, f"{type(error).__name__} in this program", was="waiting")
        else:
            if begun:
                self._launched(begun)

    def _taken(self, job: Job) -> Job | None:
        """The job as it runs, while nobody else queries its drive; None where it was held, moved or stopped meanwhile.

        Raises AssayError where the run is refused by now, or anything differs from what was shown.
        """
        foreseen = look_ahead(self._config, job.request)
        if refusal := foreseen.refusal:
            raise GateRefusedError(refusal.thing, refusal.reason, refusal.remedy)
        if differs := changed(job.checked, facts_of(foreseen)):
            reason = f"changed since it was shown: {', '.join(differs)}"
            raise IdentityError(job.request.drive, reason, "check the plan again")
        facts: dict[str, Any] = {"began_wall_ns": time.time_ns(), "state": "running", "folder": self._new(job)}
        with suppress(UsageError):
            return self._queue.take(job.id, was=("waiting",), **facts)
        return None

    def _launched(self, job: Job) -> None:
        try:
            self._log(event="begun", job=job)
        except StoreError:
            # What cannot be logged is not begun.
            with suppress(UsageError):
                self._queue.take(job.id, was=("running",), state="waiting", began_wall_ns=None, folder="")
            raise
        try:
            self._launcher.begin(job)
        except AssayError as error:
            # A job that was stopped in this moment was taken back by then, and has its folder.
            if self._launcher.take_back(job) and not self._launcher.is_stopped(job):
                self._ended(job, error.exit_code, str(error))
        else:
            self._seen_s[job.id] = time.monotonic()
            # Those that cannot be kept are refused at their turn.
            with suppress(StoreError):
                self._queue.follow(job)

    def _new(self, job: Job) -> str:
        stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime())
        tests = "-".join(job.facts.tests)[:100]
        name = f"{stamp}-{drive_slug(job.request.drive)}-{tests}-{job.id[:4]}"
        return str(
            Path(self._config.runs) / "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in name)
        )

    def _ended(
        self,
        job: Job,
        exit_code: int | None,
        message: str,
        wall_ns: int | None = None,
        *,
        was: JobState = "running",
    ) -> None:
        """Keep how a job ended, unless another thread changed its state before."""
        facts: dict[str, Any] = {"state": "ended", "exit_code": exit_code, "message": message[:2000]}

        def end() -> None:
            with suppress(UsageError):
                ended = self._queue.take(job.id, was=(was,), ended_wall_ns=wall_ns or time.time_ns(), **facts)
                self._unnoted.append(ended)

        if job.facts.is_real and time.monotonic() - self._seen_s.pop(job.id, float("-inf")) <= _JUST_NOW_S:
            # Jobs that rest on what cannot be seen are refused at their turn.
            with suppress(AssayError, OSError):
                self._bounded.ask(job.node, _CHECK_S, lambda: self._see_left(job, end))
        end()
        self._launcher.prune(self._queue.all())
        self._note_ends()

    def _see_left(self, job: Job, end: Callable[[], None]) -> None:
        """Note what a run left on its drive before its end is shown: others may write to the drive from then on.

        Nobody else queries the drive between.
        """
        seen = left_on(job.node)
        if self._queue.find(job.id).facts.state == "running":
            self._checks.see(job.node, seen)
            self._queue.see(job.node, seen)
            end()

    def _note_ends(self) -> None:
        """Keep and log what ended, also later where a disk was full. Raises StoreError."""
        self._queue.keep()
        while self._unnoted:
            self._log(event="ended", job=self._unnoted[0])
            self._unnoted.pop(0)

    def wake(self) -> None:
        """Have the queue looked at without delay."""
        self._awake.set()
