"""Every page of assay serve in a browser: nothing cut, nothing blocked, nothing asked of another host."""

from __future__ import annotations

import json
import os
import re
import subprocess
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest
from agent_process import agent_process
from assay.archive.index.location import Place
from assay.archive.index.read import reading
from assay.archive.index.search import Query, find_runs
from assay.cli.index import update
from assay.web.app import ADDRESSES
from chromium import PROGRAM, Page, browser
from every_kind import run_of
from on_terminal import ASSAY
from page_layout import FAULTS
from test_report_accessibility import AXE, violations

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [
    pytest.mark.skipif(PROGRAM is None, reason="SKIPPED: needs the Debian package chromium"),
    pytest.mark.xdist_group("web-browser"),
]
NO_PAGE = {"made", "stored", "compared"}
"""Addresses that answer with a file."""
PAGES = [address for address in ADDRESSES if address.title and address.name not in NO_PAGE]


class Served:
    """A server of two runs. address : of its pages. runs, drive : their addresses, and that of their drive."""

    def __init__(self, address: str, variables: dict[str, str], runs: list[str], drive: str) -> None:
        self.address, self.variables, self.runs, self.drive = address, variables, runs, drive

    def link(self, role: str) -> str:
        """A link that opens a session."""
        port = self.address.rpartition(":")[2]
        command = [ASSAY, "serve", "link", "--role", role, "--port", port]
        done = subprocess.run(command, env=os.environ | self.variables, check=True, capture_output=True, text=True)
        return done.stdout.split()[0]

    def url(self, path: str) -> str:
        """Where an address of the table is found."""
        query = "?" + "&".join(f"run={run}" for run in self.runs) if path == "/compare" else ""
        return self.address + path.replace("{run}", self.runs[0]).replace("{drive}", self.drive) + query


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("served")
    variables = {f"XDG_{name}_HOME": str(folder / name) for name in ("STATE", "CACHE", "CONFIG", "DATA")}
    place = Place(shown="index", path=folder / "index.sqlite")
    for seed in (1, 2):
        run_of("iops", folder / "runs" / f"night-{seed}", seed=seed)
    update(place, [folder / "runs"])
    with reading(place) as reader:
        assert reader
        listed = find_runs(reader, Query()).runs
    socket = folder / "agent.sock"
    command = [ASSAY, "serve", str(folder / "runs"), "--port", "0", "--index", str(place.path), "--agent", str(socket)]
    with (
        agent(folder),
        subprocess.Popen(command, env=os.environ | variables, stdout=subprocess.PIPE, text=True) as process,
    ):
        assert process.stdout
        address = re.search(r"http://127\.0\.0\.1:\d+", process.stdout.readline())
        assert address
        try:
            yield Served(address[0], variables, [run.address for run in listed], listed[0].drive)
        finally:
            process.terminate()
            process.wait(10)


def agent(folder: Path) -> AbstractContextManager[object]:
    """An agent with jobs that are held and that ended; without root there is none, and pages say so."""
    if os.geteuid() != 0:
        return nullcontext()
    ended = {"exit_code": 0, "began_wall_ns": 1, "ended_wall_ns": 2, "folder": str(folder / "runs/night-1")}
    refused = {"exit_code": 3, "ended_wall_ns": 2, "message": "sim:ideal: changed since it was shown: findings"}
    jobs = [job("a", "held"), job("b", "held"), job("c", "ended", **ended), job("d", "ended", **refused)]
    (folder / "agent").mkdir()
    (folder / "agent/queue.json").write_text(json.dumps({"jobs": jobs}), "utf-8")
    return agent_process(folder)


def job(letter: str, state: str, **more: object) -> dict[str, object]:
    """A job as the agent keeps it."""
    facts = {
        "id": letter * 12,
        "state": state,
        "drive": "sim:client-2011?capacity=8GB",
        "identity": "sim:client-2011?capacity=8GB",
        "tests": ["iops", "tp"],
        "span_ns": [29_000_000_000, 160_000_000_000],
        "folder": "",
        "uid": 0,
        "claimed": "link 01234567, operator",
        "put_wall_ns": 1,
        **more,
    }
    request = {"drive": facts["drive"], "plan": {}}
    return {"facts": facts, "request": request, "digest": "0" * 64, "node": facts["drive"], "checked": {}}


@pytest.fixture(scope="module")
def page(served: Served) -> Iterator[Page]:
    """A browser with the session of an operator."""
    with browser() as result:
        result.open(served.link("operator"))
        result.until("document.querySelector('.who')")
        yield result


def opened(page: Page, url: str, width: int, **more: Any) -> None:
    """A page, once it is made."""
    page.open(url, width=width, height=844, **more)
    made = "!document.querySelector('section[data-job]') && !document.querySelector('[aria-busy=true]')"
    page.until(f"{made} && document.readyState === 'complete'")


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("address", PAGES, ids=lambda address: address.name)
def test_a_page_is_whole_and_asks_nobody_else(served: Served, page: Page, address: Any, width: int) -> None:
    opened(page, served.url(address.path), width)
    assert page.value("document.documentElement.scrollWidth <= innerWidth")
    assert page.value(FAULTS) == []
    told = [event["entry"]["text"] for event in page.told("Log.entryAdded") if event["entry"]["level"] == "error"]
    assert told == []
    assert page.told("Runtime.exceptionThrown") == []
    urls = {event["request"]["url"] for event in page.told("Network.requestWillBeSent")}
    assert [url for url in urls if not url.startswith((served.address, "data:", "blob:", "about:"))] == []
    assert page.value("document.title")


@pytest.mark.parametrize("path", ["/runs", "/runs/{run}", "/drives/{drive}", "/compare", "/trend"])
def test_times_are_in_the_zone_of_the_viewer_with_its_offset(served: Served, page: Page, path: str) -> None:
    page.ask("Emulation.setTimezoneOverride", timezoneId="Asia/Kolkata")
    try:
        opened(page, served.url(path), 1440)
        texts = page.value("[...document.querySelectorAll('time')].map((each) => [each.dateTime, each.textContent])")
    finally:
        page.ask("Emulation.setTimezoneOverride", timezoneId="")
    assert texts
    for given, text in texts:
        assert text.endswith(" +05:30")
        assert datetime.strptime(text, "%Y-%m-%d %H:%M %z") == datetime.fromisoformat(given).replace(second=0)


@pytest.mark.skipif(not AXE, reason="SKIPPED: needs the Python package axe-core-python")
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("address", PAGES, ids=lambda address: address.name)
def test_axe_core_finds_nothing_serious(served: Served, page: Page, address: Any, *, dark: bool) -> None:
    opened(page, served.url(address.path), 1440, dark=dark)
    assert violations(page) == []


def test_a_browser_without_a_link_sees_how_to_get_one(served: Served) -> None:
    with browser() as result:
        result.open(served.url("/runs"), width=390)
        assert "assay serve link" in result.value("document.body.textContent")
        result.open(f"{served.address}/#{'x' * 43}")
        result.until("document.querySelector('#sign-in-state.bad')")
        assert "used before" in result.value("document.querySelector('#sign-in-state').textContent")
        assert result.value("location.hash") == ""


def test_ten_tabs_are_open_at_once(served: Served, page: Page) -> None:
    tabs = [page.context.new_page() for _ in range(10)]
    try:
        for tab in tabs:
            tab.goto(served.url("/runs"))
        assert {tab.title() for tab in tabs} == {tabs[0].title()}
        assert all(tab.locator(".who").count() == 1 for tab in tabs)
    finally:
        for tab in tabs:
            tab.close()


def test_a_bundle_that_is_chosen_is_unpacked_and_a_wrong_one_named(served: Served, page: Page, tmp_path: Path) -> None:
    opened(page, served.url("/runs"), 1440)
    (tmp_path / "wrong.assay").write_bytes(b"no bundle")
    (tab,) = page.context.pages
    tab.set_input_files("[data-bundle]", tmp_path / "wrong.assay")
    page.until("document.querySelector('[data-bundle-state].bad')")
    assert page.value("document.querySelector('[data-bundle-state]').textContent").endswith("again")
