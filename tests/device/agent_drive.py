"""An agent's process of a test's own, a loop device that it may erase, and a client."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from assay.agent.channel import AgentClient
from assay.agent.messages import CheckAnswer, CheckRequest, JobFacts, QueueRequest, Request, StartRequest, StopRequest
from assay.errors import StoreError
from conftest import ASSAY, HANG_S

SIZE = 256 << 20
LIMITS = {"stall_limit_seconds": 3600, "io_time_limit_seconds": 3600}
WRITES = {"name": "w", "lines": [{"size_bytes": 4096, "read_percent": 0}], "queue_depth": 4}
PLAN: dict[str, Any] = {
    **LIMITS,
    "studies": ["workload"],
    "workload": {"purge": False, "stages": [{"name": "a", "time_s": 2, "streams": [WRITES]}]},
}


class Trial:
    """An agent's process, a loop device that it may erase, and a client."""

    def __init__(self, folder: Path, drive: str, image: Path, **config: object) -> None:
        self.folder, self.drive, self.image = folder, drive, image
        self.client = AgentClient(folder / "s")
        facts = {
            "socket": f"{folder}/s",
            "state": f"{folder}/state",
            "runs": f"{folder}/runs",
            "log": f"{folder}/agent.jsonl",
            **config,
        }
        self.state = Path(str(facts["state"]))
        lines = [f"{key} = {json.dumps(value)}" for key, value in facts.items()]
        device = f'[[devices]]\npath = "{drive}"\nbacking = "{image}"\n'
        (folder / "agent.toml").write_text("\n".join([*lines, device]))
        (folder / "agent.toml").chmod(0o600)
        self.process = self.begin()

    def begin(self) -> subprocess.Popen[bytes]:
        """A new process of the agent, once it answers."""
        self.process = subprocess.Popen(
            [ASSAY, "agent", "--config", str(self.folder / "agent.toml")],
            env={**os.environ, **{f"XDG_{kind}_HOME": str(self.folder / kind) for kind in ("DATA", "STATE", "CACHE")}},
            stderr=subprocess.DEVNULL,
        )
        until = time.monotonic() + HANG_S
        while True:
            try:
                self.jobs()
            except StoreError:
                assert time.monotonic() < until
                assert self.process.poll() is None
                time.sleep(0.05)
            else:
                return self.process

    def kill(self) -> None:
        """End the agent as a crash would."""
        self.process.kill()
        self.process.wait(HANG_S)

    def jobs(self) -> tuple[JobFacts, ...]:
        """The queue."""
        return self.client.ask(QueueRequest()).jobs

    def check(self, **facts: Any) -> CheckAnswer:
        """The check of a short run of the drive, or of other facts."""
        given = {"drive": self.drive, "plan": PLAN, **facts}
        return self.client.ask(CheckRequest(**given))

    def start(self, check: CheckAnswer, identity: str | None = None) -> str:
        """The job that a check becomes."""
        assert check.digest, check.refused
        known = {job.id for job in self.jobs()}
        request = StartRequest(digest=check.digest, identity=check.identity if identity is None else identity)
        return next(job.id for job in self.client.ask(request).jobs if job.id not in known)

    def hold(self) -> str:
        """A job that runs until it is stopped and keeps others from their turn."""
        check = self.client.ask(CheckRequest(drive="sim:client-2011", plan={"suite": "client"}))
        job = self.start(check)
        self.wait(job, "running")
        return job

    def wait(self, job: str, state: str = "ended") -> JobFacts:
        """The job once it is in a state."""
        until = time.monotonic() + HANG_S
        while (facts := next(known for known in self.jobs() if known.id == job)).state != state:
            assert time.monotonic() < until, facts
            time.sleep(0.05)
        return facts

    def stop(self, job: str) -> None:
        """Interrupt a job, and wait for its end."""
        self.client.ask(StopRequest(job=job))
        self.wait(job)

    def written(self) -> int:
        """Writes that the device has had, as the kernel counts them."""
        return int(Path(f"/sys/block/{Path(self.drive).name}/stat").read_text("ascii").split()[4])


def stored_code(facts: JobFacts) -> int:
    """The exit code that a run wrote at its end."""
    last = json.loads((Path(facts.folder) / "journal.jsonl").read_text("utf-8").splitlines()[-1])
    assert last["kind"] == "run_ended"
    return int(last["data"]["exit_code"])


@contextmanager
def begun(folder: Path, drive: str, image: Path, **config: object) -> Iterator[Trial]:
    trial = Trial(folder, drive, image, **config)
    try:
        yield trial
    finally:
        for job in trial.jobs() if trial.process.poll() is None else ():
            if job.state != "ended":
                trial.stop(job.id)
        trial.process.send_signal(signal.SIGINT)
        trial.process.wait(HANG_S)


MEMBER = 65534
_MEMBER = """import os, sys, socket
os.setgroups([]); os.setgid(5); os.setuid(int(sys.argv[1]))
with socket.socket(socket.AF_UNIX) as connection:
    connection.connect(sys.argv[2])
    connection.sendall(sys.argv[3].encode() + b"\\n")
    while chunk := connection.recv(65536):
        sys.stdout.buffer.write(chunk)
"""


def as_member(trial: Trial, request: Request) -> str:
    """The answer to an ordinary user, a member of the group tty."""
    arguments = [str(MEMBER), str(trial.client.path), request.model_dump_json()]
    done = subprocess.run([sys.executable, "-c", _MEMBER, *arguments], capture_output=True, text=True, check=True)
    return done.stdout
