"""The page of a trend: what it chooses, what it says where there is nothing, and that its address is its state."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

import pytest
from assay.archive.index.folders import run_address, site
from trend_runs import Given, several, store
from web_site import client_of, site_in

if TYPE_CHECKING:
    from pathlib import Path

    from assay.archive.index.location import Place
    from starlette.testclient import TestClient

STEP = (100.0, 101.0, 99.0, 100.0, 90.0, 91.0, 89.0, 90.0)


@pytest.fixture
def client(tmp_path: Path, place: Place) -> TestClient:
    return client_of(site_in(tmp_path, tmp_path, place=place), "viewer")


def stepped(place: Place) -> None:
    """Eight runs, of which the last four have another firmware and a tenth less."""
    store(place, [
        Given(folder=f"r{at:02}", day=at, value=value, firmware="AB"[at > 3], mark="warn" if at == 1 else None)
        for at, value in enumerate(STEP)
    ])  # fmt: skip


def address(folder: str) -> str:
    return run_address(site(), "/runs", folder)


def page(client: TestClient, query: str = "") -> str:
    answer = client.get(f"/trend{query}")
    assert answer.status_code == 200
    return unescape(answer.text)


def chosen(text: str) -> list[str]:
    return re.findall(r'value="([^"]*)" selected', text)


def test_an_address_without_words_shows_the_newest_drive(client: TestClient, place: Place) -> None:
    stepped(place)
    store(place, [Given(folder="old", day=-9, value=1.0, model="Old")], parent="/others")
    text = page(client)
    assert chosen(text) == ["1000000000000:Model M", "iops@1.1", "iops:block_kib=4,read_pct=100", "time"]
    assert "1 change in 8 runs." in text
    assert "firmware B: -10.0 % (-11.3 to -8.6 %)" in text
    assert ">worse<" in text


def test_the_table_has_every_run_with_its_link(client: TestClient, place: Place) -> None:
    stepped(place)
    rows = re.findall(r"<tr id=.*?</tr>", page(client))
    assert len(rows) == 8
    assert f'href="/runs/{address("r00")}">r00</a>' in rows[0]
    assert "97.52 to 102.5" in rows[0]
    assert "baseline" in rows[0]
    assert "host's part up to 2 %" in rows[1]
    assert "-10.0 %" in rows[4]
    assert "Change 1: firmware B" in rows[4]


def test_the_link_of_a_run_makes_it_the_baseline(client: TestClient, place: Place) -> None:
    stepped(place)
    (link,) = re.findall(rf'href="(/trend\?[^"]*baseline={address("r04")})"', page(client, "?by=firmware"))
    text = page(client, link.removeprefix("/trend"))
    assert chosen(text)[-1] == "firmware"
    rows = re.findall(r"<tr id=.*?</tr>", text)
    assert "+11.1 %" in rows[0]
    assert "this run" in rows[4]
    assert f'name="baseline" value="{address("r04")}"' in text


@pytest.mark.parametrize(
    ("query", "notice"),
    [
        ("?drive=1:None", "No drive model 1:None has results that count; 1000000000000:Model M is shown instead."),
        ("?test=tp@9", "No test tp@9 has results that count; iops@1.1 is shown instead."),
        ("?metric=x", "No metric x has results that count; iops:block_kib=4,read_pct=100 is shown instead."),
        ("?baseline=gone", "The baseline gone is no run of this history; the first run is shown instead."),
        ("?by=<script>", ""),
    ],
)
def test_words_that_name_nothing_are_noted(client: TestClient, place: Place, query: str, notice: str) -> None:
    stepped(place)
    notices = re.findall(r'class="notice"[^>]*>(.*?)</p>', page(client, query))
    assert notices == ([notice] if notice else [])


def test_hosts_are_series_with_a_column(client: TestClient, place: Place) -> None:
    store(place, [*several(STEP), *(Given(folder=f"x{at}", day=at + 0.5, value=50.0, host="h2") for at in range(4))])
    text = page(client, "?by=host")
    assert "<b>host-1</b>: 1 change in 8 runs." in text
    assert "<b>h2</b>: No significant change in 4 runs." in text
    assert text.count("<td>h2</td>") == 4


def test_tests_under_other_conditions_are_chosen_apart(client: TestClient, place: Place) -> None:
    for at, depth in enumerate((16, 32)):
        held = {"demand.queue_depth": depth, "demand.thread_count": 2, "data.path": None}
        store(place, [Given(folder=f"r{at}", day=at, value=100.0 * depth, conditions=held)])
    text = page(client, "?test=iops@1.1")
    tests = dict(re.findall(r'<option value="(iops@1.1@\w{12})"[^>]*>(.*?)</option>', text))
    assert list(tests.values()) == [f"iops, edition 1.1 (demand, queue depth {depth})" for depth in (32, 16)]
    assert chosen(text)[1] == next(iter(tests))
    assert 'class="notice"' not in text
    assert re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", text) == [
        ("demand, queue depth", "32"), ("demand, thread count", "2")
    ]  # fmt: skip
    text = page(client, f"?test={list(tests)[1]}")
    assert re.findall(r'<td class="number">([\d,]+)</td>', text)[:1] == ["1,600"]


def test_empty_states_say_what_to_do(client: TestClient, place: Place) -> None:
    assert "assay run DRIVE" in page(client)
    store(place, [Given(folder="w", day=0, value=1.0, verdict="withheld", withheld="x")])
    text = page(client)
    assert "No run of this drive has results that count." in text
    assert 'href="/runs"' in text


def test_few_runs_are_not_judged(client: TestClient, place: Place) -> None:
    store(place, several([1.0, 2.0]))
    assert "Not judged: fewer than 4 runs." in page(client)


def test_names_of_others_are_text(client: TestClient, place: Place) -> None:
    evil = "<script>alert(1)</script>\x1b"
    store(place, several(STEP, model=evil, firmware=evil, host=evil, tags=(evil,), name=evil))
    for grouping in ("time", "firmware", "host", "tag"):
        answer = client.get("/trend", params={"by": grouping})
        assert "<script>alert" not in answer.text
        assert "\x1b" not in answer.text


def test_the_page_needs_a_session_of_a_person(tmp_path: Path, place: Place) -> None:
    stepped(place)
    site_ = site_in(tmp_path, tmp_path, place=place)
    for client in (client_of(site_), client_of(site_, "program")):
        answer = client.get("/trend")
        assert answer.status_code == 401
        assert "Model M" not in answer.text


def test_an_index_that_is_none_is_an_error_with_a_remedy(client: TestClient, tmp_path: Path) -> None:
    (tmp_path / "index.sqlite").write_bytes(b"no database" * 100)
    answer = client.get("/trend")
    assert answer.status_code == 500
    assert "remove it to rebuild it" in answer.text


def test_runs_that_notes_exclude_leave_the_trend(
    client: TestClient, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    stepped(place)
    without: set[str] = set()
    monkeypatch.setattr("assay.web.trend.excluded", lambda _: without)
    without |= {address(f"r{number:02}") for number in range(5)}
    assert "Not judged: fewer than 4 runs." in page(client)
    without |= {address(f"r{number:02}") for number in range(5, 8)}
    assert "Every run with this number is hidden or marked as bad." in page(client)
