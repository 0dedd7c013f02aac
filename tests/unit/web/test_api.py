"""The API: the models of ``--json``, filters as of ``assay runs``, tokens, and errors as JSON."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from assay.archive.index.folders import run_address, site
from assay.cli.status import _facts
from assay.run.store.status import run_state
from assay.web.api import ADDRESSES, LAST_MAX, run_status, running_states
from assay.web.app import ADDRESSES as ALL_ADDRESSES
from assay.web.forms import AddressedRun, ApiError, TrendFacts
from assay.web.openapi import openapi
from assay.web.pages.compare import comparison_job
from assay.words.outcomes import NOT_CHECKED
from every_kind import run_of
from openapi_text import FILE, openapi_text
from trend_runs import Given, several, store
from web_site import client_of, site_in

if TYPE_CHECKING:
    from pathlib import Path

    from assay.archive.index.location import Place
    from starlette.testclient import TestClient

STEP = (100.0, 101.0, 99.0, 100.0, 90.0, 91.0, 89.0, 90.0)
PATHS = [address.path.replace("{run}", "x") for address in ADDRESSES]


@pytest.fixture
def program(tmp_path: Path, place: Place) -> TestClient:
    return client_of(site_in(tmp_path, tmp_path, place=place), "program")


def names(client: TestClient, query: str) -> list[str]:
    answer = client.get(f"/api/v1/runs{query}")
    assert answer.status_code == 200
    runs = [AddressedRun.model_validate(run) for run in answer.json()]
    return [run.run.rpartition("/")[2] for run in runs]


def error(answer: Any, status: int) -> ApiError:
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/json"
    return ApiError.model_validate(answer.json())


def mixed(place: Place) -> None:
    store(place, [
        Given(folder="a", day=1, value=1.0, firmware="FW1", tags=("nightly",)),
        Given(folder="b", day=3, value=2.0, firmware="FW2", model="Other", host="lab-7", name="second"),
        Given(folder="c", day=2, value=3.0, verdict="not-steady"),
    ])  # fmt: skip


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["a", "c", "b"]),
        ("?last=2", ["c", "b"]),
        ("?firmware=fw", ["a", "b"]),
        ("?firmware=fw1&firmware=fw2&model=other", ["b"]),
        ("?model=model", ["a", "c"]),
        ("?host=LAB", ["b"]),
        ("?name=sec", ["b"]),
        ("?tag=nightly", ["a"]),
        ("?verdict=not-steady", ["c"]),
        ("?test=iops&edition=1.1", ["a", "c", "b"]),
        ("?test=tp", []),
        ("?label=conforming", ["a", "c", "b"]),
        ("?since=2026-09-23T15:00", ["b"]),
        ("?until=2026-09-22", ["a"]),
        ("?drive=S1", ["a", "c", "b"]),
    ],
)
def test_runs_are_filtered_as_the_command_does(
    program: TestClient, place: Place, query: str, expected: list[str]
) -> None:
    mixed(place)
    assert names(program, query) == expected


def test_a_run_has_its_numbers_and_its_address(program: TestClient, place: Place) -> None:
    mixed(place)
    address = run_address(site(), "/runs", "a")
    run = AddressedRun.model_validate(program.get(f"/api/v1/runs/{address}").json())
    assert (run.address, run.run, run.tags) == (address, "/runs/a", ("nightly",))
    assert error(program.get("/api/v1/runs/unknown"), 404).remedy == "list the runs: /api/v1/runs"


def test_what_another_host_vouches_for_counts_nothing(program: TestClient, place: Place) -> None:
    store(place, several([1.0]), where="another")
    (run,) = program.get("/api/v1/runs").json()
    assert run["run"] == "another:/runs/r00"
    assert run["level"] == NOT_CHECKED


@pytest.mark.parametrize(
    ("path", "thing"),
    [
        ("/api/v1/runs?verdict=good", "verdict"),
        ("/api/v1/runs?colour=red", "colour"),
        ("/api/v1/runs?last=0", "last"),
        (f"/api/v1/runs?last={LAST_MAX + 1}", "last"),
        ("/api/v1/runs?last=9999999999999999999999", "last"),
        ("/api/v1/runs?last=%D9%A3", "last"),
        ("/api/v1/runs?since=yesterday", "--since"),
        ("/api/v1/runs?missing=maybe", "missing"),
        ("/api/v1/trend?by=colour", "by"),
        ("/api/v1/status?x=1", "x"),
        ("/api/v1/compare?run=a", "run"),
        ("/api/v1/compare?run=a&run=b", "run"),
    ],
)
def test_bad_parameters_are_errors_with_thing_and_remedy(
    program: TestClient, place: Place, path: str, thing: str
) -> None:
    mixed(place)
    found = error(program.get(path), 400)
    assert (found.error, found.thing) == ("usage", thing)
    assert found.remedy


@pytest.mark.parametrize("path", [*PATHS, "/metrics"])
def test_a_session_or_a_token_is_needed(tmp_path: Path, place: Place, path: str) -> None:
    site_ = site_in(tmp_path, tmp_path, place=place)
    answer = client_of(site_).get(path)
    assert error(answer, 401).remedy == "assay serve link --role program"
    assert answer.headers["www-authenticate"] == "Bearer"
    for client in (client_of(site_, "program"), client_of(site_, "viewer"), client_of(site_, "operator")):
        assert client.get(path).status_code in {200, 400, 404}


def test_a_token_that_ended_or_is_of_another_role_is_none(tmp_path: Path, place: Place) -> None:
    site_ = site_in(tmp_path, tmp_path, place=place)
    client = client_of(site_)
    link, token = site_.sessions.links.make("program", 1)
    viewer = site_.sessions.links.make("viewer", 1)[1]
    for header, status in (
        (f"Bearer {token}", 200), (f"bearer {token}", 200), (f"Basic {token}", 401), (f"Bearer {viewer}", 401),
        ("Bearer ", 401), ("Bearer \xff", 401),
    ):  # fmt: skip
        assert client.get("/api/v1/runs", headers=[(b"authorization", header.encode("latin-1"))]).status_code == status
    site_.sessions.links.revoke(link.id)
    assert client.get("/api/v1/runs", headers={"authorization": f"Bearer {token}"}).status_code == 401


def test_a_program_changes_nothing(program: TestClient) -> None:
    for path in (*PATHS, "/metrics"):
        assert program.post(path).status_code == 403
        assert program.delete(path).status_code == 403


def test_a_trend_has_unrounded_numbers_and_what_to_choose(program: TestClient, place: Place) -> None:
    store(place, several(STEP))
    facts = TrendFacts.model_validate(program.get("/api/v1/trend?by=host").json())
    (series,) = facts.series
    (change,) = series.changes
    assert (series.group, change.index, change.outcome) == ("host-1", 4, "worse")
    assert change.size == pytest.approx(-0.100005, abs=1e-6)
    assert [run.value for run in series.runs] == list(STEP)
    assert series.runs[4].from_baseline == pytest.approx(-0.1)
    assert series.runs[0].interval_low == pytest.approx(97.516, abs=1e-3)
    assert facts.metrics[0].metric == facts.metric == "iops:block_kib=4,read_pct=100"
    assert facts.drives[0].drive == facts.drive == "1000000000000:Model M"
    again = {"drive": facts.drive, "test": facts.test, "metric": facts.metrics[2].metric}
    assert TrendFacts.model_validate(program.get("/api/v1/trend", params=again).json()).metric == again["metric"]


def test_a_comparison_is_made_once_and_then_answered(
    tmp_path: Path, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = {name: SimpleNamespace(address=name, folder=name, listed=SimpleNamespace(journal_hash="h")) for name in "ab"}
    monkeypatch.setattr("assay.web.api.indexed_run", lambda _, address: runs.get(address))
    site_ = site_in(tmp_path, tmp_path, place=place)
    client = client_of(site_, "program")
    path = "/api/v1/compare?run=a&run=b"
    for _ in range(2):
        answer = client.get(path)
        assert (answer.status_code, answer.json(), answer.headers["retry-after"]) == (202, {"state": "waiting"}, "2")
    assert site_.jobs.waiting_count == 1
    assert "assay_server_jobs_waiting 1" in client.get("/metrics").text
    key = comparison_job(site_, list(runs.values()), {"despite": False, "repeats": False}).key  # type: ignore[arg-type]
    (site_.cache / key).mkdir()
    (site_.cache / key / "comparison.json").write_text('{"schema": 1}')
    assert client.get(path).json() == {"schema": 1}
    assert client.get(f"{path}&despite=true").status_code == 202
    monkeypatch.setattr(site_.jobs, "failure", lambda _: SimpleNamespace(text="the runs are unlike"))
    assert error(client.get(f"{path}&repeats=true"), 503).reason == "the runs are unlike"


def test_an_empty_index_has_no_runs_and_no_trend(program: TestClient) -> None:
    assert program.get("/api/v1/runs").json() == []
    assert TrendFacts.model_validate(program.get("/api/v1/trend").json()).series == ()


def test_an_index_that_is_none_is_an_error(program: TestClient, tmp_path: Path) -> None:
    (tmp_path / "index.sqlite").write_bytes(b"no database" * 100)
    assert "remove it to rebuild it" in error(program.get("/api/v1/runs"), 503).remedy


def test_a_status_is_what_the_command_prints(tmp_path: Path) -> None:
    run_of("tp", tmp_path / "run")
    state = run_state(tmp_path / "run")
    assert run_status(state).as_json() == json.loads(json.dumps(_facts(state)))
    assert running_states([tmp_path, tmp_path / "gone"]) == []


def test_the_document_is_that_of_the_models() -> None:
    assert FILE.read_text("utf-8") == openapi_text(), "run tools/openapi"


def test_the_document_has_every_address_and_resolves() -> None:
    document = openapi()
    served = {address.path for address in ALL_ADDRESSES if address.path.startswith("/api/")}
    assert document["paths"].keys() == served
    references = re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(document))
    assert set(references) <= document["components"]["schemas"].keys()
    run = document["paths"]["/api/v1/runs/{run}"]["get"]
    assert run["parameters"][0]["name"] == "run"
    assert run["responses"].keys() == {"200", "400", "401", "404", "503"}
