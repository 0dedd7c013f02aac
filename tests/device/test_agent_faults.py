"""What could make the agent erase the wrong drive: each fault is refused or said, and nothing is written."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from agent_drive import PLAN, SIZE, Trial, as_member, begun, stored_code
from assay.agent.messages import Consents, DrivesRequest, QueueRequest, StartRequest
from assay.errors import AssayError
from conftest import LoopDrive, allocate, command
from openings import openings

AGAIN = "was confirmed before the agent was started: confirm again to release it"


@pytest.fixture
def trial(loop_drive: LoopDrive, tmp_path: Path) -> Iterator[Trial]:
    drive = loop_drive(SIZE)
    with begun(tmp_path, drive, tmp_path / "loop0.img") as trial:
        yield trial


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
        assert "changed since it was shown: contents, writes; check the plan again" in facts.message
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
    left = next(one for one in trial.jobs() if one.id == job)
    if holding:
        assert (left.state, left.message) == ("held", "" if state == "held" else AGAIN)
        assert next(one for one in trial.jobs() if one.id == holding).state == "running"
        trial.stop(holding)
    if left.state == "held":
        # So is one that was killed before its process began.
        trial.client.ask(QueueRequest(action="release", job=job, identity=left.identity))
    facts = trial.wait(job)
    assert facts.exit_code == stored_code(facts), facts
    assert json.loads((Path(facts.folder) / "run.json").read_bytes())["identity"]["path"] == trial.drive


@pytest.mark.skipif(os.geteuid() != 0, reason="SKIPPED: needs root to act as another user")
def test_the_check_of_another_user_cannot_be_started(loop_drive: LoopDrive, tmp_path: Path, open_folder: Path) -> None:
    drive = loop_drive(SIZE)
    with begun(open_folder, drive, tmp_path / "loop0.img", group="tty") as trial:
        check, before = trial.check(), trial.written()
        answer = as_member(trial, StartRequest(digest=check.digest or "", identity=check.identity))
        assert "is unknown, used, or older than 10 min" in answer
        assert trial.written() == before
        lines = [json.loads(line) for line in (open_folder / "agent.jsonl").read_text("utf-8").splitlines()]
    assert [(line["verb"], line["uid"]) for line in lines] == [("check", 0), ("start", 65534), ("start", 65534)]
