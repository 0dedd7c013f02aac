"""Who reaches the agent's socket, and what others are told: that there is no agent, or that they have no right."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import assay.agent.config
import pytest
from agent_trial import serving
from assay.agent.config import AgentConfig, check_folders
from assay.agent.verbs import AgentLog
from assay.dut.real.notes import Note
from assay.errors import PlanError, StoreError

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="SKIPPED: needs root to act as another user")
MEMBER, OTHER, GROUP = 65534, 65533, 5
CLIENT = """import os, sys
from pathlib import Path
from assay.agent.channel import AgentClient
from assay.agent.messages import QueueRequest
os.setgroups([]); os.setgid(int(sys.argv[2])); os.setuid(int(sys.argv[3]))
try:
    print(AgentClient(Path(sys.argv[1])).ask(QueueRequest()))
except Exception as error:
    print(error)
"""


@pytest.fixture
def open_config(config: AgentConfig) -> Iterator[AgentConfig]:
    """A configuration whose socket lies in a folder that every user can pass."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        Path(name).chmod(0o755)
        yield config.model_copy(update={"socket": f"{name}/s", "group": "tty"})


def told(config: AgentConfig, group: int, user: int = MEMBER) -> str:
    """What a user is told, or the queue."""
    arguments = [config.socket, str(group), str(user)]
    return subprocess.run(
        [sys.executable, "-c", CLIENT, *arguments], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_the_group_alone_may_connect_and_others_are_told_how(open_config: AgentConfig) -> None:
    socket = open_config.socket
    assert told(open_config, GROUP) == f"{socket}: no agent answers; root starts it: assay agent"
    with serving(open_config):
        assert told(open_config, GROUP) == "jobs=()"
        right = f"{socket}: may not be used by this user; root runs usermod -aG tty nobody; then sign in again"
        assert told(open_config, MEMBER) == right
        assert "root adds this user to the group in agent.toml" in told(open_config, OTHER, OTHER)


def test_a_folder_that_is_closed_means_that_no_agent_answers(open_config: AgentConfig) -> None:
    folder = Path(open_config.socket).parent
    folder.chmod(0o700)
    reason = f"no agent answers: {folder} is closed to this user"
    assert told(open_config, GROUP) == f"{open_config.socket}: {reason}; root starts it: assay agent"


def test_an_agent_whose_group_cannot_reach_it_does_not_start(config: AgentConfig, open_config: AgentConfig) -> None:
    closed = Path(open_config.socket).parent / "closed"
    closed.mkdir(mode=0o750)
    inside = open_config.model_copy(update={"socket": f"{closed}/s"})
    with pytest.raises(StoreError, match=f"cannot be reached by group tty: {closed} is closed to it; name another"):
        check_folders(inside)
    os.chown(closed, -1, GROUP)
    check_folders(inside)
    # Root reaches every folder.
    closed.chmod(0o700)
    check_folders(inside.model_copy(update={"group": ""}))
    assert Path(config.state).stat().st_mode & 0o777 == 0o700


def test_the_folder_of_notes_is_opened_and_its_notes_are_closed(
    open_config: AgentConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(open_config.socket).parent / "assay"
    monkeypatch.setattr(assay.agent.config, "NOTES", folder)
    here = open_config.model_copy(update={"socket": f"{folder}/agent.sock"})
    before = os.umask(0o077)
    try:
        note = Note(folder / "queue-loop0.json")
        note.write({"nomerges": "0"})
        assert folder.stat().st_mode & 0o777 == 0o700
        with serving(here):
            assert folder.stat().st_mode & 0o777 == 0o755
            assert told(here, GROUP) == "jobs=()"
            note.write({"nomerges": "1"})
    finally:
        os.umask(before)
    assert note.path.stat().st_mode & 0o777 == 0o600
    assert note.read()["nomerges"] == "1"


@pytest.mark.parametrize("key", ["state", "runs", "socket", "log", "drive_files"])
def test_a_folder_of_the_agent_that_a_member_owns_is_refused(config: AgentConfig, tmp_path: Path, key: str) -> None:
    (tmp_path / "of-member").mkdir()
    os.chown(tmp_path / "of-member", MEMBER, GROUP)
    for below in ("", "/deeper"):
        place = f"{tmp_path}/of-member{below}" + ("/x" if key in ("socket", "log") else "")
        named = config.model_copy(update={key: place})
        with pytest.raises(PlanError, match=f"of-member: belongs to uid {MEMBER}; .* as {key} in agent.toml"):
            check_folders(named)
    assert list((tmp_path / "of-member").iterdir()) == []


def test_the_log_alone_may_lie_below_a_folder_of_a_group(config: AgentConfig, tmp_path: Path) -> None:
    (tmp_path / "log").mkdir()
    (tmp_path / "log").chmod(0o775)
    check_folders(config.model_copy(update={"log": f"{tmp_path}/log/assay/agent.jsonl"}))
    for key, place in (("log", "log/agent.jsonl"), ("state", "log/assay"), ("runs", "log/assay")):
        with pytest.raises(PlanError, match=f"log: can be written by other users; .* as {key} in"):
            check_folders(config.model_copy(update={key: f"{tmp_path}/{place}"}))
    (tmp_path / "log").chmod(0o777)
    with pytest.raises(PlanError, match="log: can be written by other users"):
        check_folders(config.model_copy(update={"log": f"{tmp_path}/log/assay/agent.jsonl"}))


def test_a_log_that_a_member_can_write_is_refused(config: AgentConfig) -> None:
    Path(config.log).touch(0o600)
    Path(config.log).chmod(0o620)
    with pytest.raises(StoreError, match="others may write to it; name another as log"):
        AgentLog(Path(config.log))
