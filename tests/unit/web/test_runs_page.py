"""The list of runs: filters, sorting, pages, empty states, and what it says of runs that lie elsewhere."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

import pytest
from assay.archive.index.folders import run_address, site
from assay.archive.index.read import RunNote, reading
from assay.archive.index.search import find_runs
from assay.archive.index.write import write_note
from assay.web.pages.runs import view_of
from index_runs import a_test, drive, listed_run, store
from starlette.datastructures import QueryParams
from web_site import client_of, site_with

if TYPE_CHECKING:
    from pathlib import Path

    from assay.web.site import Site

_RUNS = (
    listed_run("a", name="Night <b>1</b>", started_wall_ns=10**18, tags=("bay 2",), tests=(a_test(reads=50.0),),
               drive_facts=drive("Model X", "SN1", "1.0")),
    listed_run("b", started_wall_ns=2 * 10**18, tests=(a_test("tp-128", "not-steady", reads=1234.5),),
               drive_facts=drive("Model Y", "SN2", "1.1")),
    listed_run("c", fault="journal.jsonl: is damaged", drive="unknown", label_class="unknown"),
)  # fmt: skip


@pytest.fixture
def shown(tmp_path: Path) -> Site:
    return site_with(tmp_path, *_RUNS)


def folders(text: str) -> list[str]:
    """Names of the listed runs, in order."""
    cells = re.findall(r'<td class="run"><a [^>]*>(.*?)</a>', text)
    return [unescape(cell) for cell in cells]


def test_runs_stand_with_drive_outcome_and_key_results(shown: Site) -> None:
    text = client_of(shown, "viewer").get("/runs").text
    assert folders(text) == ["b", "Night <b>1</b>", "c"]
    assert "<b>1</b>" not in text
    assert 'datetime="2001-09-09T01:46:40Z"' in text
    assert re.search(r'<span class="bad">not steady</span>\s*<span class="label">tp-128', text)
    assert re.search(r'<span class="bad">unreadable</span>\s*<span class="label">journal.jsonl: is damaged', text)
    assert ">1,234.5<" in text
    assert text.count("reads (IOPS)") == 2
    assert "3 runs;" in text


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("model=model+x", ["Night <b>1</b>"]), ("model=x&model=y", ["b", "Night <b>1</b>"]),
        ("tag=BAY+2", ["Night <b>1</b>"]),
        ("verdict=not-steady", ["b"]), ("verdict=unreadable", ["c"]), ("test=tp-128", ["b"]), ("drive=sn2", ["b"]),
        ("until=2010-01-01", ["Night <b>1</b>"]), ("since=2010-01-01", ["b"]), ("q=night+sn1", ["Night <b>1</b>"]),
        ("q=%00", []), ("firmware=1.&sort=firmware", ["Night <b>1</b>", "b"]),
        ("sort=run", ["b", "c", "Night <b>1</b>"]),
        ("sort=started&order=up", ["Night <b>1</b>", "b", "c"]),
        ("sort=iops&sort=reads&sort=IOPS", ["Night <b>1</b>"]), ("unknown=1", ["b", "Night <b>1</b>", "c"]),
    ],
)  # fmt: skip
def test_the_address_filters_and_sorts(shown: Site, asked: str, expected: list[str]) -> None:
    names = folders(client_of(shown, "viewer").get(f"/runs?{asked}").text)
    assert names[: len(expected)] == expected if asked.startswith("sort") else names == expected


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ("page=0", "Page"), ("page=x", "Page"), ("page=" + "9" * 50, "Page"), ("page=%C2%B2", "Page"),
        ("sort=nothing", "Sort"), ("sort=a&sort=b", "Sort"), ("order=round", "Order"), ("since=soon", "Since"),
        ("since=2026-01-01&since=2026-01-02", "Since"), ("since=0001-01-01T00:00%2B23:59", "Since"),
        ("verdict=good", "Outcome"), ("label=x", "Label"), ("q=" + "x" * 201, "Q"), ("model=a&" * 21, "Model"),
    ],
)  # fmt: skip
def test_an_address_that_cannot_be_is_refused_with_its_remedy(shown: Site, asked: str, says: str) -> None:
    answer = client_of(shown, "viewer").get(f"/runs?{asked}")
    assert (answer.status_code, f"<h1>{says}</h1>" in answer.text) == (400, True)


def test_a_time_beyond_any_run_lists_none(shown: Site) -> None:
    assert folders(client_of(shown, "viewer").get("/runs?since=9999-12-31").text) == []
    assert len(folders(client_of(shown, "viewer").get("/runs?until=9999-12-31").text)) == 2


def test_a_click_on_a_head_turns_the_order_round(shown: Site) -> None:
    text = client_of(shown, "viewer").get("/runs?model=model").text
    (link,) = re.findall(r'aria-sort="descending"><a href="([^"]*)"', text)
    assert unescape(link) == "?model=model&sort=started&order=up"
    turned = client_of(shown, "viewer").get(f"/runs{unescape(link)}").text
    assert 'aria-sort="ascending"' in turned
    assert folders(turned) == ["Night <b>1</b>", "b"]


def test_a_key_result_is_a_head_that_sorts(shown: Site) -> None:
    links = re.findall(r'<a href="([^"]*)">reads \(IOPS\)', client_of(shown, "viewer").get("/runs").text)
    assert [unescape(link) for link in links] == [
        "?sort=tp-128&sort=reads&sort=IOPS",
        "?sort=iops&sort=reads&sort=IOPS",
    ]


def test_pages_have_a_hundred_runs_each(tmp_path: Path) -> None:
    shown = site_with(tmp_path, *(listed_run(f"r{number:03}", started_wall_ns=number) for number in range(120)))
    first, second, third = (client_of(shown, "viewer").get(f"/runs?page={page}&name=").text for page in (1, 2, 3))
    assert (len(folders(first)), len(folders(second)), len(folders(third))) == (100, 20, 0)
    assert "120 runs, page 1 of 2" in first
    assert (re.findall(r'rel="next" href="([^"]*)"', first), 'rel="prev"' in first) == (["?page=2"], False)
    assert 'rel="next"' not in second
    assert "Page 3 is beyond the last." in third
    assert 'href="?page=2">Last page' in third


def test_runs_of_another_host_say_where_their_report_is(shown: Site) -> None:
    store(shown.place, [listed_run("theirs", tests=(a_test(reads=7.0),))], "bench-7", "/data")
    text = client_of(shown, "viewer").get("/runs?test=iops").text
    assert "on bench-7; import its bundle for the report" in text
    assert text.count('name="run"') == 1
    address = run_address("bench-7", "/data", "theirs")
    assert "This run lies on bench-7" in client_of(shown, "viewer").get(f"/runs/{address}").text


def test_runs_of_other_folders_of_this_host_are_not_shown(shown: Site) -> None:
    store(shown.place, [listed_run("private")], site(), "/private")
    assert "private" not in folders(client_of(shown, "viewer").get("/runs").text)
    assert client_of(shown, "viewer").get(f"/runs/{run_address(site(), '/private', 'private')}").status_code == 404


def test_a_hidden_run_leaves_the_list_and_a_bad_one_stays_marked(shown: Site) -> None:
    addresses = {name: run_address(site(), shown.parents[0], name) for name in "ab"}
    write_note(shown.place, addresses["a"], RunNote(hidden=True))
    write_note(shown.place, addresses["b"], RunNote(bad=True, reason="<i>fan</i>", note="see log"))
    text = client_of(shown, "viewer").get("/runs").text
    assert folders(text) == ["b", "c"]
    assert "Bad: &lt;i&gt;fan&lt;/i&gt;" in text
    assert "see log" in text
    assert len(folders(client_of(shown, "viewer").get("/runs?hidden=1").text)) == 3


def test_only_operators_see_what_they_may_change(shown: Site) -> None:
    assert "data-note=" not in client_of(shown, "viewer").get("/runs").text
    assert client_of(shown, "operator").get("/runs").text.count("data-note=") == 3


def test_no_style_and_no_script_stands_in_the_page(shown: Site) -> None:
    text = client_of(shown, "operator").get("/runs").text
    assert not re.search(r"<style|style=|<script>|\son\w+=", text)


def test_where_there_are_no_runs_the_page_says_what_to_do(tmp_path: Path) -> None:
    shown = site_with(tmp_path)
    text = client_of(shown, "viewer").get("/runs").text
    assert 'data-job="update"' in text
    assert "are being read" in text
    shown.jobs._waiting.clear()
    shown.updated_s = float("inf")
    text = client_of(shown, "viewer").get("/runs").text
    assert f"No runs in {tmp_path / 'runs'}." in text
    assert "assay run sim:client-2011 --quick" in text


def test_filters_that_no_run_fits_lead_back(shown: Site) -> None:
    text = client_of(shown, "viewer").get("/runs?name=zzz").text
    assert "No run fits." in text
    assert 'href="?name=zzz&amp;hidden=1"' in text


def test_where_a_drive_is_measured_the_page_says_that_new_runs_wait(tmp_path: Path) -> None:
    text = client_of(site_with(tmp_path, *_RUNS, held=True), "viewer").get("/runs").text
    assert "A drive is measured on this host" in text
    assert len(folders(text)) == 3


def test_an_address_keeps_what_it_does_not_change() -> None:
    view = view_of(QueryParams("model=a&model=b&page=3&q=x&empty=&name="), ())
    assert view.address(page=[], sort=["run"]) == "?model=a&model=b&q=x&sort=run"
    assert (view.query.page, view.query.text, view.is_filtered) == (3, "x", True)
    assert not view_of(QueryParams("hidden=1&sort=run&page=2"), ()).is_filtered


def test_a_view_chooses_what_its_query_chooses(shown: Site) -> None:
    view = view_of(QueryParams("model=model&sort=drive"), shown.parents)
    with reading(shown.place) as reader:
        assert reader
        assert [run.listed.run[-1] for run in find_runs(reader, view.query).runs] == ["a", "b"]
