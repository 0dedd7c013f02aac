"""What a neighbour of the page reaches with what the browser sends or keeps: no byte of a drive.

The attack as it succeeded once: an operator's browser is led to another port of the host, which receives its cookie;
the thief computes the rest from it, checks a plan and starts it. The kernel's notes say who opened the device.
"""

from __future__ import annotations

import hmac
import http.client
import json
import subprocess
import sys
import time
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from agent_process import agent_process, code_lines, link, serve_process, text, type_into
from chromium import PROGRAM, Page, browser
from openings import openings
from test_web_start_loop import SIZE, VALUES, backing, plan_erasure, until_ended
from web_neighbour import Neighbour

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import LoopDrive
    from openings import Openings

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="SKIPPED: needs the Debian package chromium")
TYPED = {**VALUES, "suite": "quick", "tests": ["iops"]}
FETCHED = """
Promise.all([
  fetch(ADDRESS + "/queue/list", { credentials: "include" }).then((answer) => answer.text(), () => "refused"),
  fetch(ADDRESS + "/plan/check", { method: "POST", credentials: "include", body: PLAN, mode: "no-cors" })
    .then((answer) => answer.type, () => "refused"),
  fetch(ADDRESS + "/plan/check", { method: "POST", credentials: "include", body: PLAN, headers: { "x-assay-key": "" } })
    .then((answer) => answer.text(), () => "refused"),
])
"""

FORWARD = """
import asyncio, sys

async def copy(source, sink):
    while content := await source.read(65536):
        sink.write(content)
    sink.close()

async def forward(*near):
    far = await asyncio.open_connection("127.0.0.1", int(sys.argv[1]))
    await asyncio.gather(copy(near[0], far[1]), copy(far[0], near[1]))

async def main():
    server = await asyncio.start_server(forward, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()

asyncio.run(main())
"""


class Thief:
    """Asks a server with what was taken. key : of a session, empty where only its cookie was taken."""

    def __init__(self, address: str, cookie: str, key: str = "") -> None:
        self._address, self._cookie, self._key = address, cookie, key

    def post(self, path: str, body: Any, **headers: str) -> tuple[int, dict[str, Any]]:
        """Status and answer."""
        known = {"cookie": self._cookie, "content-type": "application/json", "origin": self._address}
        headers = {**known, "x-assay-key": self._key, **headers}
        with closing(http.client.HTTPConnection(self._address.removeprefix("http://"), timeout=120)) as connection:
            connection.request("POST", path, json.dumps(body), headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())

    def start(self, node: str) -> list[tuple[int, dict[str, Any]]]:
        """Check a plan of a drive and start it with whatever comes to mind; the answers."""
        status, answer = self.post("/plan/check", {"drive": node, "values": TYPED})
        if status != 200:
            return [(status, answer)]
        checked = answer["checked"]
        start = {"digest": checked["digest"], "identity": checked["identity"]}
        codes = ("", "", checked["digest"][:8], "00000000", checked["identity"], self._key[:8])
        return [self.post("/plan/start", {**start, "code": code}) for code in codes]


@contextmanager
def served(tmp_path: Path, node: str) -> Iterator[tuple[str, Page]]:
    """The address of a server whose agent may erase a device, and a browser with the session of its operator."""
    with (
        agent_process(tmp_path, {node: backing(node)}) as agent,
        serve_process(tmp_path, agent) as address,
        browser() as page,
    ):
        page.open(link(tmp_path, address))
        page.until("document.querySelector('.who')")
        yield address, page


@contextmanager
def forwarded(port: str) -> Iterator[str]:
    """An address whose connections go on to a port, as those of ``ssh -L`` do."""
    with subprocess.Popen([sys.executable, "-c", FORWARD, port], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        finally:
            process.kill()


def stolen(page: Page, neighbour: Neighbour) -> str:
    """The cookie that a neighbour gets when the operator's browser is led to it; no click is needed."""
    page.open(neighbour.address)
    page.until("document.title === 'neighbour'")
    return neighbour.cookies[-1]


def refused(address: str, cookie: str, node: str) -> None:
    """See that a cookie, and what can be computed of it, changes and starts nothing."""
    value = cookie.partition("=")[2]
    for key in ("", value, hmac.new(value.encode(), b"change", "sha256").hexdigest()):
        thief = Thief(address, cookie, key)
        assert [status for status, _ in thief.start(node)] == [403]
        for path in ("/queue/change", "/bundles", "/plan/open", "/plan/file", f"/runs/{'0' * 20}/note"):
            assert thief.post(path, {"action": "stop", "job": "0" * 12})[0] == 403
        assert thief.post("/plan/check", {}, **{"x-assay-token": key})[0] == 403


def test_a_neighbour_with_the_cookie_changes_and_starts_nothing(
    loop_drive_in_memory: LoopDrive, tmp_path: Path
) -> None:
    node = loop_drive_in_memory(SIZE)
    before = Path(backing(node)).read_bytes()
    with openings(node) as opened, Neighbour().listening() as neighbour, served(tmp_path, node) as (address, page):
        cookie = stolen(page, neighbour)
        assert cookie.startswith("assay-"), "every port of the host gets the cookie"
        refused(address, cookie, node)
        plan = json.dumps({"drive": node, "values": TYPED})
        script = FETCHED.replace("ADDRESS", json.dumps(address)).replace("PLAN", json.dumps(plan))
        assert page.value(script) == ["refused", "refused", "refused"]
        page.value(f"window.stay = open({json.dumps(address + '/queue')}) && undefined")
        with browser() as other:
            # Another profile, which got the cookie only.
            name, _, value = cookie.partition("=")
            other.ask("Network.setCookie", name=name, value=value, url=address)
            other.open(f"{address}/plan?drive={node}")
            other.until("document.getElementById('plan-state').textContent.includes('key of its session')")
        nothing_happened(opened, node, before)


def test_the_same_through_a_forwarded_port(loop_drive_in_memory: LoopDrive, tmp_path: Path) -> None:
    node = loop_drive_in_memory(SIZE)
    before = Path(backing(node)).read_bytes()
    with (
        openings(node) as opened,
        Neighbour().listening() as neighbour,
        served(tmp_path, node) as (address, page),
        forwarded(address.rpartition(":")[2]) as near,
    ):
        page.open(link(tmp_path, address).replace(address, near))
        page.until("document.querySelector('.who')")
        refused(near, stolen(page, neighbour), node)
        refused(address, stolen(page, neighbour), node)
        nothing_happened(opened, node, before)


@pytest.mark.long
def test_whoever_has_cookie_and_key_starts_nothing_without_the_code(
    loop_drive_in_memory: LoopDrive, tmp_path: Path
) -> None:
    node = loop_drive_in_memory(SIZE)
    before = Path(backing(node)).read_bytes()
    with openings(node) as opened, Neighbour().listening() as neighbour, served(tmp_path, node) as (address, page):
        key = page.value("localStorage.getItem('assay-key')")
        thief = Thief(address, stolen(page, neighbour), key)
        answers = thief.start(node)
        assert [status for status, _ in answers] == [202, 202, 409, 409, 409, 409]
        assert all("code" in (answer.get("error") or "code") for _, answer in answers)
        (line,) = code_lines(tmp_path, address)
        assert f"  {node} (loop:" in line
        nothing_happened(opened, node, before)
        # The person starts another plan: the code of the thief's start is not the one.
        plan_erasure(page, address, node)
        type_into(page, "plan-typed", text(page, "#plan-known"))
        page.value("document.getElementById('plan-go').click()")
        page.until("!document.getElementById('plan-code').hidden")
        assert "assay serve code" in text(page, "#plan-code")
        foreign, mine = (line.split()[0] for line in code_lines(tmp_path, address))
        type_into(page, "plan-code-typed", foreign)
        page.value("document.getElementById('plan-go').click()")
        page.until("document.getElementById('plan-error').textContent.includes('not the code of this start')")
        nothing_happened(opened, node, before)
        type_into(page, "plan-code-typed", mine)
        page.value("document.getElementById('plan-go').click()")
        page.until("location.pathname === '/queue'")
        until_ended(page)
        writers = {opening.command for opening in opened.writing()}
        assert writers
        assert all("assay.cli run" in command for command in writers), writers


def nothing_happened(opened: Openings, node: str, before: bytes) -> None:
    """See that nobody has opened a device for writing, and that it holds what it held."""
    time.sleep(0.1)
    assert opened.writing() == []
    assert Path(backing(node)).read_bytes() == before
