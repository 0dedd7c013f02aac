"""Runs that outlive the agent: begun in a unit of their own, and known again by the locks that they hold."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from assay.agent.checks import plan_text
from assay.agent.supervise import (
    APART,
    BEGAN,
    CHILD,
    COMMAND,
    ENDED,
    OUTPUT,
    PYTHON,
    TAKEN_BACK,
    claim,
    has_begun,
    started,
)
from assay.dut.real.command import CommandError, find_tool, run_command
from assay.errors import AssayError, StoreError, SystemRefusedError
from assay.run.store.lock import is_going
from assay.run.store.status import run_state
from assay.spec.files import process_fields, read_inside, sync_folder, write_inside
from assay.spec.root_file import owned_folder

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.agent.jobs import Job
    from assay.agent.messages import Consents

_SYSTEMD = Path("/run/systemd/system")
_START_S = 30
_LINE_BYTES_MAX = 1000
_BEGIN_S = 120
"""Longest time from its launch in which a supervisor must have begun."""
PLAN, STOPPED = "plan.toml", "stopped"


@dataclass(frozen=True, slots=True)
class Process:
    """State of the process of a job.

    ``lost`` : it was killed, exit_code is what the run wrote then, if it did. ``none`` : it never began.
    message : its last line, where it ended before it had a run folder.
    """

    state: Literal["beginning", "going", "ended", "lost", "none"]
    exit_code: int | None = None
    wall_ns: int | None = None
    message: str = ""


class Launcher:
    """Begins jobs. folder : of their folders, ``<id>-<attempt>``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._begun: dict[str, float] = {}
        self._to_stop: set[str] = set()
        self._interrupted: set[str] = set()

    def begin(self, job: Job) -> None:
        """Begin the run of a job. Raises StoreError, SystemRefusedError."""
        folder = self.folder(job)
        named = self._owned() / folder.name
        try:
            folder.mkdir(mode=0o700)
            sync_folder(folder.parent)
            write_inside(folder, PLAN, plan_text(job.request, job.node).encode())
            write_inside(folder, COMMAND, json.dumps(_command(job, named / PLAN)).encode())
        except OSError as error:
            raise StoreError(str(named), error.strerror or "cannot be written", "free space") from None
        self._begun[folder.name] = time.monotonic()
        supervisor = [*PYTHON, "assay.agent.supervise", str(named)]
        if _SYSTEMD.is_dir():
            _new_unit(folder.name, supervisor)
        else:
            _new_session(supervisor)

    def look(self, job: Job) -> Process:
        """State of the process of a job that was begun."""
        folder = self.folder(job)
        # Before the lock: what began held it then.
        began = has_begun(folder)
        if is_going(folder):
            if began and folder.name in self._to_stop:
                self._interrupt(folder)
            return Process("going" if began else "beginning")
        if began:
            run = Path(job.facts.folder)
            return _ended(folder, run) or Process("lost", _stored_code(run))
        waited_s = time.monotonic() - self._begun.get(folder.name, float("-inf"))
        return Process("beginning" if waited_s < _BEGIN_S else "none")

    def take_back(self, job: Job) -> bool:
        """Keep a job that has not begun from ever beginning; False where it has. Raises StoreError."""
        folder = self.folder(job)
        if has_begun(folder):
            return False
        try:
            folder.parent.mkdir(mode=0o700, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
            sync_folder(folder.parent)
            return claim(folder, TAKEN_BACK) or not has_begun(folder)
        except OSError as error:
            raise StoreError(str(folder.resolve()), error.strerror or "cannot be written", "free space") from None

    def is_stopped(self, job: Job) -> bool:
        """Whether the job was to end, so that whoever ended it says so."""
        return self.folder(job).name in self._to_stop

    def stop(self, job: Job) -> bool:
        """End a job's run; True where it has not begun, and now never will.

        Nothing is written before a run is interrupted. Where a full disk lets nobody take the job back, it is
        interrupted as soon as it begins.
        """
        folder = self.folder(job)
        self._to_stop.add(folder.name)
        with suppress(StoreError):
            if self.take_back(job):
                return True
            self._interrupt(folder)
        return False

    def _interrupt(self, folder: Path) -> None:
        """Send Ctrl-C to a run, and have it go on where it is suspended. Nothing happens where it has ended."""
        self._to_stop.discard(folder.name)
        if not is_going(folder):
            return
        # The supervisor hands it on once, unless it was killed.
        supervised = _signalled(folder, BEGAN, signal.SIGINT)
        if not supervised and folder.name not in self._interrupted and not (folder / STOPPED).exists():
            self._interrupted.add(folder.name)
            with suppress(OSError):
                (folder / STOPPED).touch()
            _signalled(folder, CHILD, signal.SIGINT)
        for name in (BEGAN, CHILD):
            _signalled(folder, name, signal.SIGCONT)

    def suspended(self, job: Job) -> int:
        """The process of a job that was stopped by a signal, such as SIGSTOP, and does nothing; 0: none."""
        processes = (_process(self.folder(job), name) for name in (CHILD, BEGAN))
        stopped = (pid for pid, tick in processes if process_fields(pid)[:1] == ["T"] and started(pid) == tick)
        return next(stopped, 0)

    def _owned(self) -> Path:
        """The folder of jobs by its name, made where it is missing. Raises PlanError where others could change it."""
        remedy = "name another as state in agent.toml"
        return owned_folder(self._folder.resolve(), owner=os.geteuid(), remedy=remedy, mode=0o700)

    def prune(self, jobs: Iterable[Job]) -> None:
        """Remove the folders of jobs that are no longer known."""
        known = {job.id for job in jobs}
        for path in self._folder.iterdir() if self._folder.is_dir() else ():
            if path.name.partition("-")[0] not in known:
                shutil.rmtree(path, ignore_errors=True)

    def folder(self, job: Job) -> Path:
        """The folder of a job's attempt."""
        return self._folder / f"{job.id}-{job.attempt}"


def _command(job: Job, plan: Path) -> list[str]:
    """The command line of a job's run."""
    consents = _consents(job.request.consents)
    end = ["--on-end", job.request.on_end] if job.request.on_end else []
    run = ["run", str(plan), "--out", job.facts.folder]
    confirmed = [f"--yes-destroy={job.facts.identity}"] if job.facts.is_real else []
    return [*PYTHON, "assay.cli", *run, *confirmed, *consents, *end]


def _consents(consents: Consents) -> list[str]:
    """Worked: acknowledging ``reader:x`` -> ``["--acknowledge=reader:x"]``."""
    most = [] if consents.drive_writes_max is None else [f"--max-drive-writes={consents.drive_writes_max!r}"]
    spaces = [] if consents.all_namespaces is None else [f"--all-namespaces={consents.all_namespaces}"]
    words = [f"--acknowledge={word}" for word in consents.acknowledge]
    return [*words, *(f"--destroy-signature={word}" for word in consents.destroy_signatures), *most, *spaces]


def _new_session(command: list[str]) -> None:
    null = subprocess.DEVNULL
    try:
        subprocess.run(
            [*command, APART],
            stdin=null,
            stdout=null,
            stderr=null,
            cwd="/",
            start_new_session=True,
            check=True,
            timeout=_START_S,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise SystemRefusedError("run", f"cannot be started ({error})", "see the host's limits") from None


def _new_unit(name: str, command: list[str]) -> None:
    """A separate unit, which the end of the agent's unit does not end. Raises SystemRefusedError."""
    # The supervisor alone is signalled at first: it hands Ctrl-C on once.
    ends = ("KillMode=mixed", "KillSignal=SIGINT", "TimeoutStopSec=120")
    limits = (*ends, "LimitMEMLOCK=infinity", "LimitNOFILE=65536")
    options = ["--quiet", "--collect", f"--unit=assay-job-{name}", *(f"--property={limit}" for limit in limits)]
    try:
        answer = run_command(find_tool("systemd-run") or "systemd-run", [*options, "--", *command], seconds=_START_S)
    except CommandError as error:
        raise SystemRefusedError("systemd-run", str(error), "see the journal") from None
    if answer.code:
        output = answer.errors.decode("utf-8", "replace").strip()
        raise SystemRefusedError("systemd-run", output or f"ended with {answer.code}", "see the journal")


def _ended(folder: Path, run: Path) -> Process | None:
    try:
        facts = json.loads(read_inside(folder, ENDED, bytes_max=1000))
    except (OSError, ValueError):
        return None
    return Process("ended", facts["exit_code"], facts["wall_ns"], "" if run.exists() else _last_line(folder))


def _last_line(folder: Path) -> str:
    """The last line that a run printed; empty where it printed none."""
    with suppress(OSError):
        lines = (folder / OUTPUT).read_bytes()[-_LINE_BYTES_MAX:].decode("utf-8", "replace").splitlines()
        return lines[-1] if lines else ""
    return ""


def _stored_code(folder: Path) -> int | None:
    """The exit code that a run wrote at its end; None where it wrote none."""
    with suppress(AssayError):
        return run_state(folder).exit_code
    return None


def _process(folder: Path, name: str) -> tuple[int, str]:
    """The process that a file names, by pid and start; no process where it names none.

    Worked: a file of ``"4711 815"`` means the process 4711 that started 815 ticks after the boot.
    """
    try:
        pid, tick = read_inside(folder, name, bytes_max=100).decode("ascii").split()
        return int(pid), tick
    except (OSError, ValueError):
        return 0, ""


def _signalled(folder: Path, name: str, number: signal.Signals) -> bool:
    """Signal the process that a file names, and no other that has its number by now; False where it ended."""
    pid, tick = _process(folder, name)
    if not pid:
        return False
    try:
        descriptor = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        if started(pid) != tick:
            return False
        signal.pidfd_send_signal(descriptor, number)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True
