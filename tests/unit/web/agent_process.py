"""An agent and a server as processes, as they are installed, and a browser's way through their pages."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

from on_terminal import ASSAY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from chromium import Page

END_S = 60
IDLE = "!document.querySelector('[aria-busy=true]')"


def environment(folder: Path) -> dict[str, str]:
    """That of a user whose folders lie in another."""
    return os.environ | {f"XDG_{name}_HOME": str(folder / name) for name in ("STATE", "CACHE", "CONFIG", "DATA")}


@contextmanager
def agent_process(folder: Path, drives: Mapping[str, str] | None = None) -> Iterator[Path]:
    """The socket of an agent, which root alone can run. drives : devices that may be erased, with their backing."""
    places = {"socket": "agent.sock", "state": "agent", "runs": "runs", "log": "agent.jsonl"}
    lines = [f"{key} = {json.dumps(str(folder / name))}" for key, name in places.items()]
    lines += [
        f"[[devices]]\npath = {json.dumps(path)}\nbacking = {json.dumps(file)}" for path, file in (drives or {}).items()
    ]
    config = folder / "agent.toml"
    config.write_text("\n".join(lines), "utf-8")
    config.chmod(0o600)
    command = [ASSAY, "agent", "--config", str(config)]
    with ended(subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment(folder))) as process:
        assert process.stderr
        assert "Ctrl-C ends it" in process.stderr.readline()
        yield folder / "agent.sock"


@contextmanager
def serve_process(folder: Path, socket: Path) -> Iterator[str]:
    """The address of a server of ``runs`` in a folder."""
    (folder / "runs").mkdir(exist_ok=True)
    command = [ASSAY, "serve", str(folder / "runs"), "--port", "0", "--agent", str(socket)]
    errors = (folder / "serve.errors").open("w+", encoding="utf-8")
    with errors:
        started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment(folder))
        with ended(started) as process:
            assert process.stdout
            address = re.search(r"http://127\.0\.0\.1:\d+", process.stdout.readline())
            assert address
            yield address[0]
        errors.seek(0)
        assert "Traceback" not in errors.read()


@contextmanager
def ended(process: subprocess.Popen[str]) -> Iterator[subprocess.Popen[str]]:
    """A process that gets Ctrl-C at the end."""
    with process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(END_S)


def link(folder: Path, address: str, role: str = "operator") -> str:
    """A link that opens a session."""
    return _typed(folder, address, "link", "--role", role).split()[0]


def code_lines(folder: Path, address: str) -> list[str]:
    """What ``assay serve code`` prints to the person on the host."""
    return _typed(folder, address, "code").splitlines()


def _typed(folder: Path, address: str, *words: str) -> str:
    command = [ASSAY, "serve", *words, "--port", address.rpartition(":")[2]]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment(folder)).stdout


def choose(page: Page, key: str, value: str | bool) -> None:
    """Type a value of the plan, as a user does."""
    type_into(page, f"f-{key}", value)


def type_into(page: Page, name: str, value: str | bool) -> None:
    """Type into a field, by its id."""
    field = f"document.getElementById({json.dumps(name)})"
    page.value(f"{field}.{'checked' if isinstance(value, bool) else 'value'} = {json.dumps(value)}")
    page.value(f"{field}.dispatchEvent(new Event('input', {{ bubbles: true }}))")


def tick(page: Page, key: str, *words: str) -> None:
    """Choose words of a list, such as tests."""
    for word in words:
        page.value(f"document.querySelector('[data-key={key}] input[value=\"{word}\"]').click()")


def until_checked(page: Page) -> None:
    """Wait until what is typed was checked and may be started."""
    page.until("!document.getElementById('plan-start').hidden && " + IDLE)


def text(page: Page, selector: str) -> str:
    """What a user reads there."""
    return str(page.value(f"document.querySelector({json.dumps(selector)}).innerText"))
