"""Jobs run one after another, outlive their agent, and begin at most once."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from agent_trial import DRIVE, WAIT_S, checked, serving, started
from assay.agent import launch, supervise
from assay.agent.channel import AgentClient
from assay.agent.checks import Checks
from assay.agent.config import AgentConfig
from assay.agent.drives import Bounded, _Turn
from assay.agent.jobs import Job, Queue
from assay.agent.launch import Launcher
from assay.agent.messages import JobFacts, QueueRequest, StopRequest
from assay.agent.turns import Turns
from assay.errors import DeviceFailureError, HostLimitError, StoreError
from assay.version import tool_version

SLEEP = "import time; time.sleep(600)"
INTERRUPTED = 128 + signal.SIGINT
SLOW_END = """
import signal, sys, time
def end(*_): signal.signal(signal.SIGINT, signal.SIG_DFL); time.sleep({1}); sys.exit(7)
signal.signal(signal.SIGINT, end)
open("{0}", "w").close()
time.sleep(600)
"""
"""It ends a while after an interrupt, and at once by a second."""


def job_of(client: AgentClient, job: str) -> JobFacts:
    return next(known for known in client.ask(QueueRequest()).jobs if known.id == job)


def ended(client: AgentClient, job: str) -> JobFacts:
    return in_state(client, job, "ended")


def in_state(client: AgentClient, job: str, state: str) -> JobFacts:
    until = time.monotonic() + WAIT_S
    while (facts := job_of(client, job)).state != state:
        assert time.monotonic() < until, facts
        time.sleep(0.05)
    return facts


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What runs in place of ``assay run``: Python with a program that a test may change."""
    program = [SLEEP]
    monkeypatch.setattr(launch, "_command", lambda *_: [sys.executable, "-c", program[0]])
    return program


def test_a_simulated_run_goes_from_check_to_results(client: AgentClient) -> None:
    facts = ended(client, started(client, owner="lease 7"))
    assert (facts.exit_code, facts.message) == (0, "")
    document = json.loads((Path(facts.folder) / "run.json").read_bytes())
    assert (document["plan"]["drive"], document["plan"]["owner"]) == (DRIVE, "lease 7")
    assert list(Path(facts.folder, "report").iterdir())


def test_jobs_run_in_turn_and_the_exit_code_is_kept(client: AgentClient, command: list[str]) -> None:
    command[0] = "import sys; sys.exit(7)"
    first, second = started(client), started(client)
    one, two = ended(client, first), ended(client, second)
    assert (one.exit_code, two.exit_code) == (7, 7)
    assert one.ended_wall_ns
    assert two.began_wall_ns
    assert one.ended_wall_ns <= two.began_wall_ns


def test_a_run_that_cannot_be_started_says_why(client: AgentClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "_command", lambda *_: ["/none/assay"])
    facts = ended(client, started(client))
    assert (facts.exit_code, facts.message) == (1, "/none/assay: No such file or directory")


def test_a_run_that_is_refused_says_why(client: AgentClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        launch,
        "_command",
        lambda job, _: [*supervise.PYTHON, "assay.cli", "run", "/dev/none", "--out", job.facts.folder],
    )
    facts = ended(client, started(client))
    assert facts.exit_code == 2
    assert facts.message.startswith("assay: /dev/none: No such file or directory")


def test_the_program_is_that_of_this_installation(tmp_path: Path) -> None:
    (tmp_path / "assay/cli").mkdir(parents=True)
    (tmp_path / "assay/cli/__main__.py").write_text("print('another')")
    words = [*supervise.PYTHON, "assay.cli", "--version"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == f"assay, version {tool_version()}\n"


@pytest.mark.usefixtures("command")
def test_a_run_is_interrupted_and_a_waiting_job_taken_out(client: AgentClient, config: AgentConfig) -> None:
    first, second = started(client), started(client)
    in_state(client, first, "running")
    client.ask(StopRequest(job=second))
    assert job_of(client, second).message == "taken out of the queue"
    pid_of(config, job_of(client, first))
    client.ask(StopRequest(job=first))
    assert ended(client, first).exit_code == INTERRUPTED


@pytest.mark.usefixtures("command")
def test_a_job_is_stopped_at_any_moment(client: AgentClient) -> None:
    for _ in range(5):
        job = started(client)
        client.ask(StopRequest(job=job))
        facts = ended(client, job)
        assert facts.exit_code == INTERRUPTED or facts.message == "taken out of the queue"


def test_a_held_job_waits_while_the_next_begins(client: AgentClient, command: list[str]) -> None:
    command[0] = "pass"
    # The first keeps the others from their turn.
    command[0] = SLEEP
    first, second, third = started(client), started(client), started(client)
    in_state(client, first, "running")
    client.ask(QueueRequest(action="hold", job=second))
    command[0] = "pass"
    client.ask(StopRequest(job=first))
    assert ended(client, third).exit_code == 0
    assert job_of(client, second).state == "held"
    client.ask(QueueRequest(action="release", job=second))
    assert ended(client, second).exit_code == 0


def test_a_change_since_the_check_refuses_the_job_and_the_next_goes_on(
    client: AgentClient, command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = started(client), started(client)
    in_state(client, first, "running")
    monkeypatch.setattr("assay.agent.checks.tool_version", lambda: "another")
    third = started(client)
    command[0] = "pass"
    client.ask(StopRequest(job=first))
    refused = ended(client, second)
    assert (refused.exit_code, refused.folder) == (3, "")
    assert refused.message == f"{DRIVE}: changed since it was shown: version; check the plan again"
    assert ended(client, third).exit_code == 0


@pytest.mark.usefixtures("command")
def test_a_run_outlives_its_agent(config: AgentConfig) -> None:
    with serving(config) as client:
        job = started(client)
        pid = pid_of(config, in_state(client, job, "running"))
    os.kill(pid, 0)
    with serving(config) as client:
        assert job_of(client, job).state == "running"
        os.kill(pid, signal.SIGTERM)
        assert ended(client, job).exit_code == INTERRUPTED


def pid_of(config: AgentConfig, job: JobFacts, name: str = supervise.BEGAN) -> int:
    """The supervisor of a job, or its run, once it began."""
    path = Path(config.state) / "jobs" / f"{job.id}-1" / name
    wait_for(lambda: path.exists() and " " in path.read_text("ascii"))
    return int(path.read_text("ascii").split()[0])


def test_a_run_whose_supervisor_is_killed_goes_on_and_is_stopped(
    client: AgentClient, config: AgentConfig, command: list[str]
) -> None:
    command[0] = SLOW_END.format(Path(config.state) / "ready", 1.5)
    first, second = started(client), started(client)
    running = in_state(client, first, "running")
    child = pid_of(config, running, supervise.CHILD)
    os.kill(pid_of(config, running), signal.SIGKILL)
    time.sleep(1.5)
    assert [job_of(client, job).state for job in (first, second)] == ["running", "waiting"]
    os.kill(child, 0)
    stopped_ns = time.time_ns()
    client.ask(StopRequest(job=second))
    for _ in range(3):
        client.ask(StopRequest(job=first))
        time.sleep(0.4)
    facts = ended(client, first)
    # It ends 1.5 s after its first interrupt, and at once by a second.
    assert (facts.exit_code, facts.message) == (None, "its process was killed")
    assert (facts.ended_wall_ns or 0) - stopped_ns >= 1.4e9


def test_a_run_whose_supervisor_is_killed_has_the_code_that_it_stored(client: AgentClient, config: AgentConfig) -> None:
    job = started(client)
    running = in_state(client, job, "running")
    pid_of(config, running, supervise.CHILD)
    os.kill(pid_of(config, running), signal.SIGKILL)
    facts = ended(client, job)
    assert (facts.exit_code, facts.message) == (0, "")


def test_a_run_is_sent_one_interrupt(client: AgentClient, config: AgentConfig, command: list[str]) -> None:
    ready = Path(config.state) / "ready"
    command[0] = SLOW_END.format(ready, 2)
    job = started(client)
    wait_for(ready.exists)
    for _ in range(3):
        client.ask(StopRequest(job=job))
        time.sleep(0.4)
    assert ended(client, job).exit_code == 7


def wait_for(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


def left(config: AgentConfig, *, launched: bool) -> tuple[Queue, Turns, Launcher, Job]:
    """What an agent that was killed at a job's turn leaves. launched : its folder is there, and nothing began."""
    with serving(config) as client:
        check = checked(client)
        assert check.digest
    from agent_trial import PLAN  # noqa: PLC0415
    from assay.agent.checks import facts_of, look_ahead  # noqa: PLC0415
    from assay.agent.messages import CheckRequest  # noqa: PLC0415

    request = CheckRequest(drive=DRIVE, plan=PLAN)
    facts = JobFacts(
        id="0" * 12,
        state="running",
        drive=DRIVE,
        identity=DRIVE,
        tests=("iops",),
        folder=str(Path(config.runs) / "r"),
        uid=0,
        claimed="",
        put_wall_ns=1,
        began_wall_ns=time.time_ns(),
    )
    known = facts_of(look_ahead(config, request))
    job = Job(facts=facts, request=request, digest=check.digest, node=DRIVE, checked=known)
    queue, launcher = Queue(Path(config.state)), Launcher(Path(config.state) / "jobs")
    queue.add(job)
    if launched:
        launcher.folder(job).mkdir(parents=True)
        (launcher.folder(job) / supervise.COMMAND).write_text(json.dumps([sys.executable, "-c", SLEEP]))
    log: list[Any] = []
    return queue, Turns(Checks(config), queue, launcher, Bounded(), lambda **facts: log.append(facts)), launcher, job


@pytest.mark.parametrize("launched", [False, True])
def test_a_job_that_never_began_waits_again_and_begins_once(
    config: AgentConfig, command: list[str], *, launched: bool
) -> None:
    command[0] = "pass"
    queue, turns, launcher, job = left(config, launched=launched)
    turns.adopt()
    assert (queue.find(job.id).facts.state, queue.find(job.id).attempt) == ("waiting", 2)
    if launched:
        # Its supervisor comes late, and finds the job taken back.
        subprocess.run([sys.executable, "-m", "assay.agent.supervise", str(launcher.folder(job))], check=True)
        assert not (launcher.folder(job) / supervise.ENDED).exists()
    until = time.monotonic() + WAIT_S
    while queue.find(job.id).facts.state != "ended":
        assert time.monotonic() < until
        turns.look()
        time.sleep(0.05)
    assert queue.find(job.id).facts.exit_code == 0


def test_what_an_agent_took_back_before_it_was_killed_waits_again(config: AgentConfig) -> None:
    queue, turns, launcher, job = left(config, launched=True)
    assert launcher.take_back(job)
    assert launcher.look(job).state == "none"
    turns.adopt()
    assert (queue.find(job.id).facts.state, queue.find(job.id).attempt) == ("waiting", 2)


def test_a_job_that_is_stopped_before_its_launch_is_ended_by_whoever_stopped_it(config: AgentConfig) -> None:
    queue, turns, launcher, job = left(config, launched=False)
    assert launcher.stop(job)
    turns._launched(job)
    assert queue.find(job.id).facts.state == "running"


def test_a_damaged_claim_counts_as_begun(config: AgentConfig) -> None:
    queue, turns, launcher, job = left(config, launched=True)
    (launcher.folder(job) / supervise.BEGAN).touch()
    turns.adopt()
    assert queue.find(job.id).facts.state == "running"
    turns.look()
    assert queue.find(job.id).facts.message == "its process was killed"


def test_a_job_whose_begin_cannot_be_logged_waits(config: AgentConfig) -> None:
    queue, _, launcher, job = left(config, launched=False)
    queue.replace(job.changed(state="waiting"))

    def full(**_: object) -> None:
        raise StoreError("log", "is full", "free space")

    turns = Turns(Checks(config), queue, launcher, Bounded(), full)
    for _ in range(3):
        with pytest.raises(StoreError):
            turns.look()
    assert queue.find(job.id).facts.state == "waiting"


def test_a_refusal_ends_a_job_whatever_its_kind(config: AgentConfig) -> None:
    queue, turns, _, job = left(config, launched=False)
    queue.replace(job.changed(state="waiting"))
    Path(config.runs).rmdir()
    Path(config.runs).write_text("no folder")
    turns.look()
    facts = queue.find(job.id).facts
    assert (facts.state, facts.exit_code) == ("ended", 3)
    assert config.runs in facts.message


def test_a_job_that_was_stopped_at_its_turn_was_taken_out(config: AgentConfig) -> None:
    queue, turns, launcher, job = left(config, launched=False)
    assert launcher.take_back(job)
    queue.replace(job.changed(state="ended", message="taken out of the queue"))
    turns._launched(job)
    assert queue.find(job.id).facts.message == "taken out of the queue"


def test_a_job_that_was_held_at_its_turn_stays_held(config: AgentConfig) -> None:
    queue, turns, _, job = left(config, launched=False)
    queue.replace(job.changed(state="held"))
    turns._ended(job, 3, "has not answered", was="waiting")
    assert queue.find(job.id).facts.state == "held"


def test_a_drive_that_others_query_leaves_the_job_waiting(config: AgentConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    queue, turns, _, job = left(config, launched=False)
    queue.replace(job.changed(state="waiting"))
    monkeypatch.setattr("assay.agent.turns._CHECK_S", 0.05)
    turn = turns._bounded._turns.setdefault(DRIVE, _Turn())
    with turn.lock:
        # One that began to query it while the job waited.
        turn.since, turn.waiting = time.monotonic() + 1, 1
        with pytest.raises(HostLimitError, match="is queried for too many others"):
            turns.look()
        assert queue.find(job.id).facts.state == "waiting"


def test_a_user_asks_a_drive_twice_at_once_and_others_get_their_turn() -> None:
    bounded, hanging = Bounded(), threading.Event()
    first, second = [threading.Thread(target=bounded.ask, args=("/dev/x", 60, hanging.wait, 7)) for _ in range(2)]
    for thread in (first, second):
        thread.start()
    while bounded._turns["/dev/x"].users[7] < 2:
        time.sleep(0.01)
    with pytest.raises(HostLimitError, match="for 2 requests of this user already"):
        bounded.ask("/dev/x", 60, lambda: 1, 7)
    hanging.set()
    assert bounded.ask("/dev/x", 60, lambda: 2, 8) == 2
    for thread in (first, second):
        thread.join()
    assert bounded.ask("/dev/x", 60, lambda: 3, 7) == 3


def test_a_lack_of_threads_blocks_no_drive(monkeypatch: pytest.MonkeyPatch) -> None:
    bounded = Bounded()

    def lack(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", lack)
        with pytest.raises(HostLimitError):
            bounded.ask("/dev/x", 1, lambda: 1)
    assert bounded.ask("/dev/x", 5, lambda: 2) == 2


@pytest.mark.skipif(os.geteuid() != 0, reason="SKIPPED: needs root to give files away")
def test_a_command_of_a_member_is_not_run(config: AgentConfig, command: list[str], tmp_path: Path) -> None:
    done = tmp_path / "done"
    queue, turns, launcher, job = left(config, launched=False)
    queue.replace(job.changed(state="waiting"))
    # The state folder changes hands while the agent runs.
    os.chown(config.state, 65534, -1)
    command[0] = f"open({str(done)!r}, 'w')"
    turns.look()
    facts = queue.find(job.id).facts
    refusal = f"{config.state}: belongs to uid 65534; name another as state in agent.toml"
    assert (facts.state, facts.exit_code, facts.message) == ("ended", 2, refusal)
    # So it does between the launch and the supervisor, who has exchanged the job's folder for his own.
    os.chown(config.state, 0, -1)
    folder = launcher.folder(job)
    folder.mkdir(exist_ok=True)
    (folder / supervise.BEGAN).unlink()
    (folder / supervise.COMMAND).write_text(json.dumps([sys.executable, "-c", command[0]]))
    supervisor = [*supervise.PYTHON, "assay.agent.supervise", str(folder)]
    os.chown(folder, 65534, -1)
    refused = subprocess.run(supervisor, capture_output=True, text=True, check=False)
    assert f"{folder}: belongs to uid 65534" in refused.stderr
    assert not done.exists()
    os.chown(folder, 0, -1)
    subprocess.run(supervisor, check=True)
    assert done.exists()


def test_what_is_on_disk_is_reached_by_the_folder_that_was_checked(config: AgentConfig, command: list[str]) -> None:
    command[0] = "pass"
    with serving(config) as client:
        # A folder that takes its name is not the one that was checked.
        Path(config.state).rename(f"{config.state}-before")
        Path(config.state).mkdir(mode=0o700)
        assert ended(client, started(client)).exit_code == 0
    assert list(Path(config.state).iterdir()) == []


def test_what_began_is_not_taken_back(config: AgentConfig) -> None:
    _, _, launcher, job = left(config, launched=True)
    assert supervise.claim(launcher.folder(job), "4711 815")
    assert not launcher.take_back(job)
    assert [path.name for path in launcher.folder(job).iterdir() if "began" in path.name] == [supervise.BEGAN]


def test_too_many_drives_that_hang_are_said() -> None:
    bounded, end = Bounded(), threading.Event()
    for number in range(64):
        with pytest.raises(DeviceFailureError):
            bounded.ask(f"/dev/{number}", 0.001, end.wait)
    with pytest.raises(HostLimitError, match="agent: waits for 64 drives"):
        bounded.ask("/dev/64", 1, end.wait)
    end.set()
    wait_for(lambda: not any(turn.lock.locked() for turn in bounded._turns.values()))
    assert bounded.ask("/dev/64", 5, lambda: 3) == 3


def test_a_drive_that_hangs_is_asked_nothing_more() -> None:
    bounded = Bounded()
    with pytest.raises(DeviceFailureError, match="/dev/x: has not answered for 0 s"):
        bounded.ask("/dev/x", 0.05, lambda: time.sleep(1))
    with pytest.raises(DeviceFailureError, match="has not answered"):
        bounded.ask("/dev/x", 0.1, lambda: 1)
    assert bounded.ask("/dev/y", 5, lambda: 2) == 2
    time.sleep(1.2)
    assert bounded.ask("/dev/x", 5, lambda: 3) == 3


def test_folders_of_forgotten_jobs_are_removed(config: AgentConfig) -> None:
    queue, _, launcher, job = left(config, launched=True)
    launcher.prune(queue.all())
    assert launcher.folder(job).is_dir()
    launcher.prune(())
    assert not launcher.folder(job).exists()


def test_names_of_clients_do_not_pile_up() -> None:
    bounded = Bounded()
    for number in range(2000):
        bounded.ask(f"/dev/{number}", 5, lambda: None)
    assert len(bounded._turns) <= 1


def test_a_look_that_fails_ends_no_turns(config: AgentConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    turns, looks, pauses = left(config, launched=False)[1], [], []

    def look() -> None:
        looks.append(1)
        if len(looks) == 10:
            turns.stop()
        raise OSError

    monkeypatch.setattr(turns, "look", look)
    monkeypatch.setattr(turns._awake, "wait", pauses.append)
    turns.run()
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60, 60]
