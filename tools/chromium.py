"""A page in Debian's Chromium, driven by Playwright: what it holds, and how long it took. No network, no window."""

from __future__ import annotations

import base64
import os
import shutil
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import BrowserContext, CDPSession, Playwright

PROGRAM = shutil.which("chromium")
_OPTIONS = (
    "--disable-gpu --enable-unsafe-swiftshader --disable-quic --no-first-run --hide-scrollbars "
    "--disable-background-networking --disable-component-update --disable-sync"
)
_TOLD = ("Log.entryAdded", "Runtime.exceptionThrown", "Network.requestWillBeSent", "Page.loadEventFired")
# Enough for a report on a busy host.
_PATIENCE_S = 120.0
# Below this a window is a phone's.
_PHONE_PX = 600


@dataclass(slots=True)
class Page:
    """One page; ``events`` is what the browser told of it, oldest first."""

    context: BrowserContext
    session: CDPSession
    events: list[dict[str, Any]] = field(default_factory=list)

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command of the DevTools protocol; its answer. Raises playwright's Error where it is refused."""
        return dict(self.session.send(method, parameters))

    def value(self, expression: str) -> Any:
        """The value of an expression of JavaScript, awaited."""
        answer = self.ask("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def until(self, expression: str) -> float:
        """Wait until an expression holds; the seconds it took. Raises TimeoutError."""
        begun = time.monotonic()
        while not self.value(f"Boolean({expression})"):
            if time.monotonic() - begun > _PATIENCE_S:
                raise TimeoutError(expression)
            time.sleep(0.02)
        return time.monotonic() - begun

    def open(self, path: Path | str, *, width: int = 1440, height: int = 900, dark: bool = False) -> None:
        """Load a file, or an address, into a window of this size and wait until it is loaded."""
        theme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.ask("Emulation.setEmulatedMedia", features=theme)
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < _PHONE_PX,
        )
        self.ask("Page.navigate", url="about:blank")
        self.until("location.protocol === 'about:'")
        self.events.clear()
        self.ask("Page.navigate", url=path if isinstance(path, str) else path.resolve().as_uri())
        self.until("document.readyState === 'complete' && location.protocol !== 'about:'")

    def picture(self, path: Path) -> None:
        """Write what is in view as PNG."""
        path.write_bytes(base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"]))

    def told(self, *methods: str) -> list[dict[str, Any]]:
        """What the browser told so far under these names."""
        self.value("0")
        return [event["params"] for event in self.events if event.get("method") in methods]


_RUNNING: list[Playwright] = []
"""Playwright runs once in a process; several browsers share it."""


@contextmanager
def _playwright() -> Iterator[Playwright]:
    if _RUNNING:
        yield _RUNNING[0]
        return
    with sync_playwright() as playwright:
        _RUNNING.append(playwright)
        try:
            yield playwright
        finally:
            _RUNNING.clear()


@contextmanager
def browser(*, script: bool = True) -> Iterator[Page]:
    """Start Chromium with one empty page, and end it. script : whether pages may run theirs."""
    if PROGRAM is None:
        raise RuntimeError("needs the Debian package chromium")
    options = [*_OPTIONS.split(), *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    with (
        tempfile.TemporaryDirectory(prefix="assay-chromium-", ignore_cleanup_errors=True) as folder,
        _playwright() as playwright,
        playwright.chromium.launch_persistent_context(
            folder, executable_path=PROGRAM, args=options, no_viewport=True
        ) as context,
    ):
        page = Page(context, context.new_cdp_session(context.pages[0]))
        for name in _TOLD:
            page.session.on(name, lambda event, name=name: page.events.append({"method": name, "params": event}))
        for domain in ("Page", "Runtime", "Network", "Log"):
            page.ask(f"{domain}.enable")
        page.ask("Emulation.setScriptExecutionDisabled", value=not script)
        yield page
