"""A run planned, started and followed to its report in a browser, through an agent and a server as installed."""

from __future__ import annotations

import json
import os
import tomllib
from typing import TYPE_CHECKING

import pytest
from agent_process import IDLE, agent_process, choose, link, serve_process, text, tick, until_checked
from chromium import PROGRAM, Page, browser
from page_layout import FAULTS
from test_report_accessibility import AXE, violations

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [
    pytest.mark.skipif(PROGRAM is None, reason="SKIPPED: needs the Debian package chromium"),
    pytest.mark.skipif(os.geteuid() != 0, reason="SKIPPED: needs root, who alone runs an agent"),
    pytest.mark.xdist_group("web-browser"),
]
DRIVE = "sim:client-2011?capacity=8GB"


class Site:
    """A server with an agent. address : of its pages. page : a browser with the session of an operator."""

    def __init__(self, folder: Path, address: str, page: Page) -> None:
        self.folder, self.address, self.page = folder, address, page

    def plan(self, drive: str = DRIVE, **values: str) -> None:
        """A plan of a short run that was checked. values : of the form, a dot written as two underscores."""
        self.page.open(f"{self.address}/plan?drive={drive.replace('?', '%3F')}")
        self.page.until(IDLE)
        choose(self.page, "suite", "quick")
        tick(self.page, "tests", "iops")
        for key, value in {"scale": "0.02", **values}.items():
            choose(self.page, key.replace("__", "."), value)
        self.page.until("document.getElementById('plan-state').innerText === 'Checked.'")
        until_checked(self.page)

    def start(self) -> None:
        """Start what was checked; the queue is shown."""
        self.page.value("document.getElementById('plan-go').click()")
        self.page.until(f"location.pathname === '/queue' && document.readyState === 'complete' && {IDLE}")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("started")
    with agent_process(folder) as socket, serve_process(folder, socket) as address, browser() as page:
        page.open(link(folder, address))
        page.until("document.querySelector('.who')")
        yield Site(folder, address, page)


def test_a_run_goes_from_the_form_to_its_report(site: Site) -> None:
    page = site.page
    page.open(f"{site.address}/drives")
    page.until(IDLE)
    page.value("""document.querySelector('a[href$="sim%3Aclient-2011"]').click()""")
    page.until("location.pathname === '/plan'")
    site.plan()
    assert text(page, "#plan-tests") == "Tests: IOPS"
    assert "up to " in text(page, "#plan-totals")
    assert DRIVE in text(page, "#plan-text")
    assert page.value("document.getElementById('plan-identity').hidden")
    site.start()
    page.until("document.querySelector('[data-part] a[href^=\"/runs/\"]')")
    page.until("document.querySelector('[data-part]').innerText.includes('complete')")
    page.value("document.querySelector('[data-part] a[href^=\"/runs/\"]').click()")
    page.until("location.pathname.startsWith('/runs/') && document.querySelector('.run-bar')")
    assert "again with" in text(page, ".run-bar")
    page.value("document.querySelector('.run-bar a[href^=\"/plan\"]').click()")
    page.until("location.pathname === '/plan' && document.getElementById('f-scale')")
    assert page.value("document.getElementById('f-scale').value") == "0.02"
    assert page.value("document.getElementById('f-drive').value") == DRIVE
    assert page.value("document.getElementById('f-seed').value") == ""
    until_checked(page)


def test_a_fault_stands_at_its_field_while_it_is_typed(site: Site) -> None:
    page = site.page
    site.plan()
    choose(page, "iops.queue_depth", "5000")
    # What was checked is no longer what is typed.
    assert page.value("document.getElementById('plan-start').hidden")
    page.until("document.getElementById('e-iops.queue_depth').innerText !== ''")
    assert "must be at most 4096" in text(page, "[id='e-iops.queue_depth']")
    assert text(page, "#plan-state") == "1 value is to be corrected."
    for depth in ("1", "16", "32"):
        choose(page, "iops.queue_depth", depth)
    until_checked(page)
    page.until("document.getElementById('plan-text').innerText.includes('QD 32')")
    assert text(page, "[id='e-iops.queue_depth']") == ""


def test_options_follow_the_chosen_tests(site: Site) -> None:
    page = site.page
    site.plan()
    shown = (
        "[...document.querySelectorAll('[data-table]')].filter((one) => !one.hidden).map((one) => one.dataset.table)"
    )
    assert page.value(shown) == ["iops"]
    tick(page, "tests", "lat", "iops")
    page.until(f"JSON.stringify({shown}) === '[\"lat\"]'")


def test_a_plan_is_saved_as_toml_and_opened(site: Site, tmp_path: Path) -> None:
    page = site.page
    site.plan(report__name="night")
    (tab,) = page.context.pages
    with tab.expect_download() as download:
        tab.click("#plan-save")
    path = tmp_path / "plan.toml"
    download.value.save_as(path)
    table = tomllib.loads(path.read_text("utf-8"))
    assert (table["drive"], table["scale"], table["report"]) == (DRIVE, 0.02, {"name": "night"})
    page.open(f"{site.address}/plan")
    tab.set_input_files("#plan-open", path)
    until_checked(page)
    assert page.value("document.getElementById('f-report.name').value") == "night"
    assert page.value("document.getElementById('f-drive').value") == DRIVE


def test_a_run_is_stopped_and_waiting_jobs_are_ordered(site: Site) -> None:
    page = site.page
    part = "document.querySelector('[data-part]')"
    site.plan(scale="1", iops__round_least="1000", iops__round_limit="1000")
    site.start()
    for name in ("a", "b"):
        site.plan(report__name=name)
        site.start()
    page.until(f"{part}.querySelectorAll('[data-action=hold]').length === 2")
    order = f"[...{part}.querySelectorAll('[data-action=cancel]')].map((one) => one.dataset.job)"
    first, second = page.value(order)
    assert not AXE or violations(page) == []
    page.value(f"{part}.querySelector('[data-action=move]').click()")
    page.until(f"({order})[0] === {json.dumps(second)}")
    for _ in (first, second):
        page.value(f"{part}.querySelector('[data-action=hold]').click()")
        page.until(f"{part}.querySelectorAll('[data-action=release]').length > {int(_ == second)}")
    page.value(f"{part}.querySelector('[data-action=cancel]').click()")
    page.until(f"{part}.querySelectorAll('[data-action=cancel]').length === 1")
    page.value(f"{part}.querySelector('[data-action=cancel]').click()")
    page.until(f"{part}.querySelectorAll('[data-action=cancel]').length === 0")
    page.value(f"{part}.querySelector('[data-action=stop]').click()")
    page.until("document.getElementById('stop').open")
    assert page.value("document.querySelector('#stop [type=submit]').disabled")
    page.value("document.querySelector('#stop [name=sure]').click()")
    page.value("document.querySelector('#stop [type=submit]').click()")
    page.until(f"{part}.innerText.includes('stopped')")
    assert text(page, "#queue-error") == ""


@pytest.mark.skipif(not AXE, reason="SKIPPED: needs the Python package axe-core-python")
@pytest.mark.parametrize("dark", [False, True])
def test_the_whole_form_has_nothing_that_axe_core_finds(site: Site, *, dark: bool) -> None:
    page = site.page
    unfold = "document.querySelectorAll('details').forEach((one) => { one.hidden = false; one.open = true; })"
    for width in (1440, 390):
        page.open(f"{site.address}/plan?drive={DRIVE.replace('?', '%3F')}", width=width, dark=dark)
        until_checked(page)
        page.value(unfold)
        assert page.value(FAULTS) == []
        assert page.value("document.documentElement.scrollWidth <= innerWidth")
        assert violations(page) == []


def test_an_expired_check_starts_nothing(site: Site) -> None:
    page = site.page
    site.plan()
    page.value("(Date.now = () => 1e15) && undefined")
    page.value("document.getElementById('plan-check').click()")
    page.until("document.getElementById('plan-until').textContent.includes('expired')")
    assert page.value("document.getElementById('plan-go').disabled")


def test_a_viewer_sees_the_pages_without_buttons(site: Site) -> None:
    with browser() as page:
        page.open(link(site.folder, site.address, "viewer"))
        page.until("document.querySelector('.who')")
        for path in ("/drives", "/plan", "/queue"):
            page.open(site.address + path, width=390)
            page.until(IDLE)
            assert page.value("document.querySelectorAll('main button:not([disabled])').length") == 0
            assert page.value("document.querySelector('.who').textContent") == "viewer"


def test_the_form_is_used_with_the_keyboard_alone(site: Site) -> None:
    page = site.page
    page.open(f"{site.address}/plan")
    page.until(IDLE)
    (tab,) = page.context.pages
    tab.focus("#f-drive")
    tab.keyboard.type(DRIVE)
    tab.keyboard.press("Tab")
    tab.keyboard.press("Tab")
    assert page.value("document.activeElement.id") == "f-suite"
    tab.keyboard.type("quick")
    until_checked(page)
    tab.focus("#plan-go")
    assert text(page, "#plan-go") == "Start"
