"""A page in Chromium, asked over a pipe what it holds and how long it took. No network, no window."""

from __future__ import annotations

import base64
import json
import os
import shutil
import tempfile
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROGRAM = shutil.which("chromium")
_OPTIONS = (
    "--headless --disable-gpu --enable-unsafe-swiftshader --disable-quic --no-first-run --hide-scrollbars "
    "--disable-background-networking --disable-component-update --disable-sync --remote-debugging-pipe"
)
# Enough for a report on a busy host.
_PATIENCE_S = 60.0
# Below this a window is a phone's.
_PHONE_PX = 600


@dataclass(slots=True)
class Page:
    """One page; ``events`` is what the browser told of it, oldest first."""

    asks: int
    answers: int
    session: str = ""
    number: int = 0
    rest: bytes = b""
    events: list[dict[str, Any]] = field(default_factory=list)

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command of the DevTools protocol; its answer. Raises RuntimeError where it is refused."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.asks, json.dumps(message).encode() + b"\0")
        while True:
            found = self._next()
            if found.get("id") != self.number:
                self.events.append(found)
            elif "error" in found:
                raise RuntimeError(f"{method}: {found['error']}")
            else:
                return dict(found["result"])

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

    def open(self, path: Path, *, width: int = 1440, height: int = 900, dark: bool = False) -> None:
        """Load a file into a window of this size and wait until it is loaded."""
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
        self.ask("Page.navigate", url=path.resolve().as_uri())
        self.until("document.readyState === 'complete' && location.protocol === 'file:'")

    def picture(self, path: Path) -> None:
        """Write what is in view as PNG."""
        path.write_bytes(base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"]))

    def told(self, *methods: str) -> list[dict[str, Any]]:
        """What the browser told so far under these names."""
        self.value("0")
        return [event["params"] for event in self.events if event.get("method") in methods]

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self.rest:
            piece = os.read(self.answers, 1 << 20)
            if not piece:
                raise RuntimeError("Chromium ended")
            self.rest += piece
        message, _, self.rest = self.rest.partition(b"\0")
        return dict(json.loads(message))


@contextmanager
def browser(*, script: bool = True) -> Iterator[Page]:
    """Start Chromium with one empty page, and end it. script : whether pages may run theirs."""
    if PROGRAM is None:
        raise RuntimeError("needs the Debian package chromium")
    with tempfile.TemporaryDirectory(prefix="assay-chromium-", ignore_cleanup_errors=True) as folder:
        process, page = _started(PROGRAM, folder)
        try:
            target = page.ask("Target.createTarget", url="about:blank")["targetId"]
            page.session = page.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Network", "Log"):
                page.ask(f"{domain}.enable")
            page.ask("Emulation.setScriptExecutionDisabled", value=not script)
            yield page
        finally:
            page.session = ""
            with suppress(RuntimeError, OSError):
                page.ask("Browser.close")
            os.waitpid(process, 0)
            os.close(page.asks)
            os.close(page.answers)


def _started(program: str, folder: str) -> tuple[int, Page]:
    """Chromium reads commands from descriptor 3 and answers on 4."""
    their_end, asks = os.pipe()
    answers, their_answers = os.pipe()
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    command = [program, *_OPTIONS.split(), *sandbox, f"--user-data-dir={folder}", "about:blank"]
    quiet = (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)
    # Both are first moved out of the way of 3 and 4.
    moves = [(their_end, 103), (their_answers, 104), (103, 3), (104, 4)]
    actions = [quiet, *((os.POSIX_SPAWN_DUP2, *move) for move in moves)]
    process = os.posix_spawn(program, command, os.environ, file_actions=actions)
    os.close(their_end)
    os.close(their_answers)
    return process, Page(asks=asks, answers=answers)
