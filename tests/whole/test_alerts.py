"""Alerts of whole runs: what they hold against the run folder, and that they change no exit code."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
import same_process
from assay.cli import assay
from assay.errors import AssayError
from assay.run import alerts
from click.testing import CliRunner
from hook_server import drip, hook

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

DRIVE = "sim:client-2011?capacity=1GB"
SHORT = (DRIVE, "--test", "wsat,lat", "--scale", "0.01", "--seed", "1", "--no-report", "--quiet", "--name", "first")


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(alerts, "ALERTS_FILE", tmp_path / "alerts.toml")
    monkeypatch.setattr(alerts, "OWNER_UID", os.geteuid())
    return tmp_path / "alerts.toml"


def write(path: Path, text: str) -> None:
    path.write_text(text, "utf-8")
    path.chmod(0o644)


def kept(path: Path, on: str = "") -> str:
    """An alert that keeps its document in a file."""
    events = f"on = [{on}]\n" if on else ""
    return f'[[alert]]\n{events}command = ["/bin/sh", "-c", "cat > {path}"]\n'


def webhook(url: str, folder: Path) -> str:
    key = folder / "key"
    key.write_text("0123456789abcdef")
    key.chmod(0o600)
    return f'[[alert]]\nurl = "{url}"\nsecret_file = "{key}"\n'


def run(*words: str) -> Result:
    return CliRunner().invoke(assay, ["run", *words], standalone_mode=False)


def shown(folder: Path) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(CliRunner().invoke(assay, ["show", str(folder), "--json"]).stdout)
    return result


def test_an_alert_says_of_a_run_what_its_folder_does(path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    write(path, kept(tmp_path / "ended", '"ended"') + kept(tmp_path / "failed", '"failed", "refused"'))
    on_end = f'echo "$ASSAY_OUTCOME $ASSAY_EXIT_CODE $ASSAY_RUN" > {tmp_path}/on_end'
    done = same_process.assay("run", *SHORT, "--out", str(folder), "--on-end", on_end)
    alert, result = json.loads((tmp_path / "ended").read_text()), shown(folder)
    assert done.returncode == alert["exit_code"] == result["exit_code"]
    assert (done.stdout, done.stderr) == ("", "")
    assert alert["run"] == result["run"] == str(folder)
    for key in ("run_id", "exit_codes"):
        assert alert[key] == result[key]
    assert {key: alert["drive"][key] for key in ("id", "path")} == {key: result["drive"][key] for key in ("id", "path")}
    stated = [(test["test"], test["ended"], test["reached"], test["withheld"]) for test in alert["tests"]]
    verdicts = [(test["name"], test["ended"], not test["verdict"]["missed"]) for test in result["tests"]]
    assert stated == [(*verdict, None) for verdict in verdicts]
    assert [test["test"] for test in alert["tests"]] == ["wsat", "lat"]
    assert (alert["name"], alert["message"], alert["trial"]) == ("first", None, False)
    assert (tmp_path / "on_end").read_text() == f"{alert['outcome']} {alert['exit_code']} {folder}\n"
    assert not (tmp_path / "failed").exists()
    assert "alert 1 (command): delivered: exit code 0" in (folder / "run.log").read_text()
    assert CliRunner().invoke(assay, ["verify", str(folder)]).exit_code == 0


def test_a_run_that_misses_limits_and_steady_state_calls_for_each(path: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f'drive = "{DRIVE}"\ntests = ["lat"]\nscale = 0.01\nseed = 1\n'
        '[[limits]]\ntest = "lat"\nmeasure = "latency_ms_p99.9"\nat_most = 0.0001\n'
    )
    write(path, kept(tmp_path / "limits", '"limits"'))
    done = run(str(plan), "--no-report", "--quiet", "--out", str(tmp_path / "run"))
    alert = json.loads((tmp_path / "limits").read_text())
    assert 8 in alert["exit_codes"]
    assert alert["exit_codes"] == shown(tmp_path / "run")["exit_codes"]
    assert done.return_value == alert["exit_codes"][0]


def test_a_refused_run_is_sent_without_a_folder(path: Path, tmp_path: Path) -> None:
    write(path, kept(tmp_path / "refused", '"refused"') + kept(tmp_path / "ended", '"ended"'))
    done = run(*SHORT, "--purge", "erase")
    assert isinstance(done.exception, AssayError)
    alert = json.loads((tmp_path / "refused").read_text())
    assert (alert["exit_code"], alert["outcome"], alert["events"]) == (2, "usage", ["refused"])
    assert (alert["run"], alert["drive"]["path"], alert["message"]) == (None, DRIVE, str(done.exception))
    assert not (tmp_path / "ended").exists()


def test_an_interrupted_run_and_its_resumption_are_sent(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from assay.run import run as running  # noqa: PLC0415 - one function of it is replaced

    write(path, kept(tmp_path / "sent"))
    whole, calls = running.run_test, [0]

    def interrupted(*arguments: Any, **named: Any) -> bool:
        calls[0] += 1
        if calls[0] == 2:
            raise KeyboardInterrupt
        return whole(*arguments, **named)

    monkeypatch.setattr(running, "run_test", interrupted)
    run(*SHORT, "--out", str(tmp_path / "run"))
    alert = json.loads((tmp_path / "sent").read_text())
    assert (alert["events"], alert["exit_code"], alert["run"]) == (["interrupted"], 130, str(tmp_path / "run"))
    assert [test["test"] for test in alert["tests"]] == ["wsat"]
    (tmp_path / "sent").unlink()
    run("--resume", str(tmp_path / "run"), "--no-report", "--quiet")
    resumed = json.loads((tmp_path / "sent").read_text())
    assert (resumed["run_id"], "ended" in resumed["events"]) == (alert["run_id"], True)
    assert [test["test"] for test in resumed["tests"]] == ["wsat", "lat"]


def test_what_goes_wrong_is_shown_and_logged_without_address_and_secret(path: Path, tmp_path: Path) -> None:
    with hook(drip(b"HTTP/1.1 302 Found\r\nLocation: /\r\n\r\n")) as server:
        closed = "https://localhost:9/topsecrettoken"
        write(path, webhook(server.url, tmp_path) + webhook(closed, tmp_path))
        done = run(*SHORT, "--out", str(tmp_path / "run"))
    text = done.stderr
    assert "alert 1 (127.0.0.1): not delivered: status 302 Found: redirects are not followed; the run is not" in text
    assert "alert 2 (localhost): not delivered: no connection (Connection refused); the run is not affected" in text
    log = (tmp_path / "run/run.log").read_text()
    assert "alert 2 (localhost): not delivered" in log
    assert done.return_value == shown(tmp_path / "run")["exit_code"]
    for content in (text, *(file.read_bytes().decode("latin1") for file in (tmp_path / "run").rglob("*.*"))):
        assert "topsecrettoken" not in content
        assert "0123456789abcdef" not in content


def test_a_faulty_file_is_named_at_the_start_and_read_again_at_the_end(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from assay.run import run as running  # noqa: PLC0415 - one function of it is replaced

    write(path, '[[alert]]\ncommand = ["mail"]\n')
    whole = running.run_test

    def corrected(*arguments: Any, **named: Any) -> bool:
        write(path, kept(tmp_path / "sent"))
        return whole(*arguments, **named)

    monkeypatch.setattr(running, "run_test", corrected)
    done = run(*SHORT, "--out", str(tmp_path / "run"))
    assert done.stderr.startswith(f"assay: alerts: {path}:2:1 alert.0.command: names no absolute path")
    assert json.loads((tmp_path / "sent").read_text())["exit_code"] == done.return_value
    monkeypatch.undo()


def test_a_file_that_others_can_write_runs_nothing(path: Path, tmp_path: Path) -> None:
    write(path, kept(tmp_path / "sent"))
    path.chmod(0o666)
    done = run(*SHORT, "--out", str(tmp_path / "run"))
    assert done.return_value == shown(tmp_path / "run")["exit_code"]
    assert done.stderr.count("can be written by other users") == 2
    assert "alerts: not sent" in (tmp_path / "run/run.log").read_text()
    assert not (tmp_path / "sent").exists()


def test_no_file_and_no_option_leave_no_trace(path: Path, tmp_path: Path) -> None:
    done = run(*SHORT, "--out", str(tmp_path / "run"))
    assert (path.exists(), done.stderr) == (False, "")
    assert "alert" not in (tmp_path / "run/run.log").read_text()


def test_alerts_are_tried(path: Path, tmp_path: Path) -> None:
    with hook() as server:
        write(path, webhook(server.url, tmp_path) + kept(tmp_path / "sent", '"failed"'))
        done = CliRunner().invoke(assay, ["alerts", "test"], standalone_mode=False)
        assert done.output.splitlines() == [
            "alert 1 (127.0.0.1): delivered: status 204 No Content",
            "alert 2 (command): delivered: exit code 0",
        ]
    assert done.exception is None
    assert json.loads(server.requests[0][1])["trial"] is True
    assert json.loads((tmp_path / "sent").read_text())["trial"] is True
    done = CliRunner().invoke(assay, ["alerts", "test"], standalone_mode=False)
    assert "alerts: 1 of 2 not delivered" in str(done.exception)
    with suppress(FileNotFoundError):
        path.unlink()
    done = CliRunner().invoke(assay, ["alerts", "test"], standalone_mode=False)
    assert "holds no alert" in str(done.exception)
