"""The HTML report in a real browser: no error, no request, columns that are drawn."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from assay.report import render
from report_run import HOSTILE, synthetic_run

BROWSER = shutil.which("chromium")
QUIET = "--headless --disable-gpu --disable-quic --no-first-run --disable-background-networking"
QUIET += " --disable-component-update --disable-sync --enable-logging=stderr --virtual-time-budget=8000"


def browse(page: Path, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    assert BROWSER
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    command = [BROWSER, *QUIET.split(), *sandbox, f"--user-data-dir={folder / 'edition'}", *options, page.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)


@pytest.mark.skipif(BROWSER is None, reason="SKIPPED: needs the Debian package chromium")
def test_the_html_report_works_in_a_browser_without_a_network(tmp_path: Path) -> None:
    run = synthetic_run(serial=HOSTILE[0])
    (page,) = render(run, tmp_path, formats=["html"])
    done = browse(page, tmp_path, "--dump-dom")
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    assert [line for line in console if "Content Security" in line or "Error" in line] == []
    assert "js-plotly-plot" in done.stdout
    assert HOSTILE[0] not in done.stdout
    assert "http://" not in page.read_text("utf-8").split("<body", 1)[1].split("<script", 1)[0].replace(
        "http://www.w3.org/", ""
    )
