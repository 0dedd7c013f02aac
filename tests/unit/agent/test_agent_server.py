"""The socket answers every client in words, whatever is sent, and stays there for the others."""

import errno
import json
import os
import socket
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from agent_trial import DRIVE, PLAN, checked, serving
from assay.agent import drives, server
from assay.agent.channel import AgentClient
from assay.agent.config import AgentConfig
from assay.agent.messages import CheckRequest, DrivesRequest, QueueRequest, StartRequest, StopRequest
from assay.agent.server import tell_ready
from assay.agent.verbs import Agent, AgentLog
from assay.engine.records import DriveCondition, DriveIdentity
from assay.errors import AssayError, HostLimitError, StoreError, UsageError


def sent(config: AgentConfig, content: bytes, *, end: bool = False) -> dict[str, dict[str, str]]:
    """The answer to raw bytes. end : nothing more follows."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(30)
        connection.connect(config.socket)
        try:
            connection.sendall(content)
            if end:
                connection.shutdown(socket.SHUT_WR)
        except BrokenPipeError:
            pass
        return dict(json.loads(b"".join(iter(lambda: connection.recv(65536), b""))))


def test_what_a_user_sends_is_cut_in_the_log(client: AgentClient, config: AgentConfig) -> None:
    with pytest.raises(AssayError):
        client.ask(CheckRequest(drive="sim:" + "\U0001f600" * 500, plan={}, claimed="\U0001f600" * 200))
    assert max(map(len, Path(config.log).read_bytes().splitlines())) < 2000


@pytest.mark.usefixtures("client")
def test_malformed_and_huge_messages_are_refused(config: AgentConfig) -> None:
    assert "is not JSON" in sent(config, b"nonsense\n")["error"]["reason"]
    assert "is not JSON" in sent(config, b"", end=True)["error"]["reason"]
    assert sent(config, b"x" * 70_000 + b"\n")["error"]["reason"] == "is longer than 65536 bytes"
    assert "answer" in sent(config, b'{"verb": "queue"}', end=True)


@pytest.mark.usefixtures("client")
def test_a_slow_message_is_cut_off(config: AgentConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "READ_S", 0.3)
    assert sent(config, b'{"verb"')["error"]["reason"] == "did not end within 0.3 s"


def test_a_plan_that_is_too_long_is_refused_before_it_is_sent(client: AgentClient) -> None:
    with pytest.raises(UsageError, match="is longer than 65536 bytes"):
        client.ask(CheckRequest(drive=DRIVE, plan={"report": {"notes": "x" * 70_000}}))


def test_a_hundred_clients_are_answered_or_told_to_come_again(client: AgentClient) -> None:
    answers: list[str] = []

    def ask() -> None:
        try:
            answers.append("answer" if client.ask(QueueRequest()).jobs == () else "jobs")
        except Exception as error:  # noqa: BLE001 - its words are looked at
            answers.append(str(error))

    threads = [threading.Thread(target=ask) for _ in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 100
    assert set(answers) <= {"answer", "agent: has too many connections; try again"}
    assert client.ask(QueueRequest()).jobs == ()


def test_open_connections_of_one_user_are_limited(
    client: AgentClient, config: AgentConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "READ_S", 2.0)
    with ExitStack() as open_ones:
        for _ in range(server.USER_CONNECTIONS_MAX):
            open_ones.enter_context(socket.socket(socket.AF_UNIX)).connect(config.socket)
        time.sleep(0.3)
        with pytest.raises(Exception, match="has too many connections"):
            client.ask(QueueRequest())
    time.sleep(0.5)
    assert client.ask(QueueRequest()).jobs == ()


def test_root_has_places_of_its_own() -> None:
    connections = server._Connections(Agent.__new__(Agent))
    taken = [uid for uid in range(1, 5) for _ in range(20) if connections._takes(uid)]
    assert [taken.count(uid) for uid in range(1, 5)] == [16, 16, 16, 0]
    assert connections._takes(0)
    connections._lets_go(1)
    connections._lets_go(1)
    assert connections._takes(4)
    assert not connections._takes(4)


def test_a_lack_of_descriptors_ends_no_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    ended, calls = threading.Event(), []

    class Listener(socket.socket):
        def accept(self) -> tuple[socket.socket, Any]:
            calls.append(1)
            if len(calls) == 3:
                ended.set()
            raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(server, "_PAUSE_S", 0.01)
    with Listener(socket.AF_UNIX) as listener:
        server._Connections(Agent.__new__(Agent)).take(listener, ended)
    assert len(calls) == 3


def test_clients_that_leave_at_once_keep_nobody_out(
    client: AgentClient, config: AgentConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "_PAUSE_S", 3600)
    idle = [socket.socket(socket.AF_UNIX) for _ in range(server.USER_CONNECTIONS_MAX)]
    for connection in idle:
        connection.connect(config.socket)
    for _ in range(60):
        with socket.socket(socket.AF_UNIX) as hasty:
            hasty.connect(config.socket)
    for connection in idle:
        connection.close()
    assert client.ask(QueueRequest()).jobs == ()


def test_a_short_line_of_the_log_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log, write = AgentLog(tmp_path / "log"), os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda descriptor, line: write(descriptor, line[:9]))
        with pytest.raises(StoreError, match="has no space for a line"):
            log.write(verb="start")
    log.write(verb="stop")
    log.close()
    torn, line = (tmp_path / "log").read_bytes().splitlines()
    assert (len(torn), json.loads(line)["verb"]) == (9, "stop")


def test_nothing_bars_a_stop(client: AgentClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.agent.verbs.USER_LINES_MAX", 1)
    checked(client)
    with pytest.raises(HostLimitError):
        checked(client)
    with pytest.raises(UsageError, match="is not in the queue"):
        client.ask(StopRequest(job="0" * 12))


def test_what_cannot_be_logged_is_not_done(config: AgentConfig) -> None:
    with serving(config.model_copy(update={"log": "/dev/full"})) as client:
        check = checked(client)
        with pytest.raises(StoreError, match="/dev/full: No space left on device"):
            client.ask(StartRequest(digest=check.digest or "", identity=check.identity))
        assert client.ask(QueueRequest()).jobs == ()
        # But nothing bars a stop.
        with pytest.raises(UsageError, match="is not in the queue"):
            client.ask(StopRequest(job="0" * 12))


def test_a_user_does_not_fill_the_log(client: AgentClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.agent.verbs.USER_LINES_MAX", 2)
    for _ in range(2):
        with pytest.raises(UsageError):
            client.ask(StopRequest(job="0" * 12))
    with pytest.raises(HostLimitError, match="agent: has 2 requests of this user in a minute; try again"):
        client.ask(StopRequest(job="0" * 12))
    assert client.ask(QueueRequest()).jobs == ()


@pytest.mark.usefixtures("client")
def test_the_folder_of_the_runs_is_closed_to_others(config: AgentConfig) -> None:
    assert Path(config.runs).stat().st_mode & 0o777 == 0o750


def test_a_service_manager_is_told_when_the_agent_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "n"))
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "n"))
        tell_ready()
        assert manager.recv(100) == b"READY=1"
    assert "NOTIFY_SOCKET" not in os.environ
    tell_ready()


def test_drives_are_listed(client: AgentClient) -> None:
    listed = client.ask(DrivesRequest()).drives
    assert {drive.path for drive in listed} >= {"sim:client-2011", "sim:ideal"}
    assert all(drive.may_erase == (drive.kind == "simulated") for drive in listed)


def test_a_drive_that_hangs_is_said_and_others_are_served(client: AgentClient, monkeypatch: pytest.MonkeyPatch) -> None:
    facts: dict[str, Any] = {"kind": "block", "capacity_bytes": 10**9, "logical_block_bytes": 512}
    hung, well = (DriveIdentity(id=name, path=f"/dev/{name}", **facts) for name in ("hung", "well"))
    monkeypatch.setattr(drives, "disks", lambda: [hung, well])
    monkeypatch.setattr(drives, "in_use", lambda _: ())
    monkeypatch.setattr(drives, "examined", lambda drive: drive)
    monkeypatch.setattr(drives, "_ASK_S", 0.2)
    condition = DriveCondition(temperature_c=31.5, health={"media_errors": 1})
    monkeypatch.setattr(drives, "read_condition", lambda drive: time.sleep(2) if drive is hung else condition)
    for _ in range(2):
        first, second = client.ask(DrivesRequest()).drives[:2]
        assert (first.note, first.health) == ("has not answered for 0 s", None)
        assert second.health
        assert (second.note, second.health.temperature_c, second.health.counts) == ("", 31.5, {"media_errors": 1})


def test_the_log_has_user_digest_and_result(client: AgentClient, config: AgentConfig) -> None:
    check = client.ask(CheckRequest(drive=DRIVE, plan=PLAN, claimed="mia"))
    with pytest.raises(UsageError):
        client.ask(StopRequest(job="0" * 12))
    client.ask(DrivesRequest())
    lines = [json.loads(line) for line in Path(config.log).read_text("utf-8").splitlines()]
    assert [(line["verb"], line["uid"], line["result"][:5]) for line in lines] == [
        ("check", os.getuid(), "ok"),
        ("stop", os.getuid(), "recei"),
        ("stop", os.getuid(), "usage"),
    ]
    assert (lines[0]["claimed"], lines[0]["digest"], lines[0]["pid"]) == ("mia", check.digest, os.getpid())


def test_a_defect_ends_one_request(client: AgentClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("assay.agent.checks.Checks.check", broken)
    with pytest.raises(Exception, match="ZeroDivisionError in this program, not in its input"):
        checked(client)
    assert client.ask(QueueRequest()).jobs == ()


def test_a_second_agent_is_refused(client: AgentClient, config: AgentConfig) -> None:
    with pytest.raises(StoreError, match="state: is used by another agent"):
        server.serve(config, lambda: None, threading.Event())
    assert client.ask(QueueRequest()).jobs == ()


def test_the_socket_of_a_dead_agent_is_replaced(config: AgentConfig) -> None:
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(config.socket)
    with serving(config) as client:
        assert client.ask(QueueRequest()).jobs == ()
    assert not Path(config.socket).exists()


def test_without_an_agent_the_remedy_is_said(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no agent answers; root starts it: assay agent"):
        AgentClient(tmp_path / "none").ask(DrivesRequest())
