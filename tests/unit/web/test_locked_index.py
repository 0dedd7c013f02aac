"""An index that another program holds is said with a remedy, and is there again once that lets go of it."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from html import unescape
from typing import TYPE_CHECKING

import pytest
from assay.archive.index import driver
from assay.web import worker
from assay.web.site import update_job
from index_runs import listed_run
from web_site import client_of, site_with

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_HOLD = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA locking_mode = " + sys.argv[2])
connection.execute("BEGIN EXCLUSIVE")
connection.execute("UPDATE assay_runs SET name = name")
print("held", flush=True)
sys.stdin.read()
"""
_NOTE = {"hidden": True, "bad": False, "reason": "", "note": ""}


@contextmanager
def another_program(path: Path, mode: str) -> Iterator[None]:
    """Holds a file of SQLite. mode : ``EXCLUSIVE`` locks out readers as well as writers, ``NORMAL`` writers."""
    command = [sys.executable, "-c", _HOLD, str(path), mode]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdin
        assert process.stdout.readline() == b"held\n"
        yield
        process.stdin.close()


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "READ_WAIT_S", 0.2)
    monkeypatch.setattr(driver, "WRITE_WAIT_S", 0.2)
    monkeypatch.setattr("assay.archive.index.write.READ_WAIT_S", 0.2)


def test_pages_of_an_index_that_is_locked_say_so_and_come_back(tmp_path: Path) -> None:
    site = site_with(tmp_path, listed_run("a"))
    path = tmp_path / "index.sqlite"
    browser, program = client_of(site, "operator"), client_of(site, "program")
    with another_program(path, "EXCLUSIVE"):
        for address in ("/runs", "/trend", f"/drives/{'0' * 20}", f"/runs/{'0' * 20}"):
            answer = browser.get(address)
            assert answer.status_code == 500
            assert "is locked by another program" in answer.text
            assert f"fuser {path} names it" in unescape(answer.text)
            assert "Traceback" not in answer.text
        answer = program.get("/api/v1/runs")
        assert (answer.status_code, answer.json()["reason"]) == (503, "is locked by another program")
        assert browser.get("/").status_code == 200
    assert "is locked" not in browser.get("/runs").text
    assert program.get("/api/v1/runs").status_code == 200


def test_a_writer_that_stays_keeps_notes_and_new_runs_out_and_no_page(tmp_path: Path) -> None:
    site = site_with(tmp_path, listed_run("a"))
    browser, job = client_of(site, "operator"), update_job(site)
    (address,) = [run["address"] for run in client_of(site, "program").get("/api/v1/runs").json()]
    with another_program(tmp_path / "index.sqlite", "NORMAL"):
        assert browser.get("/runs").status_code == 200
        answer = browser.post(f"/runs/{address}/note", json=_NOTE)
        assert (answer.status_code, "is locked by another program" in answer.json()["error"]) == (500, True)
        # The folder of the run is gone, which would be marked.
        assert "is locked by another program" in worker._done({"kind": job.kind, "arguments": job.arguments})
    assert browser.post(f"/runs/{address}/note", json=_NOTE).status_code == 200
    assert worker._done({"kind": job.kind, "arguments": job.arguments}) == ""
