"""Runs that outlive the agent: begun in a unit of their own, and known again by the locks that they hold."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import tomli_w

from assay.agent.supervise import APART, BEGAN, COMMAND, ENDED, claim, started
from assay.dut.real.command import CommandError, find_tool, run_command
from assay.dut.simulated.model import is_simulated
from assay.errors import StoreError, SystemRefusedError
from assay.run.store.held import is_going
from assay.run.store.status import kept_progress
from assay.spec.files import read_inside, write_inside

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.agent.jobs import Job
    from assay.agent.messages import Consents

_SYSTEMD = Path("/run/systemd/system")
_START_S = 30
_BEGIN_S = 120
"""Longest time from its launch in which a supervisor must have begun."""
PLAN = "plan.toml"


@dataclass(frozen=True, slots=True)
class Process:
    """What has become of a job's process. ``lost`` : it was killed; ``none`` : it never began."""

    state: Literal["beginning", "going", "ended", "lost", "none"]
    exit_code: int | None = None
    wall_ns: int | None = None


class Launcher:
    """Begins jobs. folder : of their folders, ``<id>-<attempt>``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def begin(self, job: Job) -> None:
        """Begin the run of a job. Raises StoreError, SystemRefusedError."""
        folder = self.folder(job)
        try:
            folder.mkdir(parents=True, mode=0o700)
            Path(job.facts.folder).parent.mkdir(parents=True, exist_ok=True)
            plan = {**job.request.plan, "drive": job.request.drive}
            write_inside(folder, PLAN, tomli_w.dumps(plan).encode())
            write_inside(folder, COMMAND, json.dumps(_command(job, folder / PLAN)).encode())
        except OSError as error:
            raise StoreError(str(folder), error.strerror or "cannot be written", "free space") from None
        supervisor = [sys.executable, "-m", "assay.agent.supervise", str(folder)]
        if _SYSTEMD.is_dir():
            _new_unit(job.id, supervisor)
        else:
            _new_session(supervisor)

    def look(self, job: Job) -> Process:
        """What has become of a job that was begun."""
        folder = self.folder(job)
        if is_going(folder):
            return Process("going" if (folder / BEGAN).exists() else "beginning")
        if (folder / BEGAN).exists():
            return _ended(folder) or Process("going" if is_going(Path(job.facts.folder)) else "lost")
        waited_ns = time.time_ns() - (job.facts.began_wall_ns or 0)
        return Process("beginning" if waited_ns < _BEGIN_S * 10**9 else "none")

    def take_back(self, job: Job) -> bool:
        """Keep a job that has not begun from ever beginning; False where it has. Raises StoreError."""
        folder = self.folder(job)
        try:
            folder.mkdir(parents=True, mode=0o700, exist_ok=True)
            return claim(folder)
        except OSError as error:
            raise StoreError(str(folder), error.strerror or "cannot be written", "free space") from None

    def interrupt(self, job: Job) -> None:
        """Send Ctrl-C to a job's run. Nothing happens where it has ended."""
        folder = self.folder(job)
        if is_going(folder):
            with suppress(OSError, ValueError):
                pid, tick = (folder / BEGAN).read_text("ascii").split()
                _signal(int(pid), tick)
        elif is_going(Path(job.facts.folder)) and (progress := kept_progress(Path(job.facts.folder))):
            _signal(progress.pid, started(progress.pid))

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
    confirmed = [] if is_simulated(job.request.drive) else [f"--yes-destroy={job.facts.identity}"]
    return [str(Path(sys.executable).with_name("assay")), *run, *confirmed, *consents, *end]


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


def _new_unit(job_id: str, command: list[str]) -> None:
    """A separate unit, which the end of the agent's unit does not end. Raises SystemRefusedError."""
    limits = ("KillSignal=SIGINT", "TimeoutStopSec=120", "LimitMEMLOCK=infinity", "LimitNOFILE=65536")
    options = ["--quiet", "--collect", f"--unit=assay-job-{job_id}", *(f"--property={limit}" for limit in limits)]
    try:
        answer = run_command(find_tool("systemd-run") or "systemd-run", [*options, "--", *command], seconds=_START_S)
    except CommandError as error:
        raise SystemRefusedError("systemd-run", str(error), "see the journal") from None
    if answer.code:
        output = answer.errors.decode("utf-8", "replace").strip()
        raise SystemRefusedError("systemd-run", output or f"ended with {answer.code}", "see the journal")


def _ended(folder: Path) -> Process | None:
    try:
        facts = json.loads(read_inside(folder, ENDED, bytes_max=1000))
    except (OSError, ValueError):
        return None
    return Process("ended", facts["exit_code"], facts["wall_ns"])


def _signal(pid: int, tick: str) -> None:
    """Send Ctrl-C to the process that started at a tick, and to no other that has its number by now."""
    with suppress(OSError):
        descriptor = os.pidfd_open(pid)
        try:
            if tick and started(pid) == tick:
                signal.pidfd_send_signal(descriptor, signal.SIGINT)
        finally:
            os.close(descriptor)
