"""A run on a loop device, watched in a browser from its start to its report. ``make soak`` watches for ten minutes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import pytest
from assay.errors import EXIT_WITHHELD
from assay.run.store.live import LiveReader
from assay.run.store.status import kept_progress
from chromium import PROGRAM, Page, browser
from conftest import ASSAY, HANG_S, PATIENT, LoopDrive, known_id
from playwright.sync_api import Error
from quiet_host import QUIET_ASSAY
from undisturbed import verdict_code
from web_server import web_server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from assay.run.store.live import LiveLine, LiveSums

pytestmark = [
    pytest.mark.skipif(PROGRAM is None, reason="SKIPPED: needs the Debian package chromium"),
    pytest.mark.long,
]
SIZE = 64 << 20
MINUTE, TEN_MINUTES = 0.02, 0.2
"""Scales of five rounds of nine cells that take a minute each by the specification."""
PLAN = "scale = {scale}\n[lat]\nround_limit = 5\n"
CARD = "[...document.querySelectorAll('.live-card dt')].find((term) => term.textContent === 'Now')"
LINES = "[...document.querySelectorAll('#live-iops-table tbody tr')]"
ROUNDS = "[...document.querySelectorAll('#live-rounds tbody tr')]"
TEXTS = ".map((row) => [...row.cells].map((cell) => cell.textContent))"
SHOWN_LINES = "{}.map(([t, ...sides]) => [assay.time(t / 1000 * 1000), ...sides.map(assay.figure)])"
UNITS = {"µs": 1e-3, "ms": 1.0, "s": 1e3}
"""Of response times, in ms."""


@contextmanager
def started(path: str, folder: Path, scale: float, variables: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    """A latency test of a drive into ``runs/watched``, on a host that keeps still as far as results go."""
    (folder / "plan.toml").write_text(PLAN.format(scale=scale), "ascii")
    options = ["run", str(folder / "plan.toml"), path, "--test", "lat", "--yes-destroy", known_id(path), *PATIENT]
    command = [*QUIET_ASSAY, *options, "--no-report", "--out", str(folder / "runs/watched")]
    with (
        (folder / "run.log").open("w", encoding="utf-8") as log,
        subprocess.Popen(command, stdout=log, stderr=log, text=True, env=os.environ | variables) as run,
    ):
        try:
            yield run
        finally:
            run.send_signal(signal.SIGINT)


def assay_show(out: Path, variables: dict[str, str]) -> dict[str, Any]:
    """What ``assay show --json`` prints of a run, whatever its exit code."""
    command = [ASSAY, "show", "--json", str(out)]
    done = subprocess.run(command, capture_output=True, check=False, timeout=HANG_S, env=os.environ | variables)
    return dict(json.loads(done.stdout))


class EarlyEndError(Exception):
    """The run ended before a page showed what it was to show."""


def wait(page: Page, expression: str, run: subprocess.Popen[str] | None = None) -> Any:
    """The value of an expression as soon as it is true, also of a page that loads itself again meanwhile.

    An element has none: its value is empty. run : raises EarlyEndError once it has ended.
    """
    until_s = time.monotonic() + HANG_S
    while time.monotonic() < until_s:
        with suppress(Error, RuntimeError):
            if value := page.value(expression):
                return value
        if run is not None and run.poll() is not None:
            raise EarlyEndError
        time.sleep(0.1)
    raise TimeoutError(expression)


def iops(sums: LiveSums, line: LiveLine) -> float | None:
    return sums.io_count / line.covered_ns * 1e9 if sums.io_count else None


def check_now(page: Page, folder: Path, run: subprocess.Popen[str]) -> None:
    """The rate on *Now* is that of a line."""
    shown = wait(page, f"{CARD} && {CARD}.nextElementSibling.textContent", run)
    rates = [iops(line.total, line) for line in LiveReader(folder).lines()]
    assert shown.partition(" IOPS")[0] in page.value(f"{rates}.map(assay.figure)")


def check_lines(page: Page, folder: Path, run: subprocess.Popen[str]) -> None:
    """The table of the chart has the last lines of the file, as of when the page got them."""
    shown = wait(page, f"{LINES}.length > 4 && {LINES}{TEXTS}", run)
    lines = [
        (line.wall_ns // 10**6, iops(line.read, line), iops(line.write, line)) for line in LiveReader(folder).lines()
    ]
    assert len(lines) >= len(shown) > 4
    known = page.value(SHOWN_LINES.format(json.dumps(lines[::-1])))
    assert any(known[at : at + len(shown)] == shown for at in range(len(known))), (shown, known)


def check_rounds(page: Page, folder: Path, run: subprocess.Popen[str]) -> None:
    """The page has the tracked variables of each round, the newest first."""
    shown = wait(page, f"{ROUNDS}.length > 1 && {ROUNDS}{TEXTS}", run)
    progress = kept_progress(folder)
    assert progress
    tracked = [[round_.index, *(value.value for value in round_.values)] for round_ in progress.rounds]
    known = page.value(
        f"{json.dumps(tracked)}.map(([index, ...values]) => [`${{index}}`, ...values.map(assay.figure)])"
    )
    assert shown[::-1] == known[: len(shown)]


def is_withheld(test: dict[str, Any]) -> bool:
    return test["verdict"]["state"] in {"withheld", "cut-short"}


def check_report(page: Page, run: dict[str, Any]) -> None:
    """The report has the numbers of ``assay show``, or says why there are none."""
    (test,) = run["tests"]
    if is_withheld(test):
        assert test["verdict"]["reason"] in page.value("document.body.textContent.replace(/\\s+/g, ' ')")
        return
    quoted = [measure for measure in test["measures"] if measure["quoted"]]
    means = [measure["value"] for measure in quoted if measure["name"].endswith("average")]
    texts = page.value("[...document.querySelectorAll('#summary .tile small')].map((small) => small.textContent)")
    shown = [text.partition("mean ")[2].split()[:2] for text in texts if "mean " in text]
    assert [float(value) * UNITS[unit] for value, unit in shown] == pytest.approx(means, rel=0.005)


@pytest.mark.parametrize(
    "scale", [MINUTE, pytest.param(TEN_MINUTES, marks=pytest.mark.soak)], ids=["minute", "ten-minutes"]
)
def test_a_run_is_watched_from_its_start_to_its_report(
    loop_drive_in_memory: LoopDrive, tmp_path: Path, scale: float
) -> None:
    path, out = loop_drive_in_memory(SIZE), tmp_path / "runs/watched"
    with web_server(tmp_path) as server, browser() as page:
        page.open(server.link())
        wait(page, "document.title === 'idle - Now - Assay'")
        with started(path, tmp_path, scale, server.variables) as run:
            address = wait(
                page, "document.querySelector('.live-card a') && document.querySelector('.live-card a').href", run
            )
            ended_early = False
            try:
                check_now(page, out, run)
                page.open(address)
                check_lines(page, out, run)
                check_rounds(page, out, run)
                check_lines(page, out, run)
            except EarlyEndError:
                ended_early = True
            code = run.wait(HANG_S)
        shown = assay_show(out, server.variables)
        # A host that holds a thread up at a boundary ends a run, and withholds its results.
        assert not ended_early or is_withheld(shown["tests"][0])
        expected = EXIT_WITHHELD if is_withheld(shown["tests"][0]) else verdict_code(out)
        assert code == expected, (tmp_path / "run.log").read_text("utf-8")
        # The page loads itself again: first it waits for the index and for the report.
        wait(page, "Boolean(document.querySelector('.run-bar') && document.querySelector('#summary'))")
        assert page.value("location.href") == address
        check_report(page, shown)
