"""A run watched in a browser from its first lines to its end."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from chromium import PROGRAM, Page, browser
from on_terminal import ASSAY

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="SKIPPED: needs the Debian package chromium")

LONG = [ASSAY, "run", "sim:client-2011?capacity=2GB", "--test", "iops", "--scale", "0.9", "--no-report", "--out"]
CHANGED = "document.dispatchEvent(new Event('visibilitychange')) && undefined"
CUT = "[...document.querySelectorAll('h1, h2, dd')].filter((one) => one.scrollWidth > one.clientWidth + 1).length"


@contextmanager
def served(folder: Path) -> Iterator[int]:
    """A server on a free port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    environment = os.environ | {name: str(folder / name) for name in ("XDG_STATE_HOME", "XDG_CACHE_HOME")}
    command = [ASSAY, "serve", str(folder / "runs"), "--port", str(port)]
    errors = (folder / "errors").open("w+", encoding="utf-8")
    with errors, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment) as server:
        try:
            assert server.stdout
            assert "is served" in server.stdout.readline()
            yield port
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(timeout=20)
        errors.seek(0)
        # Also with streams open, Ctrl-C ends it without a traceback.
        assert "Traceback" not in errors.read()


def link(folder: Path, port: int) -> str:
    environment = os.environ | {"XDG_STATE_HOME": str(folder / "XDG_STATE_HOME")}
    command = [ASSAY, "serve", "link", "--port", str(port)]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout.split()[0]


def go(page: Page, address: str, condition: str, *, width: int = 1440, dark: bool = False) -> None:
    """Load an address in a window and wait for what it shows."""
    theme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
    page.ask("Emulation.setEmulatedMedia", features=theme)
    page.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
    page.ask("Page.navigate", url=address)
    page.until("document.readyState === 'complete'")
    page.until(condition)


def fits(page: Page, width: int) -> bool:
    """Whether nothing is wider than the window and no text is cut."""
    return bool(page.value("document.documentElement.scrollWidth") <= width and page.value(CUT) == 0)


def complaints(page: Page) -> list[Any]:
    """What the console says, but for the door, which answers 401 before there is a session."""
    logged = [entry["entry"]["text"] for entry in page.told("Log.entryAdded")]
    thrown = page.told("Runtime.exceptionThrown", "Runtime.consoleAPICalled")
    return [text for text in logged if "401" not in text] + thrown


def test_a_run_is_watched_from_its_first_lines_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    with served(tmp_path) as port, browser() as page:
        site = f"http://127.0.0.1:{port}"
        go(page, link(tmp_path, port), "document.getElementById('now-none')")
        page.until("!document.getElementById('now-none').hidden")
        page.until("document.title === 'idle - Now - Assay'")
        assert "assay run DRIVE" in page.value("document.getElementById('now-none').innerText")
        run = subprocess.Popen([*LONG, str(tmp_path / "runs/a")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            # The page that is open shows it without being loaded again.
            page.until("document.querySelector('.live-card dd')")
            page.until("document.title.startsWith('iops')")
            for width, path, dark in ((1440, "/", False), (390, "/", True), (1440, "/?wall", False)):
                go(page, site + path, "document.querySelector('.live-card dd')", width=width, dark=dark)
                assert fits(page, width)
                assert page.value("getComputedStyle(document.getElementById('now-none')).display") == "none"
            assert page.value("getComputedStyle(document.querySelector('header.site')).display") == "none"
            go(page, f"{site}/", "document.querySelector('.live-card a')")
            address = page.value("document.querySelector('.live-card a').href")
            for width, dark in ((390, True), (1440, False)):
                go(page, address, "document.querySelectorAll('canvas').length === 4", width=width, dark=dark)
                page.until("document.querySelectorAll('#live-iops-table tbody tr').length >= 2")
                assert fits(page, width)
            assert page.value("document.querySelector('canvas').getAttribute('aria-describedby')") == "live-iops-table"
            rows = page.value("document.querySelectorAll('#live-iops-table tbody tr').length")
            page.until(f"document.querySelectorAll('#live-iops-table tbody tr').length > {rows}")
            page.value("document.querySelector('input[value=start]').click()")
            page.until("document.querySelectorAll('#live-iops-table tbody tr').length > 2")
            assert complaints(page) == []
            page.value("window.before = true")
        finally:
            run.send_signal(signal.SIGINT)
            run.wait(timeout=60)
        # The end loads the page anew, for the report.
        page.until("!window.before && document.readyState === 'complete'")


def test_tabs_of_a_browser_share_a_stream_and_a_hidden_tab_has_none(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    with served(tmp_path) as port, browser() as page:
        go(page, link(tmp_path, port), "document.getElementById('now-none')")
        page.until("!document.getElementById('now-none').hidden")
        assert streams(port) == 1
        for _ in range(3):
            tab = page.context.new_page()
            tab.goto(f"http://127.0.0.1:{port}/")
            # The page's policy forbids scripts from texts, which waiting for a condition would take.
            tab.locator("#now-none:not([hidden])").wait_for()
        assert streams(port) == 1
        for tab in page.context.pages:
            tab.evaluate(
                f"() => {{ Object.defineProperty(document, 'visibilityState', {{ value: 'hidden' }}); {CHANGED} }}"
            )
        assert streams(port) == 0


def streams(port: int) -> int:
    """Connections to a port that carry a stream: the server closes others after 10 s without a request."""
    time.sleep(11)
    needle = f":{port:04X}"
    lines = [line.split() for line in Path("/proc/net/tcp").read_text("ascii").splitlines()[1:]]
    return sum(1 for line in lines if line[1].endswith(needle) and line[3] == "01")
