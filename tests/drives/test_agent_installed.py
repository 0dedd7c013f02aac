"""The agent and the web page as ``assay agent --install`` installs them: under systemd, with the rights of their units.

Goal: what the units' limits forbid by mistake, and what becomes of a run whose agent ends. ``make test-installed``.
"""

from __future__ import annotations

import json
import os
import pwd
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from assay.agent.channel import AgentClient
from assay.agent.messages import CheckAnswer, CheckRequest, DrivesRequest, QueueRequest, StartRequest
from assay.dut.real.gate import examined
from assay.dut.real.identity import disks
from assay.errors import StoreError
from emulated import INSIDE, is_emulated
from guest.booted import INSTALLED
from stacked import SECTORS, dmsetup, mapped, run, until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.agent.messages import DriveFacts, JobFacts, Request
    from assay.engine.records import DriveIdentity
    from emulated import FindDrive

pytestmark = pytest.mark.skipif(
    not INSIDE or not Path("/run/systemd/system").is_dir(), reason="SKIPPED: needs a guest under systemd"
)
CONFIG = Path("/etc/assay/agent.toml")
MEMBER, OUTSIDER = "trial-member", "trial-outsider"
UNITS = ("assay-agent.service", "assay-serve.service")
RUN_S, INTERRUPTED = 40, 130
"""The run goes on while the agent starts twice."""
WRITES = {"name": "w", "lines": [{"size_bytes": 4096, "read_percent": 0}], "queue_depth": 1}
PLAN: dict[str, Any] = {
    "stall_limit_seconds": 3600,
    "io_time_limit_seconds": 3600,
    "studies": ["workload"],
    "workload": {"purge": False, "stages": [{"name": "a", "time_s": RUN_S, "streams": [WRITES]}]},
}
CLIENT = """import socket, sys
with socket.socket(socket.AF_UNIX) as connection:
    connection.connect("/run/assay/agent.sock")
    connection.sendall(sys.stdin.buffer.read() + b"\\n")
    while chunk := connection.recv(65536):
        sys.stdout.buffer.write(chunk)
"""


@pytest.fixture(scope="module")
def client() -> Iterator[AgentClient]:
    """A client of the installed agent, which may erase one drive; its user is root."""
    lines = run(str(INSTALLED / "bin/assay"), "agent", "--install").splitlines()
    assert lines[-1].startswith("start both: ")
    (listed,) = [disk.id for disk in disks() if disk.serial == "Q-NVME-A"]
    CONFIG.write_text(CONFIG.read_text("utf-8").replace("may_erase = []", f"may_erase = [{json.dumps(listed)}]"))
    for user, groups in ((MEMBER, ["--groups", "assay"]), (OUTSIDER, [])):
        run("useradd", *groups, user)
    for command in lines[-1].removeprefix("start both: ").split(" && "):
        run(*command.split())
    client = AgentClient()
    until(lambda: answers(client))
    # The page has no word for its unit that it is there.
    until(lambda: [*Path("/run/assay-web").glob("serve-*.sock")])
    yield client
    show_journal()


def answers(client: AgentClient) -> bool:
    """Whether the agent answers."""
    try:
        client.ask(QueueRequest())
    except StoreError:
        return False
    return True


def show_journal() -> None:
    """Print what the units wrote, for whoever reads a failure."""
    print(run("journalctl", "--no-pager", "--lines=60", *(f"--unit={unit}" for unit in UNITS)))  # noqa: T201


def as_user(user: str, request: Request) -> subprocess.CompletedProcess[str]:
    """Send a request as an ordinary user with the groups that the system gives them."""
    group = pwd.getpwnam(user).pw_gid
    return subprocess.run(
        [INSTALLED / "bin/python", "-I", "-c", CLIENT],
        input=request.model_dump_json(),
        user=user,
        group=group,
        extra_groups=os.getgrouplist(user, group),
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )


def answer_to_member(request: Request) -> dict[str, Any]:
    """What the agent answers a member of the group. Fails where that is an error."""
    done = as_user(MEMBER, request)
    reply = json.loads(done.stdout or "{}")
    assert "answer" in reply, (reply, done.stderr)
    answer: dict[str, Any] = reply["answer"]
    return answer


def shown(client: AgentClient, path: str) -> DriveFacts:
    """A drive as the agent shows it."""
    return next(facts for facts in client.ask(DrivesRequest()).drives if facts.path == path)


def show(unit: str, fact: str) -> str:
    """A property of a unit."""
    return run("systemctl", "show", "--value", f"--property={fact}", unit)


def job_of(client: AgentClient, job: str) -> JobFacts:
    """The facts of a job."""
    return next(facts for facts in client.ask(QueueRequest()).jobs if facts.id == job)


def await_new_agent(client: AgentClient, before: str) -> None:
    """Wait until another process of the agent answers. before : main process of the unit until now."""
    until(lambda: show(UNITS[0], "MainPID") not in {"0", before} and answers(client))


def test_both_units_are_active_and_the_page_answers(client: AgentClient) -> None:
    assert answers(client)
    until(lambda: "127.0.0.1" in run("ss", "--listening", "--tcp", "--numeric"))
    assert run("systemctl", "is-active", *UNITS).split() == ["active", "active"]
    assert [show(unit, "NRestarts") for unit in UNITS] == ["0", "0"]
    assert "127.0.0.1:837" in run("ss", "--listening", "--tcp", "--numeric")


def test_members_of_the_group_get_links_of_the_page(client: AgentClient) -> None:
    assert answers(client)
    command = [str(INSTALLED / "bin/assay"), "serve", "link", "--port", "837"]
    assert "http://127.0.0.1:837/#" in run("runuser", "--user", MEMBER, "--", *command)
    assert "has no server of this user" in run(
        "sh", "-c", f"runuser --user {OUTSIDER} -- {' '.join(command)} 2>&1; true"
    )


def test_only_members_of_the_group_may_ask(client: AgentClient) -> None:
    assert answers(client)
    assert "jobs" in answer_to_member(QueueRequest())
    refused = as_user(OUTSIDER, QueueRequest())
    assert refused.returncode
    assert "PermissionError" in refused.stderr


def test_the_unit_hides_no_drive_and_adds_no_refusal(client: AgentClient) -> None:
    drives = {facts.path: facts for facts in client.ask(DrivesRequest()).drives}
    for disk in disks():
        assert is_emulated(disk)
        facts = drives[disk.path]
        assert (facts.id, facts.serial, facts.model) == (disk.id, disk.serial, disk.model_number)
        # This process has all rights of root.
        assert facts.refusals == examined(disk).refusals
        assert facts.note == ""
        assert facts.may_erase == (disk.serial == "Q-NVME-A")
        assert facts.health is not None
    healths = [facts.health for facts in drives.values() if facts.serial == "Q-NVME-A"]
    assert healths[0]
    assert healths[0].temperature_c is not None, "smartctl was not run"


def test_a_drive_mounted_after_the_agent_began_is_refused(
    client: AgentClient, drive: FindDrive, tmp_path: Path
) -> None:
    disk = drive("Q-SATA")
    run("mkfs.ext4", "-q", "-F", disk.path)
    run("mount", disk.path, str(tmp_path))
    try:
        facts = shown(client, disk.path)
        assert any(str(tmp_path) in refusal for refusal in facts.refusals), facts.refusals
        assert facts.note == "in use: not queried"
    finally:
        run("umount", str(tmp_path))
        run("wipefs", "--all", disk.path)


def test_a_run_goes_on_while_its_agent_is_restarted_and_killed(client: AgentClient, drive: FindDrive) -> None:
    job = started(drive("Q-NVME-A"))
    unit = f"assay-job-{job}-1.service"
    until(lambda: show(unit, "MainPID") != "0" or job_of(client, job).state == "ended")
    process, agent = show(unit, "MainPID"), show(UNITS[0], "MainPID")
    assert process != "0", job_of(client, job)
    run("systemctl", "restart", UNITS[0])
    await_new_agent(client, agent)
    agent = show(UNITS[0], "MainPID")
    assert (job_of(client, job).state, show(unit, "MainPID")) == ("running", process)
    run("systemctl", "kill", "--signal=KILL", UNITS[0])
    await_new_agent(client, agent)
    assert (job_of(client, job).state, show(unit, "MainPID")) == ("running", process)
    until(lambda: job_of(client, job).state == "ended")
    facts = job_of(client, job)
    assert stored_code(facts) == facts.exit_code
    # An interpreted guest stalls, so that results may be withheld.
    assert facts.exit_code in {0, 5}, facts
    run("runuser", "--user", "assay-web", "--", "cat", f"{facts.folder}/run.json")


def test_the_end_of_the_unit_of_a_run_is_one_interrupt(client: AgentClient, drive: FindDrive) -> None:
    job = started(drive("Q-NVME-A"))
    until(lambda: bool(job_of(client, job).folder) and (Path(job_of(client, job).folder) / "journal.jsonl").exists())
    run("systemctl", "stop", f"assay-job-{job}-1.service")
    until(lambda: job_of(client, job).state == "ended")
    facts = job_of(client, job)
    assert (facts.exit_code, stored_code(facts)) == (INTERRUPTED, INTERRUPTED)


def stored_code(facts: JobFacts) -> int:
    """The exit code that a run wrote at its end."""
    last = json.loads((Path(facts.folder) / "journal.jsonl").read_text("utf-8").splitlines()[-1])
    assert last["kind"] == "run_ended"
    return int(last["data"]["exit_code"])


def started(disk: DriveIdentity) -> str:
    """The job of a run of a drive that an ordinary user had checked and started."""
    check = CheckAnswer.model_validate(answer_to_member(CheckRequest(drive=disk.path, plan=PLAN)))
    assert check.digest, check.refused
    jobs = answer_to_member(StartRequest(digest=check.digest, identity=disk.id))["jobs"]
    job = max(jobs, key=lambda job: job["put_wall_ns"])
    assert job["uid"] == pwd.getpwnam(MEMBER).pw_uid
    return str(job["id"])


def test_a_suspended_drive_delays_the_answer_by_a_bounded_time(client: AgentClient, drive: FindDrive) -> None:
    with mapped("assay-hung", f"0 {SECTORS} linear {drive('Q-SCSI').path} 0") as disk:
        dmsetup("suspend", "--nolockfs", "assay-hung")
        began = time.monotonic()
        try:
            notes = [shown(client, disk.path).note for _ in range(2)]
        finally:
            dmsetup("resume", "assay-hung")
        assert all("has not answered for" in note for note in notes), notes
        assert time.monotonic() - began < 60
        until(lambda: "has not answered" not in shown(client, disk.path).note)
