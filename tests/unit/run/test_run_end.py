"""The record of the end of a run, and which alerts are sent of it."""

from __future__ import annotations

import json
import os
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from assay.errors import AssayError, DriveBusyError, InternalError, InterruptedRunError
from assay.run import alerts
from assay.run.alerts import Alert, deliveries
from assay.run.ending import EVENTS, RunEnd, RunResult, failed_with, run_end, trial_end, variables_of
from hook_server import hook

if TYPE_CHECKING:
    from assay.run.ending import Event

OUTCOMES: list[tuple[RunResult, int, str, tuple[Event, ...]]] = [
    (RunResult(), 0, "ok", ("ok", "ended")),
    (RunResult(exit_codes=(5,)), 5, "withheld", ("withheld", "ended")),
    (RunResult(exit_codes=(7,)), 7, "not-steady", ("not-steady", "ended")),
    (RunResult(exit_codes=(8,)), 8, "limits", ("limits", "ended")),
    (RunResult(exit_codes=(5, 7, 8)), 5, "withheld", ("withheld", "not-steady", "limits", "ended")),
]


@pytest.mark.parametrize(("result", "code", "outcome", "events"), OUTCOMES)
def test_a_run_whose_tests_are_over_has_ended(
    result: RunResult, code: int, outcome: str, events: tuple[Event, ...]
) -> None:
    end = run_end(result, None, "/dev/x")
    assert (end.exit_code, end.outcome, end.events) == (code, outcome, events)


def test_variables_are_texts() -> None:
    expected = {"ASSAY_RUN": "", "ASSAY_EXIT_CODE": "3", "ASSAY_OUTCOME": "drive-busy"}
    assert variables_of("", 3, "drive-busy") == expected


def errors(base: type[AssayError] = AssayError) -> list[type[AssayError]]:
    return [base, *(each for inner in base.__subclasses__() for each in errors(inner))]


@pytest.mark.parametrize("error", errors(), ids=lambda error: error.slug)
def test_every_error_is_refused_failed_or_interrupted(error: type[AssayError]) -> None:
    result = failed_with(error("/dev/x", "is busy", "free it"), "why")
    assert (result.exit_code, result.outcome) == (error.exit_code, error.slug)
    expected = {2: "refused", 3: "refused", 130: "interrupted"}.get(error.exit_code, "failed")
    assert result.events == (expected,)


def test_classes_stand_for_errors_without_a_text() -> None:
    assert failed_with(InternalError).outcome == "internal"
    assert run_end(failed_with(InterruptedRunError), None, "x").message is None


def test_a_refused_run_has_its_message_and_no_folder() -> None:
    end = run_end(failed_with(DriveBusyError, "/dev/x: is \x1b mounted"), None, "/dev/x", ended_wall_ns=TIME_NS)
    assert end.message == "/dev/x: is \\x1b mounted"
    assert (end.run, end.run_id, end.tests, end.drive.path, end.drive.id) == (None, None, None, "/dev/x", None)
    assert (end.ended, end.ended_wall_ns) == ("2026-01-01T00:00:00Z", TIME_NS)


TIME_NS = 1_767_225_600_999_999_999


def test_a_folder_that_cannot_be_read_is_named_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{")
    end = run_end(RunResult(exit_codes=(6,)), tmp_path, "/dev/x")
    assert (end.run, end.tests) == (str(tmp_path), None)


def test_the_document_has_the_keys_of_its_form() -> None:
    content = json.loads(trial_end().document)
    assert set(content) == {field.alias or name for name, field in RunEnd.model_fields.items()}
    assert (content["schema"], content["trial"], content["outcome"]) == (1, True, "ok")
    assert "\n" not in trial_end().document.decode()


def command(*words: str, on: tuple[Event, ...] = EVENTS) -> Alert:
    return Alert(on=on, command=words)


def shell(script: str) -> Alert:
    return command("/bin/sh", "-c", script)


def test_an_alert_is_sent_of_the_ends_it_names(tmp_path: Path) -> None:
    commands = [command("/usr/bin/touch", str(tmp_path / event), on=(event,)) for event in EVENTS]
    end = run_end(RunResult(exit_codes=(5, 8)), None, "/dev/x")
    assert [str(delivery) for delivery in deliveries(commands, end)] == [
        f"alert {number} (command): delivered: exit code 0" for number in (2, 4, 5)
    ]
    assert {path.name for path in tmp_path.iterdir()} == {"withheld", "limits", "ended"}
    assert len(list(deliveries(commands, trial_end()))) == len(EVENTS)


def test_a_command_gets_the_document_without_the_users_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LD_PRELOAD", "/nowhere")
    script = f"cat > {tmp_path}/in; env > {tmp_path}/env; pwd > {tmp_path}/pwd; echo '$HOME' \"$0\""
    end = run_end(RunResult(exit_codes=(7,)), None, "/dev/x")
    (delivery,) = deliveries([shell(script)], end)
    assert delivery.delivered
    assert (tmp_path / "in").read_bytes() == end.document
    assert (tmp_path / "pwd").read_text() == "/\n"
    names = {line.partition("=")[0] for line in (tmp_path / "env").read_text().splitlines()}
    assert names - {"PWD", "SHLVL", "_", "OLDPWD"} == {"LC_ALL", "PATH"}


def test_a_command_need_not_read_a_long_document() -> None:
    end = run_end(RunResult(), None, "/dev/" + "x" * 200_000)
    assert [delivery.response for delivery in deliveries([command("/bin/true")], end)] == ["exit code 0"]


@pytest.mark.parametrize(
    ("alert", "reason"),
    [
        (shell("exit 9"), "exit code 9"),
        (shell("kill -KILL $$"), "ended by signal 9"),
        (command("/nowhere/mail", "topsecrettoken"), "/nowhere/mail is not installed"),
        (shell("cat /dev/zero; : topsecrettoken"), "/bin/sh says more than 1048576 bytes"),
        (shell("echo topsecrettoken >&2; exit 1"), "exit code 1"),
    ],
)
def test_a_command_that_fails_is_named_without_its_arguments(alert: Alert, reason: str) -> None:
    (delivery,) = deliveries([alert], trial_end())
    assert str(delivery) == f"alert 1 (command): not delivered: {reason}"


def test_a_command_that_hangs_is_killed_with_its_children(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alerts, "COMMAND_SECONDS", 0.5)
    script = f"sleep 1000 & echo $! > {tmp_path}/pid; wait"
    texts = [str(delivery) for delivery in deliveries([shell(script), command("/bin/true")], trial_end())]
    assert texts[0] == "alert 1 (command): not delivered: /bin/sh did not come back"
    assert texts[1] == "alert 2 (command): delivered: exit code 0"
    state = Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}/stat")
    assert not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z"


def test_the_limit_of_a_command_is_a_minute() -> None:
    assert alerts.COMMAND_SECONDS == 60


def test_a_webhook_is_sent_with_the_secret_of_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alerts, "OWNER_UID", os.geteuid())
    key = tmp_path / "key"
    key.write_text("0123456789abcdef")
    key.chmod(0o600)
    end = run_end(RunResult(), None, "/dev/x")
    with hook() as server:
        alert = Alert(url=server.url, secret_file=str(key))
        assert [delivery.response for delivery in deliveries([alert], end)] == ["status 204 No Content"]
        key.chmod(0o644)
        (delivery,) = deliveries([alert], end)
        assert "alert 1 (127.0.0.1): not delivered: " in str(delivery)
        assert "can be read by every user" in str(delivery)
    assert [json.loads(body)["drive"]["path"] for _, body in server.requests] == ["/dev/x"]


def test_the_guide_shows_every_key_and_every_word_of_the_file() -> None:
    page = (Path(__file__).parents[3] / "docs/guide/alerts.md").read_text("utf-8")
    (document,) = re.findall(r"^```json\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    content = json.loads(document)
    assert json.loads(RunEnd.model_validate(content).document) == content
    assert set(re.findall(r"^\| `([a-z-]+)` \|", page, re.MULTILINE)[1:]) == set(EVENTS)
    (file,) = re.findall(r"^```toml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert [Alert.model_validate(alert).label(1) for alert in tomllib.loads(file)["alert"]] == [
        "alert 1 (hooks.example.org)",
        "alert 1 (command)",
    ]
