"""Consent is for what was seen on a drive, and for a time; and whatever happens, a run can be stopped."""

import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from agent_drive import SIZE, Trial, as_member, begun, stored_code
from assay.agent.messages import QueueRequest, StopRequest
from assay.errors import AssayError
from conftest import ASSAY, HANG_S, LoopDrive, command
from openings import openings

MIB = 1 << 20
RAW = b"kept by somebody" * 64
INTERRUPTED = 130


@pytest.fixture
def trial(loop_drive: LoopDrive, tmp_path: Path) -> Iterator[Trial]:
    with begun(tmp_path, loop_drive(SIZE), tmp_path / "loop0.img") as trial:
        yield trial


def write(path: str | Path, offset: int, content: bytes = RAW) -> None:
    """Write as anybody with the right does."""
    descriptor = os.open(path, os.O_WRONLY)
    os.pwrite(descriptor, content, offset)
    os.fsync(descriptor)
    os.close(descriptor)


def read(path: str, offset: int) -> bytes:
    with open(path, "rb") as file:  # noqa: PTH123 - a device
        file.seek(offset)
        return file.read(len(RAW))


def is_refused(trial: Trial, job: str, differs: str) -> None:
    """Fail unless a job is refused at its turn, with nothing opened for writing."""
    with openings(trial.drive) as opened:
        facts = trial.wait(job)
        assert opened.writing() == []
    assert (facts.exit_code, facts.folder) == (3, "")
    assert f"changed since it was shown: {differs}; check the plan again" in facts.message


# 100 MiB and a half lies between the places that are looked at: there the kernel's count alone tells.
@pytest.mark.parametrize(
    ("offset", "differs"), [(0, "contents, writes"), (SIZE - 1024, "contents, writes"), (100 * MIB + 512, "writes")]
)
def test_raw_data_written_after_the_check_is_kept(trial: Trial, offset: int, differs: str) -> None:
    holding, job = trial.hold(), trial.start(trial.check())
    write(trial.drive, offset)
    trial.client.ask(StopRequest(job=holding))
    is_refused(trial, job, differs)
    assert read(trial.drive, offset) == RAW


def test_data_that_the_kernel_of_this_host_did_not_write_is_kept(trial: Trial) -> None:
    holding, job = trial.hold(), trial.start(trial.check())
    # As another host writes to a drive that both reach; 1/256 of the drive has a place that is looked at.
    write(trial.image, 77 * MIB, RAW * (SIZE // 256 // len(RAW)))
    trial.client.ask(StopRequest(job=holding))
    is_refused(trial, job, "contents")
    assert read(trial.drive, 77 * MIB) == RAW


def test_a_job_behind_another_rests_on_what_that_leaves(trial: Trial) -> None:
    holding, first, second, third = trial.hold(), *(trial.start(trial.check()) for _ in range(3))
    for job in (second, third):
        trial.client.ask(QueueRequest(action="hold", job=job))
    trial.stop(holding)
    trial.wait(first)
    identity = trial.check().identity
    trial.client.ask(QueueRequest(action="release", job=second, identity=identity))
    facts = trial.wait(second)
    assert facts.exit_code == stored_code(facts), facts
    # What is written behind a run is somebody's again.
    write(trial.drive, 0)
    trial.client.ask(QueueRequest(action="release", job=third, identity=identity))
    is_refused(trial, third, "contents, writes")
    assert read(trial.drive, 0) == RAW


def test_a_run_between_makes_no_consent_of_what_came_before_it(trial: Trial) -> None:
    holding, early = trial.hold(), trial.start(trial.check())
    write(trial.drive, 200 * MIB)
    late = trial.start(trial.check())
    trial.client.ask(QueueRequest(action="move", job=late, position=0))
    trial.stop(holding)
    trial.wait(late)
    is_refused(trial, early, "contents, writes")


def test_consent_of_an_earlier_agent_is_none(trial: Trial) -> None:
    holding, job = trial.hold(), trial.start(trial.check())
    identity = trial.check().identity
    trial.client.ask(QueueRequest(action="hold", job=job))
    trial.kill()
    trial.begin()
    for typed in ("", "loop0"):
        with pytest.raises(AssayError, match=f"is not its identity; type {identity}"):
            trial.client.ask(QueueRequest(action="release", job=job, identity=typed))
    write(trial.drive, 100 * MIB)
    trial.stop(holding)
    trial.client.ask(QueueRequest(action="release", job=job, identity=identity))
    is_refused(trial, job, "writes")


def test_consent_grows_old_and_is_renewed(loop_drive: LoopDrive, tmp_path: Path) -> None:
    with begun(tmp_path, loop_drive(SIZE), tmp_path / "loop0.img", confirmation_hours=2 / 3600) as trial:
        holding, job = trial.hold(), trial.start(trial.check())
        facts = trial.wait(job, "held")
        assert facts.message == "was confirmed more than 0.000555556 h ago: confirm again to release it"
        # A job of a simulated drive waits as long as it takes.
        simulated = trial.start(trial.check(drive="sim:client-2011?capacity=8GB", plan={"suite": "quick"}))
        time.sleep(2.5)
        assert next(known for known in trial.jobs() if known.id == simulated).state == "waiting"
        trial.client.ask(StopRequest(job=simulated))
        trial.client.ask(StopRequest(job=holding))
        trial.wait(holding)
        trial.client.ask(QueueRequest(action="release", job=job, identity=facts.identity))
        facts = trial.wait(job)
        assert facts.exit_code == stored_code(facts), facts


@pytest.mark.skipif(os.geteuid() != 0, reason="SKIPPED: needs root to act as another user")
def test_another_member_types_the_identity_too(loop_drive: LoopDrive, tmp_path: Path, open_folder: Path) -> None:
    with begun(open_folder, loop_drive(SIZE), tmp_path / "loop0.img", group="tty") as trial:
        holding, job = trial.hold(), trial.start(trial.check())
        identity = trial.check().identity
        for action in ("hold", "release"):
            request = QueueRequest(action=action, job=job)
            assert f"type {identity}" in as_member(trial, request)
            given = json.loads(as_member(trial, request.model_copy(update={"identity": identity})))
            state = next(known["state"] for known in given["answer"]["jobs"] if known["id"] == job)
            assert state == {"hold": "held", "release": "waiting"}[action]
        # Nothing bars a stop, and a simulated drive loses nothing.
        assert '"answer"' in as_member(trial, StopRequest(job=job))
        assert '"answer"' in as_member(trial, StopRequest(job=holding))


@contextmanager
def small_disk() -> Iterator[Path]:
    """A file system of a MiB."""
    with tempfile.TemporaryDirectory() as name:
        command("mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", name)
        try:
            yield Path(name)
        finally:
            command("umount", "--lazy", name)


def fill(folder: Path) -> Path:
    """Leave no byte free."""
    with suppress(OSError), (folder / "full").open("wb", buffering=0) as file:
        while file.write(b"x" * 4096):
            pass
    assert not os.statvfs(folder).f_bavail
    return folder / "full"


def until(holds: Callable[[], object]) -> None:
    """Wait until something holds. Fails where it never does."""
    latest = time.monotonic() + HANG_S
    while not holds():
        assert time.monotonic() < latest
        time.sleep(0.05)


def run_of(trial: Trial, job: str, name: str) -> int:
    """The process of a job that measures: ``child``, or ``began`` of its supervisor."""
    until((Path(trial.wait(job, "running").folder) / "journal.jsonl").exists)
    return int((next((trial.state / "jobs").glob(f"{job}-*")) / name).read_text("ascii").split()[0])


@pytest.mark.skipif(os.geteuid() != 0, reason="SKIPPED: needs root to mount")
def test_a_full_disk_bars_no_stop(loop_drive: LoopDrive, tmp_path: Path) -> None:
    drive = loop_drive(SIZE)
    with small_disk() as disk:
        places = {"state": f"{disk}/state", "log": f"{disk}/agent.jsonl"}
        with begun(tmp_path, drive, tmp_path / "loop0.img", **places) as trial:
            running = trial.hold()
            waiting = trial.start(trial.check())
            process = run_of(trial, running, "child")
            full = fill(disk)
            trial.client.ask(StopRequest(job=waiting))
            trial.client.ask(StopRequest(job=running))
            until(lambda: not Path(f"/proc/{process}").exists())
            facts = trial.wait(running)
            assert facts.exit_code == stored_code(facts) == INTERRUPTED
            assert trial.wait(waiting).message == "taken out of the queue"
            # What could not be written is, once there is space.
            full.unlink()
            until(lambda: running in [line.get("job") for line in noted(disk) if line.get("event") == "ended"])
            trial.kill()
            trial.begin()
            assert {job.id: job.state for job in trial.jobs()} == {running: "ended", waiting: "ended"}


def noted(disk: Path) -> list[dict[str, str]]:
    """The whole lines of the log: what a full disk cut is followed by a new line."""
    lines = (disk / "agent.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines if line.endswith("}")]


@pytest.mark.parametrize("names", [("child",), ("began",), ("began", "child")])
def test_a_suspended_run_is_named_and_stopped(trial: Trial, names: tuple[str, ...]) -> None:
    job = trial.hold()
    processes = [run_of(trial, job, name) for name in names]
    for process in processes:
        os.kill(process, signal.SIGSTOP)
    message = f"its process is suspended: kill -CONT {processes[-1]} resumes it, stop ends it"
    # The kernel may stop one of them later than the other.
    until(lambda: (trial.wait(job, "running").suspended, trial.wait(job, "running").message) == (True, message))
    trial.client.ask(StopRequest(job=job))
    facts = trial.wait(job)
    assert (facts.exit_code, facts.suspended) == (stored_code(facts), False)


@pytest.mark.skipif(os.geteuid() != 0, reason="SKIPPED: needs root to give files away")
@pytest.mark.parametrize("which", ["state", "runs", "log", "above", "link"])
def test_an_agent_does_not_start_where_a_member_could_exchange_its_files(open_folder: Path, which: str) -> None:
    (open_folder / "of-member").mkdir()
    os.chown(open_folder / "of-member", 65534, 5)
    os.symlink(open_folder / "of-root", open_folder / "link")  # noqa: PTH211 - as os.chown below
    os.chown(open_folder / "link", 65534, 5, follow_symlinks=False)
    (open_folder / "of-root").mkdir()
    open_folder.chmod(0o1777 if which == "link" else 0o755)
    named = {
        "above": ("state", "of-member/state"),
        "link": ("state", "link/state"),
        "log": ("log", "of-member/a.jsonl"),
    }
    key, place = named.get(which, (which, "of-member"))
    places = {"socket": "s", "state": "state", "runs": "runs", "log": "agent.jsonl", key: place}
    folder = open_folder / "of-root"
    lines = [f'{name} = "{(open_folder if name == key else folder) / at}"\n' for name, at in places.items()]
    (folder / "agent.toml").write_text("".join(lines))
    arguments = ["--config", str(folder / "agent.toml")]
    done = subprocess.run([ASSAY, "agent", *arguments], capture_output=True, text=True, timeout=HANG_S, check=False)
    assert done.returncode == 2
    named_as = f"name a folder that only root can write to as {key} in agent.toml"
    at = open_folder / ("link" if which == "link" else "of-member")
    assert f"{at}: belongs to uid 65534; {named_as}" in done.stderr
    assert not (folder / "s").exists()
