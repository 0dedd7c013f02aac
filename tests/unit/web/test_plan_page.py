"""A plan is checked by the agent while it is typed, and started once."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING, Any

import pytest
from agent_site import DRIVE, TYPED, agent_in, check, start
from assay.archive.index.folders import address_of
from every_kind import run_of
from web_site import client_of, site_in

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from assay.web.site import Site


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with agent_in(tmp_path) as site:
        yield site


def test_a_check_says_time_writes_memory_and_disk(site: Site) -> None:
    answer = check(client_of(site, "operator"))
    checked = answer["checked"]
    assert (answer["faults"], answer["general"], answer["tests"], answer["tables"]) == ({}, [], ["IOPS"], ["iops"])
    totals = dict(checked["totals"])
    assert totals["Writes"].startswith("up to ")
    assert list(totals) == ["Time", "Writes", "Memory", "Disk"]
    assert checked["text"].startswith(f"Drive     {DRIVE}")
    assert (checked["typed"], checked["loss"], checked["refused"]) == (False, [], None)
    assert len(checked["digest"]) == 64


def test_faults_are_said_before_the_agent_is_asked(site: Site) -> None:
    answer = check(client_of(site, "operator"), **{"iops.queue_depth": "x"})
    assert "checked" not in answer
    assert answer["faults"] == {"iops.queue_depth": 'is "x", not a whole number; correct it'}


@pytest.mark.parametrize(
    ("drive", "typed", "reason"),
    [
        ("sim:nothing", {}, "no simulated drive has this name"),
        ("/etc/passwd", {}, "is not a whole disk of this host"),
        (DRIVE, {"consents.acknowledge": "word"}, 'acknowledge "word": is not allowed'),
        (DRIVE, {"on_end": "/bin/rm"}, 'on_end "/bin/rm": is not allowed'),
    ],
)
def test_what_the_agent_refuses_is_said(site: Site, drive: str, typed: dict[str, Any], reason: str) -> None:
    refused = check(client_of(site, "operator"), drive, **typed)["refused"]
    assert reason in f"{refused['thing']}: {refused['reason']}"
    assert not refused["agent"]
    assert refused["remedy"]


def test_a_fault_of_a_consent_stands_at_its_field(site: Site) -> None:
    answer = check(client_of(site, "operator"), **{"consents.drive_writes_max": "-1"})
    assert "must be more than 0" in answer["faults"]["consents.drive_writes_max"]


def test_a_checked_plan_is_started_once(site: Site, tmp_path: Path) -> None:
    client = client_of(site, "operator")
    checked = check(client)["checked"]
    wrong = client.post("/plan/start", json={"digest": checked["digest"], "identity": "other"})
    assert (wrong.status_code, "is not its identity" in wrong.json()["error"]) == (409, True)
    sent = {"digest": checked["digest"], "identity": checked["identity"]}
    assert client.post("/plan/start", json=sent).json() == {"to": "/queue"}
    again = client.post("/plan/start", json=sent)
    assert (again.status_code, "used" in again.json()["error"]) == (409, True)
    lines = [json.loads(line) for line in (tmp_path / "agent.jsonl").read_text("utf-8").splitlines()]
    starts = [line for line in lines if line.get("verb") == "start"]
    assert all(line["claimed"].startswith("link ") and line["claimed"].endswith(", operator") for line in starts)
    assert [line["result"][:8] for line in starts] == ["received", "confirma", "received", "ok", "received", "confirma"]


@pytest.mark.parametrize(
    "content", ["[]", "{}", '{"digest": 1, "identity": ""}', "x", '{"digest": "x", "identity": ""}']
)
def test_a_start_of_another_form_is_refused(site: Site, content: str) -> None:
    assert client_of(site, "operator").post("/plan/start", content=content).status_code == 400


@pytest.mark.parametrize(
    "content", ["[]", "{}", '{"drive": 1, "values": {}}', '{"drive": "", "values": {"scale": 1}}', "["]
)
@pytest.mark.parametrize("path", ["/plan/check", "/plan/file"])
def test_a_plan_of_another_form_is_refused(tmp_path: Path, path: str, content: str) -> None:
    answer = client_of(site_in(tmp_path), "operator").post(path, content=content)
    assert (answer.status_code, "load the page again" in answer.json()["error"]) == (400, True)


def test_without_an_agent_the_page_says_what_is_missing(tmp_path: Path) -> None:
    refused = check(client_of(site_in(tmp_path), "operator"))["refused"]
    assert refused["agent"]
    assert (refused["thing"], refused["reason"]) == (str(tmp_path / "agent.sock"), "no agent answers")
    assert "assay agent" in refused["remedy"]


def test_a_viewer_sees_the_form_and_changes_nothing(tmp_path: Path) -> None:
    client = client_of(site_in(tmp_path), "viewer")
    page = client.get("/plan").text
    assert 'id="plan-save"' not in page
    assert "plan.js" not in page
    assert "disabled" in page
    for path in ("check", "start", "file", "open"):
        assert client.post(f"/plan/{path}", json={"drive": DRIVE, "values": TYPED}).status_code == 403


def test_a_plan_is_saved_and_opened_again(tmp_path: Path) -> None:
    client = client_of(site_in(tmp_path), "operator")
    saved = client.post("/plan/file", json={"drive": DRIVE, "values": TYPED}).json()["toml"]
    assert tomllib.loads(saved)["drive"] == DRIVE
    opened = client.post("/plan/open", json={"toml": saved}).json()
    assert (opened["drive"], opened["values"]["scale"], opened["notices"]) == (DRIVE, "0.02", [])
    assert client.post("/plan/file", json=opened).json()["toml"] == saved
    other = client.post("/plan/open", json={"toml": '[replay]\ntrace = "/x"'}).json()
    assert other["notices"] == ["Left out, because it names a file or is not known here: replay.trace"]


@pytest.mark.parametrize("text", ["[", "scale = {x = 1}\ntests = 3", "wsat = {workloads = 1}"])
def test_a_file_that_is_no_plan_is_refused(tmp_path: Path, text: str) -> None:
    answer = client_of(site_in(tmp_path), "operator").post("/plan/open", json={"toml": text})
    assert (answer.status_code, "plan file" in answer.json()["error"]) == (400, True)


def test_a_plan_without_a_drive_is_not_saved(tmp_path: Path) -> None:
    answer = client_of(site_in(tmp_path), "operator").post("/plan/file", json={"drive": " ", "values": TYPED})
    assert (answer.status_code, "names no drive" in answer.json()["error"]) == (400, True)


def test_a_run_is_planned_again_without_its_seed(tmp_path: Path) -> None:
    site = site_in(tmp_path)
    run_of("iops", tmp_path / "runs/night", seed=5)
    address = address_of(tmp_path / "runs/night")
    page = client_of(site, "viewer").get(f"/plan?run={address}&drive=sim:ideal").text
    assert 'name="drive" value="sim:ideal"' in page
    assert '<input type="checkbox" value="iops" checked>' in page
    assert 'name="seed" data-kind="integer" value=""' in page


@pytest.mark.parametrize("plan", [{"tests": 3}, {"iops": 3, "limits": 3}, {"report": {"tags": {"a": 1}}, "bad": []}])
def test_a_stored_plan_of_another_form_is_said(tmp_path: Path, plan: dict[str, Any]) -> None:
    site = site_in(tmp_path)
    run_of("iops", tmp_path / "runs/night", seed=5)
    path = tmp_path / "runs/night/run.json"
    document = json.loads(path.read_bytes())
    path.write_text(json.dumps({**document, "plan": plan}), "utf-8")
    answer = client_of(site, "viewer").get(f"/plan?run={address_of(path.parent)}")
    assert answer.status_code in {200, 409}
    assert "bad" in answer.text


def test_a_run_that_is_not_there_is_named(tmp_path: Path) -> None:
    answer = client_of(site_in(tmp_path), "viewer").get("/plan?run=0123")
    assert (answer.status_code, "is not in the folders of this server" in answer.text) == (404, True)


def test_started_runs_wait_in_the_queue(site: Site) -> None:
    client = client_of(site, "operator")
    start(client)
    assert "IOPS" in client.get("/queue/list").text
