"""A run on a loop device that is planned and started in a browser, after root has listed the device once."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from agent_process import (
    IDLE,
    agent_process,
    choose,
    code_lines,
    link,
    serve_process,
    text,
    tick,
    type_into,
    until_checked,
)
from chromium import PROGRAM, Page, browser
from conftest import HANG_S, command

if TYPE_CHECKING:
    from conftest import LoopDrive

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="SKIPPED: needs the Debian package chromium")
SIZE = 256 << 20
VALUES = {
    "scale": "0.02",
    "iops.thread_count": "1",
    "iops.queue_depth": "4",
    "stall_limit_seconds": "3600",
    "io_time_limit_seconds": "3600",
}


def backing(node: str) -> str:
    """The file of a loop device."""
    return Path(f"/sys/block/{Path(node).name}/loop/backing_file").read_text("utf-8").rstrip("\n")


def plan_erasure(page: Page, address: str, node: str) -> None:
    """Plan a short run of a device; it is checked and may be started."""
    page.open(f"{address}/plan?drive={node}")
    page.until(IDLE)
    choose(page, "suite", "quick")
    tick(page, "tests", "iops")
    for key, value in VALUES.items():
        choose(page, key, value)
    until_checked(page)


def until_ended(page: Page) -> None:
    """Wait for the end of a run, which takes longer than a page."""
    begun = time.monotonic()
    while not page.value("Boolean(document.querySelector('[data-part] a[href^=\"/plan?run\"]'))"):
        assert time.monotonic() - begun < HANG_S
        time.sleep(0.5)


@pytest.mark.long
def test_a_loop_device_is_erased_only_once_its_identity_was_typed(
    loop_drive_in_memory: LoopDrive, tmp_path: Path
) -> None:
    node, other = loop_drive_in_memory(SIZE), loop_drive_in_memory(SIZE)
    before = Path(backing(other)).read_bytes()
    with (
        agent_process(tmp_path, {node: backing(node)}) as socket,
        serve_process(tmp_path, socket) as address,
        browser() as page,
    ):
        page.open(link(tmp_path, address))
        page.until("document.querySelector('.who')")
        page.open(f"{address}/drives")
        page.until(IDLE)
        cards = "[...document.querySelectorAll('.drive')].map((one) => one.textContent)"
        listed = {path: card for path in (node, other) for card in page.value(cards) if f"{path}\n" in card}
        assert "May be erased." in listed[node]
        assert backing(other) in listed[other]
        plan_erasure(page, address, node)
        loss = text(page, "#plan-losses")
        assert node in loss
        assert "0.27 GB" in loss
        identity = page.value("document.getElementById('plan-known').textContent")
        assert page.value("document.getElementById('plan-go').disabled")
        for word, ready in (("other", False), (identity, True)):
            type_into(page, "plan-typed", word)
            assert page.value("!document.getElementById('plan-go').disabled") is ready
        page.value("document.getElementById('plan-go').click()")
        page.until("!document.getElementById('plan-code').hidden")
        (line,) = code_lines(tmp_path, address)
        assert node in line
        type_into(page, "plan-code-typed", line.split()[0])
        page.value("document.getElementById('plan-go').click()")
        page.until("location.pathname === '/queue'")
        until_ended(page)
        (run,) = (tmp_path / "runs").iterdir()
        assert json.loads((run / "run.json").read_bytes())["identity"]["path"] == node
        page.value("document.querySelector('[data-part] a[href^=\"/runs/\"]').click()")
        page.until("document.querySelector('.run-bar')")
    assert any(Path(backing(node)).read_bytes())
    assert Path(backing(other)).read_bytes() == before


def test_a_mounted_drive_is_refused_in_the_gates_words(loop_drive_in_memory: LoopDrive, tmp_path: Path) -> None:
    node = loop_drive_in_memory(SIZE)
    folder = tmp_path / "mounted"
    folder.mkdir()
    command("mkfs.ext4", "-q", node)
    command("mount", node, str(folder))
    try:
        with (
            agent_process(tmp_path, {node: backing(node)}) as socket,
            serve_process(tmp_path, socket) as address,
            browser() as page,
        ):
            page.open(link(tmp_path, address))
            page.until("document.querySelector('.who')")
            page.open(f"{address}/plan?drive={node}", width=390)
            page.until("document.getElementById('plan-refused').textContent !== ''")
            assert "mounted on" in text(page, "#plan-refused")
            assert page.value("document.getElementById('plan-start').hidden")
    finally:
        command("umount", str(folder))
