"""What could make the agent erase the wrong drive: each fault is refused or said, and nothing is written."""

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

import pytest
from assay.agent.client import AgentClient
from assay.agent.messages import (
    CheckAnswer,
    CheckRequest,
    Consents,
    DrivesRequest,
    JobFacts,
    QueueRequest,
    StartRequest,
    StopRequest,
)
from assay.errors import AssayError, StoreError
from conftest import ASSAY, HANG_S, LoopDrive, allocate, command
from openings import openings

SIZE = 256 << 20
LIMITS = {"stall_limit_seconds": 3600, "io_time_limit_seconds": 3600}
WRITES = {"name": "w", "lines": [{"size_bytes": 4096, "read_percent": 0}], "queue_depth": 4}
PLAN: dict[str, Any] = {
    **LIMITS,
    "studies": ["workload"],
    "workload": {"purge": False, "stages": [{"name": "a", "time_s": 2, "streams": [WRITES]}]},
}
SIMULATED = "sim:client-2011?capacity=8GB"


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


@pytest.fixture
def trial(loop_drive: LoopDrive, tmp_path: Path) -> Iterator[Trial]:
    drive = loop_drive(SIZE)
    with begun(tmp_path, drive, tmp_path / "loop0.img") as trial:
        yield trial


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


def test_every_refusal_leaves_the_drive_unopened(trial: Trial, loop_drive: LoopDrive) -> None:
    another = loop_drive(SIZE)
    with openings(trial.drive) as opened:
        before = trial.written()
        check = trial.check()
        with pytest.raises(AssayError, match="is not its identity"):
            trial.start(check, "loop0")
        with pytest.raises(AssayError, match="is unknown, used, or older"):
            trial.client.ask(StartRequest(digest="0" * 64, identity=check.identity))
        with pytest.raises(AssayError, match="names a file"):
            trial.check(plan={**PLAN, "data": "file:/etc/passwd"})
        with pytest.raises(AssayError, match="is not allowed"):
            trial.check(consents=Consents(destroy_signatures=("ext4",)))
        with pytest.raises(AssayError, match=r"is not listed in agent\.toml"):
            trial.check(drive=another)
        assert trial.written() == before
        assert opened.writing() == []
        # What was ordered is then the only opening of all.
        facts = trial.wait(trial.start(check))
        assert facts.exit_code == stored_code(facts), facts
        with pytest.raises(AssayError, match="is unknown, used, or older"):
            trial.client.ask(StartRequest(digest=check.digest or "", identity=check.identity))
        commands = {opening.command for opening in opened.writing()}
    assert trial.written() > before
    assert {" run " in text and facts.folder in text for text in commands} == {True}, commands


def test_a_drive_exchanged_after_the_check_is_refused(trial: Trial) -> None:
    holding, job = trial.hold(), trial.start(trial.check())
    other = allocate(trial.image.with_name("other.img"), SIZE)
    command("losetup", "--detach", trial.drive)
    command("losetup", "--direct-io=on", trial.drive, str(other))
    try:
        with openings(trial.drive) as opened:
            before = trial.written()
            trial.stop(holding)
            facts = trial.wait(job)
            assert (facts.exit_code, facts.folder) == (3, "")
            assert trial.written() == before
            assert opened.writing() == []
    finally:
        command("losetup", "--detach", trial.drive)


def test_the_same_image_attached_anew_has_changed(trial: Trial) -> None:
    holding, job = trial.hold(), trial.start(trial.check())
    command("losetup", "--detach", trial.drive)
    command("losetup", "--direct-io=on", trial.drive, str(trial.image))
    trial.stop(holding)
    facts = trial.wait(job)
    assert facts.exit_code == 3
    assert "changed since it was shown: drive, disk sequence number; check the plan again" in facts.message


def test_a_drive_mounted_after_the_check_is_refused(trial: Trial, tmp_path: Path) -> None:
    holding, job = trial.hold(), trial.start(trial.check())
    command("mkfs.ext4", "-q", "-F", trial.drive)
    (tmp_path / "mounted").mkdir()
    command("mount", trial.drive, str(tmp_path / "mounted"))
    try:
        content = tmp_path / "mounted" / "kept"
        content.write_text("kept", "ascii")
        trial.stop(holding)
        facts = trial.wait(job)
        assert (facts.exit_code, facts.folder) == (3, "")
        assert "mounted" in facts.message
        assert content.read_text("ascii") == "kept"
    finally:
        command("umount", str(tmp_path / "mounted"))


def test_what_a_drive_carries_is_shown_and_must_be_the_same_at_its_turn(loop_drive: LoopDrive, tmp_path: Path) -> None:
    drive, consents = loop_drive(SIZE), Consents(destroy_signatures=("ext4",))
    with begun(tmp_path, drive, tmp_path / "loop0.img", destroy_signatures=["ext4"]) as trial:
        holding, job = trial.hold(), trial.start(trial.check(consents=consents))
        command("mkfs.ext4", "-q", "-F", drive)
        before = trial.written()
        check = trial.check(consents=consents)
        assert check.facts["contents"] == "carries ext4"
        assert check.text.endswith(f"ALL DATA on {drive} will be destroyed; it carries ext4.")
        trial.stop(holding)
        facts = trial.wait(job)
        assert (facts.exit_code, facts.folder) == (3, "")
        assert "changed since it was shown: contents; check the plan again" in facts.message
        assert trial.written() == before
        facts = trial.wait(trial.start(check))
        assert facts.exit_code == stored_code(facts), facts


def test_two_starts_on_a_drive_run_in_turn(trial: Trial) -> None:
    checks = trial.check(), trial.check()
    with openings(trial.drive) as opened:
        first, second = map(trial.start, checks)
        trial.wait(first, "running")
        check = trial.check()
        assert f"Warning   {trial.drive} is held by job {first}: what is on it" in check.text
        third = trial.start(check)
        drive = next(one for one in trial.client.ask(DrivesRequest()).drives if one.path == trial.drive)
        assert (drive.job, drive.note) == (first, "held by a run, which is not disturbed")
        one, two, last = map(trial.wait, (first, second, third))
        folders = {one.folder, two.folder, last.folder}
        writing = [opening.command for opening in opened.writing()]
    assert one.ended_wall_ns
    assert two.began_wall_ns
    assert two.ended_wall_ns
    assert last.began_wall_ns
    assert one.ended_wall_ns <= two.began_wall_ns
    assert two.ended_wall_ns <= last.began_wall_ns
    assert last.exit_code == stored_code(last), last
    assert {folder for folder in folders if any(folder in text for text in writing)} == folders
    assert all(any(folder in text for folder in folders) for text in writing), writing


@pytest.mark.parametrize("state", ["held", "waiting", "running"])
def test_an_agent_killed_in_any_state_loses_no_job(trial: Trial, state: str) -> None:
    holding = trial.hold() if state != "running" else ""
    job = trial.start(trial.check())
    if state == "held":
        trial.client.ask(QueueRequest(action="hold", job=job))
    trial.wait(job, state)
    trial.kill()
    trial.begin()
    if holding:
        assert next(one for one in trial.jobs() if one.id == job).state == state
        assert next(one for one in trial.jobs() if one.id == holding).state == "running"
        trial.stop(holding)
    if state == "held":
        trial.client.ask(QueueRequest(action="release", job=job))
    facts = trial.wait(job)
    assert facts.exit_code == stored_code(facts), facts
    assert json.loads((Path(facts.folder) / "run.json").read_bytes())["identity"]["path"] == trial.drive


@pytest.mark.skipif(os.geteuid() != 0, reason="SKIPPED: needs root to act as another user")
def test_the_check_of_another_user_cannot_be_started(loop_drive: LoopDrive, tmp_path: Path) -> None:
    program = (
        "import os, sys, socket\n"
        "fd = socket.socket(socket.AF_UNIX)\n"
        "os.chdir(sys.argv[1]); os.setgroups([]); os.setgid(5); os.setuid(65534)\n"
        "fd.connect('s'); fd.sendall(sys.argv[2].encode() + b'\\n'); print(fd.recv(1000).decode())"
    )
    drive = loop_drive(SIZE)
    tmp_path.chmod(0o711)
    with begun(tmp_path, drive, tmp_path / "loop0.img", group="tty") as trial:
        check, before = trial.check(), trial.written()
        request = StartRequest(digest=check.digest or "", identity=check.identity).model_dump_json()
        answer = subprocess.run(
            [sys.executable, "-c", program, str(tmp_path), request], capture_output=True, text=True, check=True
        )
        assert "is unknown, used, or older than 10 min" in answer.stdout
        assert trial.written() == before
        lines = [json.loads(line) for line in (tmp_path / "agent.jsonl").read_text("utf-8").splitlines()]
    assert [(line["verb"], line["uid"]) for line in lines] == [("check", 0), ("start", 65534), ("start", 65534)]
