"""The queue shows every job with what may be done to it, and an operator changes it."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any

import pytest
from agent_site import WAIT_S, agent_in, start
from assay.agent.messages import JobFacts
from assay.archive.index.folders import address_of, parent_of
from assay.web.pages.queue import queue_rows
from assay.words.outcomes import exit_words
from web_site import client_of, site_in

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from assay.web.site import Site
    from starlette.testclient import TestClient

LONG = {"scale": "1", "iops.round_least": "1000", "iops.round_limit": "1000"}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with agent_in(tmp_path) as site:
        yield site


def until(client: TestClient, text: str) -> str:
    """The list, once it has a text."""
    end = time.monotonic() + WAIT_S
    while text not in (shown := client.get("/queue/list").text):
        assert time.monotonic() < end, shown
        time.sleep(0.1)
    return shown


def jobs(shown: str, action: str) -> list[str]:
    """The jobs that have a button."""
    return re.findall(rf'data-action="{action}" data-job="(\w+)"', shown)


def change(client: TestClient, action: str, job: str, **more: Any) -> str:
    answer = client.post("/queue/change", json={"action": action, "job": job, **more})
    assert answer.status_code == 200, answer.text
    return answer.text


def facts(**more: Any) -> JobFacts:
    known = {"id": "0" * 12, "state": "ended", "drive": "sim:x", "identity": "sim:x", "tests": ("iops",), "folder": ""}
    return JobFacts(**{**known, "uid": 0, "claimed": "", "put_wall_ns": 1, **more})


def test_an_empty_queue_says_what_to_do(site: Site) -> None:
    shown = client_of(site, "viewer").get("/queue/list").text
    assert "The queue is empty" in shown
    assert 'href="/plan"' in shown


def test_without_an_agent_the_queue_says_what_is_missing(tmp_path: Path) -> None:
    client = client_of(site_in(tmp_path), "viewer")
    assert client.get("/queue").status_code == 200
    assert "no agent answers" in client.get("/queue/list").text


def test_jobs_are_moved_held_released_and_taken_out(site: Site) -> None:
    client = client_of(site, "operator")
    start(client, **LONG)
    until(client, 'data-action="stop"')
    for scale in ("0.02", "0.03", "0.04"):
        start(client, scale=scale)
    first, second, third = jobs(client.get("/queue/list").text, "hold")
    assert jobs(change(client, "move", third, position=0), "hold") == [third, first, second]
    shown = change(client, "hold", third)
    assert re.search(r"takes \d+[^,<]* to \d+[^,<]*, since", shown)
    assert (jobs(shown, "release"), jobs(shown, "hold")) == ([third], [first, second])
    assert jobs(change(client, "release", third), "hold") == [third, first, second]
    for job in (first, second, third):
        shown = change(client, "stop", job)
    assert shown.count("taken out of the queue") == 3
    (running,) = jobs(shown, "stop")
    change(client, "stop", running)
    assert "stopped" in until(client, "stopped")


def test_an_ended_run_leads_to_its_report_and_to_the_next(site: Site) -> None:
    client = client_of(site, "operator")
    start(client)
    shown = until(client, "complete")
    address = re.findall(r'href="/runs/(\w+)"', shown)[0]
    assert client.get(f"/runs/{address}").status_code in {200, 202}
    again = re.findall(r'href="(/plan\?run=[^"]+)"', shown)[0].replace("&amp;", "&")
    assert '<input type="checkbox" value="iops" checked>' in client.get(again).text


def test_a_viewer_sees_jobs_and_no_buttons(site: Site) -> None:
    start(client_of(site, "operator"), **LONG)
    client = client_of(site, "viewer")
    shown = until(client, "/runs/")
    assert "<button" not in shown
    assert "queue.js" not in client.get("/queue").text
    job = client_of(site, "operator")
    (running,) = jobs(job.get("/queue/list").text, "stop")
    assert client.post("/queue/change", json={"action": "stop", "job": running}).status_code == 403
    change(job, "stop", running)
    until(client, "stopped")


@pytest.mark.parametrize(
    "content",
    ["[]", "{}", "x", '{"action": "stop"}', '{"action": "stop", "job": "../x"}', '{"action": "list", "job": "x"}',
     '{"action": "move", "job": "000000000000", "position": -1}', '{"action": "hold", "job": "000000000000", "x": 1}'],
)  # fmt: skip
def test_a_change_of_another_form_is_refused(site: Site, content: str) -> None:
    answer = client_of(site, "operator").post("/queue/change", content=content)
    assert (answer.status_code, "load the page again" in answer.json()["error"]) == (409, True)


def test_a_job_that_is_gone_is_named(site: Site) -> None:
    answer = client_of(site, "operator").post("/queue/change", json={"action": "hold", "job": "0" * 12})
    assert (answer.status_code, "is not in the queue" in answer.json()["error"]) == (409, True)


def test_a_run_in_a_folder_that_is_not_served_is_said(tmp_path: Path) -> None:
    folder = tmp_path / "a/run"
    folder.mkdir(parents=True)
    (folder / "run.json").touch()
    job = facts(folder=str(folder), exit_code=7, began_wall_ns=1)
    (row,) = queue_rows([job], ()).ended
    assert (row.run, row.again, row.not_served, row.outcome) == ("", "", True, "not steady")
    (row,) = queue_rows([job], (parent_of(folder.parent),)).ended
    assert (row.run, row.not_served) == (address_of(folder), False)


def test_a_job_has_the_titles_of_its_tests_and_its_length() -> None:
    (row,) = queue_rows([facts(tests=("tp", "oio", "gone"), span_ns=(29 * 10**9, 160 * 10**9))], ()).ended
    assert (row.tests, row.span) == ("Throughput (TP), OIO Throttling, gone", "29 s to 2 min 40 s")


def test_the_job_that_is_next_is_the_first_that_is_not_held() -> None:
    states = {"a" * 12: "held", "b" * 12: "waiting", "c" * 12: "waiting"}
    rows = queue_rows([facts(id=job, state=state) for job, state in states.items()], ()).waiting
    assert [(row.number, row.next, row.last) for row in rows] == [(1, False, False), (2, True, False), (3, False, True)]


@pytest.mark.parametrize(
    ("code", "words"),
    [(0, "complete"), (7, "not steady"), (99, "exit code 99"), (-9, "ended by signal 9"), (None, "exit code unknown")],
)
def test_exit_codes_have_words(code: int | None, words: str) -> None:
    assert exit_words(code) == words


def test_a_job_that_was_refused_at_its_turn_says_why() -> None:
    (row,) = queue_rows([facts(exit_code=3, message="changed since it was shown: findings")], ()).ended
    assert (row.outcome, row.level) == ("refused by the gate", "bad")
    (row,) = queue_rows([facts(message="taken out of the queue")], ()).ended
    assert (row.outcome, row.level) == ("not begun", "soft")
